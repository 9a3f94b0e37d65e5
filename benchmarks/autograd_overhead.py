"""Benchmark of autograd recording: overhead of small operators and of their backward.

In: nothing.  Out: a table; each row is `c = a * b` of three floats, called from Python, with the last result
freed by the next: where no tensor of the process has wanted a gradient yet, where another one has, where
factors do.

The rows "more for ..." are differences: what the tape adds, with a node made and freed.  The ways back are
whole passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case, measure, table

TITLE = "Recording (eager, tensors of 3 elements)"
STEPS = 1_000
LENGTH = 10


def products(a: Any, b: Any) -> Callable[[], object]:
    """The product, many times."""

    def run() -> object:
        c = None
        for _ in range(STEPS):
            c = a * b
        return c

    return run


def passes(a: Any, b: Any, gradient: Any, length: int) -> Callable[[], object]:
    """Return a function that computes a chain of products and its backward."""

    def run() -> None:
        for _ in range(STEPS // 10):
            c = a
            for _ in range(length):
                c = c * b
            c.backward(gradient)

    return run


def contestants(make: Callable[[Any], Callable[[], object]]) -> dict[str, Callable[[], object]]:
    """Return the function for each library, with one thread."""
    ts.set_num_threads(1)
    made = {"ts": make(ts)}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        made["PyTorch"] = make(torch)
    return made


def factors(library: Any, wanted: int) -> tuple[Any, Any]:
    """Two tensors, the first `wanted` of which want gradients."""
    both = library.tensor([1.0, 2.0, 3.0]), library.tensor([4.0, 5.0, 6.0])
    for x in both[:wanted]:
        x.requires_grad_()
    return both


def product_case(name: str, wanted: int) -> Case:
    """A row of products."""
    return Case(name, contestants(lambda library: products(*factors(library, wanted))), per_call=STEPS)


def pass_case(name: str, length: int) -> Case:
    """A row of passes."""

    def make(library: Any) -> Callable[[], object]:
        return passes(*factors(library, 1), library.ones(3), length)

    return Case(name, contestants(make), per_call=STEPS // 10)


def difference(name: str, more: Case, less: Case) -> Case:
    """Return the difference between the times of two rows."""
    return Case(name, {}, seconds={who: more.seconds[who] - less.seconds[who] for who in more.seconds})


def report(rounds: int) -> str:
    """Return the table, the best of several interleaved rounds."""
    before = measure([product_case("no gradient was ever wanted", 0)], rounds)
    cases = [
        product_case("a gradient of another tensor is wanted", 0),
        product_case("one factor wants a gradient", 1),
        product_case("both do", 2),
        pass_case("a product, there and back", 1),
        pass_case(f"{LENGTH} products, there and back", LENGTH),
    ]
    best: dict[tuple[int, str], float] = {}
    for _ in range(rounds):
        for i, case in enumerate(measure(cases, 1)):
            for who, seconds in case.seconds.items():
                best[i, who] = min(seconds, best.get((i, who), seconds))
            case.seconds = {}
    for i, case in enumerate(cases):
        case.seconds = {who: best[i, who] for who in case.contestants}
    other, one, both, *back = cases
    rows = [
        *before,
        other,
        one,
        both,
        difference("more for one factor", one, other),
        difference("more for both", both, other),
        *back,
    ]
    return table(TITLE, rows)
