"""Random typed programs have equal results scripted and in Python (`programs.py` describes the programs)."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ts
from tests.fuzz import how_many
from tests.fuzz.classes import ClassProgramWriter
from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.programs import ProgramWriter
from tests.fuzz.run_program import ARGUMENTS, CONTAINER_ARGUMENTS, as_functions, outcome


@st.composite
def programs(draw, writer=ProgramWriter):
    """Draw the source of a random program; shrinks towards fewer and simpler statements."""
    return writer(lambda n: draw(st.integers(0, n - 1))).program()


@settings(max_examples=how_many(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_same_as_python(source):
    """A program scripted from a string and from live source equals CPython."""
    compare(source, ARGUMENTS)


@settings(max_examples=how_many(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(ContainerProgramWriter))
def test_containers_same_as_python(source):
    """Random programs over strings, dicts and optionals behave as in Python."""
    compare(source, CONTAINER_ARGUMENTS)


@settings(max_examples=how_many(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(ClassProgramWriter))
def test_classes_same_as_python(source):
    """Random programs over classes, enums, named tuples, unions, `with` and exceptions behave as in
    Python."""
    python = as_functions(source)["f"]
    scripted = ts.jit.script(python)
    for arguments in CONTAINER_ARGUMENTS:
        assert outcome(scripted, arguments) == outcome(python, arguments), arguments


def compare(source, argument_tuples):
    """Run the program in three ways and compare the outcomes."""
    python = as_functions(source)["f"]
    from_string = ts.jit.CompilationUnit(source).f
    from_function = ts.jit.script(python)
    for arguments in argument_tuples:
        expected = outcome(python, arguments)
        assert outcome(from_string, arguments) == expected, arguments
        assert outcome(from_function, arguments) == expected, arguments
