"""Elementary functions and dtype conversions of float32 and float64 tensors, as eager operators, at three
sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Elementary functions, eager, one thread"
SIZES = (1_000, 100_000, 4_000_000)
# name: (function call, range of the arguments)
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    **{
        name: (lambda lib, x, name=name: getattr(lib, name)(x), low, high)
        for names, low, high in (
            ("exp expm1 sin cos tan atan sinh cosh tanh erf erfc sigmoid", -4, 4),
            ("asin acos erfinv", -1, 1),
            ("log log1p", 0.01, 10),
        )
        for name in names.split()
    },
    "x ** 2.5": (lambda lib, x: lib.pow(x, 2.5), 0.1, 9),
    "x ** x": (lambda lib, x: lib.pow(x, x), 0.1, 9),
    **{
        name: (lambda lib, x, name=name: getattr(lib.nn.functional, name)(x), -4, 4)
        for name in ("gelu", "silu", "softplus")
    },
    "half()": (lambda lib, x: x.half(), -4, 4),
    "bfloat16()": (lambda lib, x: x.bfloat16(), -4, 4),
}


def cases() -> list[Case]:
    """Return a case per function, size and dtype."""
    found = []
    for name, (call, low, high) in FUNCTIONS.items():
        for dtype in (ts.float32, ts.float64):
            for size in SIZES:
                x = (ts.rand(size, dtype=ts.float64) * (high - low) + low).to(dtype)
                contestants: dict[str, Any] = {"ts": partial(call, ts, x)}
                if peer_runtimes.has_torch():
                    import torch

                    torch.set_num_threads(1)
                    contestants["PyTorch"] = partial(call, torch, torch.from_numpy(x.numpy()))
                kind = str(dtype).rpartition(".")[2]
                found.append(
                    Case(f"{name} {kind}", contestants, note=f"{size:,}", min_seconds=0.005, family=name)
                )
    return found
