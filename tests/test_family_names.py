"""Family names in tables outside of the operator registry are names of families of `ts.ops`."""

import warnings

import pytest

import ts
from ts.fx import impurity
from ts.ops import cost_model, narrow_floats
from ts.ops.registry import FAMILIES
from ts.ops.vmap_rules import rules


@pytest.mark.parametrize(
    "names",
    [rules._POINTWISE, cost_model._FREE, cost_model._KNOWN, narrow_floats.FAMILIES, impurity._DRAWING],
    ids=["vmap", "cost_free", "cost_known", "narrow", "random"],
)
def test_tables_name_families(names):
    """Tables that select operators by family contain existing family names, so that a rename is detected."""
    assert set(names) <= set(FAMILIES)


def test_activation_backward_under_vmap():
    """`vmap` runs backward operators of activations on the whole batch, without the warning about a loop."""
    grad, result = ts.randn(3, 4), ts.randn(3, 4).tanh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batched = ts.vmap(ts.ops.aten.tanh_backward)(grad, result)
    ts.testing.assert_close(batched, ts.ops.aten.tanh_backward(grad, result))
