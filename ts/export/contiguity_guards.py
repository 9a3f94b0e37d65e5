"""Guards on the contiguity of the tensors that an export records.

PyTorch determines the memory format of each recorded tensor from its symbolic sizes and strides. Conditions
that the value ranges do not decide become guards. For a dynamic dimension of size n, each line shows a tensor
and its guards:

    x[1:], one dimension        n - 1 >= 2, because a tensor with fewer than 2 elements is contiguous
    x[:, 1:]                    n - 1 != 1, because the stride of a dimension of size 1 is irrelevant
    y[:, :2], shape of y [4, n] n != 2, because the slice would be contiguous for n == 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ts._core.tensor.sym_types import SymInt
from ts._core.tensor.tensor import Tensor
from ts.export.shape_env import ShapeEnv
from ts.export.sym_node import expression_of
from ts.export.sympy_functions import FloorDiv
from ts.export.sympy_import import sympy
from ts.export.value_ranges import evaluate_by_ranges, simplify_max

# number of dimensions -> dimensions of the channels-last format, from the innermost to the outermost
_CHANNELS_LAST_ORDERS: Final = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}


def guard_contiguity(environment: ShapeEnv, x: Tensor, is_view: bool) -> None:
    """Add the guards that determine the memory format of the fake tensor `x`.

    `is_view` states whether `x` is a view of another tensor. The strides of another tensor are computed from
    `max(1, size)`, because a size may be 0.
    """
    array = x.array
    if not any(isinstance(n, SymInt) for n in (*array.shape, *array.strides)):
        return
    sizes = [expression_of(n) for n in array.shape]
    byte_strides = [expression_of(n) for n in array.strides]
    # The facts that decided an earlier check of the same layout still hold. Another check would add no guard.
    key = (*sizes, *byte_strides, array.itemsize, is_view, environment.policy)
    if key in environment.guarded_layouts:
        return
    environment.guarded_layouts.add(key)
    strides = [FloorDiv(n, sympy.Integer(array.itemsize)) for n in byte_strides]
    if not any(n.free_symbols for n in (*sizes, *strides)):
        return
    check = _ContiguityCheck(environment)
    if not is_view and strides == _dense_strides(sizes):
        strides = _dense_strides([n if n.is_number else sympy.Max(1, n) for n in sizes])
    if check.is_contiguous(sizes, strides):
        return
    if (order := _CHANNELS_LAST_ORDERS.get(len(sizes))) is not None:
        check.is_dense_in_order([sizes[d] for d in order], [strides[d] for d in order])


class _ContiguityCheck:
    """Evaluation of contiguity with symbolic sizes. The example sizes decide conditions and add guards."""

    def __init__(self, environment: ShapeEnv) -> None:
        self.environment = environment

    def is_contiguous(self, sizes: Sequence[Any], strides: Sequence[Any]) -> bool:
        """Return whether a tensor is contiguous in row-major order."""
        if self._holds(sympy.Lt(sympy.Mul(*sizes), 2), default=False):
            return True
        expected, expected_of_nonempty = sympy.Integer(1), sympy.Integer(1)
        for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
            if self._holds(sympy.Eq(size, 1), default=False):
                continue
            if self._holds(sympy.Ne(stride, expected), default=True) and self._holds(
                sympy.Ne(stride, expected_of_nonempty), default=True
            ):
                return False
            expected *= size
            expected_of_nonempty *= sympy.Max(1, size)
        return True

    def is_dense_in_order(self, sizes: Sequence[Any], strides: Sequence[Any]) -> bool:
        """Return whether a tensor has no gaps. The first dimension is the innermost dimension."""
        expected = sympy.Integer(1)
        for size, stride in zip(sizes, strides, strict=True):
            if self._holds(sympy.Eq(size, 1), default=False):
                continue
            if self._holds(sympy.Ne(stride, expected), default=True):
                return False
            expected *= size
        return True

    def _holds(self, condition: Any, default: bool) -> bool:
        """Return the value of `condition`, or `default` if it depends on data and is not decided."""
        environment = self.environment
        truth = environment.evaluate_static(condition)
        if truth is None:
            truth = evaluate_by_ranges(simplify_max(condition, environment.ranges), environment.ranges)
        if truth is not None:
            return truth
        if not environment.has_hint(condition):
            return default
        return environment.policy.decide(environment, condition)


def _dense_strides(sizes: Sequence[Any]) -> list[Any]:
    """Return row-major strides without gaps."""
    strides: list[Any] = []
    stride = sympy.Integer(1)
    for size in reversed(sizes):
        strides.append(stride)
        stride = sympy.expand(stride * size)
    return strides[::-1]
