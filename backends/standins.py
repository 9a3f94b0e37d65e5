"""Shapes of what has no shape rule: the kernel of the CPU runs on arrays that stand in for meta arrays.

In: a kernel and its arguments with meta arrays; out: the kernel's result as meta arrays.

    diag_embed on a (3, 4) meta array      runs on a 3x4 NumPy array  ->  MetaArray((3, 4, 4))

It runs several times, on different elements: where shape, dtype or place of a result differ, or only one run
succeeds, they may depend on the elements, and that is refused.  Stand-ins take memory, so there is a limit to
their size; operators that must know no limit get a shape rule (`Record.meta`) or kernels that only need
functions which `MetaNamespace` has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

MOST_BYTES = 1 << 26

Stands = list[tuple[Any, NDArray[Any]]]  # a meta array and what stands in for it


def fit(args: Sequence[Any], kind: type) -> bool:
    """Whether arrays can stand in for all meta arrays among the arguments."""
    for x in args:
        if isinstance(x, (list, tuple)):
            if not fit(x, kind):
                return False
        elif isinstance(x, kind):
            meta: Any = x
            if max(_extent(meta), meta.size) * meta.itemsize > MOST_BYTES:
                return False
    return True


def _extent(meta: Any) -> int:
    """How many elements lie between the first and the last, both counted."""
    steps: list[int] = [abs(s) // meta.itemsize for s in meta.strides]
    shape: tuple[int, ...] = meta.shape
    return 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))


def run(
    kernel: Callable[..., Any], args: Sequence[Any], kind: type, make: Callable[..., Any], no_data: str
) -> Any:
    """The result of the CPU's kernel on stand-ins.

    `kind` is the class of meta arrays, `make(shape, dtype, strides, offset)` makes one, `no_data` the message
    where the elements matter.
    """
    outcomes: list[Any] = []
    failure: Exception | None = None
    for fill in (_zeros, _ones, _varied, _others):
        stands: Stands = []
        try:
            values = [_stand_in(x, kind, fill, stands) for x in args]
            with np.errstate(all="ignore"):
                outcomes.append(_as_meta(kernel(np, *values), stands, make, no_data))
        except (ArithmeticError, RuntimeError, ValueError, IndexError, TypeError) as error:
            if isinstance(error, NotImplementedError):
                raise
            failure = failure or error
    if not outcomes:
        assert failure is not None
        raise failure
    if len(outcomes) == 1 or len({_described(outcome) for outcome in outcomes}) > 1:
        raise NotImplementedError(no_data)
    return outcomes[0]


def _zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.zeros(n, dtype)


def _ones(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ones(n, dtype)


def _varied(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Ones and zeros; distinct numbers between 0 and 1/4."""
    if dtype.kind in "biu":
        return (1 - np.arange(n) % 2).astype(dtype)
    return _scattered(n, 0.6180339887498949).astype(dtype)


def _others(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Twos and ones; other numbers between 0 and 1/4."""
    if dtype.kind in "biu":
        return (2 - np.arange(n) % 2).astype(dtype)
    return _scattered(n, 0.4142135623730951).astype(dtype)


def _scattered(n: int, step: float) -> NDArray[Any]:
    found: NDArray[Any] = ((np.arange(n) + 1) * step) % 1 / 4
    return found


def _stand_in(x: Any, kind: type, fill: Callable[..., NDArray[Any]], stands: Stands) -> Any:
    if isinstance(x, (list, tuple)):
        return [_stand_in(y, kind, fill, stands) for y in x]
    if not isinstance(x, kind):
        return x
    meta: Any = x
    flat = fill(max(_extent(meta), 1), meta.dtype)
    array: NDArray[Any] = as_strided(flat, meta.shape, meta.strides)
    if fill in (_varied, _others) and meta.ndim > 1 and meta.shape[-1] == meta.shape[-2]:
        diagonal = np.arange(meta.shape[-1])  # matrices that can be factorised
        array[..., diagonal, diagonal] = 1
    stands.append((meta, array))
    return array


def _as_meta(result: Any, stands: Stands, make: Callable[..., Any], no_data: str) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_as_meta(part, stands, make, no_data) for part in result)
    if result is None:
        return None
    if not isinstance(result, (np.ndarray, np.generic)):
        raise NotImplementedError(no_data)  # a number, which only elements can give
    array = np.asarray(result)
    for meta, stand in stands:
        if array is stand:
            return meta
        if array.size and np.may_share_memory(array, stand):
            moved = array.__array_interface__["data"][0] - stand.__array_interface__["data"][0]
            return make(array.shape, array.dtype, array.strides, meta.offset + moved // meta.itemsize)
    return make(array.shape, array.dtype, array.strides, 0)


def _described(outcome: Any) -> Any:
    if isinstance(outcome, (list, tuple)):
        return tuple(_described(part) for part in outcome)
    return None if outcome is None else (outcome.shape, outcome.dtype, outcome.offset)
