"""Derivatives of dimension permutations: the inverse permutation of the gradient."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import LINEAR, derive


def undone(dims: list[int]) -> list[int]:
    """Return the inverse of permutation `dims`."""
    went = [0] * len(dims)
    for i, dim in enumerate(dims):
        went[dim] = i
    return went


derive("aten::permute", self="grad.permute(undone(dims))", result=LINEAR)
derive(
    "aten::transpose.int", self="grad.transpose(dim0, dim1)", result=LINEAR, inplace_name="TransposeBackward1"
)
derive("aten::t", self="grad.t()", result=LINEAR, inplace_name="TBackward1")
derive("aten::numpy_T aten::numpy_T.a", self="grad.T", result=LINEAR, name="PermuteBackward0")
derive("aten::mT aten::mT.a", self="grad.mT", result=LINEAR, name="TransposeBackward0")
derive(
    "aten::mH aten::mH.a aten::matrix_H aten::matrix_H.a", self="grad.mH",
    result=LINEAR, name="TransposeBackward0",
)  # fmt: skip
