"""Pooling: CPU and general kernels equal the definition, with NaN and ties."""

import itertools
import math

import numpy as np
import pytest

import ts
from tests.divided_work import divided_work
from ts.ops import pooling, pooling_geometry

NAN, INF = math.nan, math.inf


def reference_max_pool(x, kernel, stride, padding, dilation):
    """Return the maximum and its index of each window of a plane; the last NaN takes precedence."""
    sizes = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation)]
    values, indices = np.full(sizes, -INF), np.zeros(sizes, np.int64)
    for index in np.ndindex(*sizes):
        best = None
        for k in np.ndindex(*kernel):
            at = tuple(t * s + j * d - p for t, s, j, d, p in zip(index, stride, k, dilation, padding))
            if any(not 0 <= i < n for i, n in zip(at, x.shape)):
                continue
            if best is None or math.isnan(x[at]) or x[at] > best:
                best = x[at]
                values[index], indices[index] = best, np.ravel_multi_index(at, x.shape)
    return values, indices


CASES = {  # input, kernel, stride, padding, dilation
    "line": ((11,), (3,), (2,), (1,), (1,)),
    "plane": ((7, 9), (3, 2), (2, 1), (1, 0), (1, 1)),
    "dilated": ((9, 12), (2, 3), (1, 2), (1, 1), (3, 2)),
    "volume": ((4, 5, 6), (2, 3, 2), (1, 2, 2), (1, 1, 0), (1, 1, 2)),
    "whole": ((5, 6), (5, 6), (1, 1), (0, 0), (1, 1)),
}


def numbers(shape, seed=3):
    """Return numbers from a small set, so that there are ties, with some NaN and infinities."""
    r = np.random.default_rng(seed)
    x = r.integers(0, 5, shape).astype(np.float32)
    x[r.random(shape) < 0.1] = NAN
    x[r.random(shape) < 0.3] = -INF
    return x


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_maxima_follow_the_definition(name, general):
    shape, kernel, stride, padding, dilation = CASES[name]
    n = len(shape)
    x = np.stack([numbers(shape, seed) for seed in range(4)])[None]
    if general:
        w = pooling_geometry.sliding_windows("max", x.shape, n, kernel, stride, padding, dilation, False)
        values, indices = pooling.largest(np, x, w, True)
    else:
        function = getattr(ts, f"max_pool{n}d_with_indices")
        values, indices = (t.numpy() for t in function(ts.from_numpy(x), kernel, stride, padding, dilation))
        only = getattr(ts, f"max_pool{n}d")(ts.from_numpy(x), kernel, stride, padding, dilation).numpy()
        assert np.array_equal(only, values, equal_nan=True)
    for plane in range(4):
        expected = reference_max_pool(x[0, plane], kernel, stride, padding, dilation)
        assert np.array_equal(values[0, plane], expected[0], equal_nan=True)
        assert np.array_equal(indices[0, plane], expected[1])


