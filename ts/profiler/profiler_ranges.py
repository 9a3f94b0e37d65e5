"""Labeled ranges (tracing spans) of a profile.

A profile shows the label of a block as an event that contains the events of the block:

    with record_function("attention"):
        y = model(x)

Labels are context managers in scripts and Python, and also decorators in Python. `ts.jit.trace` records them
as operators.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional, ParamSpec, TypeVar

from ts import ops
from ts._core.dispatch.profiler_recorder import enter_label, leave_label
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts._core.vm.future import Future
from ts.ops.profiling import RecordFunction, label_until

P = ParamSpec("P")
R = TypeVar("R")


class _ScriptRecordFunction:
    """Class that represents `record_function` in scripts."""

    __module__ = "torch.autograd.profiler"
    __ts_name__ = "record_function"

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.handle: Optional[Tensor] = None  # noqa: UP045 -- the type in TorchScript

    def __enter__(self) -> _ScriptRecordFunction:
        self.handle = ops.profiler._record_function_enter(self.name, self.args)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        handle = self.handle
        if handle is not None:
            ops.profiler._record_function_exit(handle)


class record_function:
    """Context manager and decorator that labels a range of a profile."""

    __ts_script_class__ = _ScriptRecordFunction

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._labels: list[int | RecordFunction] = []  # one entry for each active `with` block

    def __enter__(self) -> record_function:
        enter = enter_label if current_tracer() is None else ops.profiler._record_function_enter_new
        self._labels.append(enter(self.name, self.args))
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        # After a call of `_call_end_callbacks_on_future`, which ends the label later, the list is empty.
        if self._labels:
            label = self._labels.pop()
            leave_label(label) if isinstance(label, int) else ops.profiler._record_function_exit(label)

    def _call_end_callbacks_on_future(self, fut: Future[Any]) -> Future[Any]:
        """End the label when the future `fut` completes, instead of at the end of the `with` block.

        Return a future with the same value, which completes after the end of the label.
        """
        if not self._labels:
            raise RuntimeError("_call_end_callbacks_on_future can only be called once.")
        label = self._labels.pop()
        return label_until(label if isinstance(label, int) else label.label, fut)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose calls are ranges with this label."""

        @functools.wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return inside
