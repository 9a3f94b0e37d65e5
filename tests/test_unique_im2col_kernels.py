"""Kernels of `unique` and of sliding windows of images (`unfold`), against results of simple Python code."""

import itertools

import numpy as np
import pytest

import ts
import ts.nn.functional as F


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 0), (2, 3, 2), (200, 100)], ids=str)
def test_unique_values(shape, dtype):
    a = np.random.default_rng(0).integers(0, 5, shape).astype(dtype)
    elements = a.ravel().tolist()
    expected = sorted(set(elements))
    for x in (ts.from_numpy(a), ts.from_numpy(a.T.copy()).t() if len(shape) == 2 else ts.from_numpy(a)):
        values, inverse, counts = ts.unique(x, return_inverse=True, return_counts=True)
        assert values.dtype == x.dtype
        assert values.tolist() == expected
        assert inverse.dtype == counts.dtype == ts.int64
        assert inverse.shape == shape
        assert [expected[i] for i in inverse.flatten().tolist()] == elements
        assert counts.tolist() == [elements.count(value) for value in expected]
        assert ts.unique(x).tolist() == expected
        assert ts.equal(ts.unique(x, return_inverse=True)[1], inverse)
        assert ts.equal(ts.unique(x, return_counts=True)[1], counts)


def test_unique_special_values():
    values, inverse, counts = ts.unique(
        ts.tensor([float("nan"), 1.0, float("-inf"), float("nan"), float("inf"), 1.0]), return_inverse=True, return_counts=True
    )
    assert values.isnan().tolist() == [False, False, False, True, True]  # a NaN is not equal to another NaN
    assert values[:3].tolist() == [float("-inf"), 1.0, float("inf")]
    assert counts.tolist() == [1, 2, 1, 1, 1]
    assert inverse[1].item() == inverse[5].item() == 1
    assert ts.unique(ts.tensor(5)).tolist() == [5]
    assert ts.ops.aten._unique(ts.tensor([2, 1, 2]), True, True)[1].tolist() == [1, 0, 1]


def windows(a, kernel, dilation, padding, stride):
    """Return the columns of im2col by Python loops."""
    padded = np.pad(a, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    starts = [
        range(0, n - d * (k - 1), s) for n, k, d, s in zip(padded.shape[2:], kernel, dilation, stride, strict=True)
    ]
    columns = [
        padded[:, :, y : y + dilation[0] * (kernel[0] - 1) + 1 : dilation[0], x : x + dilation[1] * (kernel[1] - 1) + 1 : dilation[1]]
        for y, x in itertools.product(*starts)
    ]
    return np.stack([c.reshape(len(a), -1) for c in columns], axis=-1)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_windows_of_images(dtype):
    a = np.random.default_rng(1).standard_normal((2, 3, 6, 5)).astype(dtype.numpy_dtype)
    x = ts.from_numpy(a)
    sizes = [(1, 1), (2, 3), (3, 1)]
    for kernel, dilation, padding, stride in itertools.product(sizes, [(1, 1), (2, 1), (1, 2)], [(0, 0), (1, 2), (7, 3)], sizes):
        expected = windows(a, kernel, dilation, padding, stride)
        for source in (x, x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2)):
            result = F.unfold(source, kernel, dilation, padding, stride)
            assert result.dtype == dtype
            assert result.is_contiguous()
            assert np.array_equal(result.numpy(), expected)
        assert np.array_equal(F.unfold(x[0], kernel, dilation, padding, stride).numpy(), expected[0])


def test_windows_with_invalid_or_other_arguments():
    x = ts.rand(1, 2, 3, 4)
    with pytest.raises(RuntimeError, match=r"blocks as \(-2, 4\), but its components must be at least one"):
        F.unfold(x, (6, 1))
    for arguments in ((0,), (2, 0), (2, 1, -1), (2, 1, 0, 0)):
        with pytest.raises(RuntimeError):
            F.unfold(x, *arguments)
    assert F.unfold(x[:0], 2).shape == (0, 8, 6)
    assert F.unfold(x.to("meta"), 2).shape == (1, 8, 6)
    assert F.unfold(x.half(), 2).dtype == ts.float16
    assert ts.equal(ts.func.vmap(lambda x: F.unfold(x, 2))(x), F.unfold(x, 2))
    assert ts.autograd.gradcheck(lambda x: F.unfold(x, (2, 3), padding=1, stride=2), x.double().requires_grad_())
