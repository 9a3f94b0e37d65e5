"""Losses and their gradients equal their definitions in NumPy, for all reductions, weights and layouts."""

import itertools

import numpy as np
import pytest

import ts
import ts.nn.functional as F

random = np.random.default_rng(0)
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (3, 700), (1100,)]
REDUCTIONS = {"none": lambda x: x, "sum": np.sum, "mean": np.mean}
DTYPES = [ts.float32, ts.float64]


def allclose(result, expected, dtype=None):
    """Compare with the accuracy of the result's dtype."""
    tolerance = 1e-5 if (dtype or result.dtype) is ts.float32 else 1e-12
    return result.shape == np.shape(expected) and np.allclose(result.detach().numpy(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def smooth_l1(x, y, beta):
    gap = np.abs(x - y)
    return np.where(gap < beta, gap * gap / (2 * beta), gap - beta / 2) if beta else gap


def huber(x, y, delta):
    gap = np.abs(x - y)
    return np.where(gap <= delta, gap * gap / 2, delta * (gap - delta / 2))


DISTANCES = {
    "mse_loss": (lambda x, y: (x - y) ** 2, {}),
    "l1_loss": (lambda x, y: np.abs(x - y), {}),
    "smooth_l1_loss": (lambda x, y: smooth_l1(x, y, 0.7), {"beta": 0.7}),
    "smooth_l1_loss of beta 0": (lambda x, y: smooth_l1(x, y, 0), {"beta": 0.0}),
    "huber_loss": (lambda x, y: huber(x, y, 0.7), {"delta": 0.7}),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name, dtype, reduction):
    define, options = DISTANCES[name]
    for shape in SHAPES:
        x, y = (ts.tensor(random.normal(size=shape), dtype=dtype) for _ in range(2))
        result = getattr(F, name.split()[0])(x, y, reduction=reduction, **options)
        assert result.dtype is dtype and allclose(result, REDUCTIONS[reduction](define(x.numpy(), y.numpy())))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", list(itertools.product(["none", "one", "last", "all"], repeat=2)))
def test_binary_cross_entropies(weights, dtype):
    for shape in SHAPES[1:]:
        x, y = ts.tensor(random.normal(size=shape) * 3, dtype=dtype), ts.tensor(random.random(shape), dtype=dtype)
        sizes = {"one": (1,), "last": shape[-1:], "all": shape}
        weight, positive = (None if w == "none" else ts.tensor(random.random(sizes[w]), dtype=dtype) for w in weights)
        w, p = (1 if v is None else v.numpy() for v in (weight, positive))
        a, b = x.numpy().astype(float), y.numpy().astype(float)
        logits = w * ((1 - b) * a + (1 + (p - 1) * b) * np.logaddexp(0, -a))
        probability = x.sigmoid()
        q = probability.numpy().astype(float)
        entropy = -w * (b * np.log(q) + (1 - b) * np.log1p(-q))
        for name, reduce in REDUCTIONS.items():
            result = F.binary_cross_entropy_with_logits(x, y, weight, reduction=name, pos_weight=positive)
            assert allclose(result, reduce(logits))
            assert allclose(F.binary_cross_entropy(probability, y, weight, reduction=name), reduce(entropy))


def test_binary_cross_entropy_of_certain_predictions():
    assert F.binary_cross_entropy(ts.tensor([0.0, 1.0, 1.0]), ts.tensor([1.0, 0.0, 1.0]), reduction="sum").item() == 200
    for x, y in (([1.5], [0.5]), ([0.5], [-1.0]), ([float("nan")], [0.5])):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            F.binary_cross_entropy(ts.tensor(x), ts.tensor(y))
    for f in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        with pytest.raises(RuntimeError, match=r"output with shape \[\] doesn't match the broadcast shape \[1\]"):
            f(ts.tensor(0.5), ts.tensor(0.5), ts.tensor([0.5]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_divergence(dtype):
    for shape in SHAPES:
        x, y = ts.tensor(random.normal(size=shape), dtype=dtype), ts.tensor(random.random(shape).round(1), dtype=dtype)
        a, b = x.numpy().astype(float), y.numpy().astype(float)
        expected = np.where(b == 0, 0, b * np.log(np.where(b == 0, 1, b))) - b * a
        assert allclose(F.kl_div(x, y, reduction="sum"), expected.sum())
        assert allclose(F.kl_div(x, y, reduction="sum", log_target=True), (np.exp(b) * (b - a)).sum())


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits", "kl_div"])
def test_strided_operands_give_the_bits_of_contiguous_operands(name, reduction):
    x, y = ts.rand(40, 30), ts.rand(40, 30)
    f = getattr(ts.ops.aten, name)
    options = {"reduction": 2 if reduction == "sum" else 1}
    for view in (lambda t: t.t(), lambda t: t[::2, 3:20], lambda t: t[:, ::3]):
        strided = f(view(x), view(y), **options)
        assert strided.item() == f(view(x).contiguous(), view(y).contiguous(), **options).item()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"])
def test_losses_of_strided_operands(name, dtype):
    """Losses without reduction equal those of contiguous copies bit for bit, and keep the operands' strides."""
    x, y = ts.rand(40, 30, dtype=dtype), ts.rand(40, 30, dtype=dtype)
    f = getattr(F, name)
    for view in (lambda t: t.t(), lambda t: t[::2, 3:20], lambda t: t[:, ::3]):
        strided, contiguous = f(view(x), view(y), reduction="none"), f(view(x).contiguous(), view(y).contiguous(), reduction="none")
        assert np.array_equal(strided.numpy(), contiguous.numpy())
    assert f(x.t(), y.t(), reduction="none").stride() == (1, 30)


# ------------------------------------------------------------------------------------ losses of target classes

CLASS_SHAPES = [(4,), (6, 5), (3, 1), (2, 700), (3, 4, 7), (2, 3, 5, 4), (2, 3, 40, 20)]


def classes_and_scores(shape, dtype):
    """Return scores, target classes with ignored samples, and class weights."""
    axis = 0 if len(shape) == 1 else 1
    target_shape = shape[:axis] + shape[axis + 1 :]
    target = np.where(random.random(target_shape) < 0.2, -100, random.integers(0, shape[axis], target_shape))
    return ts.tensor(random.normal(size=shape), dtype=dtype), ts.tensor(target), ts.tensor(random.random(shape[axis]), dtype=dtype)


def log_softmax(x, axis):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def expected_loss(logp, target, weight, reduction, smoothing=0.0):
    """Return the loss, and its gradient with respect to `logp` for a gradient of 1."""
    axis = 0 if logp.ndim == 1 else 1
    n = logp.shape[axis]
    one_hot = np.moveaxis(np.arange(n) == target[..., None], -1, axis)
    counted = np.expand_dims(target != -100, axis)
    shaped = weight.reshape([-1 if d == axis else 1 for d in range(logp.ndim)])
    slope = -1.0 * counted * shaped * ((1 - smoothing) * one_hot + smoothing / n)
    loss = (slope * logp).sum(axis)
    total = (shaped * one_hot * counted).sum()
    if reduction == "none":
        return loss, slope, total
    scale = 1 / total if reduction == "mean" else 1
    return loss.sum() * scale, slope * scale, total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_log_likelihood(dtype, reduction, weighted):
    for shape in CLASS_SHAPES:
        x, target, weight = classes_and_scores(shape, dtype)
        if (target == -100).all():
            continue
        x.requires_grad_()
        w = weight.numpy() if weighted else np.ones_like(weight.numpy())
        loss, slope, _ = expected_loss(x.detach().numpy(), target.numpy(), w, reduction)
        result = F.nll_loss(x, target, weight if weighted else None, reduction=reduction)
        result.sum().backward()
        assert allclose(result, loss) and allclose(x.grad, slope)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_of_classes(dtype, reduction, weighted, smoothing):
    for shape in CLASS_SHAPES:
        x, target, weight = classes_and_scores(shape, dtype)
        if (target == -100).all():
            continue
        w = weight.numpy() if weighted else np.ones_like(weight.numpy())
        logp = log_softmax(x.numpy().astype(float), 0 if len(shape) == 1 else 1)
        expected, *_ = expected_loss(logp, target.numpy(), w, reduction, smoothing)
        arguments = target, weight if weighted else None
        result = F.cross_entropy(x, *arguments, reduction=reduction, label_smoothing=smoothing)
        assert allclose(result, expected)
        composed = F.cross_entropy(x.requires_grad_(), *arguments, reduction=reduction, label_smoothing=smoothing)
        assert allclose(composed, expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_of_probabilities(dtype, reduction, weighted, smoothing):
    for shape in CLASS_SHAPES:
        axis = 0 if len(shape) == 1 else 1
        x, _, weight = classes_and_scores(shape, dtype)
        target = ts.tensor(random.normal(size=shape), dtype=dtype).softmax(axis)
        w = weight.numpy().reshape([-1 if d == axis else 1 for d in range(len(shape))]) if weighted else 1
        terms = (target.numpy() * (1 - smoothing) + smoothing / shape[axis]) * log_softmax(x.numpy().astype(float), axis) * w
        expected = REDUCTIONS[reduction](-terms.sum(axis))
        result = F.cross_entropy(x, target, weight if weighted else None, reduction=reduction, label_smoothing=smoothing)
        assert allclose(result, expected)


def test_total_weight_of_the_forward():
    x, target, weight = ts.zeros(3, 2), ts.tensor([0, 1, 1]), ts.tensor([2.0, 3.0])
    for reduction, expected in enumerate((0, 8, 8)):
        assert ts.ops.aten.nll_loss_forward(x, target, weight, reduction, -100)[1].item() == expected
    assert ts.ops.aten.nll_loss_forward(x, target, None, 1, 1)[1].item() == 1
    assert ts.ops.aten.nll_loss_forward(x[0], target[0], weight, 0, -100)[1].item() == 2
    assert F.nll_loss(x, ts.full((3,), -100)).isnan().item()


def test_invalid_target_classes():
    """The error names the first invalid class."""
    x = ts.zeros(4, 3, requires_grad=True)
    for target, wrong in (([0, 5, 9, -1], 5), ([0, -2, 7, 1], -2)):
        for f in (F.nll_loss, F.cross_entropy):
            with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
                f(x, ts.tensor(target))
            with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
                f(x.detach(), ts.tensor(target))


def test_smooth_l1_loss_of_beta_0_has_the_gradient_of_l1_loss():
    x = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    F.smooth_l1_loss(x, ts.tensor([2.0, 2.0, 2.0]), beta=0.0, reduction="sum").backward()
    assert x.grad.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("shape", [(5, 4), (4,), (2, 4, 3)])
def test_uint8_target_classes(shape):
    """Targets of dtype uint8 have the loss and the gradient of equal int64 targets."""
    x = ts.randn(shape, requires_grad=True)
    target = ts.randint(0, 4, shape[:1] + shape[2:] if len(shape) > 1 else ())
    results = []
    for dtype in (ts.int64, ts.uint8):
        loss = F.cross_entropy(x, target.to(dtype))
        results.append((loss, *ts.autograd.grad(loss, x)))
    assert all(ts.allclose(a, b) for a, b in zip(*results, strict=True))
