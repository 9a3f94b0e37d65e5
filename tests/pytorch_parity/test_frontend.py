"""The frontend's graphs have PyTorch's text: order, numbers, names and source ranges."""

import importlib.util
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from ts.frontend import compile, parse  # noqa: E402
from ts.runtime.function import compile_function  # noqa: E402

_spec = importlib.util.spec_from_file_location(
    "frontend_programs", Path(__file__).with_name("frontend_programs.py")
)
frontend_programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(frontend_programs)
PROGRAMS = [f for f in vars(frontend_programs).values() if isinstance(f, types.FunctionType)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_graph_text(program):
    """`str(fn.graph)` is the same as that of `torch.jit.script`."""
    expected = str(torch.jit.script(program).graph)
    assert str(compile.compile_function(parse.function_def(program), compile_function).graph) == expected


def reads_unknown(x: int):
    return x + y


def changes_type(n: int):
    x = 1
    if n > 2:
        x = "a"
    return x


def returns_other(n: int) -> str:
    return n


def defined_in_one_branch(n: int):
    if n > 2:
        x = 1
    return x


def unpacks_too_few(n: int):
    a, b, c = (n, n)
    return a + b + c


@pytest.mark.parametrize(
    "program",
    [reads_unknown, changes_type, returns_other, defined_in_one_branch, unpacks_too_few],
    ids=lambda f: f.__name__,
)
def test_error_text(program):
    """An invalid program has PyTorch's message first, with the same underlined source."""
    with pytest.raises(RuntimeError) as theirs:
        torch.jit.script(program)
    with pytest.raises(RuntimeError) as ours:
        compile.compile_function(parse.function_def(program), compile_function)
    expected = str(theirs.value).strip().split("\n")
    assert str(ours.value).strip().split("\n")[0] == expected[0]
    assert [line for line in expected if "<--- HERE" in line] == [
        line for line in str(ours.value).split("\n") if "<--- HERE" in line
    ]
