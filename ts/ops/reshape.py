"""Reshaping by a shape tensor, by sizes with strides, or by the shapes of several tensors.

Output: views of the array, or a copy for operators named `*_copy`. For example,
`unflatten_dense_tensors(flat, [a, b])` returns two views of `flat` with the shapes of `a` and `b`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts.ops import common
from ts.ops.out_variants import COPIED_OUT
from ts.ops.rearrange import concatenate
from ts.ops.registry import op
from ts.ops.shape_functions import ITEM
from ts.ops.storage_ops import as_strided_kernel
from ts.ops.view import narrow_kernel, view_kernel

Array = common.Array
Sizes = Sequence[int]


@op("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", where="", **COPIED_OUT)
def _unsafe_view(xp: Any, self: Array, size: Sizes) -> Array:
    return view_kernel(xp, self, size)


@op("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", where="")
def _reshape_alias(xp: Any, self: Array, size: Sizes, stride: Sizes) -> Array:
    return as_strided_kernel(self, size, stride, None)


@op("aten::_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor", **COPIED_OUT)
def _reshape_alias_copy(xp: Any, self: Array, size: Sizes, stride: Sizes) -> Array:
    return _reshape_alias(xp, self, size, stride).copy()


@op("aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", where="")
def _reshape_copy(xp: Any, self: Array, size: Sizes) -> Array:
    return self.copy().reshape(common.infer_size(size, self.size))


@op("aten::_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor", shape=ITEM)
def _reshape_from_tensor(xp: Any, self: Array, shape: Array) -> Array:
    if shape.ndim != 1:
        raise RuntimeError(f"Expected a shape in a tensor of one dimension, but it has {shape.ndim}")
    if shape.dtype != common.INT64:
        raise RuntimeError(f"expected scalar type Long but found {common.NAME_OF[shape.dtype]}")
    return self.reshape(common.infer_size(shape.tolist(), self.size))


@op("aten::_shape_as_tensor(Tensor self) -> Tensor")
def _shape_as_tensor(xp: Any, self: Array) -> Array:
    return xp.asarray(self.shape, dtype=common.INT64)


# ---------------------------------------------------------------------------------------- channel vectors


@op("aten::_ncf_unsqueeze(Tensor(a) self, int ndim) -> Tensor(a)", where="")
def _ncf_unsqueeze(xp: Any, self: Array, ndim: int) -> Array:
    """Reshape a vector of C channels to the shape (1, C, 1, ...) with `ndim` dimensions.

    The result broadcasts to the shape (N, C, ...).
    """
    if self.ndim != 1:
        raise RuntimeError(f"Expected a vector over the channels, but got {self.ndim} dimensions")
    if ndim < 2:
        raise RuntimeError(f"Expected at least two dimensions, of which one is for channels, but got {ndim}")
    return self.reshape([1, -1, *[1] * (ndim - 2)])


@op("aten::_ncf_view(Tensor(a) self, int[] input_shape, int normalized_ndim) -> Tensor(a)", where="")
def _ncf_view(xp: Any, self: Array, input_shape: Sizes, normalized_ndim: int) -> Array:
    """Return a view of shape `input_shape`, but with size 1 in the last `normalized_ndim` dimensions."""
    leading_count = len(input_shape) - normalized_ndim
    if leading_count <= 0:
        raise RuntimeError(f"Expected fewer than {len(input_shape)} dimensions, but got {normalized_ndim}")
    return view_kernel(xp, self, [*input_shape[:leading_count], *(1,) * normalized_ndim])


# ------------------------------------------------------------------------------ several tensors in one vector


@op("aten::flatten_dense_tensors(Tensor[] tensors) -> Tensor", where="")
def _flatten_dense_tensors(xp: Any, tensors: Sequence[Array]) -> Array:
    if len(tensors) == 1:
        return tensors[0].reshape(-1)
    return concatenate(xp, [x.reshape(-1) for x in tensors], 0)


@op("aten::unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]", where="")
def _unflatten_dense_tensors(xp: Any, flat: Array, tensors: Sequence[Array]) -> list[Array]:
    sections, offset = [], 0
    for like in tensors:
        count = math.prod(like.shape)
        section = narrow_kernel(flat, 0, offset, count) if count else xp.empty(0, dtype=flat.dtype)
        sections.append(section.reshape(like.shape))
        offset += count
    return sections
