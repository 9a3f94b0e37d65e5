"""Strides of pointwise results: those of PyTorch for mixed dtypes and mixed memory layouts."""

import pytest

import ts

F = ts.nn.functional
TRANSPOSED = ts.arange(6).reshape(3, 2).T.float()  # shape (2, 3), strides (1, 2)
CONTIGUOUS = ts.arange(6.0).reshape(2, 3)
CHANNELS_LAST = ts.rand(2, 3, 4, 5).contiguous(memory_format=ts.channels_last)
ROWS = ts.rand(2, 3, 4, 5)
PERMUTED = ts.rand(2, 5, 4, 3).permute(0, 3, 2, 1)  # strides (60, 1, 3, 12)


@pytest.mark.parametrize("call", [
    lambda x, y: x + y, lambda x, y: ts.maximum(x, y), lambda x, y: x < y, lambda x, y: ts.where(x > y, x, y),
    lambda x, y: ts.clamp(x, min=y), lambda x, y: ts.clamp(x, y, y), lambda x, y: x.clamp_min(y),
    lambda x, y: ts.lerp(x, y, 0.5), lambda x, y: ts.lerp(x, y, y), lambda x, y: ts.addcmul(x, y, y),
    lambda x, y: ts.addcdiv(x, y, y + 1), lambda x, y: F.mse_loss(x, y, reduction="none"),
    lambda x, y: F.l1_loss(x, y, reduction="none"), lambda x, y: F.smooth_l1_loss(x, y, reduction="none"),
    lambda x, y: F.huber_loss(x, y, reduction="none"), lambda x, y: F.soft_margin_loss(x, y, reduction="none"),
    lambda x, y: F.binary_cross_entropy_with_logits(y, x, reduction="none"),
])  # fmt: skip
def test_first_operand_decides(call):
    """Without broadcasting, the result has the dimension order of the first operand."""
    assert call(TRANSPOSED, CONTIGUOUS).stride() == (1, 2)
    assert call(CONTIGUOUS, TRANSPOSED).stride() == (3, 1)
    assert call(CHANNELS_LAST, ROWS).stride() == (60, 1, 15, 3)
    assert call(ROWS, CHANNELS_LAST).stride() == (60, 20, 5, 1)
    assert call(PERMUTED, ROWS).stride() == (60, 1, 3, 12)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.int64, ts.uint8, ts.bool])
@pytest.mark.parametrize("function", [
    ts.sin, ts.sqrt, ts.sign, ts.round, ts.abs, ts.sigmoid, ts.exp, ts.isnan, ts.logical_not, lambda x: x.double(),
])  # fmt: skip
def test_unary_keeps_the_order(function, dtype):
    """Integers, whose elements are copied or converted, keep the order, too."""
    if dtype == ts.bool and function in (ts.abs, ts.round):
        pytest.skip("not defined for bool")
    assert function(TRANSPOSED.to(dtype)).stride() == (1, 2)
    assert function(CHANNELS_LAST.to(dtype)).stride() == (60, 1, 15, 3)


@pytest.mark.parametrize("dtype", [ts.float32, ts.int64, ts.bool])
def test_expanded_argument(dtype):
    """A dimension with stride 0 keeps its place, also if the elements are converted."""
    x = ts.ones(2, 1, 4, 5, dtype=dtype).expand(2, 3, 4, 5)
    assert ts.sqrt(x).stride() == ts.sigmoid(x).stride() == (60, 20, 5, 1)


def test_converted_arguments_are_copied_first():
    """An expanded operand that is converted has the strides of its copy. Otherwise the other operand decides."""
    expanded = ts.ones(2, 1).expand(2, 3)
    assert (expanded / TRANSPOSED).stride() == (1, 2)
    assert (expanded.int() / TRANSPOSED.to(ts.complex64)).stride() == (3, 1)
    assert ts.fmod(expanded.int(), TRANSPOSED).stride() == (3, 1)


def test_loss_with_logits_has_the_order_of_the_target():
    loss = F.binary_cross_entropy_with_logits(CONTIGUOUS, TRANSPOSED, reduction="none")
    assert loss.stride() == (1, 2)
    assert F.binary_cross_entropy_with_logits(TRANSPOSED, CONTIGUOUS[:1].expand(2, 3), reduction="none").stride() == (3, 1)
