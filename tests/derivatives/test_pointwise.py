"""Gradients of pointwise operators at ties, bounds, zeros and NaN."""

import math

import pytest

import ts
from ts.ops.derivatives.common import mul_conj

from .evaluate_formulas import gradients

NAN, INF = math.nan, math.inf


def have_equal_text(found, expected):
    return str(found) == str(expected)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("abs", [0.0, -0.0, -2.0, NAN], [0.0, 0.0, -1.0, 0.0]),
        ("sqrt", [0.0, 4.0], [INF, 0.25]),
        ("sinc", [0.0], [0.0]),
        ("special_i1", [0.0], [0.5]),
        ("special_i1e", [0.0], [0.5]),
        ("relu", [0.0, -1.0, 1.0, NAN], [0.0, 0.0, 1.0, 1.0]),
        ("relu6", [0.0, 6.0, 3.0, NAN], [0.0, 0.0, 1.0, 1.0]),
        ("hardsigmoid", [-3.0, 3.0, 0.0], [0.0, 0.0, 1 / 6]),
        ("hardswish", [-3.0, 3.0, 4.0], [0.0, 1.0, 1.0]),
        ("nan_to_num", [NAN, INF, 2.0], [0.0, 0.0, 1.0]),
        ("logit", [-1.0, 2.0, 0.5], [NAN, NAN, 4.0]),
        ("elu", [NAN, -INF, 1.0], [1.0, 0.0, 1.0]),
        ("softplus", [1000.0, 0.0], [1.0, 0.5]),
        ("log_sigmoid", [-1000.0, 1000.0, 0.0], [1.0, 0.0, 0.5]),
    ],
)
def test_of_one_argument(name, x, expected):
    found = gradients(f"aten::{name}", "self", self=ts.tensor(x, dtype=ts.float64))
    assert have_equal_text(found, expected)


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("maximum", [1.0, 1.0, NAN], [1.0, 2.0, 0.0], [[0.5, 0.0, 1.0], [0.5, 1.0, 1.0]]),
        ("minimum", [1.0, 1.0, NAN], [1.0, 2.0, 0.0], [[0.5, 1.0, 1.0], [0.5, 0.0, 1.0]]),
        ("fmax", [1.0, NAN, 0.0], [1.0, 2.0, NAN], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        ("fmin", [1.0, NAN, 0.0], [1.0, 2.0, NAN], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        ("atan2", [0.0, 0.0], [0.0, 2.0], [[0.0, 0.5], [-0.0, -0.0]]),
        ("copysign.Tensor", [0.0, 2.0], [-1.0, -1.0], [[0.0, -1.0], [0.0, 0.0]]),
        ("xlogy.Tensor", [0.0, 1.0], [0.0, 1.0], [[0.0, 0.0], [NAN, 1.0]]),
        ("special_xlog1py", [0.0, 1.0], [-1.0, 0.0], [[0.0, 0.0], [NAN, 1.0]]),
    ],
)
def test_of_two_arguments(name, x, y, expected):
    x, y = (ts.tensor(v, dtype=ts.float64) for v in (x, y))
    assert have_equal_text(gradients(f"aten::{name}", "self other", self=x, other=y), expected)


def test_powers_of_zero():
    zero = ts.zeros(2, dtype=ts.float64)
    exponent = ts.tensor([0.0, 2.0], dtype=ts.float64)
    assert gradients("aten::pow.Tensor_Tensor", "self exponent", self=zero, exponent=exponent) == [[0, 0], [0, 0]]
    assert gradients("aten::pow.Tensor_Scalar", "self", self=zero, exponent=0) == [0, 0]
    assert gradients("aten::pow.Scalar", "exponent", self=0.0, exponent=exponent) == [0, 0]


def test_clamp_at_its_bounds():
    x = ts.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, NAN])
    assert gradients("aten::clamp", "self", self=x, min=0, max=1) == [0, 1, 1, 1, 0, 0]
    assert gradients("aten::clamp", "self", self=x, min=None, max=1) == [1, 1, 1, 1, 0, 0]


def test_clamp_where_the_bounds_cross():
    """The upper bound takes precedence if the bounds of `clamp` cross."""
    x, low, high = ts.tensor([0.0, 3.0]), ts.tensor([2.0, 2.0]), ts.tensor([1.0, 1.0])
    found = gradients("aten::clamp.Tensor", "self min max", self=x, min=low, max=high)
    assert found == [[0, 0], [0, 0], [1, 1]]


def test_complex_numbers_without_a_direction():
    z = ts.tensor([0j, 2j])
    assert gradients("aten::abs", "self", self=z) == [0, 1j]
    assert gradients("aten::angle", "self", self=z) == [0, -0.5]
    assert gradients("aten::sgn", "self", self=z) == [0, 0.5]


def test_multiplication_by_one_returns_its_operand():
    x = ts.ones(2)
    assert mul_conj(x, 1) is x
    assert mul_conj(x, 2j).tolist() == [-2j, -2j]


def test_missing_derivative_raises():
    x = ts.ones(2)
    with pytest.raises(RuntimeError, match="the derivative for 'igamma: input' is not implemented"):
        gradients("aten::igamma", "self", self=x, other=x)
    assert gradients("aten::igamma", "other", self=x, other=x) == pytest.approx([math.exp(-1)] * 2)
