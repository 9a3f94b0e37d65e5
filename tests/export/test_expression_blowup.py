"""Sizes whose expressions double at each step: small ones are exported, large ones are rejected quickly."""

import time

import pytest

import ts
from ts.errors import UserError

sympy = pytest.importorskip("sympy")
expressions = pytest.importorskip("ts.export.sympy_functions")

STEPS = {
    "n + n//2": lambda n: n + n // 2,
    "n//2 + n//3": lambda n: n // 2 + n // 3,
    "(n + 1)//2 + n//3 + 1": lambda n: (n + 1) // 2 + n // 3 + 1,
    "n//2 * n": lambda n: n // 2 * n % 1009,
    "n%7 + n//2": lambda n: n % 7 + n // 2,
    "n*(n + 1)//2": lambda n: n * (n + 1) // 2 % 1009,
}


class Repeated(ts.nn.Module):
    def __init__(self, step, times):
        super().__init__()
        self.step, self.times = step, times

    def forward(self, x):
        n = x.shape[0]
        for _ in range(self.times):
            n = self.step(n)
        return x + n


def exported(step, times):
    return ts.export.export(
        Repeated(step, times), (ts.ones(4),), dynamic_shapes=({0: ts.export.Dim.DYNAMIC},)
    )


@pytest.mark.parametrize("name", STEPS)
def test_few_doubling_steps_are_exported(name):
    """A program with a few doubling steps runs for other sizes."""
    program = exported(STEPS[name], 4)
    for n in (2, 4, 9):
        assert ts.equal(program.module()(ts.ones(n)), Repeated(STEPS[name], 4)(ts.ones(n)))


@pytest.mark.parametrize("name", STEPS)
def test_many_doubling_steps_are_rejected(name):
    """Too many doubling steps raise an error in a short time."""
    before = time.perf_counter()
    with pytest.raises(UserError, match=r"computed from s0 is an expression of [\d,]+ nodes"):
        exported(STEPS[name], 30)
    assert time.perf_counter() - before < 20


def test_long_sums():
    """A sum of many sizes exceeds `MAX_EXPRESSION_NODES` without deep recursion."""
    sizes = sympy.symbols("u0:3000", integer=True)
    assert expressions.count_nodes(sympy.Add(*sizes)) > expressions.MAX_EXPRESSION_NODES
    assert not expressions.has_repeated_parts(sympy.Add(*sizes))
