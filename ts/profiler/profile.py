"""Profiler of a block, or of the steps of a program that a schedule selects.

Here, the profiler skips one step, warms up for one step, records two steps, and then calls `show`:

    with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=show) as prof:
        for batch in batches:
            model(batch)
            prof.step()
"""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ts._core.dispatch.profiler_recorder import Recorder, enter_label, leave_label
from ts.profiler import chrome
from ts.profiler.averages import EventList
from ts.profiler.events import function_events
from ts.profiler.schedule import ProfilerAction

Schedule = Callable[[int], ProfilerAction]


class ProfilerActivity(Enum):
    """Activities of PyTorch's profiler, of which `ts` records only CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that `ts` records."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Return False, because Kineto, PyTorch's library for device traces, is not available."""
    return False


class ProfileWindow:
    """Time window that was recorded, with its events."""

    def __init__(self, record_shapes: bool, profile_memory: bool, with_stack: bool) -> None:
        self.profile_memory = profile_memory
        self._recorder = Recorder(record_shapes, with_stack, profile_memory)
        self._origin = time.perf_counter_ns()
        self._events: EventList | None = None
        self._recorder.start()

    def stop(self) -> None:
        """End the recording."""
        if self._recorder.at_work:
            self._recorder.stop()

    def events(self) -> EventList:
        """Return all events in order of start. Raise RuntimeError during the recording."""
        if self._recorder.at_work:
            raise RuntimeError("the profiler is still recording; events are available after it has stopped")
        if self._events is None:
            events = function_events(self._recorder.events, self._origin)
            self._events = EventList(events, profile_memory=self.profile_memory)
        return self._events

    @property
    def peak_bytes(self) -> int:
        """Maximum memory allocated during the recording, in bytes."""
        return self._recorder.peak_bytes


class profile:
    """Context manager that profiles operators, fusion groups, functions, labels and compiler stages."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Schedule | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        unsupported = {"with_flops": with_flops, "experimental_config": experimental_config is not None}
        unsupported["execution_trace_observer"] = execution_trace_observer is not None
        for name, value in unsupported.items():
            if value:
                raise NotImplementedError(f"ts.profiler.profile: {name} is unsupported")
        self.activities = set(supported_activities() if activities is None else activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        if use_cuda or self.activities - supported_activities():
            warnings.warn("only CPU activities are recorded; device activities are unsupported", stacklevel=2)
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self._metadata: dict[str, Any] = {}
        self._recording: ProfileWindow | None = None
        self._label = -1  # id of the label event of the current step, or -1 if there is none

    # ---- start and stop -----------------------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Start the profiler at step 0."""
        self.step_num = 0
        self._begin(self._action())

    def stop(self) -> None:
        """Stop the profiler, after which the recorded events are available."""
        action = self._action()
        self._end_step()
        if self._recording is not None:
            self._recording.stop()
        if action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._ready()

    def step(self) -> None:
        """Mark the beginning of the next step."""
        before = self._action()
        self._end_step()
        self.step_num += 1
        after = self._action()
        if before is ProfilerAction.RECORD_AND_SAVE and self.schedule is not None:
            self._stop_recording()
            self._ready()
            self._begin(after)
        elif (
            before is ProfilerAction.NONE
            or after is ProfilerAction.NONE
            or (before is ProfilerAction.WARMUP and after is not ProfilerAction.WARMUP)
        ):
            self._stop_recording()
            self._begin(after)
        else:
            self._begin_step()

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Ignore the callback, because traces of `ts` have no id."""

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def _begin(self, action: ProfilerAction) -> None:
        if action is ProfilerAction.NONE:
            return
        self._recording = ProfileWindow(self.record_shapes, self.profile_memory, self.with_stack)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.schedule is not None or self.step_num:
            self._label = enter_label(f"ProfilerStep#{self.step_num}")

    def _end_step(self) -> None:
        leave_label(self._label)
        self._label = -1

    def _stop_recording(self) -> None:
        if self._recording is not None:
            self._recording.stop()

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- results ------------------------------------------------------------------------------------

    def _finished_recording(self) -> ProfileWindow:
        if self._recording is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        return self._recording

    def events(self) -> EventList:
        """Return all events of the last recording, in order of start."""
        return self._finished_recording().events()

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Return the events grouped by name."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    @property
    def peak_memory(self) -> int:
        """Peak number of bytes that the thread had allocated while recording. Requires `profile_memory`."""
        return self._finished_recording().peak_bytes

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events in the format of chrome://tracing. If the name ends in `.gz`, compress them."""
        facts: dict[str, Any] = {
            "profile_memory": int(self.profile_memory),
            "record_shapes": int(self.record_shapes),
        }
        facts |= {"with_stack": int(self.with_stack), "traceName": str(path)}
        chrome.write(path, chrome.trace(self.events(), {**facts, **self._metadata}))

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with times for a flame graph, in the input format of `flamegraph.pl`."""
        self.events().export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a string to the metadata of the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the metadata of the trace."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value, like `add_metadata_json`."""
        self.add_metadata_json(key, value)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return a function for `on_trace_ready` that writes each trace to a new file in `dir_name`."""

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler
