"""Labels of a profiler in scripts: `with ts.profiler.record_function("name")` is these two, PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ts._core.dispatch.recorder import end_call, enter_label, leave_label, take_label
from ts._core.tensor.tensor import Tensor
from ts._core.vm.future import Future
from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array


@op("profiler::_record_function_enter(str name, str? args=None) -> Tensor", where="", side_effect=True)
def _record_function_enter(xp: Any, name: str, args: str | None = None) -> Array:
    return xp.asarray(np.asarray(enter_label(name, args)))


@op("profiler::_record_function_exit(Tensor _0) -> ()", where="", side_effect=True)
def _record_function_exit(xp: Any, _0: Array) -> None:
    leave_label(int(_0))


@op(
    "profiler::_call_end_callbacks_on_jit_fut(Tensor x, Future(t) y) -> Future(t)",
    where="", whole=True, side_effect=True,
)  # fmt: skip
def _call_end_callbacks_on_jit_fut(x: Tensor, y: Future[Any]) -> Future[Any]:
    return label_until(int(x.item()), y)


def label_until(number: int, future: Future[Any]) -> Future[Any]:
    """A label that lasts until a future is finished; what the future holds, when the label has ended."""
    if not isinstance(future, Future):
        raise TypeError(f"expected a Future, not {type(future).__name__}")
    event = take_label(number)
    following: Future[Any] = Future()

    def ended(finished: Future[Any]) -> None:
        if event is not None:
            end_call(event, None)
        error = finished.exception()
        following.set_result(finished.value()) if error is None else following.set_exception(error)

    future.add_done_callback(ended)
    return following
