"""Gradients of reductions and scans at ties, zeros and NaN equal PyTorch's."""

import math

import pytest

import ts

from .evaluate_formulas import gradients

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("key", ["aten::max", "aten::amax", "aten::median"])
def test_equal_elements_share(key):
    assert gradients(key, "self", self=ts.tensor([1.0, 1.0, 0.0])) == [0.5, 0.5, 0]


def test_max_along_a_dimension_selects_one_element():
    assert gradients("aten::max.dim", "self", self=ts.tensor([1.0, 1.0, 0.0]), dim=0) == [1, 0, 0]


def test_nan_is_found_by_max_of_all():
    assert gradients("aten::max", "self", self=ts.tensor([NAN, 1.0, NAN])) == [0.5, 0, 0.5]


def test_products_of_zeros():
    assert gradients("aten::prod", "self", self=ts.tensor([0.0, 2.0, 3.0])) == [6, 0, 0]
    assert gradients("aten::prod", "self", self=ts.tensor([0.0, 2.0, 0.0])) == [0, 0, 0]
    assert gradients("aten::cumprod", "self", self=ts.tensor([0.0, 2.0, 3.0]), dim=0) == [9, 0, 0]
    assert gradients("aten::cumprod", "self", self=ts.tensor([0.0, 2.0, 0.0]), dim=0) == [3, 0, 0]


@pytest.mark.parametrize("order", [0.5, 1, 1.5, 2, 3, INF])
def test_norms_of_zeros(order):
    assert gradients("aten::linalg_vector_norm", "self", self=ts.zeros(2), ord=order) == [0, 0]


def test_a_count_has_no_gradient():
    x = ts.ones(2, requires_grad=True)
    assert ts.autograd.grad(ts.linalg.vector_norm(x, 0), x, allow_unused=True) == (None,)


def test_gradient_of_the_maximum_norm_at_ties():
    found = gradients("aten::linalg_vector_norm", "self", self=ts.tensor([3.0, -3.0, 1.0]), ord=INF)
    assert found == [0.5, -0.5, 0]


def test_deviations_of_equal_elements():
    assert gradients("aten::std", "self", self=ts.ones(2)) == [0, 0]


def test_variances_without_degrees_of_freedom():
    assert math.isnan(gradients("aten::var.correction", "self", self=ts.ones(1), correction=1)[0])
    assert gradients("aten::var.correction", "self", self=ts.tensor([1.0, 2.0]), correction=3) == [INF, INF]


def test_scattered_products_of_zeros():
    index, source = ts.tensor([0, 0, 1]), ts.tensor([0.0, 2.0, 3.0])
    found = gradients(
        "aten::scatter_reduce.two", "self src", self=ts.tensor([5.0, 7.0]), dim=0, index=index, src=source,
        reduce="prod",
    )  # fmt: skip
    assert found == [[0, 3], [10, 0, 7]]
