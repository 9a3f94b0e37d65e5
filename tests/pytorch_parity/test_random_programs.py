"""Random typed programs have equal outcomes in `ts`, CPython and PyTorch."""

import random

import pytest

import ts
from tests.fuzz.classes import ClassProgramWriter
from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.programs import ProgramWriter
from tests.fuzz.run_program import ARGUMENTS, BUGS, CONTAINER_ARGUMENTS, as_functions, outcome

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("seed", range(60))
def test_same_as_pytorch(seed):
    """A random program has equal outcomes in three implementations for every argument tuple."""
    compare(ProgramWriter(random.Random(seed).randrange, pytorch=True).program(), ARGUMENTS)


@pytest.mark.parametrize("seed", range(40))
def test_containers_same_as_pytorch(seed):
    """Random programs over strings, dicts and optionals have PyTorch's results."""
    compare(
        ContainerProgramWriter(random.Random(seed).randrange, pytorch=True).program(), CONTAINER_ARGUMENTS
    )


@pytest.mark.parametrize("seed", range(25))
def test_classes_same_as_pytorch(seed):
    """Random programs over classes, enums, named tuples, unions, `with` and exceptions have PyTorch's
    results."""
    compare(ClassProgramWriter(random.Random(seed).randrange, pytorch=True).program(), CONTAINER_ARGUMENTS)


def compare(source, argument_tuples):
    """Run the program in three ways and compare the outcomes."""
    python = as_functions(source)["f"]
    try:
        theirs = torch.jit.script(python)
    except RuntimeError as error:
        if not any(bug in str(error) for bug in BUGS):
            raise
        theirs = python
    ours = ts.jit.script(python)
    for arguments in argument_tuples:
        expected = outcome(python, arguments)
        assert outcome(theirs, arguments) in (expected, "internal assertion"), source
        assert outcome(ours, arguments) == expected, source
