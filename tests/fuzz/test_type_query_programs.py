"""Fuzz tests of programs that query types of arguments: specialized, general, unoptimized and PyTorch results
agree.

`python -m tests.fuzz.test_type_query_programs COUNT [SEED]` runs more programs.
"""

import itertools
import random
import sys

import numpy as np
import pytest

import ts
from tests.fuzz.type_query_programs import TypeQueryProgramWriter
from tests.fuzz import test_tensor_passes
from tests.fuzz.test_tensor_passes import outcomes_are_equal
from ts._core.vm.function import Function
from ts.runtime.graph_variants import prepare_graph

KINDS = list(itertools.product(("float32", "float64"), ("float32", "float16"), (False, True), (False, True)))


def program(seed):
    return TypeQueryProgramWriter(random.Random(seed).randrange).source()


def arguments(seed, kind, package):
    """Return two matrices, a vector, a number, a flag, and a vector or None; `kind` selects dtypes,
    requires_grad and None."""
    first, second, wants, given = kind
    numbers = np.random.default_rng(seed)
    a, b, v, c = (numbers.standard_normal(shape).astype(np.float32) for shape in [(3, 3), (3, 3), (3,), (3,)])
    a, b, v, c = (package.from_numpy(x) for x in (a, b, v, c))
    a, v, c = a.to(getattr(package, first)), v.to(getattr(package, first)), c.to(getattr(package, second))
    b = b.to(getattr(package, first)).requires_grad_(wants)
    return [a, b, v, seed % 4, seed % 3 == 0, c if given else None]


def outcome(function, given):
    """Return results and arguments after the call, with 0 in place of None."""
    found = test_tensor_passes.outcome(function, given)
    return found if isinstance(found, str) else [0 if x is None else x for x in found]


class GeneralCodeFunction(Function):
    """A function that is always compiled to general code, for all kinds of arguments."""

    def __init__(self, original):
        super().__init__(original.name, original.arguments, original.declaration, 0, original.result)
        self.original = original

    def _prepare(self):
        return prepare_graph(self.original.graph, self.original.name)


def in_python(source, torch):
    from typing import Optional

    names = {"torch": torch, "Tensor": torch.Tensor, "Tuple": tuple, "Optional": Optional}
    exec(source, names)
    return names["f"]


def check(seed, pytorch=None):
    """Check that all executions of a random program agree and return the number of specializations."""
    source = program(seed)
    function = ts.jit.CompilationUnit(source).f
    general = GeneralCodeFunction(function)
    theirs = None if pytorch is None else in_python(source, pytorch)
    for kind in random.Random(seed).sample(KINDS, 5):
        with ts.no_grad():
            found = [outcome(f, arguments(seed, kind, ts)) for f in (function, function, general)]
            with ts.jit.optimized_execution(False):
                want = outcome(function, arguments(seed, kind, ts))
        for each in found:
            assert outcomes_are_equal(each, want, True), f"{kind}:\n{source}\n{function.graph}"
        if theirs is not None:
            with pytorch.no_grad():
                assert outcomes_are_equal(outcome(theirs, arguments(seed, kind, pytorch)), want, False), f"PyTorch, {kind}:\n{source}"
        if kind[2]:  # with the differentiable graph
            recorded = outcome(function, arguments(seed, kind, ts))
            with ts.jit.optimized_execution(False):
                assert outcomes_are_equal(recorded, outcome(function, arguments(seed, kind, ts)), True), f"gradients, {kind}:\n{source}"
    return 0 if function.plans is None else len(function.plans.specialized_codes)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_executions_agree(first):
    plans = [check(seed, sys.modules.get("torch")) for seed in range(first, first + 10)]
    assert sum(map(bool, plans)) >= 3


if __name__ == "__main__":
    import torch as reference

    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts = [check(number, reference) for number in range(start, start + count)]
    print(f"{count} programs agree, {sum(map(bool, counts))} with plans")
