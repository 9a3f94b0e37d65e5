"""Weight normalization, parametrizations, fused layers and comparison functions satisfy their definitions."""

import math

import pytest

import ts
from ts.nn import utils
from ts.nn.utils import parametrizations, parametrize


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("normed", [utils.weight_norm, parametrizations.weight_norm])
def test_weight_norm_keeps_the_function(normed):
    """Weight norm preserves the layer's result until magnitude or direction change."""
    layer = ts.nn.Linear(2, 3)
    x, before = ts.ones(1, 2), layer.weight.detach().clone()
    y = layer(x)
    normed(layer)
    assert ts.allclose(layer(x), y) and ts.allclose(layer.weight, before)
    lengths = getattr(layer, "weight_g", None)
    if lengths is None:
        lengths = layer.parametrizations.weight.original0
    lengths.data.mul_(2)
    assert ts.allclose(layer(x) - layer.bias, 2 * (y - layer.bias), atol=1e-6)


@pytest.mark.parametrize("normed", [utils.spectral_norm, parametrizations.spectral_norm])
def test_spectral_norm_has_norm_one(normed):
    layer = normed(ts.nn.Linear(5, 4), n_power_iterations=60)
    layer(ts.ones(1, 5))
    assert float(ts.linalg.matrix_norm(layer.weight, 2)) == pytest.approx(1, abs=1e-4)


def test_parametrized_weights_follow_their_original():
    class Symmetric(ts.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

    layer = parametrize.register_parametrization(ts.nn.Linear(3, 3), "weight", Symmetric())
    assert ts.equal(layer.weight, layer.weight.T)
    layer.parametrizations.weight.original.data.fill_(2.0)
    assert layer(ts.ones(1, 3)).sub(layer.bias).tolist() == [[6.0, 6.0, 6.0]]
    assert isinstance(layer, ts.nn.Linear) and not parametrize.is_parametrized(ts.nn.Linear(3, 3))
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is ts.nn.Linear and layer.weight.tolist() == [[2.0] * 3] * 3


def test_values_are_computed_once_in_a_block():
    calls = []

    class Counted(ts.nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 1

    layer = parametrize.register_parametrization(ts.nn.Linear(1, 1), "weight", Counted(), unsafe=True)
    calls.clear()
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert len(calls) == 1
    assert layer.weight is not layer.weight and len(calls) == 3


def test_fused_layers_compute_the_same():
    conv, norm = ts.nn.Conv2d(2, 3, 2).eval(), ts.nn.BatchNorm2d(3).eval()
    norm.running_mean.uniform_(), norm.running_var.uniform_(0.5, 1), norm.weight.data.uniform_(1, 2)
    x = ts.rand(2, 2, 4, 4)
    ts.testing.assert_close(utils.fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)))


def test_clipped_gradients():
    """Gradient clipping scales all gradients together; parameters without gradients have a norm of zero."""
    parameters = [ts.nn.Parameter(ts.zeros(2)), ts.nn.Parameter(ts.zeros(1))]
    assert float(utils.clip_grad_norm_(parameters, 1.0)) == 0
    assert math.isclose(float(utils.get_total_norm([ts.tensor([3.0]), ts.tensor([4.0])])), 5.0)


def test_functional_call_restores_parameters():
    """`functional_call` restores the parameters, even after an error."""
    layer = ts.nn.Linear(2, 2)
    weight = layer.weight
    assert ts.func.functional_call(layer, {"weight": ts.zeros(2, 2)}, ts.ones(1, 2)).tolist() == [layer.bias.tolist()]
    with pytest.raises(RuntimeError):
        ts.func.functional_call(layer, {"weight": ts.zeros(2, 3)}, ts.ones(1, 2))
    assert layer.weight is weight


def test_assert_close():
    ts.testing.assert_close({"a": [ts.ones(2)]}, {"a": [ts.ones(2) + 1e-7]})
    with pytest.raises(AssertionError, match=r"1 / 2 \(50\.0%\)(.|\n)*index \(1,\)(.|\n)*item \['a'\]\[0\]"):
        ts.testing.assert_close({"a": [ts.ones(2)]}, {"a": [ts.tensor([1.0, 2.0])]})
    with pytest.raises(AssertionError, match="attribute 'dtype' do not match"):
        ts.testing.assert_close(ts.ones(1), ts.ones(1).double())
    with pytest.raises(TypeError, match="No comparison pair"):
        ts.testing.assert_close(ts.ones(1), 1.0)
