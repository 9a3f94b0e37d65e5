"""Weight gradients of CPU convolutions equal their definition for every geometry."""

import itertools

import numpy as np
import pytest

import ts
from tests.divided_work import divided_work
from tests.test_conv import CASES, copy_geometry, operands, run, threads, widest  # noqa: F401 -- fixtures
from ts.backends.cpu.kernels import conv_weight_grad, microkernels


def gradient(x, weight, grad, stride, padding, dilation, groups, transposed=False, output_padding=None):
    """Return the gradient of the weight."""
    n = weight.ndim - 2
    tensors = (ts.from_numpy(a) for a in (grad, x, weight))
    result = ts.ops.aten.convolution_backward(
        *tensors, None, stride, padding, dilation, transposed, output_padding or [0] * n, groups, [False, True, False]
    )
    return result[1].numpy()


def gradients(name, dtype, images=None):
    """Return random input, weight and result gradient, and the parameters of a convolution."""
    x, weight, rest = operands(name, dtype)
    if images:
        x = np.concatenate([x] * images)
    return x, weight, np.random.default_rng(9).standard_normal(run(x, weight, *rest).shape).astype(dtype), rest


def reference_weight_gradient(x, weight, grad, stride, padding, dilation, groups):
    """Return the float64 sum of grad[t] * x[t * stride + k * dilation - padding] for each weight."""
    out = np.zeros(weight.shape)
    per_group = weight.shape[0] // groups
    for index, k in itertools.product(np.ndindex(*grad.shape[2:]), np.ndindex(*weight.shape[2:])):
        at = tuple(t * s + j * d - p for t, s, j, d, p in zip(index, stride, k, dilation, padding, strict=True))
        if any(not 0 <= i < size for i, size in zip(at, x.shape[2:], strict=True)):
            continue
        for g in range(groups):
            rows = slice(g * per_group, (g + 1) * per_group)
            channels = x[(slice(None), slice(g * weight.shape[1], (g + 1) * weight.shape[1]), *at)]
            out[(rows, slice(None), *k)] += grad[(slice(None), rows, *index)].T @ channels
    return out


