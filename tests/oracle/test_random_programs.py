"""Random typed programs do the same in `ts`, CPython and PyTorch."""

import random

import pytest

import ts
from tests.fuzz.programs import ProgramWriter
from tests.fuzz.running import ARGUMENTS, as_functions, outcome

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("seed", range(60))
def test_same_as_pytorch(seed):
    """One random program, three implementations, equal outcomes on every argument tuple."""
    choices = random.Random(seed)
    source = ProgramWriter(choices.randrange, pytorch=True).program()
    python = as_functions(source)["f"]
    theirs = torch.jit.script(python)
    ours = ts.jit.script(python)
    for arguments in ARGUMENTS:
        expected = outcome(python, arguments)
        assert outcome(theirs, arguments) in (expected, "internal assertion"), source
        assert outcome(ours, arguments) == expected, source
