"""QR factorizations of small matrices: products, orthogonality, LAPACK's signs, layouts and gradients."""

import numpy as np
import pytest

import ts

SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (2, 4, 3), (2, 1, 1, 6), (32, 32), (33, 4), (40, 40)]


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_factors(dtype, shape, mode):
    a = np.random.default_rng(0).standard_normal(shape).astype(dtype.numpy_dtype)
    q0, r0 = np.linalg.qr(a.astype("float64"), mode)
    tolerance = 1e-4 if dtype == ts.float32 else 1e-11
    for x in (ts.from_numpy(a), ts.from_numpy(a.swapaxes(-1, -2).copy()).transpose(-1, -2)):
        q, r = ts.linalg.qr(x, mode)
        for result, expected in ((q, q0), (r, r0), (ts.linalg.qr(x, "r")[1], r0[..., : min(shape[-2:]), :])):
            assert result.dtype == dtype
            assert result.shape == expected.shape
            assert result.transpose(-1, -2).is_contiguous()
            assert np.allclose(result.numpy(), expected, rtol=0, atol=tolerance)
        assert ts.linalg.qr(x, "r")[0].shape == (0,)
        old = ts.qr(x, mode == "reduced")
        assert ts.equal(old[0], q)
        assert ts.equal(old[1], r)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_special_values(scale):
    for a in (np.ones((4, 4)), np.triu(np.ones((4, 4))), -np.eye(4, 3), np.diag([1.0, 0.0, 2.0])):
        q, r = ts.linalg.qr(ts.from_numpy(a * scale))
        assert np.allclose(q.numpy() @ (r.numpy() / (scale or 1)), a * scale / (scale or 1))
        assert np.allclose(q.numpy().T @ q.numpy(), np.eye(q.shape[1]))
        assert np.array_equal(r.numpy(), np.triu(r.numpy()))


def test_other_arguments():
    x = ts.rand(3, 2, dtype=ts.float64)
    with pytest.raises(RuntimeError, match="qr received unrecognized mode 'full'"):
        ts.linalg.qr(x, "full")
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ts.linalg.qr(ts.rand(3))
    assert ts.linalg.qr(x.to("meta"))[0].shape == (3, 2)
    assert ts.linalg.qr(x[:0])[1].shape == (0, 2)
    assert ts.allclose(ts.func.vmap(lambda x: ts.linalg.qr(x)[1])(x.expand(2, 3, 2))[1], ts.linalg.qr(x)[1])
    assert ts.autograd.gradcheck(lambda x: ts.linalg.qr(x), x.requires_grad_())
    assert (ts.rand(2, 2) + 1j).dtype == ts.linalg.qr(ts.rand(2, 2) + 1j)[0].dtype
