"""PyTorch's original profiler and `record_function`. The profiler with schedules is in `ts.profiler`.

The example prints a table of the operators that a model calls:

    with ts.autograd.profiler.profile(record_shapes=True) as prof:
        model(x)
    print(prof.key_averages().table(sort_by="cpu_time_total"))
"""

from __future__ import annotations

from typing import Any

from ts.profiler.averages import EventList, FunctionEventAvg
from ts.profiler.events import FunctionEvent
from ts.profiler.profile import ProfileWindow, kineto_available
from ts.profiler.profiler_ranges import record_function
from ts.unsupported import names_for

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "kineto_available", "profile", "record_function"]


class profile:
    """Context manager that profiles its block if `enabled` is True."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        use_cpu: bool = True,
        **unused: Any,
    ) -> None:
        if unsupported := sorted(name for name, value in unused.items() if value):
            raise NotImplementedError(f"ts.autograd.profiler.profile has no {', '.join(unsupported)}")
        self.enabled = enabled
        self._options = record_shapes, profile_memory, with_stack
        self._recording: ProfileWindow | None = None
        self.entered = False

    def __enter__(self) -> profile:
        if self.enabled:
            if self.entered:
                raise RuntimeError("Profiler context manager is not reentrant")
            self.entered = True
            self._recording = ProfileWindow(*self._options)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self._recording is not None:
            self._recording.stop()

    @property
    def function_events(self) -> EventList:
        """Recorded events. Raises RuntimeError before the end of the block."""
        if self._recording is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._recording.events()

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the self CPU times of all events."""
        return self.function_events.self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Return the events grouped by name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Return the times and counts summed over all events."""
        return self.function_events.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """Return the events as a text table."""
        return self.function_events.table(*args, **kwargs)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._recording is None else self.table()

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events in the format of chrome://tracing."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with times for a flame graph, in the input format of `flamegraph.pl`."""
        self.function_events.export_stacks(path, metric)


__getattr__ = names_for(__name__)
