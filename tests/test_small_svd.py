"""Singular value decompositions of small matrices: products, orthogonality, layouts, special elements and gradients."""

import numpy as np
import pytest

import ts

SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (2, 4, 3), (2, 1, 1, 6), (32, 31), (33, 4)]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_decompositions(dtype, shape, full):
    a = np.random.default_rng(0).standard_normal(shape).astype(dtype.numpy_dtype)
    rows, columns = shape[-2:]
    count = min(rows, columns)
    expected = np.linalg.svd(a.astype("float64"), compute_uv=False)
    tolerance = 1e-4 if dtype == ts.float32 else 1e-11
    for x in (ts.from_numpy(a), ts.from_numpy(a.swapaxes(-1, -2).copy()).transpose(-1, -2)):
        u, s, vh = ts.linalg.svd(x, full)
        assert u.shape == (*shape[:-1], rows if full else count)
        assert vh.shape == (*shape[:-2], columns if full else count, columns)
        for vectors in (u, vh):
            assert vectors.dtype == dtype
            assert vectors.transpose(-1, -2).is_contiguous()
        for values in (s, ts.linalg.svdvals(x)):
            assert values.dtype == dtype
            assert values.is_contiguous()
            assert np.allclose(values.numpy(), expected, rtol=0, atol=tolerance)
        left, right = u.numpy()[..., :count], vh.numpy()[..., :count, :]
        assert np.allclose(left * s.numpy()[..., None, :] @ right, a, rtol=0, atol=tolerance)
        assert np.allclose(u.numpy().swapaxes(-1, -2) @ u.numpy(), np.eye(u.shape[-1]), rtol=0, atol=tolerance)
        assert np.allclose(vh.numpy() @ vh.numpy().swapaxes(-1, -2), np.eye(vh.shape[-2]), rtol=0, atol=tolerance)


def test_elements_that_are_not_finite():
    x = ts.eye(3).repeat(2, 1, 1)
    x[1, 0, 0] = float("inf")
    assert ts.linalg.svdvals(x).isnan().tolist() == [[False] * 3, [True] * 3]
    x[1, 0, 0] = float("nan")
    with pytest.raises(RuntimeError, match=r"\(Batch element 1\)"):
        ts.linalg.svd(x)


def test_other_arguments():
    x = ts.rand(3, 2, dtype=ts.float64)
    with pytest.raises(RuntimeError, match="keyword argument `driver=` is only supported on CUDA"):
        ts.linalg.svd(x, driver="gesvd")
    assert ts.linalg.svd(x[:0])[1].shape == (0,)
    assert ts.linalg.svdvals(x.to("meta")).shape == (2,)
    assert ts.allclose(ts.func.vmap(ts.linalg.svdvals)(x.expand(2, 3, 2))[1], ts.linalg.svdvals(x))
    assert ts.autograd.gradcheck(ts.linalg.svdvals, x.requires_grad_())
    u, s, vh = ts.ops.aten._linalg_svd(x.detach(), True, False)
    assert (u.shape, s.shape, vh.shape) == ((0,), (2,), (0,))
    assert ts.linalg.matrix_rank(x.detach()).item() == 2
