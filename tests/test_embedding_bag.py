"""Sums, means and maxima of bags of embeddings equal their definition for every dtype, layout and form of offsets."""

import itertools
import math

import numpy as np
import pytest

import ts
import ts.nn.functional as F

NAN = math.nan
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


def expected_results(table, indices, offsets, scales, mode, include_last, padding):
    """Return the rows, bag sizes without padding indices, and indices of maxima, computed in the dtype of `table`."""
    numbers = bags_of(np.arange(len(indices)), offsets, include_last)
    rows, sizes, best = [], [], []
    for bag in numbers:
        bag = [i for i in bag if indices[i] != padding]
        row, at = np.zeros(table.shape[1], table.dtype), np.zeros(table.shape[1], np.int64)
        for k, i in enumerate(bag):
            x = table[indices[i]]
            if mode != "max":
                row = row + x * scales[i]
                continue
            is_selected = x > row if k else np.full(x.shape, True)
            row, at = np.where(is_selected, x, row), np.where(is_selected, indices[i], at)
        rows.append(row / table.dtype.type(max(len(bag), 1)) if mode == "mean" else row)
        sizes.append(len(bag))
        best.append(at)
    return np.stack(rows), sizes, np.stack(best)


SIZES = [(1, 1, 1), (7, 5, 30), (64, 3, 0), (33, 9, 4), (2, 40, 300), (130, 20, 200), (17, 1, 700)]  # width, bags, indices


@pytest.mark.parametrize("include_last", [False, True])
@pytest.mark.parametrize("padding", [-1, 3])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize("mode", ["sum", "mean", "max", "weighted sum"])
def test_all_results_for_all_dtypes(mode, dtype, padding, include_last):
    """16-bit floats are added in float32, and the sum is rounded once. NaN is maximal only at the start of a bag."""
    for width, bag_count, count in SIZES:
        values = random.integers(-3, 4, (11, width)) * random.normal(size=(11, width))
        if mode == "max":
            values[random.random(values.shape) < 0.2] = np.nan
        table = ts.tensor(values, dtype=dtype)
        wide = table if dtype is ts.float64 else table.float()
        indices, offsets = random.integers(0, 11, count), np.sort(random.integers(0, count + 1, bag_count + include_last))
        offsets[0] = 0
        if include_last:
            offsets[-1] = count
        factors = ts.tensor(random.normal(size=count), dtype=dtype) if mode == "weighted sum" else None
        scales = np.ones(count, wide.numpy().dtype) if factors is None else factors.to(wide.dtype).numpy()
        code = ["sum", "mean", "max"].index(mode.split()[-1])
        result, bag_numbers, sizes, best = ts.ops.aten._embedding_bag(
            table, ts.tensor(indices), ts.tensor(offsets), False, code, False, factors, include_last, padding
        )
        rows, counts, maxima = expected_results(wide.numpy(), indices, offsets, scales, mode, include_last, padding)
        assert result.dtype is dtype
        assert np.array_equal(result.double().numpy(), ts.from_numpy(rows).to(dtype).double().numpy(), equal_nan=True)
        if code > 0:
            assert sizes.tolist() == counts
            assert best.tolist() == (counts if code == 1 else maxima.tolist())
        if code > 0 or padding >= 0:
            starts = offsets[:-1] if include_last else offsets
            assert bag_numbers.tolist() == (np.searchsorted(starts, np.arange(count), side="right") - 1).tolist()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_tables_larger_than_the_cache(mode):
    """Rows of large tables are prefetched."""
    table = ts.randn(3000, 96)
    indices = random.integers(0, 3000, (40, 9))
    expected = getattr(table.numpy()[indices], mode)(1)
    assert np.allclose(F.embedding_bag(ts.tensor(indices), table, mode=mode).numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16])
def test_results_equal_those_of_the_python_kernel(dtype, mode):
    """Offsets of another dtype than the indices select the operator's Python kernel."""
    table = ts.tensor([[1, NAN, NAN, 2], [NAN, 3, NAN, 2], [0, 1, NAN, 5], [-0.0, 1, 2, 5], [0.0, 1, 2, 5]], dtype=dtype)
    indices, offsets = ts.tensor([1, 4, 4, 0, 2, 3, 4, 2]), ts.tensor([0, 2, 2, 4, 5])
    for include_last, padding in itertools.product((False, True), (-1, 0, 4)):
        arguments = False, mode, False, None, include_last, padding
        compiled = ts.ops.aten._embedding_bag(table, indices, offsets, *arguments)
        python = ts.ops.aten._embedding_bag(table, indices, offsets.int(), *arguments)
        for x, y in zip(compiled, python, strict=True):
            assert x.dtype is y.dtype and np.array_equal(x.numpy(), y.numpy(), equal_nan=True)
            assert not x.is_floating_point() or np.array_equal(np.signbit(x.numpy()), np.signbit(y.numpy()))
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
