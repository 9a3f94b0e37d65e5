"""Size checks of operators become conditions of the exported program."""

import pytest

import ts
from tests.export.size_guard_cases import cases, sizes_of
from ts import nn
from ts.export import Dim, export

CASES = cases()


@pytest.mark.parametrize("call, shapes, sizes", CASES, ids=[f"{c[0]} {c[2]}" for c in CASES])
def test_sizes_that_fit(call, shapes, sizes):
    assert sizes_of(ts, call, shapes) == sizes


def test_calls_of_other_sizes():
    """A call with an invalid size fails in a guard that names the size, before an operator runs."""
    net = nn.Sequential(nn.Conv2d(4, 6, 3), nn.GroupNorm(2, 6))
    program = export(net, (ts.ones(2, 4, 8, 8),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO},))
    assert program.module()(ts.ones(3, 4, 9, 8)).shape == (3, 6, 7, 6)
    with pytest.raises(
        AssertionError, match=r"Guard failed: x\.size\(\)\[1\] == 4|input\.size\(\)\[1\] == 4"
    ):
        program.module()(ts.ones(3, 5, 9, 8))


@pytest.mark.parametrize("layer, minimum", [(nn.Conv1d(4, 6, 5), 5), (nn.AvgPool1d(3, 2), 3)])
def test_smallest_inputs(layer, minimum):
    """The minimum input size of a layer is its window size."""
    program = export(layer, (ts.ones(2, 4, 8),), dynamic_shapes=({2: Dim.AUTO},))
    assert [int(r.lower) for r in program.range_constraints.values()] == [minimum]


def test_number_of_parts():
    """The number of results of `split` is fixed, and whether the last part has fewer than 2 elements."""

    class Parts(nn.Module):
        def forward(self, x):
            return [p.sum() for p in x.split(2)]

    program = export(Parts(), (ts.ones(5),), dynamic_shapes=({0: Dim.AUTO},))
    assert [int(n) for n in program.module()(ts.ones(5))] == [2, 2, 1]
    assert [str(r) for r in program.range_constraints.values()] == ["VR[4, 5]"]
    for n in (3, 6, 7):
        with pytest.raises(AssertionError, match="Guard failed"):
            program.module()(ts.ones(n))


def test_fixed_by_a_layer():
    """A named dimension that a layer makes constant is rejected, with a suggested fix."""
    with pytest.raises(ts.errors.UserError, match="channels = 4"):
        export(nn.Conv1d(4, 6, 3), (ts.ones(2, 4, 8),), dynamic_shapes=({1: Dim("channels")},))


def test_sizes_computed_from_others():
    """A computed size that is 1 in the example broadcasts."""
    gate = ts.ops.aten.glu_backward

    class Gate(nn.Module):
        def forward(self, grad, x):
            return gate(grad, x, 0)

    args = ts.ones(2, 3), ts.ones(2, 3)  # half of x has one row
    program = export(Gate(), args, dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    assert ts.equal(program.module()(*args), gate(*args, 0))


def test_lengths_from_elements():
    """Data-dependent lengths: slices, unique values and packed sequences."""

    class Cut(nn.Module):
        def forward(self, x, lengths):
            values, inverse = ts._unique(x, True, True)
            rows, counts = ts._VF._pack_padded_sequence(x, lengths, False)
            return [*ts.tensor_split(x, lengths), values, inverse, rows, counts]

    x = ts.arange(12.0).reshape(4, 3)
    program = export(Cut(), (x, ts.tensor([3, 2, 1])), dynamic_shapes=({0: Dim.AUTO}, None))
    x, lengths = ts.arange(15.0).reshape(5, 3), ts.tensor([4, 4, 1])
    found, wanted = program.module()(x, lengths), Cut()(x, lengths)
    assert [t.shape for t in found] == [t.shape for t in wanted]
    assert all(map(ts.equal, found, wanted))
