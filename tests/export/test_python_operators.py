"""`x & y` is exported as `aten.__and__`, as in PyTorch, and not as the function `bitwise_and`."""

import pytest

import ts
from tests.export.functions import Function
from ts.export import export, load, save

pytest.importorskip("sympy")


def _operators(program):
    return [str(n.target).split(".")[1] for n in program.graph.nodes if n.op == "call_function"]


def _in_place(x, y):
    x = x.clone()
    x &= y
    x |= 8
    x ^= y
    x <<= 2
    x >>= 1
    return x


PROGRAMS = {
    "and": (lambda x, y: x & y, ["__and__"], ["bitwise_and"]),
    "or of a number": (lambda x, y: x | 1, ["__or__"], ["bitwise_or"]),
    "xor": (lambda x, y: x ^ y, ["__xor__"], ["bitwise_xor"]),
    "shifts": (lambda x, y: x << y >> 1, ["__lshift__", "__rshift__"], ["__lshift__", "__rshift__"]),
    "function": (ts.bitwise_and, ["bitwise_and"], ["bitwise_and"]),
    "method": (lambda x, y: x.bitwise_left_shift(y), ["bitwise_left_shift"], ["bitwise_left_shift"]),
    "in place": (
        _in_place,
        ["clone", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"],
        ["clone", "bitwise_and", "bitwise_or", "bitwise_xor", "__lshift__", "__rshift__"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_python_operators(name, tmp_path):
    """Python operators are exported as the expected operators, before and after `run_decompositions`, with
    results equal to the module's."""
    function, operators, decomposed = PROGRAMS[name]
    args = ts.tensor([3, 4, 5]), ts.tensor([1, 2, 3])
    program = export(Function(function), args)
    core = program.run_decompositions()
    assert (_operators(program), _operators(core)) == (operators, decomposed)
    save(program, tmp_path / "program.pt2")
    for each in (program, core, load(tmp_path / "program.pt2")):
        run = each.module()
        for _ in range(3):
            assert ts.equal(run(*args), function(*args))
