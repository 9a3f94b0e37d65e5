"""Batch normalization: results, saved moments and running statistics equal their definition, for all layouts."""

import numpy as np
import pytest

import ts

random = np.random.default_rng(0)
SHAPES = [(5, 3), (1, 4), (2, 3, 7), (3, 4, 5, 6), (2, 3, 1, 1), (2, 2, 3, 4, 5), (4, 19, 9, 9), (3, 2, 33, 31)]
EPS, MOMENTUM = 1e-3, 0.3


def per_channel(v, x):
    return v.reshape([-1 if d == 1 else 1 for d in range(x.ndim)])


def vectors(channels, dtype):
    return [ts.tensor(random.random(channels) + 0.5, dtype=dtype) for _ in range(4)]


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("training", [False, True])
def test_native_batch_norm(training, dtype, channels_last):
    tolerance = 1e-4 if dtype is ts.float32 else 1e-10
    for shape in SHAPES:
        if channels_last and len(shape) != 4:
            continue
        x = ts.tensor(random.normal(size=shape) * 3 + 2, dtype=dtype)
        weight, bias, mean, variance = vectors(shape[1], dtype)
        before = mean.numpy().copy(), variance.numpy().copy()
        a, axes = x.numpy().astype(float), (0, *range(2, len(shape)))
        count = x.numel() // shape[1]
        m, v = (a.mean(axes), a.var(axes)) if training else before
        expected = (a - per_channel(m, a)) / np.sqrt(per_channel(v, a) + EPS) * per_channel(weight.numpy(), a) + per_channel(bias.numpy(), a)
        laid_out = x.contiguous(memory_format=ts.channels_last) if channels_last else x
        result, saved_mean, saved_scale = ts.native_batch_norm(laid_out, weight, bias, mean, variance, training, MOMENTUM, EPS)
        assert result.dtype is dtype and result.stride() == laid_out.stride()
        assert np.allclose(result.numpy(), expected, rtol=tolerance, atol=tolerance)
        assert saved_mean.shape == saved_scale.shape == ((shape[1],) if training else (0,))
        if not training:
            assert np.array_equal(mean.numpy(), before[0]) and np.array_equal(variance.numpy(), before[1])
            continue
        assert np.allclose(saved_mean.numpy(), m, rtol=tolerance) and np.allclose(saved_scale.numpy(), 1 / np.sqrt(v + EPS), rtol=tolerance)
        assert np.allclose(mean.numpy(), (1 - MOMENTUM) * before[0] + MOMENTUM * m, rtol=tolerance)
        unbiased = v * count / (count - 1) if count > 1 else np.full_like(v, np.nan)
        assert np.allclose(variance.numpy(), (1 - MOMENTUM) * before[1] + MOMENTUM * unbiased, rtol=tolerance, equal_nan=True)
        function = ts.batch_norm(laid_out, weight, bias, None, None, True, MOMENTUM, EPS, False)
        assert np.array_equal(function.numpy(), result.numpy())


def test_optional_arguments():
    x = ts.tensor([[1.0, 2.0], [3.0, 6.0]])
    result, mean, scale = ts.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)
    assert result.tolist() == [[-1, -1], [1, 1]] and mean.tolist() == [2, 4] and scale.tolist() == [1, 0.5]
    with pytest.raises(RuntimeError, match="running_mean must be defined in evaluation mode"):
        ts.native_batch_norm(x, None, None, None, None, False, 0.1, 0.0)
    with pytest.raises(RuntimeError, match="weight should contain 2 elements not 3"):
        ts.native_batch_norm(x, ts.ones(3), None, None, None, True, 0.1, 0.0)


def test_layers_update_their_statistics_once_per_training_step():
    layer = ts.nn.BatchNorm2d(3, momentum=0.5)
    x = ts.ones(2, 3, 2, 2) * ts.tensor([1.0, 2.0, 4.0]).view(3, 1, 1)
    layer(x).sum().backward()
    assert layer.running_mean.tolist() == [0.5, 1, 2] and layer.running_var.tolist() == [0.5] * 3
    layer.eval()(x).sum().backward()
    assert layer.running_mean.tolist() == [0.5, 1, 2]


NAN, INF = float("nan"), float("inf")


def layouts(x):
    """Return tensors with the elements of the 4-d tensor `x`, in different memory layouts."""
    return [x, x.contiguous(memory_format=ts.channels_last), x.transpose(2, 3).contiguous().transpose(2, 3), x.repeat_interleave(2, 3)[..., ::2]]


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("shape", [(2, 4, 4, 5), (2, 4, 1, 1)])
def test_moments_of_infinite_channels_are_the_same_in_every_layout(shape, dtype):
    x = ts.ones(shape, dtype=dtype)
    x[1, 0], x[1, 1], x[1, 2] = INF, -INF, NAN
    for laid_out in layouts(x):
        mean, variance = ts.zeros(4, dtype=dtype), ts.ones(4, dtype=dtype)
        result, saved_mean, saved_scale = ts.native_batch_norm(laid_out, None, None, mean, variance, True, 1.0, 1.0)
        assert str(saved_mean.tolist()) == str(mean.tolist()) == "[inf, -inf, nan, 1.0]"
        assert str(saved_scale.tolist()) == "[nan, nan, nan, 1.0]" and str(variance.tolist()) == "[nan, nan, nan, 0.0]"
        assert result[:, :3].isnan().all() and result[:, 3].eq(0).all()


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 1, 1), (3, 3, 5, 7)])
def test_input_gradient_with_running_statistics_does_not_depend_on_the_input(shape, affine):
    x = ts.ones(shape)
    x[0, 0], x[1, 1], x[0, 2] = NAN, INF, -INF
    weight, bias = (ts.tensor([1.0, 2.0, -4.0]), ts.zeros(3)) if affine else (None, None)
    mean, variance = ts.zeros(3), ts.tensor([1.0, 4.0, 16.0])
    expected = [1.0, 1.0, -1.0] if affine else [1.0, 0.5, 0.25]
    for laid_out in layouts(x):
        laid_out = laid_out.detach().requires_grad_()
        ts.nn.functional.batch_norm(laid_out, mean, variance, weight, bias, False, 0.1, 0.0).backward(ts.ones(shape))
        assert laid_out.grad.equal(ts.tensor(expected).view(3, 1, 1).expand(shape))
