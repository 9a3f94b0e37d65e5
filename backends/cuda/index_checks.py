"""Checks of index ranges on the device, without synchronization of host and device.

Input: an index array and a range. If an index is out of range, the kernel prints it and stops (`__trap`). As
for PyTorch's device-side assertions, a later CUDA call then raises an error, and the CUDA context of the
process is unusable. Example:

    check(index, 0, len(table))     # queued before the kernel that reads `table` at `index`
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np

THREADS = 256
MAX_BLOCKS = 1024
C_TYPES = {"int64": "long long", "int32": "int", "uint8": "unsigned char"}


def generate_source(dtype: str) -> str:
    """Return the CUDA source of the check for indices of a dtype."""
    return f"""extern "C" __global__ void check_indices(
    const {C_TYPES[dtype]} *index, long long count, long long low, long long high
) {{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{
        const long long value = index[i];
        if (value < low || value >= high) {{
            printf("index %lld is out of range: expected %lld <= index < %lld\\n", value, low, high);
            __trap();
        }}
    }}
}}
"""


@cache
def _kernel(dtype: str) -> Any:
    return cupy.RawKernel(generate_source(dtype), "check_indices", options=("--std=c++17",))


def check(index: Any, low: int, high: int) -> None:
    """Stop the device with an error unless all indices are at least `low` and less than `high`."""
    if index.dtype.name not in C_TYPES:
        index = index.astype(np.int64)
    index = cupy.ascontiguousarray(index)
    if index.size:
        blocks = min(-(-index.size // THREADS), MAX_BLOCKS)
        limits = np.int64(index.size), np.int64(low), np.int64(high)
        _kernel(index.dtype.name)((blocks,), (THREADS,), (index, *limits))
