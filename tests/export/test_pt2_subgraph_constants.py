"""Files of programs with constants in subgraphs and Python numbers in loops."""

import io

import pytest

import ts
from tests.export.functions import FunctionOfOne
from ts._higher_order_ops import map, scan, while_loop
from ts.export import export, load, save

pytest.importorskip("sympy")


def numbers_first(x):
    i, j, y = while_loop(lambda i, j, y: i < 3, lambda i, j, y: (i + 1, i * 2, y + j), (0, 1, x))
    return y * i, j


def numbers_alone(x):
    i, j = while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, 7), (0, 1))
    return x + j, i


def size_and_number(x):
    n = x.shape[0]
    i, k, y = while_loop(lambda i, k, y: i < n, lambda i, k, y: (i + 2, k - 1, y + k), (n - 2, 5, x))
    return y * i, k


def in_a_branch(x):
    return ts.cond(x.sum() > 0, lambda x: x + ts.tensor([1.0, 2.0, 3.0]), lambda x: x * ts.tensor(2.0), (x,))


def in_branches_without_operands(x):
    return x + ts.cond(x.sum() > 0, lambda: ts.tensor([1.0]) * 2, lambda: ts.tensor([3.0]) * 2, ())


def in_a_loop(x):
    return while_loop(
        lambda i, y: i < ts.tensor(3),
        lambda i, y: (i + 1, ts.cond(i > 1, lambda y: y * ts.tensor(2.0), lambda y: y + 1, (y,))),
        (ts.tensor(0), x),
    )[1]


def in_a_map(x):
    return map(lambda row: row * ts.tensor(3.0), x), scan(
        lambda c, row: (c + ts.tensor(1.0), c * row), ts.tensor(2.0), x
    )


def in_a_block(x):
    def doubled(x):
        with ts.no_grad():
            y = x * ts.tensor([2.0])
        return y + x

    return ts.cond(x.sum() > 0, doubled, lambda x: x - 1, (x,))


PROGRAMS = [
    numbers_first, numbers_alone, size_and_number, in_a_branch, in_branches_without_operands, in_a_loop,
    in_a_map, in_a_block,
]  # fmt: skip


def saved(program):
    """Return the bytes of the program's file."""
    file = io.BytesIO()
    save(program, file)
    return file.getvalue()


@pytest.mark.parametrize("function", PROGRAMS)
def test_loaded_programs_return_equal_results(function):
    """Loaded, resaved and decomposed programs return equal results; saving leaves the program unchanged."""
    x = ts.tensor([1.0, 2.0, 3.0])
    shapes = ({0: ts.export.Dim.DYNAMIC},) if function is size_and_number else None
    program = export(FunctionOfOne(function), (x,), dynamic_shapes=shapes)
    text, constants = str(program.graph), list(program.constants)
    once = load(io.BytesIO(saved(program)))
    assert (str(program.graph), list(program.constants)) == (text, constants)
    for variant in (
        program,
        once,
        load(io.BytesIO(saved(once))),
        load(io.BytesIO(saved(program.run_decompositions()))),
    ):
        for given in (x, -x):
            ts.testing.assert_close(variant.module()(given), function(given))
        variant.validate()


def test_constants_of_two_functions():
    """Constants of two subgraphs become inputs of both."""
    program = export(FunctionOfOne(in_a_branch), (ts.ones(3),))
    found = load(io.BytesIO(saved(program)))
    assert sorted(found.constants) == ["lifted_tensor_0", "lifted_tensor_1"]
    (call,) = [n for n in found.graph.nodes if "cond" in str(n.target) and n.op == "call_function"]
    assert [n.name for n in call.args[3]] == ["x", "c_lifted_tensor_0", "c_lifted_tensor_1"]
