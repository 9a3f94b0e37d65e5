"""Scaled dot-product attention in chunks, so that the memory for scores is limited.

Input: queries (..., L, E), keys (..., S, E), values (..., S, V), and a mask. Output: an array (..., L, V).

A chunk consists of several matrices of a stack (heads), or of several queries of one matrix. Its scores have
at most MAX_SCORE_ELEMENTS elements. The scores and their sums have float32 if the operands have 16 bits
(float64 for float64), and the operands of both products are read in 16 bits. Causal attention omits keys
after the last query of a chunk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np

from . import gemm

MAX_SCORE_ELEMENTS = 1 << 25  # maximum number of scores of a chunk: 128 MiB in float32


def attend(
    xp: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    is_causal: bool,
    dropout_p: float,
    factor: float,
    weigh: Callable[..., Any],
) -> Any:
    """Return the attention of queries to keys and values.

    `factor` multiplies the scores, and `weigh(xp, scores, mask, dropout_p)` converts them to weights.
    """
    (rows, _), keys = query.shape[-2:], key.shape[-2]
    stacks = [x.shape[:-2] for x in (query, key, value)]
    stack = np.broadcast_shapes(*stacks, *(() if mask is None else (mask.shape[:-2],)))
    count = math.prod(stack)
    result = cupy.empty((count, rows, value.shape[-1]), query.dtype)
    if result.size:
        query, key, value = (_flat_stack(x, stack) for x in (query, key, value))
        if mask is not None:
            mask = cupy.broadcast_to(mask, (*mask.shape[:-2], rows, keys) if mask.ndim > 1 else (rows, keys))
            is_shared = math.prod(mask.shape[:-2]) == 1
            mask = mask.reshape(1, rows, keys) if is_shared else _flat_stack(mask, stack)
        for heads, queries in chunks(count, rows, keys):
            seen = slice(min(keys, queries.stop) if is_causal else keys)
            part = None if mask is None else mask[heads if len(mask) > 1 else slice(1), queries]
            if is_causal:
                part = cupy.arange(seen.stop) <= cupy.arange(queries.start, queries.stop)[:, None]
            scores = _scores(query[heads, queries], key[heads, seen], factor)
            weights = weigh(xp, scores, part, dropout_p).astype(query.dtype, copy=False)
            result[heads, queries] = xp.matmul(weights, value[heads, seen])
    return result.reshape(*stack, rows, value.shape[-1])


def chunks(count: int, rows: int, keys: int) -> Iterator[tuple[slice, slice]]:
    """Yield pairs of slices: of `count` matrices of scores (rows, keys), and of their rows."""
    heads = max(1, MAX_SCORE_ELEMENTS // max(1, rows * keys))
    queries = max(1, rows if heads > 1 else min(rows, MAX_SCORE_ELEMENTS // max(1, keys)))
    for first in range(0, count, heads):
        for row in range(0, rows, queries):
            yield slice(first, min(first + heads, count)), slice(row, min(row + queries, rows))


def _flat_stack(x: Any, stack: tuple[int, ...]) -> Any:
    """Return an array of matrices: the elements of a stack, to which the stack of `x` is broadcast."""
    matrix = x.shape[-2:]
    return cupy.broadcast_to(x, (*stack, *matrix)).reshape(math.prod(stack), *matrix)


def _scores(query: Any, key: Any, factor: float) -> Any:
    transposed_key = key.swapaxes(-1, -2)
    if gemm.is_supported(query, key):
        return gemm.matmul(query, transposed_key, np.dtype(np.float32), factor)
    scores = cupy.matmul(query, transposed_key)
    scores *= query.dtype.type(factor)
    return scores
