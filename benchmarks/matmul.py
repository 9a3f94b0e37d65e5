"""Products of a batch and the weights of a linear layer. In the column `ts`, an earlier call has packed the
weights; "unpacked" weights share their memory with NumPy and cannot be packed. NumPy's product is its BLAS,
which does not support bfloat16.

In: nothing. Out: a table, on which the thresholds of `matmul.pyx` are based.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Products, rows x depth to columns, one thread"
SHAPES = [
    *((m, 128, 512) for m in (1, 2, 4, 5, 8, 16, 64)),
    *((m, 512, 2048) for m in (1, 4, 8, 64, 256)),
    (1, 32, 128),
    (64, 1024, 256),
    (128, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
]


def cases() -> list[Case]:
    """Return one case per shape and dtype."""
    ts.set_num_threads(1)
    result = []
    for dtype in (ts.float32, ts.float64, ts.bfloat16):
        for m, k, n in SHAPES:
            x, weight = ts.randn(m, k).to(dtype), ts.randn(n, k).to(dtype)
            known = weight.clone()
            arrays = x.numpy(), known.numpy()
            contestants: dict[str, Any] = {
                "ts": partial(ts.nn.functional.linear, x, weight),
                "unpacked": partial(ts.nn.functional.linear, x, known),
            }
            if dtype != ts.bfloat16:
                contestants["NumPy"] = partial(np.matmul, arrays[0], arrays[1].T)
            if peer_runtimes.has_torch():
                import torch

                torch.set_num_threads(1)
                torch_dtype = getattr(torch, str(dtype).removeprefix("torch."))
                operands = [torch.tensor(array.astype(np.float64)).to(torch_dtype) for array in arrays]
                contestants["PyTorch"] = partial(torch.nn.functional.linear, *operands)
            result.append(Case(f"{m} x {k} to {n}", contestants, note=str(dtype).removeprefix("torch.")))
    return result
