"""Unnamed dynamic sizes may be constrained to equal other sizes, but not constants."""

import pytest

import ts
from tests.export.functions import Function
from ts import nn
from ts.export import Dim, export

pytest.importorskip("sympy")

AUTO, DYNAMIC = Dim.AUTO, Dim.DYNAMIC
FREE = [(AUTO, DYNAMIC), (DYNAMIC, AUTO), (DYNAMIC, DYNAMIC), (AUTO, Dim("b")), (DYNAMIC, Dim("b"))]


def _ranges(program):
    return sorted(str(r) for r in program.range_constraints.values())


@pytest.mark.parametrize("dims", FREE, ids=str)
@pytest.mark.parametrize("function", [lambda x, y: x + y, lambda x, y: ts.cat([x, y], 1)])
def test_equal_sizes(function, dims):
    """Two sizes that a program requires to be equal become one symbol; calls with different sizes are
    rejected."""
    first, second = dims
    program = export(Function(function), (ts.ones(4, 3), ts.ones(4, 3)), dynamic_shapes=({0: first}, {0: second}))
    assert _ranges(program) == ["VR[2, int_oo]"]
    x = ts.rand(7, 3)
    assert ts.equal(program.module()(x, x + 1), function(x, x + 1))
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(x, ts.ones(6, 3))


@pytest.mark.parametrize(
    ("function", "ranges"),
    [
        (lambda x, y: x + y if x.shape[0] > 4 else x - y, ["VR[5, int_oo]"]),
        (lambda x, y: x + y if x.shape[0] < 9 else x - y, ["VR[2, 8]"]),
        (lambda x, y: x + y if x.shape[0] % 2 == 0 else x - y, ["VR[2, int_oo]"]),
        (lambda x, y: x[1:] + y[:-1], ["VR[2, int_oo]"]),
    ],
)
def test_conditions(function, ranges):
    """Conditions of the program on a dynamic size constrain its range."""
    program = export(
        Function(function), (ts.ones(6, 3), ts.ones(6, 3)), dynamic_shapes=({0: DYNAMIC}, {0: DYNAMIC})
    )
    assert _ranges(program) == ranges


def test_derived_sizes():
    """A size that is twice another one is exported as a derived size."""

    def function(x, y):
        return ts.cat([x, x]) + y

    program = export(
        Function(function), (ts.ones(3, 2), ts.ones(6, 2)), dynamic_shapes=({0: DYNAMIC}, {0: DYNAMIC})
    )
    assert _ranges(program) == ["VR[2, int_oo]", "VR[4, int_oo]"]
    assert program.module()(ts.ones(5, 2), ts.ones(10, 2)).shape == (10, 2)


@pytest.mark.parametrize("dim", [DYNAMIC, Dim("b")], ids=str)
def test_dynamic_sizes_made_constant(dim):
    """A dynamic size that the program makes constant is rejected."""
    with pytest.raises(ts.errors.UserError, match=r"specialized it to be a constant \(4\)"):
        export(Function(lambda x, y: x + y), (ts.ones(4), ts.ones(4)), dynamic_shapes=({0: dim}, None))


def test_names_keep_their_range():
    """A named size that equals an unnamed size keeps its range; two named sizes stay distinct."""
    args = ts.ones(6), ts.ones(6)

    def function(x, y):
        return x + y if x.shape[0] > 4 else x - y

    for other in (AUTO, DYNAMIC):
        with pytest.raises(ts.errors.UserError, match=r"b = Dim\('b', min=5\)"):
            export(Function(function), args, dynamic_shapes=({0: Dim("b")}, {0: other}))
        with pytest.raises(ts.errors.UserError, match=r"satisfy the generated guard 5 <= L\['a'\]"):
            export(Function(function), args, dynamic_shapes=({0: other}, {0: Dim("b")}))
    program = export(
        Function(lambda x, y: x + y), args, dynamic_shapes=({0: Dim("b", min=3, max=20)}, {0: DYNAMIC(max=9)})
    )
    assert _ranges(program) == ["VR[3, 9]"]
    with pytest.raises(ts.errors.UserError, match="c = b"):
        export(Function(lambda x, y: x + y), args, dynamic_shapes=({0: Dim("b")}, {0: Dim("c")}))


def test_derived_sizes_without_a_root_argument():
    """The range of a derived size begins at two, the range of the argument where it was declared;
    divisibility is checked last."""
    dims = {0: 4 * Dim("quarter", max=20)}
    program = export(nn.ReLU(), (ts.rand(8, 2),), dynamic_shapes=(dims,))
    assert {str(k): str(r) for k, r in program.range_constraints.items()} == {
        "4*s1": "VR[0, 80]", "s1": "VR[2, 20]",
    }  # fmt: skip
    assert program.module()(ts.zeros(4, 2)).shape == (4, 2)
    refused = {(84, 2): "<= 80", (83, 2): "<= 80", (1, 8, 2): r"size\(\)\[1\] == 2", (6, 2): "% 4 == 0"}
    for shape, condition in refused.items():
        with pytest.raises(AssertionError, match=f"Guard failed: .*{condition}"):
            program.module()(ts.zeros(shape))


def test_symbols_follow_the_order_of_the_arguments():
    """Symbols are numbered in the order of the arguments, independently of their uses."""

    def function(x, y):
        return ts.full((y.shape[1],), 1.0), x.new_zeros(y.shape[0], x.shape[1]), x.shape[0] * 2

    dims = {0: AUTO, 1: AUTO}
    program = export(Function(function), (ts.rand(4, 3), ts.rand(5, 6)), dynamic_shapes=(dims, dims))
    sizes = [str(n.args) for n in program.graph.nodes if n.op == "call_function"][:4]
    size_args = [tuple(n.args[1:]) for n in program.graph.nodes if str(n.target) == "aten.sym_size.int"]
    assert size_args == [(0,), (1,), (0,), (1,)]
    assert [x[1:6] for x in sizes] == [x[1:6] for x in sorted(sizes)]
    assert program.module()(ts.rand(2, 7), ts.rand(8, 9))[1].shape == (8, 7)
