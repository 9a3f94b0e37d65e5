"""Derivatives of indexing.

The gradient of an element is the sum of the gradients of all its reads. The gradient of an overwritten
element is 0. For an in-place operator without functional variant, `self` in a formula is the tensor before
the write.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

# -------------------------------------------------------------------------------------- indexing with tensors

derive(
    "aten::index.Tensor aten::index.Tensor_hacked_twin",
    self="grad.new_zeros(self.size()).index_put(indices, grad, True)",
    result=LINEAR,
)
derive(
    "aten::index_put aten::index_put.hacked_twin aten::index_put_ aten::index_put_.hacked_twin",
    self="grad if accumulate else grad.index_put(indices, grad.new_zeros([]))",
    values="ts.index(grad, indices)",
    result=LINEAR,
)
derive(
    "aten::index_select", self="grad.new_zeros(self.size()).index_add(dim, index, grad)",
    result=LINEAR,
)  # fmt: skip


def _gather_gradient(grad: Tensor, sizes: list[int], dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    """Return the gradient of the input of `gather`, as a sparse tensor if `sparse_grad`."""
    if not sparse_grad:
        return grad.new_zeros(sizes).scatter_add(dim, index, grad)
    if not sizes:  # an element of a 0-dim tensor has no coordinates
        coordinates = index.new_zeros(0, index.numel())
        return ts._sparse_coo_tensor_unsafe(coordinates, grad.reshape(-1), sizes)
    if index.dim() == 0:
        index = index.reshape(1)
    rows: list[Tensor] = []
    for d in range(index.dim()):
        if d == dim % index.dim():
            rows.append(index.reshape(-1))
        else:
            shape = [1] * index.dim()
            shape[d] = index.size(d)
            places = ts.arange(index.size(d), device=index.device)
            rows.append(places.reshape(shape).expand(index.size()).reshape(-1))
    return ts._sparse_coo_tensor_unsafe(ts.stack(rows), grad.reshape(-1), sizes)


derive(
    "aten::gather", self="_gather_gradient(grad, self.size(), dim, index, sparse_grad)",
    result=LINEAR,
)  # fmt: skip


def along(x: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """Compute `take_along_dim` by `gather` on broadcast operands."""
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    index_sizes = list(indices.size())
    index_sizes[dim] = x.size(dim)
    self_shape = list(ts.broadcast_shapes(x.size(), index_sizes))
    index_shape = self_shape.copy()
    index_shape[dim] = indices.size(dim)
    indices, x = indices.expand(index_shape), x.expand(self_shape)
    return x.gather(dim, indices.remainder(x.size(dim)))


compose("aten::take_along_dim", "along(self, indices, dim)")
derive("aten::take", self="grad.new_zeros(self.size()).put(index, grad, True)", result=LINEAR)
derive(
    "aten::put",
    self="grad if accumulate else grad.put(index, grad.new_zeros(source.size()))",
    source="grad.take(index).reshape(source.size())",
    result=LINEAR,
)

# ---------------------------------------------------------------------------------------- indexing with masks

derive("aten::masked_fill.Scalar", self="grad.masked_fill(mask, 0)", result="self_t.masked_fill(mask, 0)")
derive(
    "aten::masked_fill.Tensor",
    self="grad.masked_fill(mask, 0)",
    value="ts.where(mask, grad, 0)",
    result="self_t.masked_fill(mask, value_t)",
    name="MaskedFillBackward1",
)
derive(
    "aten::masked_select",
    self="ts.broadcast_tensors([grad.new_zeros(self.size()), mask])[0].masked_scatter(mask, grad)",
    result=LINEAR,
)


def from_mask(grad: Tensor, mask: Tensor, sizes: list[int]) -> Tensor:
    """Return a tensor of shape `sizes` with the elements of `grad` at which `mask` is True, in order.

    The remaining elements are zeros.
    """
    selected = grad.masked_select(mask)
    count = 1
    for n in sizes:
        count *= n
    return ts.cat([selected, selected.new_zeros([count - selected.numel()])]).reshape(sizes)


derive(
    "aten::masked_scatter",
    self="grad.masked_fill(mask, 0)",
    source="from_mask(grad, mask, source.size())",
    result=LINEAR,
)

# ------------------------------------------------------------------------------------- writes to all elements

derive("aten::fill.Scalar", self="ts.zeros_like(grad)", result="ts.zeros_like(self_t)")
derive(
    "aten::fill.Tensor", self="ts.zeros_like(grad)", value="grad",
    result=LINEAR, name="FillBackward1",
)  # fmt: skip
derive("aten::zero", self="ts.zeros_like(grad)", result=LINEAR)
derive(
    "aten::copy_", self="ts.zeros_like(grad)", src="grad", result=LINEAR,
    name="CopyBackwards",
)  # fmt: skip
derive(
    "aten::copy_.Tensor", self="ts.zeros_like(grad)", other="grad", result=LINEAR,
    name="CopyBackwards",
)  # fmt: skip
derive(
    "aten::copy_.int aten::copy_.float", self="ts.zeros_like(grad)", result="ts.zeros_like(self_t)",
    name="CopyBackwards",
)  # fmt: skip
derive(
    "aten::copy", self="ts.zeros_like(grad)", src="grad", result=LINEAR,
    name="CopyBackwards",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- writes to a view

derive(
    "aten::select_scatter",
    self="grad.select_scatter(grad.new_zeros(src.size()), dim, index)",
    src="grad.select(dim, index)",
    result=LINEAR,
)
derive(
    "aten::slice_scatter",
    self="grad.slice_scatter(grad.new_zeros(src.size()), dim, start, end, step)",
    src="ts.slice(grad, dim, start, end, step)",
    result=LINEAR,
)
derive(
    "aten::diagonal_scatter",
    self="grad.diagonal_scatter(grad.new_zeros(src.size()), offset, dim1, dim2)",
    src="grad.diagonal(offset, dim1, dim2)",
    result=LINEAR,
)


def off_diagonal(x: Tensor, wrap: bool) -> Tensor:
    """Return x with zeros at the elements that `fill_diagonal_` writes."""
    return x * ts.ones_like(x).fill_diagonal_(0, wrap)


derive("aten::fill_diagonal_", self="off_diagonal(grad, wrap)", result="off_diagonal(self_t, wrap)")
