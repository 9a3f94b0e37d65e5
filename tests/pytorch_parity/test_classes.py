"""Graphs and results of functions with classes equal PyTorch's."""

import types

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests.pytorch_parity import class_programs  # noqa: E402

PROGRAMS = [f for f in vars(class_programs).values() if isinstance(f, types.FunctionType)]
METHODS = [name for name, m in vars(class_programs.Item).items() if isinstance(m, types.FunctionType)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_graph_text(program):
    """`str(fn.graph)` is the same as that of `torch.jit.script`."""
    assert str(ts.jit.script(program).graph) == str(torch.jit.script(program).graph)


@pytest.mark.parametrize("method", METHODS)
def test_graph_text_of_methods(method):
    """Methods of the class have PyTorch's graphs."""
    item = class_programs.Item(1, ["a"])
    ours, theirs = ts.jit.script(item), torch.jit.script(item)
    if method == "__init__":
        pytest.skip("PyTorch does not give the constructor of an instance")
    expected = theirs._c._get_method(method).graph if hasattr(theirs, "_c") else None
    assert str(ours._c.cls.type.methods[method].graph) == str(expected)
