"""Counters, gauges and histograms in the text format of Prometheus.

The example counts a request, and returns the text of all metrics:

    requests = Counter("ts_serve_requests_total", "Requests.", ("path", "status"))
    requests.add("/predict", "200")
    format_metrics([requests, ...])
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZE_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128)


class Metric(Protocol):
    """Metric that can be formatted as lines of text."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metric, without line ends."""


class Counter:
    """Monotonic counter with one value per combination of label values."""

    def __init__(self, name: str, help: str, labels: Sequence[str] = ()) -> None:
        self._name, self._help, self._labels = name, help, labels
        self._values: dict[tuple[str, ...], int] = {} if labels else {(): 0}

    def add(self, *labels: str) -> None:
        """Increment the value of the given label values."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metric, without line ends."""
        yield from _format_header(self._name, self._help, "counter")
        for values, count in sorted(self._values.items()):
            yield f"{self._name}{_format_labels(self._labels, values)} {count}"


class Gauge:
    """Gauge: current value, which a callable returns."""

    def __init__(self, name: str, help: str, value: Callable[[], float]) -> None:
        self._name, self._help, self._value = name, help, value

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metric, without line ends."""
        yield from _format_header(self._name, self._help, "gauge")
        yield f"{self._name} {self._value():g}"


class Histogram:
    """Histogram with buckets. Each bucket has an inclusive upper bound, and the last bucket has no bound."""

    def __init__(self, name: str, help: str, buckets: Sequence[float]) -> None:
        self._name, self._help, self._buckets = name, help, buckets
        self._counts = [0] * (len(buckets) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count `value` in the bucket that contains it."""
        self._counts[bisect_left(self._buckets, value)] += 1
        self._sum += value

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metric, without line ends."""
        yield from _format_header(self._name, self._help, "histogram")
        total = 0
        for bound, count in zip([*map("{:g}".format, self._buckets), "+Inf"], self._counts, strict=True):
            total += count
            yield f'{self._name}_bucket{{le="{bound}"}} {total}'
        yield f"{self._name}_sum {self._sum:.6f}"
        yield f"{self._name}_count {total}"


def format_metrics(metrics: Iterable[Metric]) -> str:
    """Return the text of all metrics in the exposition format of Prometheus."""
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _format_header(name: str, help: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"


def _format_labels(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True))
    return f"{{{','.join(pairs)}}}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
