"""Slices with dynamic bounds, which are relative to the end if negative."""

import pytest

import ts
from tests.export.functions import Function, FunctionOfOne
from ts.export import Dim, export


def rows(n):
    return ts.arange(float(n))


FROM_THE_END = {
    "-s:": lambda x, y: x[-y.shape[0] :],
    ":-s": lambda x, y: x[: -y.shape[0]],
    "s-6:": lambda x, y: x[y.shape[0] - 6 :],
    ":s-5": lambda x, y: x[: y.shape[0] - 5],
    "-s:-1": lambda x, y: x[-y.shape[0] : -1],
    "-s:2-s": lambda x, y: x[-y.shape[0] : 2 - y.shape[0]],
    "6-s:": lambda x, y: x[6 - y.shape[0] :],
    "-s::2": lambda x, y: x[-y.shape[0] :: 2],
}


@pytest.mark.parametrize("text", FROM_THE_END)
def test_ends_that_are_negative(text):
    """Slices with negative ends have the actual lengths for all sizes, or a condition rejects the size."""
    function = FROM_THE_END[text]

    def of_lengths(x, y):
        return function(x, y), function(x, y).shape[0]

    module = export(Function(of_lengths), (rows(12), rows(4)), dynamic_shapes=(None, {0: Dim.AUTO})).module()
    ran = 0
    for n in range(2, 16):
        x, y = rows(12), rows(n)
        try:
            found, length = module(x, y)
        except AssertionError as error:
            assert "Guard failed" in str(error) and n != 4
            continue
        ran += 1
        assert found.tolist() == function(x, y).tolist()
        assert length == len(found)
    assert ran > 2


def test_size_from_the_end_is_bounded():
    """A size used as distance from the end is bounded by the length."""
    program = export(
        Function(lambda x, y: x[-y.shape[0] :].shape[0]), (rows(12), rows(4)),
        dynamic_shapes=(None, {0: Dim.AUTO}),
    )  # fmt: skip
    assert [int(r.upper) for r in program.range_constraints.values()] == [12]
    with pytest.raises(AssertionError, match=r"Guard failed: b\.size\(\)\[0\] <= 12"):
        program.module()(rows(12), rows(13))


def test_last_keys_of_a_query():
    """Slices by another tensor's dynamic size, from the end of a dynamic dimension, equal eager slices."""

    def both(k, q):
        return k[:, -q.shape[1] :] + q, k[:, : -q.shape[1]]

    module = export(
        Function(both), (ts.ones(2, 9), ts.ones(2, 4)), dynamic_shapes=({1: Dim.AUTO}, {1: Dim.AUTO})
    ).module()
    k, q = ts.arange(16.0).reshape(2, 8), ts.ones(2, 3)
    for found, wanted in zip(module(k, q), both(k, q), strict=True):
        assert found.tolist() == wanted.tolist()
    with pytest.raises(AssertionError, match="Guard failed"):
        module(ts.ones(2, 3), ts.ones(2, 4))


@pytest.mark.parametrize(
    ("subscript", "dynamic", "recorded"),
    [
        (lambda x: x[:, 1:], (0,), ["slice(0, 0, MAX)", "slice(1, 1, MAX)"]),
        (lambda x: x[:, 1:], (1,), ["slice(1, 1, MAX)"]),
        (lambda x: x[:, 0], (0,), ["slice(0, 0, MAX)", "select(1, 0)"]),
        (lambda x: x[:, :, 0], (1,), ["slice(1, 0, MAX)", "select(2, 0)"]),
        (lambda x: x[0, :], (1,), ["select(0, 0)", "slice(0, 0, MAX)"]),
        (lambda x: x[None, :], (0,), ["unsqueeze(0)", "slice(1, 0, MAX)"]),
        (lambda x: x[:, :, : x.shape[2]], (0, 2), ["sym_size(2)", "slice(2, None, sym_size_int_2)"]),
    ],
)
def test_slices_of_whole_dimensions(subscript, dynamic, recorded):
    """The exported graph has a slice node for `:` over a dynamic dimension, unless another index is symbolic."""
    program = export(
        FunctionOfOne(subscript), (ts.ones(3, 4, 5),), dynamic_shapes=(dict.fromkeys(dynamic, Dim.AUTO),)
    )
    nodes = [n for n in program.graph.nodes if n.op == "call_function"]
    assert [
        f"{n.target.overloadpacket.__name__}({', '.join(map(str, n.args[1:]))})".replace(str(2**63 - 1), "MAX")
        for n in nodes
    ] == recorded
