"""Sums, averages and tables of profiler events by name.

events.key_averages().table(sort_by="self_cpu_time_total")
events.total_average()
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ts.profiler.events import FunctionEvent, walk


@dataclass(eq=False)
class FunctionEventAvg:
    """Sum of profiler events with equal keys. Times are in microseconds, memory is in bytes."""

    key: str = "Total"
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    input_shapes: str = ""
    overload_name: str = ""
    source: str = ""
    kernel: str = ""  # distinct kernel names of the events, in order of first occurrence
    stack: list[str] = field(default_factory=list)
    is_async: bool = False
    is_remote: bool = False
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        """Mean time per event, in microseconds."""
        return self.cpu_time_total / self.count if self.count else 0.0

    device_time = device_time_total = self_device_time_total = property(lambda self: 0.0)

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event or another sum to this sum."""
        self.count += other.count
        self.cpu_time_total += _outermost_time(other)
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        kernels = [*self.kernel.split(", "), *other.kernel.split(", ")]
        self.kernel = ", ".join(dict.fromkeys(filter(None, kernels)))
        return self

    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        return self.add(other)


def _outermost_time(event: FunctionEvent | FunctionEventAvg) -> float:
    """Return the time of an event. Return 0 if it is nested in an event of the same name."""
    parent = getattr(event, "cpu_parent", None)
    while parent is not None:
        if parent.key == event.key:
            return 0.0
        parent = parent.cpu_parent
    return event.cpu_time_total


class EventList(list[Any]):
    """List of events, or of averages of events."""

    def __init__(
        self, events: Iterable[Any] = (), *, profile_memory: bool = False, by_shape: bool = False
    ) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory
        self._by_shape = by_shape

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Group events by name and, optionally, by input shapes, stack or overload name."""
        averages: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shape else ""
            overload = event.overload_name if group_by_overload_name else ""
            stack = event.stack[:group_by_stack_n] if group_by_stack_n > 0 else []
            key = event.key, shapes, overload, tuple(stack)
            if key not in averages:
                averages[key] = FunctionEventAvg(
                    event.key, input_shapes=shapes, overload_name=overload, stack=stack
                )
                averages[key].source = "\n".join(stack)
                averages[key].is_user_annotation = event.is_user_annotation
            averages[key].add(event)
        return EventList(
            averages.values(), profile_memory=self._profile_memory, by_shape=group_by_input_shape
        )

    def total_average(self) -> FunctionEventAvg:
        """Return the sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """Total self time of all events, in microseconds."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Format the rows as a text table, sorted in descending order of the column `sort_by`."""
        from ts.profiler.table import table

        rows = list(walk(self)) if top_level_events_only and not _are_averages(self) else list(self)
        widths = max_name_column_width, max_shapes_column_width, max_src_column_width
        return table(
            rows, sort_by, row_limit, widths, header, self._profile_memory, self._by_shape, time_unit
        )

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events in the format of chrome://tracing."""
        from ts.profiler.chrome import trace, write

        write(path, trace(self))

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with times for a flame graph, in the input format of `flamegraph.pl`."""
        if metric not in ("self_cpu_time_total", "cpu_time_total"):
            raise ValueError(f"metric should be self_cpu_time_total or cpu_time_total, not {metric!r}")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                if event.stack and int(getattr(event, metric)) > 0:
                    frames = ";".join(
                        frame.replace(";", ",").replace("\n", " ") for frame in reversed(event.stack)
                    )
                    file.write(f"{frames} {int(getattr(event, metric))}\n")

    def __str__(self) -> str:
        return self.table()


def _are_averages(events: list[Any]) -> bool:
    return bool(events) and isinstance(events[0], FunctionEventAvg)
