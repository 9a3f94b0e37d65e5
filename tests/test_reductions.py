"""`nn._reduction`: reduction codes and the deprecated flags of losses."""

import warnings

import pytest

import ts
from ts import nn
from ts.nn import _reduction


def test_numbers_of_reductions():
    assert [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.warns(UserWarning, match="reduction='elementwise_mean' is deprecated"):
        assert _reduction.get_enum("elementwise_mean") == 1
    with pytest.raises(ValueError, match="batchmean is not a valid value for reduction"):
        _reduction.get_enum("batchmean")


@pytest.mark.parametrize(
    ("size_average", "reduce", "name"),
    [
        (None, None, "mean"),
        (True, None, "mean"),
        (False, None, "sum"),
        (None, False, "none"),
        (False, False, "none"),
        (True, True, "mean"),
        (False, True, "sum"),
    ],
)
def test_older_flags(size_average, reduce, name):
    with pytest.warns(UserWarning, match=f"please use reduction='{name}' instead."):
        assert _reduction.legacy_get_string(size_average, reduce) == name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _reduction.legacy_get_enum(size_average, reduce, False) == _reduction.get_enum(name)


def test_losses_warn_of_older_flags():
    x = ts.ones(2)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead."):
        assert nn.functional.mse_loss(x, x * 0, size_average=False).item() == 2
    with pytest.warns(UserWarning, match="please use reduction='none' instead."):
        assert nn.L1Loss(reduce=False).reduction == "none"


def test_scripts_number_reductions():
    def loss(x, reduction: str):
        return ts._C._nn.nll_loss_nd(x, ts.tensor([0]), None, _reduction.get_enum(reduction), -100)

    compiled = ts.jit.script(loss)
    assert compiled(ts.tensor([[2.0, 1.0]]), "sum").item() == -2
    assert 'prim::Constant[name="get_enum"]' in str(compiled.graph)
