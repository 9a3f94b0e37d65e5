"""Lazy layers: unknown until the first input, ordinary layers after it."""

import copy
import pickle

import pytest

import ts


def test_the_first_input_decides():
    """The layer becomes an ordinary one; its parameters are the same objects, initialised as always."""
    layer = ts.nn.LazyLinear(3)
    weight = layer.weight
    assert repr(layer) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    with pytest.raises(RuntimeError, match="uninitialized"):
        weight.shape
    ts.manual_seed(1)
    layer(ts.ones(2, 4))
    assert type(layer) is ts.nn.Linear and layer.weight is weight and weight.shape == (3, 4)
    ts.manual_seed(1)
    assert ts.nn.Linear(4, 3).weight.tolist() == weight.tolist()


@pytest.mark.parametrize(
    "text, shape, width",
    [
        ("LazyConv2d(4, 3, groups=2)", (2, 6, 5, 5), 6),
        ("LazyConv1d(4, 3)", (6, 5), 6),
        ("LazyConvTranspose2d(4, 3)", (2, 6, 5, 5), 6),
        ("LazyBatchNorm1d()", (3, 6), 6),
        ("LazyInstanceNorm2d()", (2, 6, 5, 5), 6),
    ],
)
def test_widths(text, shape, width):
    layer = eval(f"ts.nn.{text}")
    other = copy.deepcopy(layer)
    x = ts.randn(*shape)
    want = layer(x)
    assert width in (getattr(layer, n, None) for n in ("in_channels", "num_features"))
    other.load_state_dict(layer.state_dict())  # a state decides as well
    assert type(other) is type(layer) and other.eval()(x).shape == want.shape


def test_a_wrong_input_decides_nothing():
    layer = ts.nn.LazyConv2d(4, 3)
    with pytest.raises(RuntimeError, match=r"Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
        layer(ts.ones(3))
    assert layer.has_uninitialized_params()


def test_scripts_want_known_parameters():
    layer = ts.nn.Sequential(ts.nn.LazyLinear(3))
    with pytest.raises(RuntimeError, match="has uninitialized parameters"):
        ts.jit.script(layer)
    x = ts.ones(2, 5)
    want = layer(x).tolist()
    assert ts.jit.script(layer)(x).tolist() == want
    assert pickle.loads(pickle.dumps(layer))(x).tolist() == want
