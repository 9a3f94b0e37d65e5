"""Sizes of one `Dim` are related after the trace: guards, ranges and errors, with the results of PyTorch."""

import pytest

import ts
from tests.export.functions import module_of
from ts.export import Dim, export

pytest.importorskip("sympy")

D = Dim("d", min=3, max=50)
H = Dim("h", min=2, max=32)
F, G = Dim("f"), Dim("g")
AUTO, DYNAMIC = Dim.AUTO, Dim.DYNAMIC


def _export(function, sizes, dims):
    args = tuple(map(ts.zeros, sizes))
    return export(module_of(function, args), args, dynamic_shapes=tuple({0: dim} for dim in dims))


def _error(program, *sizes):
    with pytest.raises(AssertionError) as caught:
        program.module()(*map(ts.zeros, sizes))
    return str(caught.value).removeprefix("Guard failed: ")


def _refusal(function, sizes, dims):
    with pytest.raises(ts.errors.UserError) as caught:
        _export(function, sizes, dims)
    lines = str(caught.value).partition("\n\nThe error above")[0].splitlines()
    return [line.strip() for line in lines if line != "Suggested fixes:"][1:]


GUARDS = {
    "multiple": (lambda a, b: a + b[::2], (4, 8), (D, 2 * D), (5, 11), "a.size()[0] == (1 + b.size()[0]) // 2"),
    "sum": (lambda a, b: a + b[1:], (5, 6), (D, D + 1), (4, 6), "a.size()[0] == -1 + b.size()[0]"),
    "range": (lambda a, b: a + b[1:], (5, 6), (D, D + 1), (51, 52), "a.size()[0] <= 50"),
    "difference": (lambda a, b: a[3:] + b, (8, 5), (D, D - 3), (9, 5), "-3 + a.size()[0] == b.size()[0]"),
    "equal": (lambda a, b: a + b, (5, 5), (D, D), (4, 6), "b.size()[0] == a.size()[0]"),
    "no common use": (lambda a, b: (a + 1, b + 1), (5, 10), (D, 2 * D), (4, 6), "b.size()[0] == 2 * a.size()[0]"),
    "quotient": (
        lambda a, b: a.reshape(-1, 4).sum(1) + b, (8, 2), (4 * F, F), (12, 2), "a.size()[0] // 4 == b.size()[0]"
    ),
    "division": (
        lambda a, b: a.view(b.shape[0], -1), (8, 4), (2 * D, D), (9, 5), "a.size()[0] % b.size()[0] == 0"
    ),
    "two derived sizes": (
        lambda a, b: (a + 1, b + 1), (8, 9), (2 * H, 2 * H + 1), (8, 11), "1 + a.size()[0] == b.size()[0]"
    ),
    "with a hint": (lambda a, b: a + b, (5, 5), (D, AUTO), (5, 6), "b.size()[0] == a.size()[0]"),
    "hints": (lambda a, b: a + b[::2], (5, 10), (AUTO, AUTO), (5, 11), "a.size()[0] == (1 + b.size()[0]) // 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", GUARDS)
def test_first_violated_guard(name):
    """The error of a call has the condition that the program compares first."""
    function, sizes, dims, wrong, condition = GUARDS[name]
    assert _error(_export(function, sizes, dims), *wrong) == condition


def test_shapes_and_ranges():
    """Sizes in the graph are expressions of few symbols, and have the ranges of their `Dim`s."""
    program = _export(lambda a, b: (a + b[::2], ts.cat([a, b])), (4, 8), (Dim("n", min=1, max=50), 2 * Dim("n", min=1, max=50)))
    shapes = [str(n.meta["val"].shape[0]) for n in program.graph.nodes if n.op != "output"]
    assert shapes == ["s0", "2*s0", "s0", "s0", "3*s0"]
    assert {str(k): str(v) for k, v in program.range_constraints.items()} == {
        "s0": "VR[1, 50]", "2*s0": "VR[2, 100]",
    }  # fmt: skip
    assert [x.shape[0] for x in program.module()(ts.zeros(5), ts.zeros(10))] == [5, 15]


def test_size_nodes_of_equal_sizes():
    """Equal sizes of two arguments have one node."""
    program = _export(lambda a, b: (a * b.shape[0], a.shape[0] + b.shape[0]), (5, 5), (D, D))
    targets = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    assert targets == ["aten.sym_size.int", "aten.mul.Tensor", "<built-in function add>"]


def test_condition_on_a_derived_size():
    """A condition may narrow the range of a derived size if the `Dim` itself is not the size of an argument."""
    program = _export(lambda a: a * 2 if a.shape[0] > 5 else a, (8,), (2 * H,))
    assert {str(v) for v in program.range_constraints.values()} == {"VR[4, 64]", "VR[3, 32]"}
    assert _error(program, 4) == "x.size()[0] > 5"
    assert program.module()(ts.zeros(6)).shape == (6,)


REFUSALS = {
    "related": (
        lambda a, b: a + b[1:], (5, 6), (F, G),
        ["- The values of g = L['b'].size()[0] must always be related to the values of f = L['a'].size()[0] by "
         "g = f + 1.", "g = f + 1"],
    ),
    "equal": (
        lambda a, b: a + b, (5, 5), (F, G),
        ["- The values of g = L['b'].size()[0] and f = L['a'].size()[0] must always be equal.", "g = f"],
    ),
    "condition": (
        lambda a, b: a * 2 if a.shape[0] > 5 else a, (8, 16), (H, 2 * H),
        ["- Not all values of h = L['a'].size()[0] in the specified range h <= 32 satisfy the generated guard "
         "6 <= L['a'].size()[0] and L['a'].size()[0] <= 32", "h = Dim('h', min=6, max=32)"],
    ),
    "hint related to a dim": (
        lambda a, b: a + b[1:], (8, 9), (D, AUTO),
        ["- The values of L['b'].size()[0] = L['b'].size()[0] must always be related to the values of "
         "d = L['a'].size()[0] by L['b'].size()[0] = d + 1.", "L['b'].size()[0] = d + 1"],
    ),
    "range of an equal dim": (
        lambda a, b: a + b if b.shape[0] > 4 else a, (8, 8), (F, D),
        ["- The values of d = L['b'].size()[0] and f = L['a'].size()[0] must always be equal.",
         "- Not all values of f = L['a'].size()[0] in the specified range satisfy the generated guard "
         "5 <= L['a'].size()[0] and L['a'].size()[0] <= 50",
         "- Not all values of f = L['a'].size()[0] in the specified range 3 <= f <= 50 satisfy the generated guard "
         "5 <= L['a'].size()[0] and L['a'].size()[0] <= 50", "f = Dim('f', min=5, max=50)", "d = f"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refused_relations(name):
    """Relations that the specs do not declare are refused, with suggested fixes."""
    function, sizes, dims, lines = REFUSALS[name]
    assert _refusal(function, sizes, dims) == lines


def test_accepted_relations():
    """A size with a hint may be an offset of another size with a `Dim`, or equal to it."""
    assert _error(_export(lambda a, b: a + b[1:], (8, 9), (DYNAMIC, D)), 7, 9) == "a.size()[0] == -1 + b.size()[0]"
    program = _export(lambda a, b: a + b, (6, 6), (DYNAMIC(max=9), D))
    assert [str(v) for v in program.range_constraints.values()] == ["VR[3, 9]"]


def test_wrong_examples():
    """Example arguments must satisfy the relations."""
    with pytest.raises(ts.errors.UserError, match=r"Expected input L\['b'\].size\(\)\[0\] to be equal to 2\*h, where h = 8"):
        _export(lambda a, b: a + 1, (8, 15), (H, 2 * H))
    with pytest.raises(ts.errors.UserError, match=r"L\['b'\].size\(\)\[0\] = 9 is not equal to L\['a'\].size\(\)\[0\] = 8"):
        _export(lambda a, b: a + 1, (8, 9), (H, H))
