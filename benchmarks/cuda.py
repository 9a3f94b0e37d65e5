"""On a GPU: operators of `ts` beside CuPy written by hand; each case waits for the device at its end.

Nothing is measured where there is no device, and a line says so.
"""

from __future__ import annotations

from typing import Any

import ts
from benchmarks.measure import Case

TITLE = "CUDA: operators, and what a launch costs"
SIZES = (1_000, 1_000_000)


def _waiting(run: Any, wait: Any) -> Any:
    def call() -> None:
        run()
        wait()

    return call


def cases() -> list[Case]:
    """Pointwise chains, reductions, products and random numbers, at two sizes."""
    if not ts.cuda.is_available():
        print("no CUDA device: nothing to measure\n")
        return []
    import cupy

    wait = cupy.cuda.runtime.deviceSynchronize
    found = []
    for n in SIZES:
        x, y = ts.rand(n, device="cuda"), ts.rand(n, device="cuda")
        a, b = cupy.asarray(x.cpu().numpy()), cupy.asarray(y.cpu().numpy())
        side = int(n**0.5)
        m, p = x[: side * side].reshape(side, side), a[: side * side].reshape(side, side)
        pairs: dict[str, tuple[Any, Any]] = {
            f"sigmoid, {n}": (x.sigmoid, lambda a=a: 1 / (1 + cupy.exp(-a))),
            f"x * y + x, {n}": (lambda x=x, y=y: x * y + x, lambda a=a, b=b: a * b + a),
            f"sum, {n}": (x.sum, a.sum),
            f"matmul {side}x{side}": (lambda m=m: m @ m, lambda p=p: p @ p),
            f"randn, {n}": (
                lambda n=n: ts.randn(n, device="cuda"),
                lambda n=n: cupy.random.standard_normal(n, dtype="f"),
            ),
        }
        for name, (ours, theirs) in pairs.items():
            found.append(Case(name, {"ts": _waiting(ours, wait), "CuPy": _waiting(theirs, wait)}))
    return found
