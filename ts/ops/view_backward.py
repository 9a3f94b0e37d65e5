"""Backward operators of views and selections, which write the gradient into zeros at the selected elements.

Input: the gradient of a view, the shape of the view's base, and the view's arguments. Output: the gradient of
the base. If an element occurs several times in the view, its gradients are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, write
from ts.ops.registry import op
from ts.ops.view import diagonal_kernel

Array = common.Array
Sizes = Sequence[int]


def _write_into_zeros(xp: Any, grad: Array, sizes: Sizes, dim: int, key: Any) -> Array:
    grad_input = xp.zeros(tuple(sizes), grad.dtype)
    grad_input[(slice(None),) * common.wrap_dim(dim, grad_input.ndim) + (key, ...)] = grad
    return grad_input


@op(
    "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    where="",
    **COPIED_OUT,
)
def _select(xp: Any, grad: Array, sizes: Sizes, dim: int, index: int) -> Array:
    return _write_into_zeros(xp, grad, sizes, dim, index)


@op(
    "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, "
    "SymInt step) -> Tensor",
    where="",
    **COPIED_OUT,
)
def _slice(xp: Any, grad: Array, sizes: Sizes, dim: int, start: int, end: int, step: int) -> Array:
    return _write_into_zeros(xp, grad, sizes, dim, slice(start, end, step))


@op(
    "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2)"
    " -> Tensor",
    where="",
    **COPIED_OUT,
)
def _diagonal(xp: Any, grad: Array, sizes: Sizes, offset: int, dim1: int, dim2: int) -> Array:
    grad_input = xp.zeros(tuple(sizes), grad.dtype)
    write(xp, diagonal_kernel(xp, grad_input, offset, dim1, dim2), grad)
    return grad_input


@op(
    "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    where="",
    **COPIED_OUT,
)
def _unfold(xp: Any, grad: Array, sizes: Sizes, dim: int, size: int, step: int) -> Array:
    """Return the gradient of the input of `unfold`.

    Iteration i adds the gradients of element i of all windows. These are distinct elements of the input, so
    that a plain addition suffices.
    """
    grad_input = xp.zeros(tuple(sizes), grad.dtype)
    if not sizes:
        grad_input[...] = grad.sum(axis=-1)
        return grad_input
    axis = common.wrap_dim(dim, grad_input.ndim)
    count = grad.shape[axis]
    before = (slice(None),) * axis
    for i in range(size):
        grad_input[(*before, slice(i, i + (count - 1) * step + 1, step))] += grad[..., i]
    return grad_input
