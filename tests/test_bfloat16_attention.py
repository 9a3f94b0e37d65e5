"""Attention of bfloat16 operands, compared with float64: layouts, masks, few queries, threads."""

import pytest

import ts
from tests.bfloat16_helpers import algorithm as algorithm
from tests.bfloat16_helpers import randn
from ts.backends.cpu.kernels import bfloat16_microkernels

INF = float("inf")
attention = ts.nn.functional.scaled_dot_product_attention


def reference_weights(q, k, mask, causal, scale):
    scores = q.double() @ k.double().transpose(-1, -2) * (scale or q.shape[-1] ** -0.5)
    if causal:
        mask = ts.ones(scores.shape[-2:], dtype=ts.bool).tril()
    if mask is not None:
        scores = (
            scores.masked_fill(mask.logical_not(), -INF) if mask.dtype == ts.bool else scores + mask.double()
        )
    return scores.softmax(-1).nan_to_num(0.0)


def assert_close(q, k, v, mask=None, causal=False, scale=None):
    """Check the result: the scores, the weights and the result are rounded to bfloat16 at most once."""
    result = attention(q, k, v, mask, is_causal=causal, scale=scale)
    weights = reference_weights(q, k, mask, causal, scale)
    expected, magnitude = weights @ v.double(), weights @ v.double().abs()
    assert result.dtype == ts.bfloat16
    assert result.shape == expected.shape
    assert bool(
        ((result.double() - expected).abs() <= (expected.abs() + magnitude) * 2.0**-8 + 2.0**-126).all()
    )


SIZES = [
    (1, 1, 1, 1),
    (1, 40, 16, 16),
    (3, 33, 7, 5),
    (5, 2, 3, 65),
    (64, 64, 64, 64),
    (70, 131, 33, 130),
    (200, 100, 8, 8),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_sizes_and_layouts(algorithm, size, causal):
    ts.manual_seed(0)
    queries, keys, width, value_width = size
    q, k, v = randn(2, 3, queries, width) / 4, randn(2, 3, keys, width) / 4, randn(2, 3, keys, value_width)
    assert_close(q, k, v, causal=causal)
    by_head = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    assert_close(*by_head, causal=causal)
    by_column = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
    assert_close(*by_column, causal=causal)
    assert_close(q[0, 0], k[0, 0], v[0, 0], causal=causal, scale=0.5)
    strided = [ts.cat([x, x], -1)[..., ::2] for x in (q, k, v)]
    assert_close(*strided, causal=causal)


@pytest.mark.parametrize("queries", [1, 9, 70])
def test_masks(algorithm, queries):
    ts.manual_seed(1)
    q, k, v = randn(2, 3, queries, 16) / 4, randn(2, 3, 37, 16) / 4, randn(2, 3, 37, 16)
    keep = ts.rand(queries, 37) > 0.5
    keep[:, 3] = True
    assert_close(q, k, v, keep)
    assert_close(q, k, v, keep.expand(2, 3, queries, 37))
    bias = randn(2, 1, 1, 37)
    bias[..., 5] = -INF
    assert_close(q, k, v, bias)
    assert_close(q, k, v, randn(queries, 37))


def test_rows_without_keys_are_zero():
    keep = ts.ones(6, 5, dtype=ts.bool)
    keep[2] = False
    if not bfloat16_microkernels.use_bfloat16_tiles(True):
        pytest.skip("this processor or SIMD level has no AVX512_BF16")
    assert attention(randn(6, 8), randn(5, 8), randn(5, 8), keep)[2].tolist() == [0.0] * 8


def test_bits_do_not_depend_on_threads(algorithm):
    ts.manual_seed(2)
    threads = ts.get_num_threads()
    q, k, v = randn(3, 300, 64), randn(3, 301, 64), randn(3, 301, 64)
    try:
        for causal in (False, True):
            results = []
            for count in (1, 2, 3, 4):
                ts.set_num_threads(count)
                results.append(attention(q, k, v, is_causal=causal))
            assert all(ts.equal(result, results[0]) for result in results)
    finally:
        ts.set_num_threads(threads)
