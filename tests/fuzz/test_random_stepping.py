"""The debugger stops at the lines of CPython's tracing with equal variables, in random programs."""

import copy
import sys

from hypothesis import HealthCheck, given, settings

import ts
from tests.fuzz import how_many
from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.run_program import ARGUMENTS, CONTAINER_ARGUMENTS, as_functions
from tests.fuzz.test_random_programs import programs
from ts.debugger.debugger import Debugger

# CPython also stops at a `for` in each iteration, and omits lines if its compiler joins jumps.
NOT_COMPARED = ("for ", "break", "continue", "pass")
MAX_STOPS = 400
FAILURES = (ArithmeticError, LookupError, RuntimeError, ValueError)


@settings(max_examples=how_many(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_steps_of_python(source):
    """The debugger stops as CPython in programs on numbers and lists."""
    compare(source, ARGUMENTS)


@settings(max_examples=how_many(9), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(ContainerProgramWriter))
def test_steps_of_python_with_containers(source):
    """The debugger stops as CPython in programs on strings, dicts and optionals."""
    compare(source, CONTAINER_ARGUMENTS)


def compare(source, argument_tuples):
    """Step through the program with the debugger and with CPython's tracing and compare."""
    python = as_functions(source)["f"]
    scripted = ts.jit.CompilationUnit(source).f
    compared = {
        n for n, line in enumerate(source.split("\n"), 1) if not line.strip().startswith(NOT_COMPARED)
    }
    for arguments in argument_tuples:
        expected = each_line_once(python_stops(python, arguments), compared)
        stops = each_line_once(debugger_stops(scripted, arguments), compared)
        assert [line for line, _ in stops] == [line for line, _ in expected[: len(stops)]]
        assert len(stops) == len(expected) or len(stops) >= MAX_STOPS // 4
        for (line, variables), (_, values) in zip(stops, expected, strict=False):
            for name, text in variables.items():
                assert unsigned(text) == unsigned(repr(values[name])), (line, name)


def unsigned(text):
    """Return the text without signs of zeros: `max(-0.0, 0.0)` has another sign in PyTorch."""
    return text.replace("-0.0", "0.0")


def each_line_once(stops, compared):
    """Return the compared stops, the first of consecutive stops at one line (newer Pythons trace
    comprehensions so)."""
    found = []
    for stop in stops:
        if stop[0] in compared and not (found and found[-1][0] == stop[0]):
            found.append(stop)
    return found


def python_stops(function, arguments):
    """Return (line, variables) for each line that CPython is about to run."""
    stops = []
    file = function.__code__.co_filename

    def trace(frame, event, argument):
        if frame.f_code.co_filename != file or frame.f_code.co_name.startswith("<"):
            return None
        if event == "line" and len(stops) < 2 * MAX_STOPS:
            stops.append((frame.f_lineno, copy.deepcopy(dict(frame.f_locals))))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*copy.deepcopy(arguments))
    except FAILURES:
        pass
    finally:
        sys.settrace(before)
    return stops


def debugger_stops(function, arguments):
    """Return (line, texts of the variables by name) for each stop of the debugger."""
    stops = []
    failed = False

    def write(line):
        nonlocal failed
        failed |= line.startswith("The program ends here")

    def read():
        frame = debugger.session.frame
        if len(stops) >= MAX_STOPS or failed:
            return None
        stops.append((frame.range.line, {name: debugger.session.format_variable(name) for name in debugger.session.variables()}))
        return "s"

    debugger = Debugger(read, write)
    try:
        debugger.run(function, copy.deepcopy(arguments), {})
    except FAILURES:
        pass
    return stops
