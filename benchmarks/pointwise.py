"""The pointwise expression `tanh(x * y + x) * sigmoid(y) - 0.5 * x` at three sizes. `ts` fuses it into one
kernel.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Pointwise expression, one thread"
SIZES = (1_000, 100_000, 4_000_000)
SOURCE = """
def expression(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y + x) * torch.sigmoid(y) - 0.5 * x
"""


def numpy_expression(x: Any, y: Any) -> Any:
    """Compute the expression in plain NumPy."""
    import numpy as np

    return np.tanh(x * y + x) * (1 / (1 + np.exp(-y))) - 0.5 * x


def cases() -> list[Case]:
    """Return one case per size."""
    ours = ts.jit.CompilationUnit(SOURCE).expression
    result = []
    for size in SIZES:
        x, y = ts.randn(size), ts.randn(size)
        contestants: dict[str, Any] = {
            "ts": partial(ours, x, y),
            "NumPy": partial(numpy_expression, x.numpy(), y.numpy()),
        }
        if peer_runtimes.has_torch():
            import torch

            torch.set_num_threads(1)
            theirs = torch.jit.CompilationUnit(SOURCE).expression
            tx, ty = torch.from_numpy(x.numpy()), torch.from_numpy(y.numpy())
            contestants["PyTorch"] = partial(theirs, tx, ty)
        result.append(Case(f"{size:,} elements", contestants))
    return result
