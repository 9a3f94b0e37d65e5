"""Control flow functions that write to local tensors, by in-place operators, numbers and views."""

import pytest

import ts
from tests.export.functions import FunctionOfOne
from ts._higher_order_ops import map, scan, while_loop
from ts.errors import UncapturedHigherOrderOpError
from ts.export import export, load, save

pytest.importorskip("sympy")


def subgraph_function(x):
    y = ts.zeros(3)
    y.add_(x)
    y[0] = 1.0
    return x + y


def of_numbers(x):
    return ts.tensor([1.0, 2.0, 3.0]).mul_(x)


def of_a_list(x):
    return ts.Tensor([1.0, 2.0, 3.0]).mul_(2)


def of_data(x):
    y = x + 0
    y.data.add_(1)
    return y * 2


def view(x):
    y = x.clone()
    y[1:].fill_(2.0)
    return y


def given(x):
    x.mul_(2)
    return x.clone()


def in_each_operator(function):
    """Return functions that call `function` in the body of cond, while_loop, map and scan."""
    return {
        "cond": lambda x: ts.cond(x.sum() > 0, lambda x: function(x), lambda x: x.sin(), (x,)),
        "while_loop": lambda x: while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, function(x)), (ts.tensor(0), x)
        )[1],
        "map": lambda x: map(lambda row: function(row), x.expand(2, 3).clone()),
        "scan": lambda x: scan(lambda c, row: (function(c), c + row), x, x.expand(2, 3).clone())[0],
    }


EXPECTED = {  # results for the number of calls of each operator
    "cond": lambda f, x: f(x),
    "while_loop": lambda f, x: f(f(f(x))),
    "map": lambda f, x: ts.stack([f(x), f(x)]),
    "scan": lambda f, x: f(f(x)),
}


@pytest.mark.parametrize("function", [subgraph_function, of_numbers, of_a_list, of_data, view])
@pytest.mark.parametrize("operator", EXPECTED)
def test_writes_to_local_tensors(operator, function, tmp_path):
    """Writes to local tensors are accepted in eager mode and in exported, decomposed and loaded programs,
    with gradients enabled."""
    x = ts.tensor([1.0, 2.0, 3.0])
    wanted = EXPECTED[operator](function, x)
    program = in_each_operator(function)[operator]
    assert ts.equal(program(x), wanted)
    exported = export(FunctionOfOne(program), (x,))
    save(exported, tmp_path / "program.pt2")
    for each in (exported, exported.run_decompositions(), load(tmp_path / "program.pt2")):
        assert ts.equal(each.module()(x), wanted)


@pytest.mark.parametrize("operator", EXPECTED)
def test_writes_to_arguments_are_rejected(operator):
    """Writes to arguments raise `UncapturedHigherOrderOpError`."""
    x = ts.tensor([1.0, 2.0, 3.0])
    with pytest.raises(UncapturedHigherOrderOpError, match="Encountered input mutation"):
        export(FunctionOfOne(in_each_operator(given)[operator]), (x,))
