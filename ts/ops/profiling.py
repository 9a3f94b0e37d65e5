"""Operators for profiler labels in scripts, called by `with ts.profiler.record_function("name")`.

The first operator starts a label and returns a handle. The second operator ends the label:

    handle = ts.ops.profiler._record_function_enter_new("name")
    ts.ops.profiler._record_function_exit(handle)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ts._core.dispatch.profiler_recorder import end_call, enter_label, leave_label, take_label
from ts._core.tensor.tensor import Tensor
from ts._core.vm.future import Future
from ts.ir.types import CUSTOM_CLASSES
from ts.ops import common
from ts.ops.registry import op

Array = common.Array
_CLASS_NAME: Final = "__torch__.torch.classes.profiler._RecordFunction"
RECORD_FUNCTION_TYPE: Final = CUSTOM_CLASSES[_CLASS_NAME]  # script type of `RecordFunction`


class RecordFunction:
    """Handle of an active profiler label. In traced graphs, its type is a custom class."""

    __ts_type__ = RECORD_FUNCTION_TYPE

    def __init__(self, label: int) -> None:
        self.label = label

    def __repr__(self) -> str:
        return "<torch.classes.profiler._RecordFunction>"


def _require_record_function(record: Any) -> RecordFunction:
    """Return `record`, or raise TypeError if it is not a RecordFunction."""
    if not isinstance(record, RecordFunction):
        raise TypeError(f"expected a value of type '{_CLASS_NAME}', not {type(record).__name__}")
    return record


@op("profiler::_record_function_enter(str name, str? args=None) -> Tensor", side_effect=True)
def _record_function_enter(xp: Any, name: str, args: str | None = None) -> Array:
    return xp.asarray(np.asarray(enter_label(name, args)))


@op(
    f"profiler::_record_function_enter_new(str name, str? args=None) -> {_CLASS_NAME}",
    tensor_kernel=True, side_effect=True,
)  # fmt: skip
def _record_function_enter_new(name: str, args: str | None = None) -> RecordFunction:
    return RecordFunction(enter_label(name, args))


@op("profiler::_record_function_exit(Tensor _0) -> ()", side_effect=True)
def _record_function_exit(xp: Any, _0: Array) -> None:
    leave_label(int(_0))


@op(
    f"profiler::_record_function_exit._RecordFunction({_CLASS_NAME} record) -> ()",
    tensor_kernel=True, side_effect=True,
)  # fmt: skip
def _record_function_exit_object(record: RecordFunction) -> None:
    leave_label(_require_record_function(record).label)


@op(
    "profiler::_call_end_callbacks_on_jit_fut(Tensor x, Future(t) y) -> Future(t)",
    tensor_kernel=True, side_effect=True,
)  # fmt: skip
def _call_end_callbacks_on_jit_fut(x: Tensor, y: Future[Any]) -> Future[Any]:
    return label_until(int(x.item()), y)


@op(
    f"profiler::_call_end_callbacks_on_jit_fut._RecordFunction({_CLASS_NAME} x, Future(t) y) -> Future(t)",
    tensor_kernel=True, side_effect=True,
)  # fmt: skip
def _call_end_callbacks_of_object(x: RecordFunction, y: Future[Any]) -> Future[Any]:
    return label_until(_require_record_function(x).label, y)


def label_until(label: int, future: Future[Any]) -> Future[Any]:
    """End the profiler label with handle `label` when `future` completes.

    Return a future that completes after the label has ended, with the value or exception of `future`.
    """
    if not isinstance(future, Future):
        raise TypeError(f"expected a Future, not {type(future).__name__}")
    event = take_label(label)
    following: Future[Any] = Future()

    def ended(finished: Future[Any]) -> None:
        if event is not None:
            end_call(event, None)
        error = finished.exception()
        following.set_result(finished.value()) if error is None else following.set_exception(error)

    future.add_done_callback(ended)
    return following
