"""Pointwise operators as one kernel each, from the CUDA expressions of their records.

In: a record with a CUDA expression; out: a kernel that promotes, broadcasts and launches, or leaves what
the expression does not hold for to the record's own kernel:

    launcher(record)(xp, x, y)      floats: one launch        integers, bool, complex: CuPy's functions

Compiled kernels are kept by operator, dtypes and number of dimensions that remain when neighbouring ones
are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np

from . import sources

Kernel = Callable[..., Any]
Strides = tuple[int, ...]

THREADS = 256
MOST_BLOCKS = 1 << 16


def launcher(record: Any) -> Kernel | None:
    """The kernel for a record of one or two operands; None where the record has no expression for it."""
    from ts.ops import rules  # here, because backends are below the operators

    arity = sources.arity(record)
    if not arity:
        return None
    compiled: dict[tuple[Any, ...], Any] = {}

    def kernel(xp: Any, *args: Any) -> Any:
        operands, rest = args[:arity], args[arity:]
        dtype = rules.result_type(*operands)
        if record.promotion == "float":
            dtype = rules.float_dtype(dtype)
        fits = sources.fits(record, dtype.name) and (not rest or (rest[0] is not True and rest[0] == 1))
        arrays = [x for x in operands if isinstance(x, cupy.ndarray)]
        shape = rules.broadcast_shapes(*(x.shape for x in arrays)) if fits else ()
        joined = join(shape, [broadcast_strides(x, shape) for x in arrays]) if fits else None
        if joined is None or 0 in shape or len(joined[0]) > sources.MOST_DIMENSIONS:
            return record.kernel(xp, *args)
        result = rules.BOOL if record.promotion == "bool" else dtype
        out, lengths, strides = placed(shape, arrays, result, joined)
        kinds = [x.dtype.name if isinstance(x, cupy.ndarray) else "" for x in operands]
        key = (*kinds, dtype.name, len(lengths))
        function = compiled.get(key)
        if function is None:
            name, code = sources.of_record(record, kinds, dtype.name, len(lengths))
            function = compiled[key] = cupy.RawKernel(code, name, options=("--std=c++17",))
        number = np.float64 if dtype == rules.DOUBLE else np.float32
        launch(
            function,
            out.size,
            *(x if isinstance(x, cupy.ndarray) else number(x) for x in operands),
            out,
            np.int64(out.size),
            *map(np.int64, lengths[1:]),
            *(np.int64(step) for one in strides for step in one),
        )
        return out

    return kernel


def launch(function: Any, n: int, *arguments: Any) -> None:
    """Run a kernel with a thread for each of `n` elements, up to MOST_BLOCKS; each takes every so-manieth."""
    function((min(-(-n // THREADS), MOST_BLOCKS),), (THREADS,), arguments)


def broadcast_strides(x: Any, shape: Sequence[int]) -> Strides:
    """Strides, in elements, with which `x` is read as if it had `shape`."""
    lead = len(shape) - x.ndim
    steps = [0 if n == 1 else step // x.dtype.itemsize for n, step in zip(x.shape, x.strides, strict=True)]
    return (*(0,) * lead, *steps)


def join(shape: Sequence[int], strides: Sequence[Strides]) -> tuple[list[int], list[Strides]]:
    """The same walk over the elements in fewer dimensions: those that every operand passes through as one are
    joined.

    >>> join((2, 3, 4), [(12, 4, 1), (4, 0, 1)])        # the first two cannot be joined: the second
    operand repeats
    ([2, 3, 4], [(12, 4, 1), (4, 0, 1)])
    >>> join((2, 3, 4), [(12, 4, 1), (12, 4, 1)])
    ([24], [(1,), (1,)])
    """
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if lengths and all(mine[-1] == each[d] * n for mine, each in zip(steps, strides, strict=True)):
            lengths[-1] *= n
            for mine, each in zip(steps, strides, strict=True):
                mine[-1] = each[d]
            continue
        lengths.append(n)
        for mine, each in zip(steps, strides, strict=True):
            mine.append(each[d])
    return lengths, [tuple(mine) for mine in steps]


def placed(
    shape: Sequence[int], arrays: Sequence[Any], dtype: np.dtype[Any], joined: tuple[list[int], list[Strides]]
) -> tuple[Any, list[int], list[Strides]]:
    """The result's array, and how to walk over the operands: no lengths where all lie as the result does."""
    first = arrays[0]
    alike = all(x.shape == first.shape and x.strides == first.strides for x in arrays)
    if (
        alike
        and tuple(first.shape) == tuple(shape)
        and (first.flags.c_contiguous or first.flags.f_contiguous)
    ):
        order = "C" if first.flags.c_contiguous else "F"
        return cupy.empty(shape, dtype, order=order), [], []
    lengths, strides = joined
    if not lengths:  # a single element: one dimension of length 1
        lengths, strides = [1], [(0,)] * len(arrays)
    return cupy.empty(shape, dtype), lengths, strides
