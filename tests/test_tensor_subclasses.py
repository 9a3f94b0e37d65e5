"""Tensor subclasses with `__torch_dispatch__`: results, operators that handlers see, and errors, as recorded from PyTorch 2.13."""

import json
from pathlib import Path

import pytest

import ts
from tests import tensor_subclasses
from ts.utils import _python_dispatch as dispatch

WITH_GRADIENTS = json.loads(
    Path(__file__).with_suffix("").parent.joinpath("tensor_subclasses.json").read_text()
)
# Programs whose gradient formulas, or number of `detach` calls, differ from PyTorch's.
OTHER_OPERATORS = {"function gradient", "quantized print", "double backward", "quantized module"}
LOG = []


@pytest.mark.parametrize("name", list(WITH_GRADIENTS["results"]))
def test_results(name):
    """Results, and the names of the operators that handlers receive, equal PyTorch's."""
    LOG.clear()
    table, _ = tensor_subclasses.programs(ts, LOG)
    expected = WITH_GRADIENTS["results"][name]
    assert repr(table[name]()).replace("torch.", "").replace("ts.", "") == expected["value"]
    if name not in OTHER_OPERATORS:
        assert [call.removeprefix("aten.") for call in LOG] == expected["operators"]


@pytest.mark.parametrize("name", list(WITH_GRADIENTS["errors"]))
def test_errors(name):
    """Errors have PyTorch's class and first line."""
    _, table = tensor_subclasses.programs(ts, LOG)
    with pytest.raises(Exception) as error:
        table[name]()
    expected = WITH_GRADIENTS["errors"][name]
    assert expected["class"] in [cls.__name__ for cls in type(error.value).__mro__]
    assert str(error.value).splitlines()[0] == expected["text"]


def test_wrappers_are_traceable():
    """A class with `__tensor_flatten__` and `__tensor_unflatten__` is a traceable wrapper subclass."""
    classes = tensor_subclasses.classes(ts, LOG)
    pair = classes.Pair(ts.zeros(2), ts.ones(2))
    assert dispatch.is_traceable_wrapper_subclass(pair)
    assert dispatch.is_traceable_wrapper_subclass_type(classes.Pair)
    assert not dispatch.is_traceable_wrapper_subclass(classes.Logging(ts.ones(1)))
    doubled = dispatch.transform_subclass(pair, lambda name, inner: inner * 2)
    assert doubled.b.tolist() == [2.0, 2.0] and type(doubled) is classes.Pair


def test_functions_see_no_classes_with_handlers():
    """A class that defines only `__torch_dispatch__` does not override functions: results of handlers keep their class."""
    classes = tensor_subclasses.classes(ts, LOG)
    assert classes.Logging.__torch_function__ is ts._C._disabled_torch_function_impl
    assert ts.Tensor.__torch_dispatch__ is ts._C._disabled_torch_dispatch_impl


def test_swapping_rejects_references():
    """Tensors with weak references, or that an autograd graph references, are not swapped."""
    import weakref

    x, y = ts.ones(1), ts.zeros(1)
    reference = weakref.ref(x)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref associated with it"):
        ts.utils.swap_tensors(x, y)
    assert reference() is x
    p = ts.ones(1, requires_grad=True)
    product = p * 2
    with pytest.raises(RuntimeError, match="a graph of autograd holds the tensor"):
        ts.utils.swap_tensors(p, y)
    del product


def test_module_conversions_swap():
    """`set_swap_module_params_on_conversion`: parameters keep their identity, gradients are converted."""
    layer = ts.nn.Linear(2, 2)
    layer(ts.ones(1, 2)).sum().backward()
    weight = layer.weight
    ts.__future__.set_swap_module_params_on_conversion(True)
    try:
        layer.double()
    finally:
        ts.__future__.set_swap_module_params_on_conversion(False)
    assert layer.weight is weight and type(weight) is ts.nn.Parameter
    assert weight.dtype is weight.grad.dtype is ts.float64 and weight.requires_grad


def test_plain_tensors_are_not_dispatched():
    """Operators on plain tensors are not dispatched to wrapper subclasses."""
    classes = tensor_subclasses.classes(ts, LOG)
    wrapper = classes.Logging(ts.ones(2))
    LOG.clear()
    x = ts.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and ts.rand(3).shape == (3,)
    assert LOG == [] and type(wrapper) is classes.Logging


@pytest.mark.parametrize("other", [None, "text", [1], object()])
def test_invalid_operands_of_in_place_operators(other):
    """`p += None` raises TypeError for instances of subclasses, too, and does not assign NotImplemented."""
    p = ts.nn.Parameter(ts.ones(2), requires_grad=False)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+=: 'Parameter' and"):
        p += other
    assert type(p) is ts.nn.Parameter and p.tolist() == [1, 1]


def test_reflected_addition_in_place():
    """`p += other` calls `other.__radd__` if the class of `other` is unknown to tensors."""

    class Other:
        def __radd__(self, left):
            return left, "added"

    p = ts.nn.Parameter(ts.ones(2))
    q = p
    q += Other()
    assert q[0] is p and q[1] == "added"


@pytest.mark.parametrize("dtype", [ts.int64, ts.bool])
def test_data_of_tensors_that_require_grad(dtype):
    """`x.data = y` rejects dtypes without gradients if `x` requires grad."""
    x = ts.ones(2, requires_grad=True)
    for each in (x, x * 1):
        with pytest.raises(
            RuntimeError, match="data set to a tensor that requires gradients must be floating point or"
        ):
            each.data = ts.ones(2, dtype=dtype)
    x.detach().data = ts.ones(2, dtype=dtype)
