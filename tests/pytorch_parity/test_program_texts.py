"""Graph text and source text of `main`, of functions that it calls, and of modules equal PyTorch's."""

import functools
import re
import sys

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests.program_files import all_programs, read  # noqa: E402
from tests.round_trip import compiled_by  # noqa: E402
from ts.frontend import naming  # noqa: E402

PROGRAMS = [
    path
    for path in all_programs()
    if "# not in PyTorch" not in path.read_text()
    and not read(path).compile_error
    and path.parent.name != "tracing"  # compared in test_tracing.py
    and path.stem != "overloads"  # PyTorch compiles overloaded functions at calls only
    and path.stem != "packed_sequences"  # calls library functions, whose source differs
    and path.stem != "guide_tracer_warnings"  # contains functions to trace, which PyTorch cannot script
]
# Programs with a function whose graph and source differ.
OTHER_GRAPH = {
    "builtins/dict_and_tuple": "PyTorch makes a loop of `dict` of pairs",
    "dicts/constructor": "PyTorch makes a loop of `dict` of pairs",
    "builtins/of_tensors": "`reversed` of a tensor is an operator here, a call of Python in PyTorch",
    "reference/guide_check_inputs": "a trace asserts what it took for constant",
    "reference/guide_mixed": "a trace has its results in variables",
    "reference/guide_trace": "a trace has its results in variables",
    "modules/hooks": "PyTorch calls hooks as functions",
    "tensors/conversions": "the index of a constant device is a constant here",
    "tensors/generators": "PyTorch makes generators while compiling, and asks twice for the middle of `a < b < c`",
    "tuples/defaults": "containers that are defaults are made for each call here, constants in PyTorch",
    "tuples/named_defaults": "a named tuple of constants is not folded here",
}
# Programs of which only the graph text differs, mostly in value numbers and source locations.
OTHER_NUMBERS = {
    "enums/name_and_value": "a constant that both branches return is created once here",
    "async/fork_and_wait": "numbers of constants in a task",
    "builtins/getattr_default": "PyTorch emits the default of `getattr` only where it is used",
    "modules/container_index": "numbers: PyTorch asks for the containers twice",
    "modules/attributes": "numbers: PyTorch emits what is not used",
    "modules/saved_state": "numbers of constants in a trace",
    "modules/python_methods": "numbers: PyTorch emits what is not used",
    "runtime_errors/tuple_index": "a computed index has a place here, as it may fail",
    "reference/guide_disable": "numbers of constants in a trace",
    "reference/guide_questions": "the weights of a trace need no gradient",
    "strings/appending": "PyTorch escapes what is not ASCII as other characters",
    "tuples/computed_index": "a computed index has a place here, as it may fail",
    "tuples/named": "a named tuple of constants is not folded here",
    "tensors/tolist": "`tolist` has a place here, as it may fail",
}


# Programs of which only the source differs.
OTHER_SOURCE = {"async/fork_and_wait": "PyTorch waits for a task after it has defined the next one"}
# Programs whose source PyTorch cannot print.
NO_SOURCE = {"functions/none_for_tensor": "PyTorch fails to print the undefined tensor that is a default"}


def programs(known):
    """Return all programs, with known differences marked as expected failures."""
    for path in PROGRAMS:
        name = f"{path.parent.name}/{path.stem}"
        reason = known.get(name)
        raises = RuntimeError if name in NO_SOURCE else AssertionError
        marks = pytest.mark.xfail(strict=True, reason=reason, raises=raises) if reason else ()
        yield pytest.param(path, id=name, marks=marks)


@functools.cache
def pairs(path):
    """Return the functions compiled from a program, paired with those compiled by PyTorch.

    Each program is compiled once: names of a second class or function are longer, and long lines are split.
    """
    naming.clear_names()
    found = []
    program = read(path)
    theirs, ours = {}, {}

    def load(module, into):
        main = program.load(module)
        into.update(vars(sys.modules[f"programs.{path.stem}"]))
        if main is not None:
            into["main"] = (ts if module == "ts" else torch).jit.script(main)

    try:
        load("torch", theirs)
    except Exception as error:
        if program.runtime_error is None:
            pytest.skip(f"PyTorch does not compile it: {error}")
    compiled = compiled_by(lambda: load("ts", ours), may_fail=bool(program.runtime_error))
    for name, our_function in ours.items():
        other = theirs.get(name)
        if isinstance(our_function, ts.jit.ScriptFunction | ts.jit.ScriptModule) and hasattr(other, "graph"):
            found.append((our_function, other))
    for function in compiled:
        python = theirs.get(function.name)
        if callable(python) and function.name != "main" and not isinstance(python, type):
            found.append((function, torch.jit.script(python)))
    return found


def unmangled(text):
    """Return the text without counters of earlier compilations: mangled names and warning numbers."""
    return re.sub(r"___torch_mangle_\d+\.|(?<=warn_id=)\d+", "", text)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", list(programs(OTHER_GRAPH | OTHER_NUMBERS)))
def test_graph_text(path):
    """Graphs have PyTorch's nodes, names, numbers and source locations."""
    for our_function, other in pairs(path):
        expected = unmangled(str(other.graph)).replace("<torch>", "<ts>")
        assert unmangled(str(our_function.graph)) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", list(programs(OTHER_GRAPH | OTHER_SOURCE | NO_SOURCE)))
def test_source_text(path):
    """Printed source equals PyTorch's, independent of value numbers."""
    for our_function, other in pairs(path):
        assert unmangled(our_function.code) == unmangled(other.code)
