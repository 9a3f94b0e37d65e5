"""Derivatives of views.

The gradient of the base is the gradient of the view, with zeros outside of the view.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import ELEMENTWISE, LINEAR, compose, constant, derive

derive("aten::view", self="grad.reshape(self.size())", result=LINEAR)
constant("aten::view.dtype", "it reinterprets the bits as another dtype")
derive(
    "aten::reshape aten::reshape_as aten::view_as aten::ravel aten::flatten.using_ints aten::unflatten.int",
    self="grad.reshape(self.size())", result=LINEAR, name="ViewBackward0",
)  # fmt: skip
derive("aten::expand aten::broadcast_to aten::expand_as", self="grad", result=LINEAR, name="ExpandBackward0")
for _i, _key in enumerate(("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")):
    derive(
        _key, self="grad.reshape(self.size())", result=LINEAR,
        name=f"SqueezeBackward{_i}", inplace_name=f"SqueezeBackward{_i + 3}",
    )  # fmt: skip
derive("aten::unsqueeze", self="grad.squeeze(dim)", result=LINEAR, inplace_name="UnsqueezeBackward1")

# ------------------------------------------------------------------------------------- views of some elements


def from_slice(
    grad: Tensor, sizes: list[int], dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    """Return the gradient of the base of a slice: a tensor of zeros with `grad` in place of the slice.

    `sizes` is the shape of the base.
    """
    first = 0 if start is None else start
    last = sizes[dim] if end is None else end
    return ts.slice_backward(grad, sizes, dim, first, last, step)


def from_narrow(grad: Tensor, sizes: list[int], dim: int, start: int, length: int) -> Tensor:
    """Return the gradient of the base of `narrow`: a tensor of zeros with `grad` in place of the section.

    `sizes` is the shape of the base. `start` may be negative.
    """
    first = start + sizes[dim] if start < 0 else start
    return ts.slice_backward(grad, sizes, dim, first, first + length, 1)


derive("aten::select.int", self="ts.select_backward(grad, self.size(), dim, index)", result=LINEAR)
derive("aten::slice.Tensor", self="from_slice(grad, self.size(), dim, start, end, step)", result=LINEAR)
derive(
    "aten::narrow", self="from_narrow(grad, self.size(), dim, start, length)",
    result=LINEAR, name="SliceBackward0",
)  # fmt: skip
derive(
    "aten::narrow.Tensor", self="from_narrow(grad, self.size(), dim, int(start), length)",
    result=LINEAR, name="SliceBackward0",
)  # fmt: skip
derive("aten::narrow_copy", self="from_narrow(grad, self.size(), dim, start, length)", result=LINEAR)
derive(
    "aten::movedim.int aten::movedim.intlist", self="grad.movedim(destination, source)",
    result=LINEAR, name="PermuteBackward0",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- strided views

derive(
    "aten::unfold", self="ts.unfold_backward(grad, self.size(), dimension, size, step)",
    result=LINEAR,
)  # fmt: skip
derive(
    "aten::diagonal", self="ts.diagonal_backward(grad, self.size(), offset, dim1, dim2)",
    result=LINEAR,
)  # fmt: skip
derive(
    "aten::linalg_diagonal", A="ts.diagonal_backward(grad, A.size(), offset, dim1, dim2)",
    result=LINEAR, name="DiagonalBackward0",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- complex numbers

derive("aten::real", self="grad", result=ELEMENTWISE, name="SelectBackward0")
derive("aten::imag", self="grad * 1j", result=ELEMENTWISE, name="SelectBackward0")
derive("aten::view_as_real", self="ts.view_as_complex(grad.contiguous())", result=LINEAR)
derive("aten::view_as_complex", self="ts.view_as_real(grad.contiguous().resolve_conj())", result=LINEAR)
derive("aten::conj aten::_conj aten::_conj_copy", self="grad.conj()", result=LINEAR, name="ConjBackward0")
derive("aten::_neg_view aten::_neg_view_copy", self="-grad", result=LINEAR, name="NegViewBackward0")

# ---------------------------------------------------------------- operators that do not change the elements

compose("aten::positive", "self")
derive("aten::resolve_neg aten::resolve_conj", self="grad", result=LINEAR, name="CloneBackward0")
derive("aten::lift aten::lift_fresh aten::alias aten::_fw_primal", self="grad", result=LINEAR)
