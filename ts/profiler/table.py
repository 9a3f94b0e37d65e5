"""Tables of profiler events, with PyTorch's columns.

Each row describes the events of one name. The first lines of a table are:

    ------------  ------------  ------------  ...
            Name    Self CPU %      Self CPU  ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}
_SORT_KEYS = (
    "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count",
    "cuda_time", "device_time", "cuda_time_total", "device_time_total", "self_cuda_time_total",
    "self_device_time_total",
)  # fmt: skip


class _Column(NamedTuple):
    title: str
    cell: Callable[[Any], str]


def table(
    rows: Sequence[Any],
    sort_by: str | None,
    row_limit: int,
    widths: tuple[int, int, int],
    header: str | None,
    memory: bool,
    shapes: bool,
    unit: str | None,
) -> str:
    """Return the text of a table.

    row_limit  maximum number of rows, or -1 for all
    widths     maximum widths of the columns of names, shapes and sources
    """
    if not rows:
        return ""
    if sort_by is not None:
        if sort_by not in _SORT_KEYS:
            raise ValueError(f"cannot sort by {sort_by!r}; expected one of: {', '.join(_SORT_KEYS)}")
        rows = sorted(rows, key=lambda row: getattr(row, sort_by.replace("cuda", "device")), reverse=True)
    if unit is not None and unit not in _UNITS:
        raise ValueError(f"time_unit must be one of {', '.join(_UNITS)}, not {unit!r}")
    total = sum(row.self_cpu_time_total for row in rows)
    columns = _columns(rows, total, widths, memory, shapes, unit)
    visible_rows = rows if row_limit < 0 else rows[:row_limit]
    cells = [[column.cell(row) for column in columns] for row in visible_rows]
    column_widths = [
        max([len(column.title), *(len(line[i]) for line in cells)]) + 2 for i, column in enumerate(columns)
    ]
    ruler = "  ".join("-" * length for length in column_widths)
    lines = [ruler, _line([column.title for column in columns], column_widths), ruler]
    lines += [_line(line, column_widths) for line in cells]
    lines += [ruler, f"Self CPU time total: {time_text(total, unit)}", ""]
    if header is not None:
        lines = ["=" * len(ruler), header, *lines]
    return "\n".join(lines)


def _columns(
    rows: Sequence[Any],
    total: float,
    widths: tuple[int, int, int],
    memory: bool,
    shapes: bool,
    unit: str | None,
) -> list[_Column]:
    def share(time: float) -> str:
        return f"{100 * time / total:.2f}%" if total else "0.00%"

    columns = [
        _Column("Name", lambda row: truncate(row.key, widths[0])),
        _Column("Self CPU %", lambda row: share(row.self_cpu_time_total)),
        _Column("Self CPU", lambda row: time_text(row.self_cpu_time_total, unit)),
        _Column("CPU total %", lambda row: share(row.cpu_time_total)),
        _Column("CPU total", lambda row: time_text(row.cpu_time_total, unit)),
        _Column("CPU time avg", lambda row: time_text(row.cpu_time, unit)),
    ]
    if memory:
        columns.append(_Column("CPU Mem", lambda row: memory_text(row.cpu_memory_usage)))
        columns.append(_Column("Self CPU Mem", lambda row: memory_text(row.self_cpu_memory_usage)))
    if any(row.kernel for row in rows):
        columns.append(_Column("Kernel", lambda row: truncate(row.kernel, widths[0])))
    columns.append(_Column("# of Calls", lambda row: str(row.count)))
    if shapes:
        columns.append(_Column("Input Shapes", lambda row: truncate(str(row.input_shapes), widths[1])))
    if any(row.source for row in rows):
        columns.append(
            _Column("Source Location", lambda row: truncate(row.source.partition("\n")[0], widths[2]))
        )
    return columns


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.rjust(length) for cell, length in zip(cells, widths, strict=True)).rstrip()


def truncate(cell: str, width: int) -> str:
    """Truncate text to `width` characters. A width of 0 or less means no limit."""
    return cell if width <= 0 or len(cell) <= width else f"{cell[: max(width - 3, 0)]}..."


def time_text(microseconds: float, unit: str | None = None) -> str:
    """Format a time in `unit`, or, without it, in a suitable unit."""
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


def memory_text(size: int) -> str:
    """Format a number of bytes in a suitable unit."""
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(size) >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} B"
