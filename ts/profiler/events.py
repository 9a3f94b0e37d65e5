"""Profiler events of class `FunctionEvent`, created from recorded events, as an event tree by time.

The parent of an event is the innermost event on the same thread whose time range contains it. In the example,
`forward` is the parent (`cpu_parent`) of the two other events:

    forward                 0 .. 90 us
      aten::linear          5 .. 60
      fused relu_mul       61 .. 80

An operator of a script may begin a label. It then overlaps the label, and neither event contains the other.
Calls to other processes (`is_async`) have no parent or children, because the thread continues while it waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

from ts import backends
from ts._core.dispatch.operator import Operator
from ts._core.dispatch.profiler_recorder import Event, library_of


class DeviceType(Enum):
    """Device type of an event."""

    CPU = 0
    CUDA = 1


@dataclass
class Interval:
    """Time interval in microseconds since the start of the recording."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Return the duration in microseconds."""
        return self.end - self.start


@dataclass(eq=False)
class FunctionEvent:
    """Profiler event with PyTorch's attribute names. Times are in microseconds, memory is in bytes."""

    id: int
    name: str
    # "operator", "function", "label" (`record_function`), "stage" (of the compiler) or "call" (RPC)
    kind: str
    thread: int
    time_range: Interval
    overload_name: str = ""
    input_shapes: list[Any] = field(default_factory=list)
    input_types: list[str] = field(default_factory=list)
    # Frames, innermost first: those of scripts, then those of Python
    stack: list[str] = field(default_factory=list)
    detail: str = ""
    kernel: str = ""  # implementation: a kernel module such as `kernels.reduce`, or `numpy`
    source: str = ""  # line of the script that caused the event
    cpu_memory_usage: int = 0
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    count: int = 1
    device_type: DeviceType = DeviceType.CPU
    is_async: bool = False
    is_remote: bool = False

    @property
    def key(self) -> str:
        """Key for averages, which is the name of the event."""
        return self.name

    @property
    def is_user_annotation(self) -> bool:
        """True if the event is a label that the user defined."""
        return self.kind == "label"

    @property
    def cpu_time_total(self) -> float:
        """Duration in microseconds."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Duration without children's durations, in microseconds."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Number of bytes that this event, without its children, allocated minus those that it freed."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    cpu_time = cpu_time_total
    device_time = device_time_total = self_device_time_total = property(lambda self: 0.0)


def function_events(raw_events: Iterable[Event], origin: int) -> list[FunctionEvent]:
    """Convert recorded events to FunctionEvents, sorted by start.

    Their times are relative to `origin`, a time in nanoseconds.
    """
    events: list[FunctionEvent] = []
    threads: dict[int, int] = {}
    for raw in raw_events:
        if name_of(raw).startswith("profiler::"):
            # Scripts begin and end labels by these operators. They are skipped, because a label has an event
            # of its own.
            continue
        end = max(raw.end, raw.start)  # an unfinished event has length 0
        interval = Interval((raw.start - origin) / 1e3, (end - origin) / 1e3)
        thread = threads.setdefault(raw.thread, len(threads) + 1)
        event = FunctionEvent(len(events) + 1, name_of(raw), raw.kind, thread, interval)
        event.detail = "" if raw.detail is None else str(raw.detail)
        event.is_async = raw.kind == "call"
        if isinstance(raw.what, Operator):
            event.overload_name = raw.what.overload
            event.kernel = kernel_of(raw)
        if raw.inputs is not None:
            event.input_shapes = [_sizes(each) for each in raw.inputs]
            event.input_types = [_dtype(each) for each in raw.inputs]
        if raw.code is not None:
            stack = raw.code.lines[raw.code.number_at(raw.instruction)] if raw.code.lines else ()
            event.stack = [_frame(name, range) for name, range in reversed(stack) if range is not None]
            event.source = event.stack[0] if event.stack else ""
        event.stack += [f"{file}({line}): {name}" for file, line, name in raw.stack or ()]
        if raw.bytes_after >= 0 and raw.bytes_before >= 0:
            event.cpu_memory_usage = raw.bytes_after - raw.bytes_before
        events.append(event)
    nest(events)
    return events


def nest(events: Iterable[FunctionEvent]) -> None:
    """Set `cpu_parent` and `cpu_children` of events in order of start, by the time ranges."""
    open: dict[int, list[FunctionEvent]] = {}
    for event in events:
        enclosing_events = open.setdefault(event.thread, [])
        if event.is_async:
            continue
        while enclosing_events and not _inside(event.time_range, enclosing_events[-1].time_range):
            enclosing_events.pop()
        if enclosing_events:
            event.cpu_parent = enclosing_events[-1]
            enclosing_events[-1].cpu_children.append(event)
        enclosing_events.append(event)


def _inside(inner: Interval, outer: Interval) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and inner.start < outer.end


def name_of(raw: Event) -> str:
    """Return the name of an event for display."""
    subject = raw.what
    if isinstance(subject, Operator):
        program = getattr(subject.record, "program", None)
        if program is not None:
            return f"fused {program.name}" if raw.answer is not False else f"not fused {program.name}"
        return subject.name
    return subject if isinstance(subject, str) else str(getattr(subject, "name", subject))


def kernel_of(raw: Event) -> str:
    """Return the name of the kernel or array library that computed an operator, or "" if it is unknown.

    If a C kernel was called, its name is returned, even if it then called the kernel of the operator record.
    """
    if raw.backend >= 0:
        backend = backends.at(raw.backend)
        library = str(backend.array_type.__module__).partition(".")[0]
        return library if library != "ts" else backend.name
    return _library(raw.kernel) if raw.kernel and raw.answer is not False else ""


@cache
def _library(address: int) -> str:
    path = PurePath(library_of(address))
    return f"{path.parent.name}.{path.name.partition('.')[0]}"


def _sizes(described: Any) -> list[Any]:
    if isinstance(described, list):
        return [_sizes(each) for each in described]
    return [] if described is None else list(described[0])


def _dtype(described: Any) -> str:
    if isinstance(described, list):
        return "TensorList"
    return "" if described is None else described[1]


def _frame(name: str, range: Any) -> str:
    return f"{range.source.filename or '<string>'}({range.line}): {name}"


def walk(events: Iterable[FunctionEvent]) -> Iterator[FunctionEvent]:
    """Return an iterator over the events that have no parent."""
    return (event for event in events if event.cpu_parent is None)
