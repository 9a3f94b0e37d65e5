"""Losses, norms and activations under `vmap` equal unbatched calls, with their gradients."""

import warnings

import pytest

import ts
from ts.nn import functional as F

TARGETS = ts.tensor([[0, 2, 1], [1, -100, 0], [2, 1, 1], [0, 0, 2]])


def numbers(*shape):
    n = 1
    for k in shape:
        n *= k
    return (ts.arange(n, dtype=ts.float64) * 0.7 + 0.3).sin().reshape(shape)


def class_loss(**how):
    """Return a cross entropy of (examples, classes) with the given options."""
    return lambda x, t: F.cross_entropy(x.view(3, 4), t, **how).sum()


WEIGHT = numbers(4).abs() + 0.5
CASES = {
    "mean": class_loss(),
    "sum": class_loss(reduction="sum"),
    "each": class_loss(reduction="none"),
    "weighted": class_loss(weight=WEIGHT),
    "smoothed": class_loss(label_smoothing=0.1, weight=WEIGHT),
    "ignored": lambda x, t: F.cross_entropy(x.view(3, 4), t.clamp(0), ignore_index=1),
    "weights of each": lambda x, t: F.nll_loss(x.view(3, 4), t, weight=x[:4] + 2),
    "of one": lambda x, t: F.cross_entropy(x, t[0]),
    "of images": lambda x, t: F.cross_entropy(x.view(1, 4, 3, 1), t.view(1, 3, 1), weight=WEIGHT),
    "of images, each": lambda x, t: (F.cross_entropy(x.view(1, 4, 3), t.view(1, 3), reduction="none") ** 2).sum(),
    "multi_margin": lambda x, t: F.multi_margin_loss(x.view(3, 4), t.clamp(0), weight=WEIGHT),
    "multilabel_margin": lambda x, t: F.multilabel_margin_loss(x[:3], t.clamp(0)),
    "group_norm": lambda x, t: (F.group_norm(x.view(1, 4, 3), 2, WEIGHT, WEIGHT) ** 3).sum(),
    "group_norm of each": lambda x, t: (F.group_norm(x.view(1, 4, 3), 2, x[:4], x[4:8]) ** 3).sum(),
    "rms_norm": lambda x, t: (F.rms_norm(x.view(3, 4), [4], WEIGHT) ** 3).sum(),
    "rms_norm of each": lambda x, t: (F.rms_norm(x.view(3, 4), [4], x[:4]) ** 3).sum(),
    "batch_norm of each": lambda x, t: (
        F.batch_norm(x.view(3, 4), x[:4].clone(), x[4:8].clone() + 3, training=True) ** 3
    ).sum(),
    "index_add": lambda x, t: (x.view(4, 3).index_add(0, t.clamp(0), x[:9].view(3, 3)) ** 2).sum(),
    "index_copy": lambda x, t: (x.view(4, 3).index_copy(0, t.clamp(0)[:1], x[:3].view(1, 3)) ** 2).sum(),
    "index_fill": lambda x, t: (x.view(3, 4).index_fill(1, t.clamp(0), 2.0) ** 2).sum(),
    "embedding": lambda x, t: (F.embedding(t.clamp(0), x.view(4, 3), padding_idx=0) ** 2).sum(),
    **{
        name: lambda x, t, f=getattr(F, name): f(x).sum()
        for name in ("gelu", "mish", "softplus", "logsigmoid", "softshrink", "hardshrink")
    },
    "threshold": lambda x, t: (F.threshold(x, 0.2, 0.5) ** 2).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_batched_losses_equal_single_losses(name):
    """Batched losses have the values, gradients and second gradients of single losses, without a fallback
    warning."""
    f, x = CASES[name], numbers(4, 12)

    def twice(x, t):
        return ts.func.grad(lambda y: ts.func.grad(f)(y, t).pow(2).sum())(x)

    for g in (f, ts.func.grad(f), twice):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            found = ts.vmap(g)(x, TARGETS)
        wanted = ts.stack([g(y, t) for y, t in zip(x, TARGETS, strict=True)])
        assert ts.allclose(found, wanted, rtol=1e-8, atol=1e-8, equal_nan=True)


def test_count_nonzero():
    """`vmap` of `count_nonzero` counts all elements, or the elements along given dimensions."""
    x = ts.tensor([[[1, 0], [2, 3]], [[0, 0], [0, 4]]])
    assert ts.vmap(ts.count_nonzero)(x).tolist() == [3, 1]
    assert ts.vmap(lambda y: ts.count_nonzero(y, 0))(x).tolist() == [[2, 1], [0, 1]]


def test_unbatched_running_statistics_are_not_written():
    """Batch norm in training raises an error for unbatched running statistics under `vmap`."""
    net = ts.nn.BatchNorm1d(4)
    with pytest.raises(RuntimeError, match=r"^Batch norm got a batched tensor as input while the running_mean"):
        ts.vmap(net)(numbers(3, 2, 4).float())
    assert net.running_mean.tolist() == [0.0] * 4
    found = ts.vmap(ts.nn.BatchNorm1d(4, track_running_stats=False))(numbers(3, 2, 4).float())
    assert found.shape == (3, 2, 4) and abs(float(found.sum().detach())) < 1e-4
