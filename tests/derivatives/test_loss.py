"""Gradients of losses and softmax without contributions: masks, ignored classes, zeros, equal vectors."""

import math

import pytest

import ts

from .evaluate_formulas import gradients


def test_ignored_classes_have_no_gradient():
    scores, target = ts.zeros(3, 2), ts.tensor([0, -100, 1])
    arguments = {"self": scores, "target": target, "weight": None, "ignore_index": -100}
    assert gradients("aten::nll_loss_forward", "self", reduction=2, **arguments) == [[-1, 0], [0, 0], [0, -1]]
    assert gradients("aten::nll_loss_forward", "self", reduction=1, **arguments) == [[-0.5, 0], [0, 0], [0, -0.5]]


def test_weights_of_classes():
    arguments = {"self": ts.zeros(2, 2), "target": ts.tensor([0, 1]), "weight": ts.tensor([1.0, 3.0])}
    found = gradients("aten::nll_loss_forward", "self", reduction=1, ignore_index=-100, **arguments)
    assert found == [[-0.25, 0], [0, -0.75]]


def test_single_sample():
    arguments = {"self": ts.zeros(3), "target": ts.tensor(1), "weight": None, "ignore_index": -100}
    assert gradients("aten::nll_loss_forward", "self", reduction=1, **arguments) == [0, -1, 0]


def test_no_samples():
    arguments = {"self": ts.zeros(0, 3), "target": ts.zeros(0, dtype=ts.int64), "weight": None, "ignore_index": -100}
    assert gradients("aten::nll_loss_forward", "self", reduction=2, **arguments) == []


def test_probabilities_of_zero_and_one():
    x = ts.tensor([0.0, 1.0, 0.5])
    found = gradients("aten::binary_cross_entropy", "self target", self=x, target=x, weight=None, reduction=2)
    assert found == [[0, 0, 0], [math.inf, -math.inf, 0]]


def test_large_logits():
    x = ts.tensor([-1000.0, 1000.0])
    found = gradients(
        "aten::binary_cross_entropy_with_logits", "self", self=x, target=ts.ones(2), weight=None, pos_weight=None,
        reduction=2,
    )  # fmt: skip
    assert found == [-1, 0]


def test_distances_of_equal_vectors():
    x = ts.ones(2, 3)
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf):
        found = gradients("aten::cdist", "x1", x1=x, x2=x, p=p, compute_mode=None)
        assert found == [[0, 0, 0], [0, 0, 0]], p
    assert gradients("aten::pdist", "self", self=x, p=2.0) == [[0, 0, 0], [0, 0, 0]]


def test_softmax_of_masked_values():
    x = ts.tensor([[0.0, 1.0], [2.0, 3.0]])
    mask = ts.tensor([[True, True], [True, False]])
    found = gradients("aten::_masked_softmax", "self", self=x, mask=mask, dim=1, mask_type=None)
    assert found == [[0, 0], [0, 0]]
    hidden = ts.full((1, 2), -math.inf)
    assert gradients("aten::_safe_softmax", "self", self=hidden, dim=1, dtype=None) == [[0, 0]]


@pytest.mark.parametrize("name", ["softmax.int", "log_softmax.int"])
def test_softmax_without_elements(name):
    assert gradients(f"aten::{name}", "self", self=ts.zeros(2, 0), dim=1, dtype=None) == [[], []]
    assert gradients(f"aten::{name}", "self", self=ts.tensor(3.0), dim=0, dtype=None) == 0


def test_dropout_gradient_has_the_mask_of_forward():
    ts.manual_seed(0)
    x = ts.ones(8)
    found = gradients("aten::native_dropout", "input", input=x, p=0.5, train=True)
    ts.manual_seed(0)
    assert found == ts.native_dropout(x, 0.5, True)[0].tolist()
