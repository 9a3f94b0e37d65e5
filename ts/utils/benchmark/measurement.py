"""Result of a timer (median, interquartile range, significant digits).

A `Measurement` contains the seconds of each block of runs, and the task that was measured.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ENGLISH: Final = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
_MIN_SPREAD_SAMPLES: Final = 4  # minimum number of measurements to print a spread
_WIDE_SPREAD_RATIO: Final = 0.1  # a warning is printed if the spread divided by the median exceeds this
_VERY_WIDE_SPREAD_RATIO: Final = 0.25


def select_unit(t: float) -> tuple[str, float]:
    """Return a unit for printing a time of `t` seconds, and the length of this unit in seconds."""
    name = list(_UNITS)[max(min(int(math.log10(t) // 3) + 3, 3), 0)] if t > 0 else "ns"
    return name, _UNITS[name]


def unit_to_english(u: str) -> str:
    """Return the English name of a unit."""
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Round `x` to `n` significant digits."""
    if x == 0:
        return 0.0
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


@dataclass(frozen=True)
class TaskSpec:
    """Task that was measured: statements, labels for tables, number of threads."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Text of the label and sublabel, or of the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt if "\n" not in self.stmt else f"stmt:{_indent(self.stmt)}"

    def setup_str(self) -> str:
        """Return the setup statement formatted for printing."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:{_indent(self.setup)}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return the first lines of a measurement's text: title, description and setup, if not empty."""
        lines = [self.title, self.description or "", self.setup_str()]
        return "\n".join(line for line in lines if line)


def _indent(source: str) -> str:
    return "".join(f"\n  {line}" for line in source.splitlines())


@dataclass(repr=False)
class Measurement:
    """Times of a statement: `raw_times` in seconds, each for `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__ or name == "title":
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds of a single run, for each measured time."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """Median time in seconds."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Mean time in seconds."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """Interquartile range in seconds."""
        low, high = np.quantile(self.times, [0.25, 0.75])
        return float(high - low)

    @property
    def significant_figures(self) -> int:
        """Number of significant decimal digits of the median, from 1 to 5.

        A digit is significant if its place value (1, 0.1, ...) is greater than half of the width of a
        confidence interval. It is the 90 % interval of the mean, computed from the quartiles, as for normally
        distributed times.
        """
        n = len(self.raw_times)
        lower, upper = np.quantile(self.times, [0.25, 0.75])
        error = float(upper - lower) / 1.35 * 1.645 / math.sqrt(n)
        if error == 0.0 or self.median == 0.0:
            return 1 if n == 1 else 5
        return int(min(max(math.floor(-math.log10(error / self.median)), 1), 5))

    @property
    def has_warnings(self) -> bool:
        """True if the spread of the times is so wide that a warning is printed."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE_SPREAD_RATIO) -> bool:
        """Return True if the interquartile range is less than `threshold` times the median."""
        return len(self.raw_times) < 2 or self.iqr / self.median < threshold

    @property
    def as_row_name(self) -> str:
        """Label of the row of this task in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        name, unit = select_unit(self.median)
        count, single = len(self.raw_times), len(self.raw_times) == 1
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'' if single else 'Median: '}{self.median / unit:.2f} {name}")
        if count >= _MIN_SPREAD_SAMPLES:
            low, high = np.quantile(self.times, [0.25, 0.75]) / unit
            lines.append(f"  IQR:    {self.iqr / unit:.2f} {name} ({low:.2f} to {high:.2f})")
        runs = f"{self.number_per_run} runs {'' if single else 'per measurement'}"
        threads = self.task_spec.num_threads
        measured = f"{count} measurement{'' if single else 's'}"
        lines.append(f"  {measured}, {runs}, {threads} thread{'' if threads == 1 else 's'}")
        if not self.meets_confidence():
            relative_iqr = self.iqr / self.median
            advice = (
                "This suggests significant environmental influence."
                if relative_iqr > _VERY_WIDE_SPREAD_RATIO
                else "This could indicate system fluctuation."
            )
            lines.append(
                f"  WARNING: Interquartile range is {relative_iqr * 100:.1f}% of the median measurement."
            )
            lines.append(f"           {advice}")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Merge the measurements of each task into one measurement."""
        times_by_task: dict[TaskSpec, list[float]] = {}
        for m in measurements:
            times_by_task.setdefault(m.task_spec, []).extend(m.times)
        return [Measurement(1, times, spec) for spec, times in times_by_task.items()]


def ordered_unique(items: Iterable[Any]) -> list[Any]:
    """Return the distinct items in order of first occurrence."""
    return list(dict.fromkeys(items))


def common_figures(measurements: Sequence[Measurement]) -> int:
    """Return the smallest number of significant digits among the measurements."""
    return min(m.significant_figures for m in measurements)
