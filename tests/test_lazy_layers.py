"""Lazy layers: uninitialized until the first input, regular layers afterwards."""

import copy
import pickle

import pytest

import ts


def test_first_input_initializes():
    """The first input initializes the layer, which becomes a regular layer with its parameter objects."""
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
    expected = layer(x)
    assert width in (getattr(layer, n, None) for n in ("in_channels", "num_features"))
    other.load_state_dict(layer.state_dict())  # loading a state also initializes
    assert not other.has_uninitialized_params()
    assert other.eval()(x).shape == expected.shape and type(other) is type(layer)


def test_invalid_input_does_not_initialize():
    layer = ts.nn.LazyConv2d(4, 3)
    with pytest.raises(RuntimeError, match=r"Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
        layer(ts.ones(3))
    assert layer.has_uninitialized_params()


def test_scripts_reject_uninitialized_parameters():
    layer = ts.nn.Sequential(ts.nn.LazyLinear(3))
    with pytest.raises(RuntimeError, match="has uninitialized parameters"):
        ts.jit.script(layer)
    x = ts.ones(2, 5)
    expected = layer(x).tolist()
    assert ts.jit.script(layer)(x).tolist() == expected
    assert pickle.loads(pickle.dumps(layer))(x).tolist() == expected


class Scale(ts.nn.modules.lazy.LazyModuleMixin, ts.nn.Module):
    """A user-defined module whose first input determines the width."""

    def __init__(self):
        super().__init__()
        self.weight = ts.nn.UninitializedParameter()
        self.register_buffer("seen", ts.nn.UninitializedBuffer())

    def initialize_parameters(self, x):
        if self.has_uninitialized_params():
            self.weight.materialize(x.shape[-1])
            self.seen.materialize((2, x.shape[-1]))
            self.weight.data.fill_(2.0)

    def forward(self, x):
        return x * self.weight


def test_custom_lazy_modules():
    """`initialize_parameters` is called with the first input; loading a state also creates the parameters."""
    module = Scale().double()
    weight = module.weight
    assert module(ts.ones(3, dtype=ts.double)).tolist() == [2.0, 2.0, 2.0]
    assert (type(module), module.weight is weight, weight.dtype, module.seen.dtype) == (Scale, True, ts.double, ts.double)
    assert type(weight) is ts.nn.Parameter
    other = Scale()
    other.load_state_dict(Scale().state_dict())
    assert other.has_uninitialized_params()
    other.load_state_dict(module.state_dict())
    assert not other.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        other.load_state_dict(Scale().state_dict())


def test_uninitialized_modules_raise():
    module = Scale()
    module.initialize_parameters = lambda x: None
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        module(ts.ones(3))
    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for LazyModuleMixin"):
        ts.nn.modules.lazy.LazyModuleMixin().initialize_parameters()
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        Scale().share_memory()


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("normalise", [ts.nn.utils.spectral_norm, ts.nn.utils.weight_norm])
def test_weights_without_a_shape_are_not_normalised(normalise):
    with pytest.raises(ValueError, match="can't have uninitialized parameters"):
        normalise(ts.nn.LazyLinear(3))


def test_sums_of_squares_have_the_shape_of_their_parameter():
    with pytest.raises(ValueError, match="uninitialized parameter"):
        ts.optim.Adagrad(ts.nn.LazyLinear(2).parameters())
    ts.optim.Adam(ts.nn.LazyLinear(2).parameters())
