"""Derivatives of random tensor factories such as `rand_like`.

The template tensor of a factory has no gradient.
"""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

constant(
    "aten::rand_like aten::rand_like.generator aten::randn_like aten::randn_like.generator "
    "aten::randint_like aten::randint_like.generator aten::randint_like.Tensor "
    "aten::randint_like.Tensor_generator aten::randint_like.low_dtype aten::randint_like.low_generator_dtype",
    "does not depend on the elements",
)
