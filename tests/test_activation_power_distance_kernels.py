"""Activations with parameters, powers, similarities and distances: C kernels equal the general kernels."""

import math

import numpy as np
import pytest

import ts
from ts.backends.cpu.namespace import namespace
from ts.ops import activation, distance, pointwise

NAN, INF = math.nan, math.inf
EDGES = [0.0, -0.0, NAN, INF, -INF, 1e-30, -1e-30, 100.0, -100.0, 0.5, -0.5, 1.0, -1.0, 20.0]
DTYPES = ["float32", "float64"]
f = ts.nn.functional


def numbers(shape, dtype, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype) * 4
    x.flat[: min(len(EDGES), x.size)] = EDGES[: x.size]
    return x


def agree(actual, expected, dtype):
    assert actual.dtype == ts.from_numpy(np.empty(0, dtype)).dtype
    assert actual.shape == expected.shape
    rtol = 1e-12 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(actual.numpy(), expected, rtol=rtol, atol=rtol * 1e-2)


CALLS = {  # name: function of tensors, and the general kernel
    "elu": (lambda x: f.elu(x, 0.7), lambda xp, x: activation._elu(xp, x, 0.7)),
    "celu": (lambda x: f.celu(x, 0.7), lambda xp, x: activation._celu(xp, x, 0.7)),
    "selu": (f.selu, activation._selu),
    "softplus": (lambda x: f.softplus(x, 2.0, 3.0), lambda xp, x: activation._softplus_op(xp, x, 2.0, 3.0)),
    "logsigmoid": (f.logsigmoid, activation._log_sigmoid),
    "hardtanh": (lambda x: f.hardtanh(x, -2, 3.0), lambda xp, x: activation._hardtanh(xp, x, -2, 3.0)),
    "relu6": (f.relu6, activation._relu6),
    "hardshrink": (lambda x: f.hardshrink(x, 0.3), lambda xp, x: activation._hardshrink(xp, x, 0.3)),
    "threshold": (lambda x: f.threshold(x, 0.1, 20), lambda xp, x: activation._threshold(xp, x, 0.1, 20)),
    **{
        f"power {by}": (lambda x, by=by: x.pow(by), lambda xp, x, by=by: pointwise._pow(xp, x, by))
        for by in (2, 3, -1, -2, -0.5, 0.3, 2.5, 0, -3)
    },
    "power of itself": (lambda x: x.pow(x), lambda xp, x: pointwise._pow(xp, x, x)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_results_equal_general_kernels(name, dtype):
    call, general = CALLS[name]
    x = numbers((5, 30), dtype)
    with np.errstate(all="ignore"):
        for host in (x, x[:, ::2], x.T, x[:0], x[0, 0]):
            agree(call(ts.from_numpy(np.asarray(host))), np.asarray(general(namespace, np.asarray(host))), dtype)


def test_softshrink_keeps_nan():
    assert f.softshrink(ts.tensor([0.7, -0.7, 0.2, INF]), 0.5).allclose(ts.tensor([0.2, -0.2, 0.0, INF]))
    assert f.softshrink(ts.tensor(NAN)).isnan().item()
    with pytest.raises(RuntimeError, match="lambda must be"):
        f.softshrink(ts.ones(1), -1.0)


SHAPES = [((4, 5), (4, 5)), ((2, 3, 7), (2, 3, 7)), ((3, 1, 6), (1, 4, 6)), ((5,), (5,)), ((2, 3, 6), (3, 6)), ((2, 0), (2, 0))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_similarities_and_distances(shapes, dtype):
    a, b = (np.random.default_rng(i).standard_normal(shape).astype(dtype) for i, shape in enumerate(shapes))
    a.flat[:1], b.flat[-1:] = 0, 3
    x, y = ts.from_numpy(a), ts.from_numpy(b)
    for dim in range(-1, max(a.ndim, b.ndim)):
        agree(f.cosine_similarity(x, y, dim), distance._cosine_similarity(namespace, a, b, dim), dtype)
    for p in (2.0, 1.0, INF, 3.0):
        if a.size or p != INF:
            for keepdim in (False, True):
                expected = distance._pairwise_distance(namespace, a, b, p, 1e-6, keepdim)
                agree(f.pairwise_distance(x, y, p, keepdim=keepdim), expected, dtype)
            if a.ndim > 1:
                agree(ts.cdist(x, y, p), distance._cdist(namespace, a, b, p), dtype)
    if a.ndim == b.ndim == 2:
        agree(ts.cdist(x.t(), y.t()), distance._cdist(namespace, a.T, b.T), dtype)


def test_nan_and_zero_vectors():
    x = ts.tensor([[0.0, 0.0], [NAN, 1.0]])
    result = f.cosine_similarity(x, ts.ones(2, 2))
    assert result[0].item() == 0 and math.isnan(result[1].item())
    assert math.isnan(f.pairwise_distance(x, ts.ones(2, 2), INF)[1].item())
    with pytest.raises(RuntimeError):
        f.cosine_similarity(ts.ones(2, 3), ts.ones(2, 4))
    with pytest.raises(RuntimeError, match="same number of columns"):
        ts.cdist(ts.ones(2, 3), ts.ones(2, 4))
