"""Operators whose results have sizes, or are numbers, that follow from data: symbols without an example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import sympy

from ts import dtypes
from ts._core.tensor.symbols import Symbolic, SymInt
from ts._core.tensor.tensor import Tensor
from ts.export.fake import device_of, fake_array, standing
from ts.export.nodes import symbol_of

if TYPE_CHECKING:
    from ts.export.recorder import Recorder

Rule = Callable[["Recorder", Any, list[Any]], Any]


def _length(recorder: Recorder, x: Tensor) -> Any:
    """The symbol of a size that nobody knows: at most the number of elements of `x`."""
    environment = recorder.environment
    with recorder.paused():
        count = x.array.size
    most = environment.between(count.node.expr).high if isinstance(count, Symbolic) else count
    return symbol_of(environment.unbacked(is_size=True, most=most), environment)


def _item(recorder: Recorder, op: Any, values: list[Any]) -> Any:
    x = values[0]
    environment = recorder.environment
    if x.dtype.category == dtypes.FLOATING:
        return symbol_of(environment.unbacked_float(), environment)
    found = environment.unbacked()
    if x.dtype is dtypes.bool_:
        return symbol_of(sympy.Eq(found, 1), environment)
    return symbol_of(found, environment)


def _nonzero(recorder: Recorder, op: Any, values: list[Any]) -> Any:
    x = values[0]
    n = _length(recorder, x)
    return standing(fake_array((n, x.ndim), "int64", (1, n)), device_of(x))


def _masked_select(recorder: Recorder, op: Any, values: list[Any]) -> Any:
    x = values[0]
    return standing(fake_array((_length(recorder, x),), x.array.dtype), device_of(x), x.requires_grad)


def _index(recorder: Recorder, op: Any, values: list[Any]) -> Any:
    """Masks are where they are true."""
    x, indices = values
    if not any(isinstance(i, Tensor) and i.dtype in (dtypes.bool_, dtypes.uint8) for i in indices):
        return None
    places: list[Any] = []
    for i in indices:
        if isinstance(i, Tensor) and i.dtype in (dtypes.bool_, dtypes.uint8):
            n = _length(recorder, i)
            places += [standing(fake_array((n,), "int64"), device_of(x)) for _ in range(i.ndim)]
        else:
            places.append(i)
    return recorder.computed(op, [x, places])


def _slice(recorder: Recorder, op: Any, values: list[Any]) -> Any:
    """A slice that ends at a number of data has a size of data."""
    x, dim, start, end, step = values
    environment = recorder.environment
    if (
        not isinstance(end, SymInt)
        or environment.has_hint(end.node.expr)
        or start not in (0, None)
        or step != 1
    ):
        return None
    dim = dim % x.ndim
    size = x.array.shape[dim]
    length = size.node.expr if isinstance(size, SymInt) else size
    if environment.known(sympy.And(end.node.expr >= 0, end.node.expr <= length)):
        return None
    most = size if isinstance(size, int) else environment.between(size.node.expr).high
    made = symbol_of(environment.unbacked(is_size=True, most=most), environment)
    shape, strides = list(x.array.shape), [s // x.array.itemsize for s in x.array.strides]
    shape[dim] = made
    return standing(fake_array(shape, x.array.dtype, strides), device_of(x), x.requires_grad)


RULES: Mapping[str, Rule] = {
    "aten::item": _item,
    "aten::_local_scalar_dense": _item,
    "aten::nonzero": _nonzero,
    "aten::masked_select": _masked_select,
    "aten::index": _index,
    "aten::slice": _slice,
}
