"""What is counted, in Prometheus' text format.

requests = Counter("ts_serve_requests_total", "Requests.", ("path", "status"))
requests.add("/predict", "200")
text([requests, ...])
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)


class Metric(Protocol):
    """Something that is counted."""

    def lines(self) -> Iterator[str]:
        """Its part of the text."""


class Counter:
    """Numbers that only grow, by labels of which there are few."""

    def __init__(self, name: str, help: str, labels: Sequence[str] = ()) -> None:
        self._name, self._help, self._labels = name, help, labels
        self._values: dict[tuple[str, ...], int] = {} if labels else {(): 0}

    def add(self, *labels: str) -> None:
        """One more."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def lines(self) -> Iterator[str]:
        """Its part of the text."""
        yield from _head(self._name, self._help, "counter")
        for values, count in sorted(self._values.items()):
            yield f"{self._name}{_labelled(self._labels, values)} {count}"


class Gauge:
    """A number that is asked for."""

    def __init__(self, name: str, help: str, value: Callable[[], float]) -> None:
        self._name, self._help, self._value = name, help, value

    def lines(self) -> Iterator[str]:
        """Its part of the text."""
        yield from _head(self._name, self._help, "gauge")
        yield f"{self._name} {self._value():g}"


class Histogram:
    """How often a number was how large."""

    def __init__(self, name: str, help: str, bounds: Sequence[float]) -> None:
        self._name, self._help, self._bounds = name, help, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self) -> Iterator[str]:
        """Its part of the text."""
        yield from _head(self._name, self._help, "histogram")
        total = 0
        for bound, count in zip([*map("{:g}".format, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            yield f'{self._name}_bucket{{le="{bound}"}} {total}'
        yield f"{self._name}_sum {self._sum:.6f}"
        yield f"{self._name}_count {total}"


def text(metrics: Iterable[Metric]) -> str:
    """All of them."""
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _head(name: str, help: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"


def _labelled(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return f"{{{','.join(pairs)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
