"""Traces record the data flow through constructors and conversions of tensors."""

import copy
import warnings

import numpy as np
import pytest

import ts
from ts import nn

CONVERSIONS = {
    "as_tensor": lambda x: ts.as_tensor(x),
    "as_tensor of another dtype": lambda x: ts.as_tensor(x, dtype=ts.float64),
    "tensor": lambda x: ts.tensor(x),
    "tensor of another dtype": lambda x: ts.tensor(x, dtype=ts.int64),
    "new_tensor": lambda x: x.new_tensor(x),
    "new_tensor of another tensor": lambda x: ts.ones(1, dtype=ts.float64).new_tensor(x),
    "FloatTensor": lambda x: ts.FloatTensor(x),
    "Tensor": lambda x: ts.Tensor(x),
    "new": lambda x: x.new(x),
    "asarray": lambda x: ts.asarray(x),
    "asarray of another dtype": lambda x: ts.asarray(x, dtype=ts.int32),
    "asarray with a copy": lambda x: ts.asarray(x, dtype=ts.float64, copy=True),
    "Parameter": lambda x: nn.Parameter(x, requires_grad=False),
    "Parameter with a gradient": lambda x: nn.Parameter(x + 1),
    "as_subclass": lambda x: x.as_subclass(nn.Parameter),
    "_make_subclass": lambda x: ts.Tensor._make_subclass(ts.Tensor, x),
    "deepcopy": lambda x: copy.deepcopy(x),
}


@pytest.fixture(autouse=True)
def no_tracer_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", CONVERSIONS)
def test_result_follows_the_input(name):
    def function(x):
        return CONVERSIONS[name](x) * 2

    trace = ts.jit.trace(function, ts.arange(3.0), check_trace=False)
    other = ts.arange(3.0) * 5 + 1
    assert ts.equal(trace(other), function(other))


DISTRIBUTIONS = ts.distributions
ONE = ts.tensor(1.0)


@pytest.mark.parametrize(
    "distribution",
    [
        DISTRIBUTIONS.HalfNormal(ONE),
        DISTRIBUTIONS.HalfCauchy(ONE),
        DISTRIBUTIONS.Gamma(ONE, ONE),
        DISTRIBUTIONS.Chi2(ONE),
        DISTRIBUTIONS.InverseGamma(ONE, ONE),
    ],
    ids=lambda d: type(d).__name__,
)
def test_log_prob_follows_the_value(distribution):
    trace = ts.jit.trace(lambda x: distribution.log_prob(x), ts.tensor(0.7))
    assert trace(ts.tensor(2.0)).item() == pytest.approx(distribution.log_prob(ts.tensor(2.0)).item())


@pytest.mark.parametrize("make", [lambda: ts.tensor([1.0, 2.0]), lambda: ts.from_numpy(np.ones(2, "f"))])
def test_each_run_copies_a_constant_that_it_writes_to(make):
    def function(x):
        y = make()
        y += x
        return y

    trace = ts.jit.trace(function, ts.ones(2), check_trace=False)
    first = trace(ts.ones(2))
    assert ts.equal(trace(ts.ones(2)), first) and ts.equal(first, function(ts.ones(2)))


def test_numbers_among_tensors_are_guarded():
    trace = ts.jit.trace(lambda x: ts.tensor([x.sum(), 2.0]) * x, ts.ones(2), check_trace=False)
    assert trace(ts.tensor([0.5, 1.5])).tolist() == [1.0, 3.0]
    with pytest.raises(RuntimeError, match="The trace does not hold for these inputs"):
        trace(ts.ones(2) * 2)


def test_warnings_name_the_function_first():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ts.jit.trace(lambda x: ts.tensor([x.sum(), 2.0]) * x, ts.ones(2), check_trace=False)
    texts = [str(w.message) for w in caught if issubclass(w.category, ts.jit.TracerWarning)]
    assert [text.split(" might ")[0].split(" results ")[0] for text in texts] == [
        "torch.tensor",
        "Converting a tensor to a Python float",
    ]


def test_the_legacy_constructors_keep_the_gradient():
    x = ts.ones(2, requires_grad=True)
    for y in (ts.Tensor(x), ts.FloatTensor(x), x.new(x)):
        assert y.requires_grad and y.data_ptr() == x.data_ptr()
        (gradient,) = ts.autograd.grad((y * 3).sum(), x)
        assert gradient.tolist() == [3.0, 3.0]


ITEMS = {
    "slices": lambda x: x[[slice(None), slice(-2, None)]],
    "a slice and a number": lambda x: x[[slice(None), 0]],
    "None and a number": lambda x: x[[None, 0]],
    "an ellipsis": lambda x: x[[..., 0]],
    "tensors": lambda x: x[[ts.tensor([0]), ts.tensor([1])]],
    "lists": lambda x: x[[[0, 1], [1, 2]]],
    "numbers": lambda x: x[[0, 1]],
}


@pytest.mark.parametrize("name", ITEMS)
def test_a_list_as_index(name):
    trace = ts.jit.trace(ITEMS[name], ts.arange(6.0).view(2, 3), check_trace=False)
    other = ts.arange(12.0).view(3, 4)
    assert ts.equal(trace(other), ITEMS[name](other))
