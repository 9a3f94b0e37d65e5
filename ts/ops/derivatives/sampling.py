"""Derivatives of random samples from gamma and Dirichlet distributions.

The gradients of samples from other distributions are zero.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import ELEMENTWISE, constant, derive


def of_dirichlet(grad: Tensor, shares: Tensor, a: Tensor) -> Tensor:
    """Return the gradient of Dirichlet samples with respect to the concentrations."""
    total = a.sum(-1, True).expand_as(a)
    return ts._dirichlet_grad(shares, a, total) * (grad - (shares * grad).sum(-1, True))


NOTHING = "ts.zeros_like(grad)"

derive("aten::bernoulli", self=NOTHING, result=ELEMENTWISE)
derive("aten::normal.Tensor_float", name="NormalBackward1", mean=NOTHING, result=ELEMENTWISE)
derive("aten::normal.float_Tensor", name="NormalBackward2", std=NOTHING, result=ELEMENTWISE)
derive("aten::normal.Tensor_Tensor", name="NormalBackward3", mean=NOTHING, std=NOTHING, result=ELEMENTWISE)
derive("aten::poisson", self=NOTHING, result=ELEMENTWISE)
derive("aten::_sample_dirichlet", self="of_dirichlet(grad, result, self)")
derive("aten::_standard_gamma", self="grad * ts._standard_gamma_grad(self, result)")

# These operators overwrite all elements of `self`. Therefore, the gradient of `self` is zero.
derive("aten::uniform_", self=NOTHING, name="UniformBackward0", result=ELEMENTWISE)
derive("aten::normal_", self=NOTHING, name="NormalBackward0", result=ELEMENTWISE)
derive("aten::cauchy_", self=NOTHING, name="CauchyBackward0", result=ELEMENTWISE)
derive("aten::exponential_", self=NOTHING, name="ExponentialBackward0", result=ELEMENTWISE)
derive("aten::geometric_", self=NOTHING, name="GeometricBackward0", result=ELEMENTWISE)
derive("aten::log_normal_", self=NOTHING, name="LogNormalBackward0", result=ELEMENTWISE)
derive("aten::random_.from", self=NOTHING, name="RandomBackward0", result=ELEMENTWISE)
derive("aten::random_.to", self=NOTHING, name="RandomBackward1", result=ELEMENTWISE)
derive("aten::random_", self=NOTHING, name="RandomBackward2", result=ELEMENTWISE)
derive("aten::bernoulli_.Tensor", self=NOTHING, p=NOTHING, name="BernoulliBackward1", result=ELEMENTWISE)
derive("aten::bernoulli_.float", self=NOTHING, name="BernoulliBackward2", result=ELEMENTWISE)
constant(
    "aten::_no_grad_fill_ aten::_no_grad_zero_ aten::_no_grad_uniform_ aten::_no_grad_normal_",
    "fills parameters before they are trained",
)