ROW_WINDOWS = [  # kernel, stride, padding and dilation; rows are computed by vectors for strides up to half a vector
    (2, 1, 0, 1), (2, 2, 1, 1), (3, 1, 1, 1), (3, 2, 1, 1), (3, 2, 1, 2), (2, 2, 0, 3), (5, 3, 2, 1), (4, 4, 0, 1), (7, 5, 3, 2), (3, 20, 1, 1),
]  # fmt: skip
ROW_WIDTHS = [1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 64, 70]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("window", ROW_WINDOWS)
def test_maxima_of_rows_of_all_widths(window, dtype):
    kernel, stride, padding, dilation = window
    for width in ROW_WIDTHS:
        if dilation * (kernel - 1) >= width + 2 * padding:
            continue
        x = np.stack([numbers((3, width), seed) for seed in range(3)])
        if dtype == np.int64:
            x = np.nan_to_num(x, nan=-5, neginf=np.iinfo(np.int64).min)
        args = (1, kernel), (1, stride), (0, padding), (1, dilation)
        t = ts.from_numpy(x.astype(dtype))
        values, indices = ts.max_pool2d_with_indices(t, *args)
        assert np.array_equal(ts.max_pool2d(t, *args).numpy(), values.numpy(), equal_nan=True)
        for plane in range(3):
            expected = reference_max_pool(t[plane].numpy(), *args)
            assert np.array_equal(values[plane].numpy(), expected[0].astype(dtype), equal_nan=True)
            assert np.array_equal(indices[plane].numpy(), expected[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("window", ROW_WINDOWS)
def test_means_of_rows_of_all_widths(window, dtype):
    """The columns of each window are added first, then the sums of the columns."""
    kernel, stride, padding, _ = window
    for width in ROW_WIDTHS:
        if kernel > width + 2 * padding:
            continue
        x = np.random.default_rng(width).standard_normal((2, 3, width)).astype(dtype)
        result = ts.nn.functional.avg_pool2d(ts.from_numpy(x), (2, kernel), (1, stride), (0, padding)).numpy()
        columns = np.pad(x[:, :-1] + x[:, 1:], ((0, 0), (0, 0), (padding, padding)))
        for k in range(result.shape[-1]):
            total = np.zeros((2, 2), dtype)
            for c in range(kernel):
                total += columns[..., k * stride + c]
            assert np.array_equal(result[..., k], total / dtype(2 * kernel))


@pytest.mark.parametrize("out_width", [1, 2, 3, 7, 8, 16, 20])
def test_maxima_of_adaptive_windows_of_all_widths(out_width):
    for width in ROW_WIDTHS:
        x = np.stack([numbers((2, width), seed) for seed in range(3)])
        values, indices = ts.nn.functional.adaptive_max_pool2d(ts.from_numpy(x), (1, out_width), return_indices=True)
        for k in range(out_width):
            begin, stop = k * width // out_width, -(-(k + 1) * width // out_width)
            for plane in range(3):
                best, at = reference_max_pool(x[plane, :, begin:stop], (2, stop - begin), (1, 1), (0, 0), (1, 1))
                row, column = divmod(int(at[0, 0]), stop - begin)
                assert np.array_equal(values[plane, 0, k].numpy(), best[0, 0], equal_nan=True)
                assert indices[plane, 0, k].item() == row * width + begin + column


def test_windows_without_elements_have_the_lowest_number():
    x = ts.tensor([[[3.0, 4.0], [5.0, 6.0]]])
    cases = [  # kernel, padding, result, indices
        (2, 1, [[[-INF]]], [[[6]]]),
        ((1, 2), (0, 1), [[[-INF], [-INF]]], [[[2], [4]]]),
        ((2, 1), (1, 0), [[[-INF, -INF]]], [[[4, 5]]]),
    ]
    for kernel, padding, *expected in cases:
        values, indices = ts.max_pool2d_with_indices(x, kernel, 1, padding, 3)
        assert [values.tolist(), indices.tolist()] == expected


def test_strided_inputs_have_the_bits_of_contiguous_inputs():
    x = ts.randn(2, 3, 18, 80)
    for view in (x.transpose(2, 3), x[..., ::2], x.contiguous(memory_format=ts.channels_last)):
        for f in (ts.nn.functional.max_pool2d, ts.nn.functional.avg_pool2d):
            assert np.array_equal(f(view, 3, 2, 1).contiguous().numpy(), f(view.contiguous(), 3, 2, 1).numpy())


@pytest.mark.parametrize("dtype", [ts.uint8, ts.int8, ts.int16, ts.int32, ts.int64, ts.float16, ts.bfloat16])
def test_maxima_of_all_dtypes(dtype):
    x = ts.tensor([[[3, 1], [4, 1], [5, 9]]]).to(dtype)
    result = ts.nn.functional.max_pool2d(x, (2, 2), 1)
    assert result.dtype == dtype
    assert result.tolist() == [[[4], [9]]]


def test_means():
    x = ts.arange(1.0, 6.0).reshape(1, 1, 5)
    f = ts.nn.functional.avg_pool1d
    assert f(x, 2).tolist() == [[[1.5, 3.5]]]
    assert f(x, 2, ceil_mode=True).tolist() == [[[1.5, 3.5, 5.0]]]
    assert f(x, 3, 2, 1).tolist() == [[[1.0, 3.0, 3.0]]]
    assert f(x, 3, 2, 1, count_include_pad=False).tolist() == [[[1.5, 3.0, 4.5]]]
    plane = ts.ones(1, 4, 4)
    assert ts.nn.functional.avg_pool2d(plane, 2, divisor_override=8).tolist() == [[[0.5, 0.5], [0.5, 0.5]]]
    assert ts.nn.functional.avg_pool2d(ts.tensor([[[-3, -4]]]), (1, 2)).tolist() == [[[-3]]]  # integer division rounds towards zero


def test_parts():
    x = ts.arange(7.0).reshape(1, 7)
    assert ts.nn.functional.adaptive_avg_pool1d(x, 3).tolist() == [[1.0, 3.0, 5.0]]
    values, indices = ts.nn.functional.adaptive_max_pool1d(x, 3, return_indices=True)
    assert (values.tolist(), indices.tolist()) == ([[2.0, 4.0, 6.0]], [[2, 4, 6]])
    assert ts.nn.functional.adaptive_avg_pool1d(x, 0).shape == (1, 0)


def test_means_agree_with_the_general_kernel():
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 11)).astype(np.float32)
    for kernel, stride, padding, ceil in itertools.product([2, 3], [1, 2], [0, 1], [False, True]):
        w = pooling_geometry.sliding_windows("avg", x.shape, 2, (kernel,), (stride,), (padding,), (1,), ceil)
        result = ts.nn.functional.avg_pool2d(ts.from_numpy(x), kernel, stride, padding, ceil, False).numpy()
        assert np.allclose(result, pooling.mean(np, x, w, w.counts), rtol=1e-5, atol=1e-6)


