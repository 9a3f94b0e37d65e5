"""Comparison of measurements in tables.

There is one table for each label, with a row for each task and number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable

from ts.utils.benchmark.measurement import (
    Measurement,
    common_figures,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)


class Compare:
    """Table of measurements. `print` prints it, and `str` returns its text."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = self._color = self._warn = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Compare: expected measurements of `Timer.timeit`, got {type(result)}")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Round times to their significant digits.

        The number of digits follows from the spread of measurements.
        """
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Mark the best value of each column, or of each row, with `*`. PyTorch uses colors for this."""
        self._color, self._rowwise = True, rowwise

    def highlight_warnings(self) -> None:
        """Mark times with a wide spread with `!`."""
        self._warn = True

    def print(self) -> None:
        """Print the table."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(m.task_spec.label for m in merged)
        tables = [self._table(label, [m for m in merged if m.task_spec.label == label]) for label in labels]
        return "\n".join(tables)

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        name, unit = select_unit(min(m.median for m in results))
        columns = ordered_unique(m.task_spec.description for m in results)
        measurements = {
            ((m.task_spec.num_threads, m.task_spec.env, m.as_row_name), m.task_spec.description): m
            for m in results
        }
        rows = ordered_unique(row for row, _ in measurements)
        has_several_envs = len({row[1] for row in rows}) > 1
        figures = common_figures(results)
        best = {c: min(m.median for m in results if m.task_spec.description == c) for c in columns}

        def cell(row: tuple[int, str | None, str], column: str | None) -> str:
            m = measurements.get((row, column))
            if m is None:
                return ""
            value = trim_sigfig(m.median / unit, figures) if self._trim else m.median / unit
            smallest = best[column]
            if self._color and self._rowwise:
                smallest = min(measurements[row, c].median for c in columns if (row, c) in measurements)
            mark = "*" if self._color and m.median == smallest else ""
            return f"{value:.1f}{mark}{'!' if self._warn and m.has_warnings else ''}"

        names = {row: f"({row[1]}) {row[2]}" if has_several_envs else row[2] for row in rows}
        first = max([9, *(6 + len(n) for n in names.values())])
        widths = [max([len(c or ""), *(len(cell(row, c)) for row in rows)]) for c in columns]
        header = " " * first + "".join(f"  |  {c or '':^{w}}" for c, w in zip(columns, widths, strict=True))
        title = f" {label or ''} ".center(max(len(header) - 1, 0), "-") if label else "-" * (len(header) - 1)
        lines = [f"[{title}]", header]
        for threads in ordered_unique(row[0] for row in rows):
            lines.append(f"{threads} threads: ".ljust(len(header), "-"))
            for row in rows:
                if row[0] == threads:
                    cells = "".join(f"  |  {cell(row, c):>{w}}" for c, w in zip(columns, widths, strict=True))
                    lines.append(f"      {names[row]:<{first - 6}}{cells}")
        return "\n".join(lines) + f"\n\nTimes are in {unit_to_english(name)}s ({name}).\n"
