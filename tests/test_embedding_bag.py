"""Sums and means of bags of embeddings equal their definition for every dtype, layout and form of offsets."""

import numpy as np
import pytest

import ts
import ts.nn.functional as F

random = np.random.default_rng(0)


def bags_of(indices, offsets, include_last):
    """Return the indices of each bag."""
    ends = [*offsets[1:], len(indices)]
    if include_last:
        offsets, ends = offsets[:-1], offsets[1:]
    return [indices[a:b] for a, b in zip(offsets, ends, strict=True)]


def expected_rows(table, bags, scales, mode):
    rows = []
    for bag, factors in zip(bags, scales, strict=True):
        row = np.zeros(table.shape[1], table.dtype)
        for index, factor in zip(bag, factors, strict=True):
            row += table[index] * factor
        rows.append(row / np.asarray(max(len(bag), 1), table.dtype) if mode == "mean" else row)
    return np.stack(rows)


@pytest.mark.parametrize("include_last", [False, True])
@pytest.mark.parametrize("index_dtype", [ts.int64, ts.int32])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("mode", ["sum", "mean", "weighted sum"])
def test_bags_equal_their_definition(mode, dtype, index_dtype, include_last):
    """The sum of each bag, also of an empty one, is bit-identical to a sum in the order of the indices."""
    for width, bag_count, count in [(1, 1, 1), (7, 5, 30), (64, 3, 0), (33, 9, 4), (2, 40, 1000)]:
        table = ts.tensor(random.normal(size=(11, width)), dtype=dtype)
        indices = random.integers(0, 11, count)
        offsets = np.sort(random.integers(0, count + 1, bag_count))
        offsets[0] = 0
        scales = random.normal(size=count).astype(table.numpy().dtype)
        factors = scales if mode == "weighted sum" else np.ones_like(scales)
        result = F.embedding_bag(
            ts.tensor(indices, dtype=index_dtype), table, ts.tensor(offsets, dtype=index_dtype), mode=mode.split()[-1],
            include_last_offset=include_last, per_sample_weights=ts.from_numpy(scales) if mode == "weighted sum" else None,
        )
        bags = bags_of(indices, offsets, include_last)
        if bags:
            expected = expected_rows(table.numpy(), bags, bags_of(factors, offsets, include_last), mode)
            assert np.array_equal(result.numpy(), expected)
        assert result.dtype is dtype and result.shape == (len(bags), width)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
def test_further_results_equal_those_of_the_python_kernel(dtype, mode):
    """The kernel returns the bag numbers, bag sizes and maximal indices of the operator's Python kernel."""
    table, indices, offsets = ts.randn(5, 3, dtype=dtype), ts.tensor([1, 4, 4, 0, 2]), ts.tensor([0, 2, 2, 4])
    for include_last in (False, True):
        compiled = ts.ops.aten._embedding_bag(table, indices, offsets, False, mode, False, None, include_last)
        # a padding index that no index equals selects the Python kernel
        padded = ts.ops.aten._embedding_bag(table, indices, offsets, False, mode, False, None, include_last, 3)
        assert ts.equal(compiled[0], padded[0])
        if mode == 1 or dtype is ts.float64:
            assert all(ts.equal(x, y) for x, y in zip(compiled, padded, strict=True))
        assert compiled[1].dtype is compiled[2].dtype is compiled[3].dtype is ts.int64


@pytest.mark.parametrize(
    "indices, offsets, message",
    [
        ([0, 5], [0], "valid range"),
        ([0, -1], [0], "valid range"),
        ([0, 1], [1], r"offsets\[0\] has to be 0"),
        ([0, 1], [0, 3], r"offsets\[-1\] can not be greater"),
        ([0, 1, 2], [0, 2, 1], "ascending"),
    ],
)
def test_invalid_indices_and_offsets_are_rejected(indices, offsets, message):
    with pytest.raises(RuntimeError, match=message):
        F.embedding_bag(ts.tensor(indices), ts.randn(5, 3), ts.tensor(offsets))


def test_layouts_and_gradients():
    """Strided tables and indices give the results of contiguous ones, and gradients reach table and factors."""
    table, indices, offsets = ts.randn(3, 10).t(), ts.arange(20)[::2] % 10, ts.tensor([0, 3, 3])
    strided, contiguous = F.embedding_bag(indices, table, offsets), F.embedding_bag(indices, table.contiguous(), offsets)
    assert ts.allclose(strided, contiguous)
    table, factors = ts.randn(6, 4, dtype=ts.float64, requires_grad=True), ts.randn(5, dtype=ts.float64, requires_grad=True)
    index, begin = ts.tensor([0, 5, 2, 2, 1]), ts.tensor([0, 1, 4])
    assert ts.autograd.gradcheck(lambda t, f: F.embedding_bag(index, t, begin, per_sample_weights=f, mode="sum"), (table, factors))
    assert ts.autograd.gradcheck(lambda t: F.embedding_bag(index, t, begin, mode="mean"), (table,))
    assert ts.allclose(F.embedding_bag(index.view(1, 5), table, mode="sum")[0], table[index].sum(0))


@pytest.mark.parametrize("requires_grad", [False, True])
def test_padding_index_is_checked(requires_grad):
    """A padding index outside of the table is rejected, also while autograd records the operator."""
    table = ts.ones(3, 2, requires_grad=requires_grad)
    for index in (3, -4):
        with pytest.raises(RuntimeError, match="padding_idx must be within the number of embeddings, -3 through 2"):
            F.embedding_bag(ts.tensor([0, 1]), table, ts.tensor([0]), padding_idx=index)
    assert F.embedding_bag(ts.tensor([0, 2]), table, ts.tensor([0]), mode="sum", padding_idx=-1).tolist() == [[1, 1]]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_last_offset_of_rows(mode):
    """For a 2-D input, each row is a bag, with and without `include_last_offset`."""
    table, indices = ts.randn(5, 3), ts.tensor([[0, 1], [4, 2]])
    expected = F.embedding_bag(indices, table, mode=mode)
    assert expected.shape == (2, 3)
    assert ts.equal(F.embedding_bag(indices, table, mode=mode, include_last_offset=True), expected)
