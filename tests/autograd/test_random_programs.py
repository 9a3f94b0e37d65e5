"""Random programs with views and in-place writes have equal gradients as scripts and in Python.

    TS_RANDOM_PROGRAMS=10000 pytest tests/autograd/test_random_programs.py
"""

import pytest

import ts
from tests.fuzz import how_many
from ts.testing import assert_close

from .random_programs import outcome, program, with_source

COUNT = how_many(60)


def compare(want, got):
    assert not isinstance(got, tuple), got
    for a, b in zip(want, got, strict=True):
        if isinstance(a, ts.Tensor):
            assert_close(b, a)
        else:
            assert a is b


@pytest.mark.parametrize("first", range(0, COUNT, 20))
def test_gradients_of_scripts(first):
    """The first and second call of a script have eager gradients, for several sets of inputs with gradients.
    Programs whose eager gradients raise an error are skipped: they may succeed in a script."""
    for seed in range(first, min(first + 20, COUNT)):
        text, count = program(seed)
        function = with_source(text)
        script = ts.jit.script(function)
        for wanted in ([0], list(range(count)), [count - 1]):
            want = outcome(function, count, wanted)
            if isinstance(want, tuple):
                continue
            for _ in range(2):
                compare(want, outcome(script, count, wanted))
