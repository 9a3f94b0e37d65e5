"""Subclasses of Parameter and Tensor with their own `__new__` and `__init__`, and module conversions."""

import pytest

import ts
from ts import nn


class Scaled(nn.Parameter):
    def __new__(cls, data, scale=2.0):
        parameter = super().__new__(cls, data * scale)
        parameter.scale = scale
        return parameter


class Named(nn.Parameter):
    def __new__(cls, data=None, requires_grad=True, tag=None):
        return ts.Tensor._make_subclass(cls, data, requires_grad)

    def __init__(self, data=None, requires_grad=True, tag=None):
        self.tag = tag


class Tagged(ts.Tensor):
    @staticmethod
    def __new__(cls, x, tag, *args, **kwargs):
        return super().__new__(cls, x, *args, **kwargs)

    def __init__(self, x, tag):
        self.tag = tag


def test_parameters_with_arguments_of_their_own():
    p = Scaled(ts.ones(3), 4.0)
    assert type(p) is Scaled and p.scale == 4 and p.tolist() == [4, 4, 4] and p.requires_grad and p.is_leaf
    module = nn.Module()
    module.p = p
    assert list(module.parameters()) == [p]
    assert repr(p) == "Parameter containing:\nParameter(Scaled([4., 4., 4.], requires_grad=True))"
    q = Named(ts.ones(2), tag="x")
    assert q.tag == "x" and q.shape == (2,) and q.requires_grad
    assert not Named(ts.ones(2), False).requires_grad


def test_tensors_with_arguments_of_their_own():
    x = Tagged(ts.ones(2), 5)
    assert x.tag == 5 and x.tolist() == [1, 1] and type(x * 2) is Tagged
    assert Tagged([1, 2], 5).tolist() == [1, 2]
    assert ts.Tensor.__new__(ts.Tensor, [1, 2]).tolist() == [1, 2]
    p = nn.Parameter(x)
    assert type(p) is Tagged and isinstance(p, nn.Parameter) and p.requires_grad


def test_parameters_share_memory():
    x = ts.ones(2)
    p = nn.Parameter(x)
    assert p.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match=r"^Only Tensors of floating point and complex dtype can require gradients"):
        nn.Parameter(ts.ones(2, dtype=ts.int64))
    assert nn.Parameter(ts.ones(2, dtype=ts.int64), False).dtype is ts.int64


@pytest.mark.parametrize("convert", ["double", "half", "bfloat16"])
def test_conversions_of_modules_convert_gradients(convert):
    module = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1, bias=False))
    module(ts.ones(1, 2)).sum().backward()
    gradients = [p.grad for p in module.parameters()]
    getattr(module, convert)()
    for p, before in zip(module.parameters(), gradients, strict=True):
        assert p.grad is before and p.grad.dtype is p.dtype is not ts.float32
    if convert == "double":
        ts.optim.SGD(module.parameters(), lr=0.1).step()