def test_same_bits_for_every_number_of_threads():
    x = ts.randn(2, 5, 20, 20)
    results = []
    for count in (1, 2, 3, 16):
        with divided_work(count):
            values, indices = ts.max_pool2d_with_indices(x, 3, 2, 1)
            results.append((values.numpy(), indices.numpy(), ts.nn.functional.avg_pool2d(x, 3, 2, 1).numpy()))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other))


def test_windows_in_the_padding():
    """A dilated window entirely in the padding has the maximum -inf."""
    values, indices = ts.nn.functional.max_pool1d(ts.ones(1, 1, 3), 2, 1, 1, 4, return_indices=True)
    assert values.tolist() == [[[-INF]]]
    assert indices.shape == (1, 1, 1)


def test_overflowing_windows():
    with pytest.raises(RuntimeError, match="too large"):
        ts.nn.functional.avg_pool2d(ts.ones(1, 4, 4), 2**62, 1, 2**61)


def test_meta():
    x = ts.ones(2, 3, 9, 9, device="meta")
    values, indices = ts.nn.functional.max_pool2d(x, 3, 2, return_indices=True)
    assert (values.shape, indices.shape, indices.dtype) == ((2, 3, 4, 4), (2, 3, 4, 4), ts.int64)
    assert ts.nn.functional.avg_pool2d(x, 2, ceil_mode=True).shape == (2, 3, 5, 5)
    assert ts.nn.functional.adaptive_avg_pool2d(x, 4).shape == (2, 3, 4, 4)
    weight = ts.ones(6, 3, 3, 3, device="meta")
    assert ts.conv2d(x, weight, padding="same").shape == (2, 6, 9, 9)
    assert ts.conv_transpose2d(x, ts.ones(3, 5, 2, 2, device="meta"), stride=2).shape == (2, 5, 18, 18)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_windows_equal_general_kernels(n):
    """Values, indices and errors equal the general kernels' for random windows and rounding modes."""
    r = np.random.default_rng(n)
    compared = 0
    for _ in range(150):
        shape = (*r.integers(1, 4, r.integers(1, 3)), *r.integers(1, 9, n))
        x = np.maximum(numbers(shape, int(r.integers(100))), -9).astype(r.choice(["f", "d"]))
        kernel, stride, padding, dilation = ([int(v) for v in r.integers(low, high, n)] for low, high in ((1, 4), (1, 4), (0, 2), (1, 3)))
        ceil, with_padding = (bool(v) for v in r.integers(0, 2, 2))
        host = np.nan_to_num(x, nan=2.0)
        try:
            values, indices = pooling.max_pool(np, x, kernel, stride, padding, dilation, ceil, n=n)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                getattr(ts, f"max_pool{n}d")(ts.from_numpy(x), kernel, stride, padding, dilation, ceil)
        else:
            result = getattr(ts, f"max_pool{n}d_with_indices")(ts.from_numpy(x), kernel, stride, padding, dilation, ceil)
            assert np.array_equal(result[0].numpy(), values, equal_nan=True)
            nonempty = values != -INF  # an empty window has no index
            assert np.array_equal(result[1].numpy()[nonempty], indices[nonempty])
            compared += 1
        try:
            mean = pooling.avg_pool(np, host, kernel, stride, padding, ceil, with_padding, n=n)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                getattr(ts.nn.functional, f"avg_pool{n}d")(ts.from_numpy(host), kernel, stride, padding, ceil, with_padding)
        else:
            function = getattr(ts.nn.functional, f"avg_pool{n}d")
            result = function(ts.from_numpy(host), kernel, stride, padding, ceil, with_padding)
            assert result.dtype == ts.from_numpy(host).dtype
            assert np.allclose(result.numpy(), mean, atol=1e-6)
            compared += 1
        if n < 3:
            parts = [int(v) for v in r.integers(1, 6, n)]
            result = getattr(ts.nn.functional, f"adaptive_avg_pool{n}d")(ts.from_numpy(host), parts)
            assert np.allclose(result.numpy(), pooling.adaptive_avg_pool(np, host, parts, n=n), atol=1e-6)
    assert compared > 100


