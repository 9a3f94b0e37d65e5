"""Benchmark of operators, fused groups and CUDA graphs of `ts`, CuPy and PyTorch on a GPU.

Each case waits for the device at its end.  Without a device nothing is measured, and a line reports it. `make
test-cuda` writes the tables to `benchmarks/CUDA.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

SIZES = (1_000, 1_000_000, 16_000_000)
ROWS = ((262_144, 4), (65_536, 64), (4096, 1024), (4096, 4096), (512, 50_257), (16, 65_536), (1, 16_000_000))
STEPS = 20  # number of repetitions of a chain of small operators

GROUPS = '''
def chain(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y + x) * torch.sigmoid(y) - 0.5 * x

def bias_gelu(x: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.gelu(x + y) * 1.5 + x

def masks(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x > y, x * 2, torch.clamp(y, -1, 1)).masked_fill(y == 0, 1.0) + x
'''

ENDS = '''
def softmax(x: Tensor, y: Tensor) -> Tensor:
    return torch.softmax(x * 0.125 + y, -1)

def layer_norm(x: Tensor, y: Tensor) -> Tensor:
    return torch.layer_norm(x + y, [x.size(-1)])

def row_sums(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1)

def squared_error(x: Tensor, y: Tensor) -> Tensor:
    return ((x - y) * (x - y)).mean()
'''


def tables() -> dict[str, list[Case]]:
    """Return tables of operators, fusion groups, row epilogues, and launch costs with and without CUDA
    graphs."""
    if not ts.cuda.is_available():
        print("no CUDA device: nothing to measure\n")
        return {}
    name = ts.cuda.get_device_name()
    return {
        f"CUDA operators, {name}": _operators(),
        f"CUDA groups, {name}": _groups(),
        f"CUDA groups that end with their rows, {name}": _ends(),
        f"CUDA graphs, {name}": _graphs(),
    }


def _waiting(run: Callable[[], object]) -> Callable[[], None]:
    def call() -> None:
        run()
        ts.cuda.synchronize()

    return call


def _case(name: str, **contestants: Callable[[], object] | None) -> Case:
    return Case(name, {peer: _waiting(run) for peer, run in contestants.items() if run is not None})


def _torch() -> Any:
    """Return the module `torch` if PyTorch is installed and has a CUDA device, else None."""
    if not peer_runtimes.has_torch():
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def _operators() -> list[Case]:
    import cupy

    found = []
    for n in SIZES[:2]:
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
        found += [_case(name, ts=ours, CuPy=theirs) for name, (ours, theirs) in pairs.items()]
    return found


def _groups() -> list[Case]:
    import cupy

    torch, unit = _torch(), ts.jit.CompilationUnit(GROUPS)
    fused = cupy.fuse(lambda x, y: cupy.tanh(x * y + x) * (1 / (1 + cupy.exp(-y))) - 0.5 * x)
    found = []
    for name in ("chain", "bias_gelu", "masks"):
        function = getattr(unit, name)
        theirs = None if torch is None else getattr(torch.jit.CompilationUnit(GROUPS), name)
        for n in SIZES:
            for dtype in ("float32", "float16"):
                wide = max(n // 1000, 1)
                shapes = ((wide, n // wide), (n // wide,)) if name == "bias_gelu" else ((n,), (n,))
                x, y = (ts.rand(shape, device="cuda").to(getattr(ts, dtype)) for shape in shapes)
                a, b = (cupy.asarray(t.cpu().numpy()) for t in (x, y))
                s, t = (None if torch is None else torch.from_numpy(cupy.asnumpy(v)).cuda() for v in (a, b))
                contestants: dict[str, Any] = {
                    "ts": lambda f=function, x=x, y=y: f(x, y),
                    "ts one by one": lambda f=function, x=x, y=y: _unfused(f, x, y),
                    "CuPy's fuse": (lambda a=a, b=b: fused(a, b)) if name == "chain" else None,
                    "PyTorch": None if torch is None else lambda f=theirs, s=s, t=t: f(s, t),
                }
                found.append(_case(f"{name}, {dtype}, {n}", **contestants))
    return found


def _ends() -> list[Case]:
    """Return cases of fusion groups with a row operator, such as softmax, for several row lengths."""
    torch, unit = _torch(), ts.jit.CompilationUnit(ENDS)
    found = []
    for name in ("softmax", "layer_norm", "row_sums", "squared_error"):
        function = getattr(unit, name)
        theirs = None if torch is None else getattr(torch.jit.CompilationUnit(ENDS), name)
        for shape in ROWS:
            for dtype in ("float32", "float16"):
                x, y = (ts.rand(shape, device="cuda").to(getattr(ts, dtype)) for _ in "xy")
                s, t = (None if torch is None else torch.from_numpy(v.cpu().numpy()).cuda() for v in (x, y))
                contestants: dict[str, Any] = {
                    "ts": lambda f=function, x=x, y=y: f(x, y),
                    "ts one by one": lambda f=function, x=x, y=y: _unfused(f, x, y),
                    "PyTorch": None if torch is None else lambda f=theirs, s=s, t=t: f(s, t),
                }
                found.append(_case(f"{name}, {dtype}, {shape[0]}x{shape[1]}", **contestants))
    return found


def _unfused(function: Any, x: Any, y: Any) -> Any:
    with ts.limits(bytes=1 << 62):
        return function(x, y)


def _graphs() -> list[Case]:
    """Compare a chain of products and activations as single launches and as a CUDA graph."""
    found = []
    for side in (32, 256, 1024):
        w, x = ts.rand(side, side, device="cuda"), ts.rand(side, side, device="cuda")

        def chain(x: Any, w: Any = w) -> Any:
            for _ in range(STEPS):
                x = (x @ w).tanh()
            return x

        replayed = ts.cuda.make_graphed_callables(chain, (x,))
        found.append(
            _case(
                f"{STEPS} layers of {side}",
                **{"ts": lambda f=chain, x=x: f(x), "ts graph": lambda f=replayed, x=x: f(x)},
            )
        )
    return found
