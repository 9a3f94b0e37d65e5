"""Emission of subscripts, read and written: `x[i]`, `x[a:b]`, `x[..., None, 0]`.

Subscripts (left) become nodes (right), for a list `xs`, a tuple `t` and a tensor `x`:

    xs[i]            aten::__getitem__
    xs[a:]           aten::slice
    t[1]             prim::TupleIndex
    t[1:]            prim::TupleConstruct of the elements
    x[0, 1:, None]   aten::select, aten::slice, aten::unsqueeze, from left to right
    x[mask]          aten::index
    x[mask] = y      aten::index_put_

After an ellipsis, dimensions are counted from the last one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.subscripts import ELLIPSIS, INTEGER, NEW_DIM, SLICE, parse_subscript
from ts._core.tensor.subscripts import TENSOR as TENSOR_ITEM
from ts.errors import CompilationError, NotSupportedError
from ts.frontend.ir_emitter.emitter import Emitter, sugared
from ts.frontend.schema_matching import (
    Actual,
    Literal,
    construct_list,
    construct_tuple,
    convertible_to_list,
    emit_builtin_call,
)
from ts.frontend.sugared_values.classes import call_operator_method
from ts.frontend.sugared_values.iterables import IterableTree, RangeValue, SliceValue
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredValue, tuple_index
from ts.ir.source import SourceRange
from ts.ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    OBJECT_TYPES,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)  # fmt: skip
from ts.ir.value import Value

_INT64_CODE = 4  # ScalarType number of int64
_OPTIONAL_TENSOR = OptionalType(TENSOR)


def index_expressions(em: Emitter, node: ast.Subscript) -> list[ast.expr]:
    """Return the index expressions between the brackets, with `...` for the name `Ellipsis`."""
    index = node.slice
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    return [
        ast.copy_location(ast.Constant(...), each)
        if isinstance(each, ast.Name) and each.id == "Ellipsis" and not em.scope.is_defined(each.id)
        else each
        for each in indices
    ]


def _is_ellipsis(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value is ...


# ---- reading of subscripts -------------------------------------------------------------------------


@sugared(ast.Subscript)
def emit_subscript(em: Emitter, node: ast.Subscript, n_binders: int, hint: Type | None) -> SugaredValue:
    """Emit `value[...]`: tensor indexing, an item or slice of a container, or `__getitem__`."""
    base = em.sugared(node.value)
    range = em.range(node)
    base_range = em.range(node.value)
    indices = index_expressions(em, node)
    is_tensor = base.simple is not None and base.simple.type().is_subtype_of(TENSOR)
    if len(indices) != 1 or (_is_ellipsis(indices[0]) and is_tensor):
        return SimpleValue(_index_tensor(em, range, base.as_value(em, base_range), indices))
    index = indices[0]
    if isinstance(index, ast.Slice):
        sliced = base.slice(em, range, _bounds(em, index)) if base.unrolled else None
        if sliced is not None:
            return sliced
        value = base.as_value(em, base_range)
        dim = em.constant(0, range) if value.type().is_subtype_of(TENSOR) else None
        return SimpleValue(_slice(em, range, value, dim, _bounds(em, index)))
    value_or_none = base.simple
    if value_or_none is not None and value_or_none.type().is_subtype_of(TENSOR):
        # PyTorch emits the index twice for tensors: emit it here, too, so that values have the same numbers.
        em.emit_again(lambda: em.sugared(index, 1, NONE if _is_none(index) else None))
        return SimpleValue(_index_tensor(em, range, value_or_none, indices))
    index_value = em.sugared(index)
    if isinstance(index_value, SliceValue):
        return SimpleValue(_slice(em, range, base.as_value(em, base_range), None, index_value))
    position = index_value.as_value(em, em.range(index))
    if isinstance(base, RangeValue | IterableTree):
        # raises the error for `range` and `zip` objects, which cannot be indexed
        base.as_value(em, base_range)
    if value_or_none is not None and isinstance(value_or_none.type(), TupleType):
        return SimpleValue(_index_tuple(em, range, value_or_none, position))
    if hint is not None:
        return base.getitem_as(em, range, position, hint)
    return base.getitem(em, range, position)


def _is_none(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value is None


def _index_tensor(em: Emitter, range: SourceRange, value: Value, indices: Sequence[ast.expr]) -> Value:
    if not value.type().is_subtype_of(TENSOR):
        raise CompilationError(
            "Unsupported operation: attempted to use multidimensional indexing on a non-tensor type", range
        )
    sliced, tensors = int_and_slice_indexing(em, range, value, indices)
    if not tensors:
        return sliced
    return emit_builtin_call(range, em.graph, "aten::index", [sliced, index_list(em, tensors)])


def index_list(em: Emitter, indices: Sequence[Value]) -> Value:
    """Insert a list of type `Tensor?[]`, the indices of `aten::index`."""
    return construct_list(em.graph, _OPTIONAL_TENSOR, indices)


def int_and_slice_indexing(
    em: Emitter, range: SourceRange, value: Value, indices: Sequence[ast.expr]
) -> tuple[Value, list[Value]]:
    """Emit int, slice and None indices, and return the resulting view and the remaining tensor indices."""
    items: list[Any] = [...] * len(indices)
    ellipsis = next((i for i, index in enumerate(indices) if _is_ellipsis(index)), len(indices))
    for position in _positions(0, ellipsis):
        items[position] = _emit_item(em, range, indices[position], False)
    for position in reversed(_positions(ellipsis + 1, len(indices))):
        if _is_ellipsis(indices[position]):
            raise CompilationError("An index can only have a single ellipsis ('...')", range)
        items[position] = _emit_item(em, range, indices[position], True)
    tensors: dict[int, Value] = {}
    for kind, dim, _, item in parse_subscript(items, None, _kind_of):
        if kind == SLICE:
            dim_value = em.constant(dim, range)
            bounds = item if isinstance(item, SliceValue) else _bounds(em, item)
            value = _slice(em, range, value, dim_value, bounds)
        elif kind == NEW_DIM:
            value = emit_builtin_call(range, em.graph, "aten::unsqueeze", [value, em.constant(dim, range)])
        elif kind == INTEGER:
            value = emit_builtin_call(range, em.graph, "aten::select", [value, em.constant(dim, range), item])
        elif kind != ELLIPSIS:
            tensors[dim] = item
    tensor_indices = [
        tensors[dim] if dim in tensors else em.constant(None)
        for dim in _positions(0, max(tensors, default=-1) + 1)
    ]
    return value, tensor_indices


def _emit_item(
    em: Emitter, range: SourceRange, index: ast.expr, after_ellipsis: bool
) -> Value | SliceValue | ast.Slice:
    """Emit an item of a tensor subscript, except slices, whose bounds are emitted with `aten::slice`."""
    if isinstance(index, ast.Slice):
        return index
    sugared_index = em.emit_again(lambda: em.sugared(index))
    if isinstance(sugared_index, SliceValue):
        # Emit the index a second time, because `emit_again` may have removed the nodes of the slice's bounds.
        # If the index is a variable name, `emit_again` neither emitted nor removed nodes.
        bounds = sugared_index if isinstance(index, ast.Name) else em.sugared(index)
        assert isinstance(bounds, SliceValue)
        return bounds
    value = em.expr(index, NONE if _is_none(index) else None)
    if isinstance(value.type(), ListType):
        dtype = Literal(_INT64_CODE)
        value = emit_builtin_call(None, em.graph, "aten::tensor", [value], {"dtype": dtype})
    type = value.type()
    if type in (NONE, INT):
        return value
    if not type.is_subtype_of(_OPTIONAL_TENSOR):
        raise CompilationError(
            f"Unsupported operation: indexing tensor with unsupported index type '{type.repr_str}'. "
            "Only ints, slices, lists and tensors are supported",
            range,
        )
    if after_ellipsis:
        raise NotSupportedError("Ellipses followed by tensor indexing is currently not supported", range)
    return value


def _kind_of(item: Value | SliceValue | ast.Slice) -> int:
    """Return the kind of an item. As in PyTorch, a mask counts as an index tensor of one dimension."""
    if not isinstance(item, Value):
        return SLICE
    return NEW_DIM if item.type() is NONE else INTEGER if item.type() is INT else TENSOR_ITEM + 1


def _positions(start: int, end: int) -> Sequence[int]:
    return range(start, end)


def _bounds(em: Emitter, node: ast.expr) -> SliceValue:
    """Emit the bounds of slice expression `node`. Omitted bounds are None."""
    assert isinstance(node, ast.Slice)
    bounds = (node.lower, node.upper, node.step)
    return SliceValue(*(None if bound is None else em.expr(bound) for bound in bounds))


def _slice(em: Emitter, range: SourceRange, value: Value, dim: Value | None, bounds: SliceValue) -> Value:
    start, end, step = bounds.start, bounds.stop, bounds.step
    if isinstance(value.type(), TupleType):
        return _slice_tuple(em, range, value, start, end, step)
    if step is None:
        step = em.constant(1, range)
    args: list[Actual] = [value] if dim is None else [value, dim]
    args += [start or Literal(None), end or Literal(None), step]
    return emit_builtin_call(range, em.graph, "aten::slice", args)


# ---- tuple indices and slices ----------------------------------------------------------------------


def _index_tuple(em: Emitter, range: SourceRange, value: Value, index: Value) -> Value:
    type = value.type()
    assert isinstance(type, TupleType)
    if index.type() is not INT:
        raise CompilationError("tuple index must be an integer", range)
    position = index.to_ivalue()
    if position is None:
        if not type.elems or not convertible_to_list(type, ListType(type.elems[0])):
            raise CompilationError(
                f"Cannot index into a {type.repr_str} with a non-integer literal because "
                "we cannot resolve the output type",
                range,
                "use a list, whose items are of one type",
            )
        item = tuple_index(em.graph, value, index, type.elems[0])
        item.node().range = range
        return item
    if not -len(type.elems) <= position < len(type.elems):
        raise CompilationError(
            f"Tuple index out of range. Tuple is length {len(type.elems)} and index is {position}", range
        )
    return tuple_index(em.graph, value, index, type.elems[position])


def _slice_tuple(
    em: Emitter, range: SourceRange, value: Value, start: Value | None, end: Value | None, step: Value | None
) -> Value:
    type = value.type()
    assert isinstance(type, TupleType)
    bounds: list[int | None] = []
    for bound in (start, end, step):
        position = None if bound is None else bound.to_ivalue()
        if bound is not None and not (isinstance(position, int) or bound.type() is NONE):
            raise CompilationError("tuple slice indices must be integer constants", range)
        bounds.append(position)
    if bounds[2] == 0:
        raise CompilationError("List slice should have non-zero step", range)
    items = []
    for position in _slice_indices(slice(*bounds), len(type.elems)):
        items.append(tuple_index(em.graph, value, em.constant(position), type.elems[position]))
    return construct_tuple(em.graph, items)


def _slice_indices(bounds: slice, length: int) -> Sequence[int]:
    return range(length)[bounds]


# ---- assignment to subscripts ----------------------------------------------------------------------


def assign(em: Emitter, target: ast.Subscript, value: Value, range: SourceRange) -> None:
    """Emit the subscript assignment `target = value`."""
    container = em.expr(target.value)
    if container.type().is_subtype_of(TENSOR):
        _assign_tensor(em, target, container, value, range)
        return
    if isinstance(target.slice, ast.Slice | ast.Tuple) and not _is_key(container, target.slice):
        raise NotSupportedError(
            "Sliced expression not yet supported for subscripted assignment. File a bug if you want this",
            em.range(target),
        )
    if not isinstance(container.type(), (ListType, DictType, *OBJECT_TYPES)):
        raise CompilationError(
            f"{container.type().repr_str} does not support subscripted assignment", em.range(target)
        )
    index = em.expr(target.slice)
    if call_operator_method(em, range, "__setitem__", (container, index, value)) is None:
        emit_builtin_call(range, em.graph, "aten::_set_item", [container, index, value])


def _is_key(container: Value, index: ast.expr) -> bool:
    return isinstance(index, ast.Tuple) and isinstance(container.type(), DictType)


def _assign_tensor(
    em: Emitter, target: ast.Subscript, tensor: Value, value: Value, range: SourceRange
) -> None:
    sliced, indices = int_and_slice_indexing(em, em.range(target), tensor, index_expressions(em, target))
    if value.type() in (NUMBER, INT, BOOL, FLOAT, COMPLEX):
        dtype = emit_builtin_call(None, em.graph, "prim::dtype", [sliced])
        device = emit_builtin_call(None, em.graph, "prim::device", [sliced])
        value = emit_builtin_call(None, em.graph, "aten::tensor", [value], {"dtype": dtype, "device": device})
    if not indices:
        emit_builtin_call(range, em.graph, "aten::copy_", [sliced, value])
        return
    index_values = index_list(em, indices)
    emit_builtin_call(range, em.graph, "aten::index_put_", [sliced, index_values, value])
