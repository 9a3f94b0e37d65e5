"""Native backward kernels of normalizations, softmax, max pooling and embeddings equal the records'
kernels."""

import numpy as np
import pytest

import ts
from ts.backends.cpu.namespace import namespace
from ts.ops import registry

DIGITS = {"float32": 3e-5, "float64": 1e-11}
WANTED = ([True, True, True], [True, False, False], [False, True, False], [False, False, True])


def random_array(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def general(key, *args):
    """Return the results of a record's kernel for arrays."""
    args = [x.code if isinstance(x, ts.dtype) else x for x in args]
    result = registry.find(f"aten::{key}").kernel(namespace, *args)
    return result if isinstance(result, (list, tuple)) else [result]


def agrees(key, dtype, *args):
    tensors = [ts.from_numpy(x) if isinstance(x, np.ndarray) else x for x in args]
    result = getattr(ts.ops.aten, key)(*tensors)
    for actual, expected in zip(result if isinstance(result, (list, tuple)) else [result], general(key, *args), strict=True):
        assert actual.shape == expected.shape
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        assert np.allclose(actual.numpy(), expected, rtol=0, atol=DIGITS[dtype] * scale), key


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("shape", [(3, 5), (4, 16), (2, 3, 100), (5, 1), (3, 1025)])
@pytest.mark.parametrize("dims", [1, 2])
def test_layers(shape, dims, dtype):
    x, g = random_array(shape, dtype, 1), random_array(shape, dtype, 2)
    last = shape[-dims:]
    axes = tuple(range(-dims, 0))
    mean = x.mean(axes, keepdims=True)
    scale = 1 / np.sqrt(x.var(axes, keepdims=True) + 1)
    for mask in WANTED:
        agrees("native_layer_norm_backward", dtype, g, x, list(last), mean, scale, random_array(last, dtype, 3), None, mask)
    agrees("native_layer_norm_backward", dtype, g, x, list(last), mean, scale, None, None, WANTED[1])


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("shape, groups", [((2, 6, 5), 3), ((2, 6, 1), 2), ((3, 8, 4, 7), 4), ((1, 4, 40), 1)])
def test_groups_of_channels(shape, groups, dtype):
    x, g = random_array(shape, dtype, 1), random_array(shape, dtype, 2)
    n, c = shape[:2]
    grouped = x.reshape(n, groups, -1)
    mean, scale = grouped.mean(2), 1 / np.sqrt(grouped.var(2) + 1e-5)
    for weight in (None, random_array((c,), dtype, 3)):
        for mask in WANTED if weight is not None else WANTED[1:2]:
            area = int(np.prod(shape[2:]))
            agrees("native_group_norm_backward", dtype, g, x, mean, scale, weight, n, c, area, groups, mask)


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("shape", [(8, 6), (33, 40), (4, 6, 5), (3, 5, 7, 9), (2, 1, 3)])
@pytest.mark.parametrize("training", [True, False])
def test_batches(shape, training, dtype):
    x, g = random_array(shape, dtype, 1), random_array(shape, dtype, 2)
    axes = (0, *range(2, x.ndim))
    mean, scale = x.mean(axes), 1 / np.sqrt(x.var(axes) + 1e-5)
    running, variance = random_array(shape[1:2], dtype, 3), random_array(shape[1:2], dtype, 4) ** 2 + 1
    for weight in (None, random_array(shape[1:2], dtype, 5)):
        for mask in WANTED:
            agrees(
                "native_batch_norm_backward", dtype, g, x, weight, running, variance, mean, scale, training, 1e-5, mask
            )


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("shape", [(9,), (3, 5), (4, 16), (2, 3, 100), (5, 1)])
def test_softmax(shape, dtype):
    x, g = random_array(shape, dtype, 1) * 5, random_array(shape, dtype, 2)
    y = np.exp(x - x.max(-1, keepdims=True))
    y /= y.sum(-1, keepdims=True)
    same = getattr(ts, dtype)
    agrees("_softmax_backward_data", dtype, g, y, -1, same)
    agrees("_log_softmax_backward_data", dtype, g, np.log(y), -1, same)
    agrees("_softmax_backward_data", dtype, g, y, 0, same)


@pytest.mark.parametrize("dtype", DIGITS)
def test_maxima_of_windows(dtype):
    x = ts.from_numpy(random_array((2, 3, 9, 8), dtype, 1))
    y, indices = ts.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)
    g = random_array(tuple(y.shape), dtype, 2)
    geometry = [3, 3], [2, 2], [1, 1], [1, 1], False
    agrees("max_pool2d_with_indices_backward", dtype, g, x.numpy(), *geometry, indices.numpy())
    agrees("max_pool2d_with_indices_backward", dtype, g[0], x.numpy()[0], *geometry, indices.numpy()[0])
    y, indices = ts.nn.functional.adaptive_max_pool2d(x, (4, 3), return_indices=True)
    agrees("adaptive_max_pool2d_backward", dtype, random_array(tuple(y.shape), dtype, 2), x.numpy(), indices.numpy())


def test_indices_outside_of_the_plane_are_rejected():
    x, g = ts.ones(1, 1, 4, 4), ts.ones(1, 1, 2, 2)
    for index in (16, -1):
        with pytest.raises(RuntimeError, match="Expected indices from 0 to 15 in a plane"):
            ts.ops.aten.max_pool2d_with_indices_backward(
                g, x, [2, 2], [2, 2], [0, 0], [1, 1], False, ts.full((1, 1, 2, 2), index)
            )


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("width", [1, 5, 16, 100])
def test_rows_of_a_table(width, dtype):
    indices = np.random.default_rng(3).integers(0, 11, (4, 7))
    g = random_array((4, 7, width), dtype, 1)
    for skipped in (-1, 3):
        agrees("embedding_dense_backward", dtype, g, indices, 11, skipped, False)
        agrees("embedding_dense_backward", dtype, g, indices, 11, skipped, True)


def test_indices_outside_of_the_table_are_rejected():
    for index in (5, -1):
        with pytest.raises(IndexError, match="index out of range in self"):
            ts.ops.aten.embedding_dense_backward(ts.ones(1, 2, 3), ts.tensor([[0, index]]), 5, -1, False)


def test_non_contiguous_gradients():
    x = ts.randn(2, 3, 4, 5)
    g = ts.randn(5, 4, 3, 2).permute(3, 2, 1, 0)
    mean, scale = x.mean([0, 2, 3]), 1 / x.std([0, 2, 3])
    mask = [True, True, True]
    for a, b in zip(
        ts.ops.aten.native_batch_norm_backward(g, x, None, None, None, mean, scale, True, 1e-5, mask),
        ts.ops.aten.native_batch_norm_backward(g.contiguous(), x, None, None, None, mean, scale, True, 1e-5, mask),
        strict=True,
    ):
        assert ts.allclose(a, b, 1e-5, 1e-6)
