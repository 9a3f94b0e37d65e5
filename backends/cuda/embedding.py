"""Gradient of embedding tables on the device, without synchronization of host and device.

Input: sorted indices, and the rows of the gradient. Output: the sum of the gradients of each table row. One
thread adds the elements of one column for equal indices in their order, so the bits do not depend on timing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np

THREADS = 256
C_TYPES = {"float32": "float", "float64": "double"}


def generate_source(dtype: str) -> str:
    """Return the CUDA source of the sums for gradients of a dtype."""
    c_type = C_TYPES[dtype]
    return f"""extern "C" __global__ void sum_rows(
    const long long *index, const long long *order, const {c_type} *grad, {c_type} *table, long long count,
    long long width, long long padding, int mean
) {{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long first = i / width, column = i % width;
    if (first >= count) return;
    const long long row = index[first];
    if (row == padding || (first > 0 && index[first - 1] == row)) return;
    {c_type} total = 0;
    long long k = first;
    for (; k < count && index[k] == row; ++k) total += grad[order[k] * width + column];
    table[row * width + column] = mean ? total / ({c_type})(k - first) : total;
}}
"""


@cache
def _kernel(dtype: str) -> Any:
    return cupy.RawKernel(generate_source(dtype), "sum_rows", options=("--std=c++17",))


def sum_rows(xp: Any, grad: Any, index: Any, rows: int, padding: int, mean: bool) -> Any:
    """Return an array of shape (rows, grad.shape[1]).

    Row i is the sum (the mean, if `mean`) of the rows of `grad` whose index is i. Rows of `grad` with the
    index `padding` are ignored.
    """
    count, width = grad.shape
    table = cupy.zeros((rows, width), grad.dtype)
    if grad.size:
        order = cupy.argsort(index)
        sorted_index, grad = index[order].astype(np.int64), cupy.ascontiguousarray(grad)
        arrays = sorted_index, order.astype(np.int64), grad, table
        numbers = np.int64(count), np.int64(width), np.int64(padding), np.int32(mean)
        blocks = -(-count * width // THREADS)
        _kernel(grad.dtype.name)((blocks,), (THREADS,), (*arrays, *numbers))
    return table