@pytest.mark.parametrize("width", [128, 256, 512])
@pytest.mark.parametrize("name", CASES)
def test_follows_the_definition(name, width, widest):
    microkernels.instruction_set(width)
    x, weight, grad, rest = gradients(name, np.float64, images=3)
    expected = reference_weight_gradient(x, weight, grad, *rest)
    assert np.allclose(gradient(x, weight, grad, *rest), expected, rtol=1e-12, atol=1e-12)
    actual = gradient(*(a.astype(np.float32) for a in (x, weight, grad)), *rest)
    assert actual.dtype == np.float32
    assert np.allclose(actual, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_same_bits_for_every_number_of_threads_and_any_strides(name):
    x, weight, grad, rest = gradients(name, np.float32, images=3)
    with divided_work(1):
        expected = gradient(x, weight, grad, *rest)
    for count in (2, 3, 7):
        with divided_work(count):
            assert np.array_equal(gradient(x, weight, grad, *rest), expected)
    transposed = [np.ascontiguousarray(a.T).T for a in (x, weight, grad)]
    assert np.array_equal(gradient(*transposed, *rest), expected)


@pytest.mark.parametrize("name", CASES)
def test_gradient_of_transposed_convolution(name):
    """The weight gradient of a transposed convolution satisfies linearity: <conv_transpose(x, w), y> = <w,
    gradient>."""
    _, weight, x, (stride, padding, dilation, groups) = gradients(name, np.float64)
    function = getattr(ts, f"conv_transpose{x.ndim - 2}d")
    result = function(ts.from_numpy(x), ts.from_numpy(weight), None, stride, padding, 0, groups, dilation).numpy()
    y = np.random.default_rng(8).standard_normal(result.shape)
    actual = gradient(x, weight, y, stride, padding, dilation, groups, True)
    assert actual.shape == weight.shape
    assert np.isclose((result * y).sum(), (weight * actual).sum(), rtol=1e-10)


@pytest.mark.parametrize("name", ["padded", "depthwise", "strided"])
@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_non_finite_values_do_not_spread(name, number):
    """Non-finite padding between image rows does not affect the result."""
    x, weight, grad, rest = gradients(name, np.float64)
    x[0, 0, 2, -1] = number
    with np.errstate(invalid="ignore"):
        expected = reference_weight_gradient(x, weight, grad, *rest)
    actual = gradient(x, weight, grad, *rest)
    assert np.isfinite(expected).any() and not np.isfinite(expected).all()
    assert np.allclose(actual, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
def test_small_floats_round_once(dtype):
    """Sums of 16-bit floats are computed in float32: a 16-bit sum of 300 ones is not exact."""
    x, weight, grad = ts.ones(300, 1, 2).to(dtype), ts.ones(1, 1, 1).to(dtype), ts.ones(300, 1, 2).to(dtype)
    result = ts.ops.aten.convolution_backward(grad, x, weight, [1], [1], [0], [1], False, [0], 1, [True] * 3)
    assert [g.dtype for g in result] == [dtype] * 3
    assert result[1].to(ts.float32).tolist() == [[[600.0]]] and result[2].to(ts.float32).tolist() == [600.0]


def test_complex_numbers():
    x, weight, grad = ts.tensor([[[1 + 2j, 3 - 1j]]]), ts.tensor([[[2 - 1j]]]), ts.tensor([[[1j, 1 + 0j]]])
    result = ts.ops.aten.convolution_backward(grad, x, weight, None, [1], [0], [1], False, [0], 1, [False, True, False])
    assert result[1].tolist() == [[[(1 + 2j) * 1j + (3 - 1j)]]]


def test_a_copy_has_the_product_of_two_rows():
    source, (phase,) = copy_geometry()
    out = np.zeros((1, 1, 1), np.float32)
    row = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    conv_weight_grad.correlate_weights(row, row, out, source, phase, 1)
    assert out.tolist() == [[[14.0]]]


@pytest.mark.parametrize(
    ("shapes", "kind", "groups", "message"),
    [
        ([(1, 1, 4), (1, 1, 4), (1, 1, 2)], np.float64, 1, "float32 or all float64"),
        ([(1, 1, 5), (1, 1, 4), (1, 1, 1)], np.float32, 1, "a different input size"),
        ([(1, 1, 4), (1, 1, 3), (1, 1, 1)], np.float32, 1, "outside the output"),
        ([(2, 1, 4), (1, 1, 4), (1, 1, 1)], np.float32, 1, "batch sizes must be equal"),
        ([(1, 1, 4), (1, 2, 4), (1, 1, 1)], np.float32, 1, "the weight does not match"),
        ([(1, 1, 4), (1, 1, 4), (1, 1, 0)], np.float32, 1, "outside the weight's window"),
        ([(1, 1, 4), (1, 1, 4), (1, 1, 1)], np.float32, 2, "groups must divide"),
    ],
)
def test_invalid_operands_are_rejected(shapes, kind, groups, message):
    """Invalid geometry or operands raise an error before the unchecked loops start."""
    x, y, out = (np.ones(shape, np.float32) for shape in shapes)
    source, (phase,) = copy_geometry()
    with pytest.raises((ValueError, TypeError), match=message):
        conv_weight_grad.correlate_weights(x, y.astype(kind), out, source, phase, groups)


def test_gaps_are_rejected():
    source, (phase,) = copy_geometry()
    row, out = np.ones((1, 1, 4), np.float32), np.zeros((1, 1, 1), np.float32)
    read_only = np.broadcast_to(out, out.shape)  # a read-only array
    for x, to in ((np.ones((1, 1, 8), np.float32)[..., ::2], out), (row, read_only)):
        with pytest.raises(ValueError, match="contiguous"):
            conv_weight_grad.correlate_weights(x, row, to, source, phase, 1)


@pytest.mark.parametrize("layer, shape", [(ts.nn.Conv1d(5, 4, 3), (0, 5, 8)), (ts.nn.Conv2d(4, 4, 3, groups=2), (0, 4, 8, 8)), (ts.nn.ConvTranspose2d(4, 4, 3), (0, 4, 8, 8))])
def test_no_images(layer, shape):
    x = ts.zeros(shape, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.shape == x.shape
    assert all(p.grad.shape == p.shape and not p.grad.any() for p in layer.parameters())
