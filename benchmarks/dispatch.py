"""Overhead of a call of a scripted function from Python, of an operator on four elements and of a view, per
operation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Overheads (per call, per operator)"
STEPS = 2_000


def add_ints(a: int, b: int) -> int:
    """Add two ints, to measure the overhead of a call."""
    return a + b


TINY_CHAIN = """
def tiny_chain(x: Tensor, y: Tensor, steps: int) -> Tensor:
    for i in range(steps):
        x = x * y
        x = x + y
        x = torch.tanh(x)
        x = x - y
    return x
"""


VIEWS = """
def views(x: Tensor, steps: int) -> Tensor:
    y = x
    for i in range(steps):
        y = y.t()
        y = y.unsqueeze(0)
        y = y[0]
        y = y[0:4]
    return y
"""


def views(x: Any, steps: int) -> Any:
    """Run the chain of `VIEWS` in plain Python."""
    for _ in range(steps):
        x = x.t().unsqueeze(0)[0][0:4]
    return x


def tiny_chain(lib: Any, x: Any, y: Any, steps: int) -> Any:
    """Run the chain of `TINY_CHAIN` in plain Python with the operators of `lib`."""
    for _ in range(steps):
        x = x * y
        x = x + y
        x = lib.tanh(x)
        x = x - y
    return x


def cases() -> list[Case]:
    """Return the cases of a call, of an operator chain and of a chain of views."""
    calls: dict[str, Any] = {"ts": ts.jit.script(add_ints), "CPython": add_ints}
    ours = ts.jit.CompilationUnit(TINY_CHAIN).tiny_chain
    x, y = ts.randn(4), ts.randn(4)
    chains: dict[str, Any] = {
        "ts": lambda: ours(x, y, STEPS),
        "ts eager": lambda: tiny_chain(ts, x, y, STEPS),
    }
    view_chain = ts.jit.CompilationUnit(VIEWS).views
    square = ts.randn(4, 4)
    looks: dict[str, Any] = {
        "ts": lambda: view_chain(square, STEPS),
        "ts eager": lambda: views(square, STEPS),
    }
    if peer_runtimes.has_torch():
        import torch

        calls["PyTorch"] = peer_runtimes.torch_script(add_ints)
        theirs = torch.jit.CompilationUnit(TINY_CHAIN).tiny_chain
        tx, ty = torch.from_numpy(x.numpy()), torch.from_numpy(y.numpy())
        chains["PyTorch"] = lambda: theirs(tx, ty, STEPS)
        chains["PyTorch eager"] = lambda: tiny_chain(torch, tx, ty, STEPS)
        their_views = torch.jit.CompilationUnit(VIEWS).views
        their_square = torch.from_numpy(square.numpy())
        looks["PyTorch"] = lambda: their_views(their_square, STEPS)
        looks["PyTorch eager"] = lambda: views(their_square, STEPS)
    return [
        Case("call of f(int, int) -> int", {peer: partial(f, 3, 4) for peer, f in calls.items()}),
        Case("tiny tensor operator in a loop", chains, per_call=4 * STEPS),
        Case("view in a loop", looks, per_call=4 * STEPS),
    ]
