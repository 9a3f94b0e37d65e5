"""Autocast on CUDA devices: float16 products and float32 precision-sensitive operators, by CUDA's lists."""

import pytest

import ts

pytestmark = pytest.mark.cuda


@pytest.fixture
def x(cuda):
    return ts.linspace(0.1, 0.9, 9).reshape(3, 3).cuda()


@pytest.mark.parametrize("call, expected", [
    (lambda x: x @ x, ts.float16),
    (lambda x: ts.mv(x, x[0]), ts.float16),
    (lambda x: x.half().exp(), ts.float32),
    (lambda x: ts.softmax(x.half(), 0), ts.float32),
    (lambda x: ts.softmax(x.half(), 0, dtype=ts.float16), ts.float16),
    (lambda x: x.half().sum(), ts.float32),
    (lambda x: ts.addcmul(x.half(), x.half(), x), ts.float32),
    (lambda x: ts.addcmul(x.half(), x.half(), x.half()), ts.float16),
    (lambda x: ts.cat([x.half(), x.half()]), ts.float16),
    (lambda x: x.half().relu(), ts.float16),
])  # fmt: skip
def test_classes(x, call, expected):
    with ts.autocast("cuda"):
        assert call(x).dtype is expected


def test_autocast_per_device(x):
    """An autocast block applies to one device type."""
    with ts.autocast("cuda"):
        assert (x.cpu() @ x.cpu()).dtype is ts.float32
    with ts.autocast("cpu"), ts.autocast("cuda", dtype=ts.bfloat16):
        assert (x @ x).dtype is (x.cpu() @ x.cpu()).dtype is ts.bfloat16


def test_unsafe_operators(x):
    loss = ts.nn.functional.binary_cross_entropy
    with ts.autocast("cuda"):
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            loss(x, x)
        assert ts.nn.functional.binary_cross_entropy_with_logits(x.half(), x.half()).dtype is ts.float32
        with ts.autocast("cuda", enabled=False):
            assert loss(x, x).dtype is ts.float32


def test_training(x):
    """Training on CUDA with autocast converges from an initial loss scale that is too large."""
    weight = ts.nn.Parameter(x.clone())
    optimizer, scaler = ts.optim.SGD([weight], lr=0.1), ts.amp.GradScaler("cuda", init_scale=2.0**20)
    for _ in range(8):
        optimizer.zero_grad()
        with ts.autocast("cuda"):
            loss = ts.nn.functional.mse_loss(x @ weight, x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert weight.grad.dtype is ts.float32 and scaler.get_scale() < 2.0**20
    assert not ts.equal(weight, x)
