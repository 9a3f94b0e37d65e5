"""Loops over tensor elements, interpreted (`ts`) and as machine code (`ts native`). CPython and Numba run
the same loops on NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case
from ts import Tensor

TITLE = "Loops over elements, 64-bit floats"


def total(x: Tensor) -> float:
    """Sum the elements, with one load per iteration."""
    s = 0.0
    for i in range(len(x)):
        s += float(x[i])
    return s


def recurrence(x: Tensor) -> Tensor:
    """Compute each element from its predecessor."""
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + x[i]
    return x


def relaxation(a: Tensor) -> Tensor:
    """Compute each element from its four neighbours."""
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return a


def product(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Compute a product of matrices by its definition."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(b.shape[0]):
                s += float(a[i, k]) * float(b[k, j])
            c[i, j] = s
    return c


def histogram(x: Tensor, counts: Tensor) -> Tensor:
    """Count elements used as indices."""
    for i in range(len(x)):
        counts[int(x[i])] += 1.0
    return counts


def cases() -> list[Case]:
    """Return one case per program, with separate arrays for each contestant."""
    rng = np.random.default_rng(0)
    arguments: dict[Any, list[Any]] = {
        total: [rng.random(20_000)],
        recurrence: [rng.random(20_000)],
        relaxation: [rng.random((120, 120))],
        product: [rng.random((24, 24)) for _ in range(3)],
        histogram: [rng.integers(0, 100, 20_000), np.zeros(100)],
    }
    return [Case(program.__name__, _contestants(program, arrays)) for program, arrays in arguments.items()]


def _contestants(program: FunctionType, arrays: list[Any]) -> dict[str, Callable[[], object]]:
    def tensors(module: Any) -> list[Any]:
        return [module.tensor(array.tolist(), dtype=getattr(module, str(array.dtype))) for array in arrays]

    found: dict[str, Callable[[], object]] = {
        "ts": partial(peer_runtimes.interpreted(program), *tensors(ts)),
        "CPython": partial(program, *(array.copy() for array in arrays)),
    }
    if peer_runtimes.has_llvm():
        script = peer_runtimes.native(program)
        found["ts native"] = partial(script, *tensors(ts))
    if peer_runtimes.has_torch():
        import torch

        names = {**program.__globals__, "Tensor": torch.Tensor}
        copy = FunctionType(program.__code__, names, program.__name__)
        copy.__annotations__ = dict.fromkeys(program.__annotations__, torch.Tensor)
        copy.__annotations__["return"] = float if program is total else torch.Tensor
        found["PyTorch"] = partial(peer_runtimes.torch_script(copy), *tensors(torch))
    if peer_runtimes.has_numba():
        found["Numba"] = partial(peer_runtimes.numba_jit(program), *(array.copy() for array in arrays))
    _check(program.__name__, found)
    return found


def _check(name: str, contestants: dict[str, Callable[[], object]]) -> None:
    """Check that all contestants return equal results in float32, the precision of element writes in
    PyTorch's scripts."""
    results = {peer: np.array(run()) for peer, run in contestants.items()}
    for peer, result in results.items():
        if not np.allclose(result, results["CPython"], rtol=1e-6):
            raise AssertionError(f"{peer} returns a different result in {name}")