def test_windows_of_other_strides():
    x = ts.arange(48.0).reshape(1, 2, 4, 6)
    pooled = ts.nn.functional.avg_pool2d(x, 2)
    last = x.to(memory_format=ts.channels_last)
    assert ts.equal(ts.nn.functional.avg_pool2d(last, 2), pooled)
    assert ts.nn.functional.max_pool2d(last, 2).is_contiguous(memory_format=ts.channels_last)
    assert ts.equal(ts.nn.functional.avg_pool2d(x[..., ::2], 2), ts.nn.functional.avg_pool2d(x[..., ::2].contiguous(), 2))
    assert ts.nn.functional.avg_pool2d(x[:0], 2).shape == (0, 2, 2, 3)
    assert ts.nn.functional.avg_pool2d(x, 2, divisor_override=1)[0, 0, 0, 0].item() == 0 + 1 + 6 + 7


@pytest.mark.parametrize("memory_format", [ts.contiguous_format, ts.channels_last])
def test_gradients_of_maxima_have_the_same_bits_in_every_layout(memory_format):
    """Each maximum adds the gradients of its windows in a fixed order, in every memory layout."""
    x, gradient = ts.rand(3, 8, 9, 9), ts.randn(3, 8, 7, 7)

    def found(x, gradient):
        x = x.clone().requires_grad_()
        ts.nn.functional.max_pool2d(x, 3, 1).backward(gradient)
        return x.grad

    other = found(x.contiguous(memory_format=memory_format), gradient.contiguous(memory_format=ts.channels_last))
    assert bool((found(x, gradient) == other).all())


@pytest.mark.parametrize(
    "dtype, lowest", [(ts.int8, -128), (ts.int16, -32768), (ts.int32, -(2**31)), (ts.int64, -(2**63)), (ts.uint8, 0), (ts.float32, -INF)]
)
def test_maximum_of_a_window_entirely_in_the_padding_is_the_lowest_value_of_the_dtype(dtype, lowest):
    # The first window takes rows -1 and 1 of a plane with the single row 0.
    x = ts.tensor([[[[5, 3, 7]]]], dtype=dtype)
    arguments = {"stride": 1, "padding": (1, 0), "dilation": (2, 1)}
    for laid_out in (x, x.contiguous(memory_format=ts.channels_last)):
        values = ts.nn.functional.max_pool2d(laid_out, (2, 2), **arguments)
        assert values.dtype is dtype and values.tolist() == [[[[lowest, lowest]]]]
        values, indices = ts.nn.functional.max_pool2d(laid_out, (2, 2), return_indices=True, **arguments)
        assert values.tolist() == [[[[lowest, lowest]]]] and indices.tolist() == [[[[3, 4]]]]
    arguments = {"stride": 1, "padding": (1, 0, 0), "dilation": (2, 1, 1)}
    assert ts.nn.functional.max_pool3d(x[None], (2, 1, 2), **arguments).tolist() == [[[[[lowest, lowest]]]]]
    values, indices = ts.nn.functional.max_pool1d(x[0, :, :, :1], 2, 1, 1, 2, return_indices=True)
    assert values.tolist() == [[[lowest]]] and indices.tolist() == [[[1]]]
