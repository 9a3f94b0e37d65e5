"""Automatic functionalization of custom operators that write to arguments (their functional form).

Input: an operator, its arguments, and the tensors to which it writes. Output: the result of the operator, and
modified copies of these tensors.

In the example, the operator `bump` writes to its argument `x`:

    operators.auto_functionalized_v2(mine.bump.default, k=3, _x_base_index=0, _all_bases=[y])

The tensors in `_all_bases` are copied. Each written argument is described as a view of one of these bases:

    _x_base_index=0                                   the base itself (None for an argument that is None)
    _x_alias=True                                     the same memory as the base
    _x_slice_dim=0, _x_slice_start=1, _x_slice_end=3  a slice of the base along one dimension
    _x_size=[2], _x_stride=[2], _x_storage_offset=1   any other view
    _xs_length=2, _xs_0_base_index=0, ...             a list of two tensors
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.operator import HigherOrderOperator


class _AutoFunctionalized(HigherOrderOperator):
    """Higher-order operator that calls an operator on copies of the arguments that the operator writes to."""

    name = "auto_functionalized_v2"

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        (operator,) = args
        parameters = _parameters(operator)
        bases = [x.clone() for x in kwargs.pop("_all_bases")]
        arguments = {
            p.name: _argument(f"_{p.name}", kwargs, bases) if p.written else kwargs[p.name]
            for p in parameters
        }
        outputs = operator(**arguments)
        return (*(outputs if isinstance(outputs, tuple) else (outputs,)), *bases)


def _parameters(operator: Any) -> Any:
    from ts.ops.namespace import OpOverload

    parameters = operator.operator.signature.parameters if isinstance(operator, OpOverload) else ()
    if not any(p.written for p in parameters):
        raise TypeError(f"{operator!r} is not an operator that writes to its arguments")
    return parameters


def _argument(name: str, kwargs: Mapping[str, Any], bases: Sequence[Tensor]) -> Any:
    """Return the view of a base, or the list of views, that the entries of `kwargs` for `name` describe."""
    length = kwargs.get(f"{name}_length")
    if length is not None:
        return [_argument(f"{name}_{k}", kwargs, bases) for k in range(length)]
    index = kwargs[f"{name}_base_index"]
    if index is None:
        return None
    base = bases[index]
    if f"{name}_slice_dim" in kwargs:
        dim, start, end = (kwargs[f"{name}_slice_{field}"] for field in ("dim", "start", "end"))
        return base.narrow(dim, start, end - start)
    if f"{name}_size" in kwargs:
        size, stride, offset = (kwargs[f"{name}_{field}"] for field in ("size", "stride", "storage_offset"))
        return base.as_strided(size, stride, base.storage_offset() + offset)
    return base.view(base.shape) if f"{name}_alias" in kwargs else base


EqualFunction = Callable[[Any, Any], bool]


def describe_view(name: str, index: int, view: Tensor, base: Tensor, equal: EqualFunction) -> dict[str, Any]:
    """Return the keyword arguments that describe `view` as a view of `base`. `equal` compares sizes."""
    fields: dict[str, Any] = {f"{name}_base_index": index}
    if view is base:
        return fields
    offset = view.storage_offset() - base.storage_offset()
    if _same(view.stride(), base.stride(), equal):
        changed = [d for d, (n, m) in enumerate(zip(view.shape, base.shape, strict=True)) if not equal(n, m)]
        if not changed and equal(offset, 0):
            return fields | {f"{name}_alias": True}
        if len(changed) == 1:
            (dim,) = changed
            start = offset // base.stride(dim)
            if equal(start * base.stride(dim), offset):
                end = start + view.shape[dim]
                return fields | {
                    f"{name}_slice_dim": dim, f"{name}_slice_start": start, f"{name}_slice_end": end,
                }  # fmt: skip
    return fields | {
        f"{name}_size": tuple(view.shape), f"{name}_stride": tuple(view.stride()),
        f"{name}_storage_offset": offset,
    }  # fmt: skip


def _same(left: Sequence[Any], right: Sequence[Any], equal: EqualFunction) -> bool:
    return len(left) == len(right) and all(map(equal, left, right))


auto_functionalized_op = _AutoFunctionalized()

__all__ = ["auto_functionalized_op", "describe_view"]
