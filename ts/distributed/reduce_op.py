"""Reduction operators of collectives (`ReduceOp`) and their implementation on arrays.

The example writes the sum of the arrays of all ranks to `out`:

    accumulate(ReduceOp.SUM, [array of rank 0, array of rank 1, ...], out)

Arrays are reduced in the order of their ranks. Therefore, results are bitwise equal on all ranks and in all
runs.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ts._core.tensor.tensor import Tensor


class ReduceOp(enum.IntEnum):
    """Reduction of corresponding tensor elements across all ranks."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]

_FUNCTIONS: Final[dict[ReduceOp, Any]] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}
_BITWISE: Final = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def check_op(op: Any, tensor: Tensor, function: str) -> ReduceOp:
    """Return `op` if it supports the dtype of `tensor`, else raise an error."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{function}(): op is a ReduceOp, found {op!r}")
    if tensor.is_complex() and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{function} does not support {op} on complex tensors")
    exact = not tensor.is_floating_point() and not tensor.is_complex()
    if op in _BITWISE and not exact:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is ReduceOp.AVG and exact:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {tensor.dtype.type_name}"
        )
    if tensor.dtype.is_narrow and tensor.is_floating_point():
        raise RuntimeError("Invalid scalar type")
    return op


def accumulate(op: ReduceOp, arrays: Sequence[Any], out: Any) -> None:
    """Reduce arrays in rank order into `out`, which may be one of `arrays`."""
    with np.errstate(all="ignore"):  # no NumPy warnings for overflow and NaN, as in operators
        _accumulate(op, _FUNCTIONS[op], arrays, out)


def _accumulate(op: ReduceOp, function: Any, arrays: Sequence[Any], out: Any) -> None:
    if len(arrays) == 1:
        if arrays[0] is not out:
            np.copyto(out, arrays[0])
    elif len(arrays) == 2 or all(each is not out for each in arrays[2:]):
        function(arrays[0], arrays[1], out=out)
        for each in arrays[2:]:
            function(out, each, out=out)
    # `out` is one of `arrays[2:]`. Accumulate in `arrays[0]`, a temporary copy, so that `out` is read before
    # it is written.
    else:
        first = arrays[0]
        for each in arrays[1:-1]:
            function(first, each, out=first)
        function(first, arrays[-1], out=out)
    if op is ReduceOp.AVG:
        np.divide(out, out.dtype.type(len(arrays)), out=out)
