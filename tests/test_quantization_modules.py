"""Quantization modules in their floating-point form, and integer lists that hold tensors."""

import pytest

import ts
from ts.nn import functional


class Residual(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = ts.quantization.QuantStub()
        self.skip = ts.nn.quantized.FloatFunctional()
        self.dequant = ts.ao.quantization.DeQuantStub()

    def forward(self, x):
        x = self.quant(x)
        return self.dequant(
            self.skip.add_relu(self.skip.cat([x, x], 1), self.skip.mul_scalar(self.skip.cat([x, x], 1), 2.0))
        )


@pytest.mark.parametrize("name", ["FloatFunctional", "FXFloatFunctional"])
def test_float_functional_computes_in_floats(name):
    module, x = getattr(ts.nn.quantized, name)(), ts.tensor([[1.0, -2.0], [3.0, 4.0]])
    assert module.add(x, x).tolist() == [[2, -4], [6, 8]]
    assert module.add_scalar(x, 1.0).tolist() == [[2, -1], [4, 5]]
    assert module.mul(x, x).tolist() == [[1, 4], [9, 16]]
    assert module.mul_scalar(x, 3.0).tolist() == [[3, -6], [9, 12]]
    assert module.cat([x, x], 1).shape == (2, 4)
    assert module.add_relu(x, x).tolist() == [[2, 0], [6, 8]]
    assert module.matmul(x, x).tolist() == [[-5, -10], [15, 10]]
    with pytest.raises(RuntimeError, match="not intended to use the 'forward'"):
        module(x)


def test_classes_are_the_same_under_all_names():
    assert ts.nn.quantized.FloatFunctional is ts.ao.nn.quantized.FloatFunctional
    assert ts.quantization.QuantStub is ts.ao.quantization.QuantStub


def test_model_with_stubs_compiles():
    model, x = Residual(), ts.tensor([[1.0, -2.0]])
    assert ts.jit.script(model)(x).tolist() == model(x).tolist() == [[3, 0, 3, 0]]


def test_dequantize_returns_float32():
    assert ts.nn.quantized.DeQuantize()(ts.ones(2, dtype=ts.float64)).dtype == ts.float32


def test_wrapper_calls_the_module_between_stubs():
    wrapper = ts.ao.quantization.QuantWrapper(ts.nn.ReLU().eval())
    assert [name for name, _ in wrapper.named_children()] == ["quant", "dequant", "module"]
    assert not wrapper.training and wrapper(ts.tensor([-1.0, 2.0])).tolist() == [0, 2]


def test_integer_lists_accept_tensors_of_one_element():
    x = ts.arange(24.0).reshape(1, 1, 4, 6)
    assert functional.pad(x, [ts.tensor([1]), ts.tensor(1), 2, ts.tensor([0])]).shape == (1, 1, 6, 8)
    assert x.view([ts.tensor([4]), 6]).shape == (4, 6)
    assert ts.zeros([2, ts.tensor([3])]).shape == (2, 3)
    assert x.permute([ts.tensor([3]), 0, 1, 2]).shape == (6, 1, 1, 4)
    for wrong in (ts.tensor([1, 2]), ts.tensor(1.0), ts.tensor([True])):
        with pytest.raises(TypeError, match="pad"):
            functional.pad(x, [wrong, 1])


def test_attention_shape_check_returns_whether_inputs_are_batched():
    batched, single = ts.ones(2, 3, 4), ts.ones(3, 4)
    assert functional._mha_shape_check(batched, batched, batched, None, None, 2) is True
    assert functional._mha_shape_check(single, single, single, None, None, 2) is False
    with pytest.raises(
        AssertionError, match="expected `key` and `value` to be 3-D but found 2-D and 3-D tensors"
    ):
        functional._mha_shape_check(batched, single, batched, None, None, 2)


def test_traced_module_class_has_its_private_name():
    from ts.jit._trace import TopLevelTracedModule

    assert isinstance(ts.jit.trace(ts.nn.ReLU(), ts.ones(2)), TopLevelTracedModule)
