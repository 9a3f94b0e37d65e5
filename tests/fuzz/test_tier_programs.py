"""Fuzz tests of tiers: baseline and optimized code of random programs return the same results and errors.

`python -m tests.fuzz.test_tier_programs COUNT [SEED]` runs more programs.
"""

import os
import random
import sys

import pytest

import ts
from tests.fuzz import test_tensor_passes, test_type_query_programs
from ts._core.vm.function import set_baseline_limits
from ts.runtime import tiers


def tensor_program(seed):
    """Return the source of a program, and functions that create its arguments."""
    return test_tensor_passes.program(seed), [
        lambda size=size: test_tensor_passes.arguments(seed, size, ts) for size in (3, 4)
    ]


def type_query_program(seed):
    kinds = random.Random(seed).sample(test_type_query_programs.KINDS, 3)
    return test_type_query_programs.program(seed), [
        lambda kind=kind: test_type_query_programs.arguments(seed, kind, ts) for kind in kinds
    ]


GENERATORS = [(tensor_program, test_tensor_passes.outcome), (type_query_program, test_type_query_programs.outcome)]


def check(seed):
    """Check that the calls of a program before and after its optimization have equal outcomes."""
    for generate, outcome in GENERATORS:
        source, arguments = generate(seed)
        set_baseline_limits(len(arguments), 10**15)
        function = ts.jit.CompilationUnit(source).f
        with ts.no_grad():
            baseline = [outcome(function, make()) for make in arguments]
            assert function.tier_state[:2] in (("baseline", len(arguments)), ("optimized", 0)), source
            optimized = [outcome(function, make()) for make in arguments]
        assert function.tier_state[0] == "optimized"
        for first, second in zip(baseline, optimized, strict=True):
            assert test_tensor_passes.outcomes_are_equal(first, second, True), f"seed {seed}:\n{source}"


@pytest.fixture
def two_tiers(monkeypatch):
    monkeypatch.setattr(tiers, "_tier", "")
    before = set_baseline_limits(2, 10**15)
    yield
    set_baseline_limits(*before)


@pytest.mark.parametrize("seed", range(20))
def test_tiers_agree(seed, two_tiers):
    check(seed)


if __name__ == "__main__":
    os.environ["TS_CACHE"] = "0"
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for number in range(start, start + count):
        check(number)
    print(f"{2 * count} programs agree in both tiers")
