"""Overhead of autograd recording for `c = a * b` on three elements, called from Python. The rows
"recording, ..." are differences between two rows above; the last two rows include the backward pass.

In: nothing. Out: a table. Each result is freed by the next one. The first row is measured before any tensor
of the process requires a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case, measure, table

TITLE = "Autograd recording, eager, 3 elements"
STEPS = 1_000
LENGTH = 10


def products(a: Any, b: Any) -> Callable[[], object]:
    """Return a function that computes the product many times."""

    def run() -> object:
        c = None
        for _ in range(STEPS):
            c = a * b
        return c

    return run


def passes(a: Any, b: Any, gradient: Any, length: int) -> Callable[[], object]:
    """Return a function that computes a chain of products and its backward pass."""

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
    functions = {"ts": make(ts)}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        functions["PyTorch"] = make(torch)
    return functions


def factors(library: Any, wanted: int) -> tuple[Any, Any]:
    """Return two tensors, of which the first `wanted` tensors require gradients."""
    both = library.tensor([1.0, 2.0, 3.0]), library.tensor([4.0, 5.0, 6.0])
    for x in both[:wanted]:
        x.requires_grad_()
    return both


def product_case(name: str, wanted: int) -> Case:
    """Return the case of one product, of which the first `wanted` factors require gradients."""
    return Case(name, contestants(lambda library: products(*factors(library, wanted))), per_call=STEPS)


def pass_case(name: str, length: int) -> Case:
    """Return the case of a chain of `length` products and its backward pass."""

    def make(library: Any) -> Callable[[], object]:
        return passes(*factors(library, 1), library.ones(3), length)

    return Case(name, contestants(make), per_call=STEPS // 10)


def difference(name: str, more: Case, less: Case) -> Case:
    """Return the difference between two rows, for the contestants in which it exceeds the noise."""
    differences = {peer: more.seconds[peer] - less.seconds[peer] for peer in more.seconds}
    return Case(name, {}, seconds={peer: seconds for peer, seconds in differences.items() if seconds > 0})


def report(rounds: int) -> str:
    """Return the table of the best times of several interleaved rounds."""
    before = measure([product_case("no tensor has required a gradient yet", 0)], rounds)
    cases = [
        product_case("another tensor requires a gradient", 0),
        product_case("one factor requires a gradient", 1),
        product_case("both factors require gradients", 2),
        pass_case("one product, forward and backward", 1),
        pass_case(f"{LENGTH} products, forward and backward", LENGTH),
    ]
    best: dict[tuple[int, str], float] = {}
    for _ in range(rounds):
        for i, case in enumerate(measure(cases, 1)):
            for peer, seconds in case.seconds.items():
                best[i, peer] = min(seconds, best.get((i, peer), seconds))
            case.seconds = {}
    for i, case in enumerate(cases):
        case.seconds = {peer: best[i, peer] for peer in case.contestants}
    other, one, both, *back = cases
    rows = [
        *before,
        other,
        one,
        both,
        difference("recording, one factor", one, other),
        difference("recording, both factors", both, other),
        *back,
    ]
    return table(TITLE, rows)
