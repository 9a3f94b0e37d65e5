"""Derivatives of operators of sparse tensors.

As in PyTorch, the gradient of a sparse argument of `to_dense` or `sparse.mm` has the argument's indices. The
gradients of `torch.mm` (family `matmul`) are dense.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import mul_conj
from ts.ops.derivatives.formula_registry import compose, constant, derive


def _mask_to_pattern(grad: Tensor, pattern: Tensor) -> Tensor:
    """Return a sparse tensor with the indices of `pattern`, whose values are the elements of `grad` there."""
    if pattern.is_sparse:
        return grad.sparse_mask(pattern.coalesce())
    return grad.sparse_mask(pattern)


def _to_dense_gradient(grad: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of the input of `to_dense`."""
    if x.is_sparse or x.is_sparse_csr:
        return _mask_to_pattern(grad, x)
    return grad


def _sparse_factor_gradient(grad: Tensor, mat1: Tensor, mat2: Tensor) -> Tensor:
    """Return the gradient of the sparse matrix `mat1` in the product `mat1 @ mat2`.

    It is a sparse matrix with the indices of `mat1`.
    """
    pattern = mat1.coalesce() if mat1.is_sparse else mat1
    return ts.sparse_sampled_addmm(pattern, grad, mat2.conj().t(), beta=0)


def _values_gradient(grad: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of the argument `values` of a sparse tensor constructor.

    It contains the elements of `grad` at the indices of `result`, the constructed tensor.
    """
    return grad.sparse_mask(result)._values()


derive("aten::_sparse_coo_tensor_with_dims_and_tensors", values="_values_gradient(grad, result)")
derive("aten::_sparse_coo_tensor_unsafe", values="_values_gradient(grad, result)")
derive("aten::sparse_coo_tensor.indices_size", values="_values_gradient(grad, result)")
derive("aten::sparse_coo_tensor.indices", values="_values_gradient(grad, result)")
derive(
    "aten::sparse_compressed_tensor.comp_plain_value_size aten::sparse_compressed_tensor.comp_plain_value "
    "aten::sparse_csr_tensor.crow_col_value_size aten::sparse_csr_tensor.crow_col_value "
    "aten::sparse_csc_tensor.ccol_row_value_size aten::sparse_csc_tensor.ccol_row_value",
    values="grad.sparse_mask(result).values()", name="SparseCompressedTensorBackward0",
)  # fmt: skip
derive(
    "aten::values",
    self="ts._sparse_coo_tensor_unsafe(self.indices(), grad, self.size(), is_coalesced=True)",
)
compose("aten::values_copy", "self.values().clone()")
derive("aten::coalesce aten::_coalesce", self="grad", name="CoalesceBackward0")
derive("aten::to_dense aten::_to_dense", self="_to_dense_gradient(grad, self)", name="ToDenseBackward0")
derive(
    "aten::to_sparse aten::_to_sparse aten::to_sparse_csr aten::_to_sparse_csr aten::to_sparse_csc "
    "aten::_to_sparse_csc",
    self="grad.to_dense()", name="ToSparseBackward1",
)  # fmt: skip
derive(
    "aten::to_sparse.sparse_dim aten::_to_sparse.sparse_dim", self="grad.to_dense()", name="ToSparseBackward0"
)
derive("aten::sparse_mask", self="grad if self.is_sparse else grad.to_dense()")

compose(
    "aten::_sparse_mm",
    "ts._sparse_sparse_matmul(sparse, dense) if (sparse.is_sparse or sparse.is_sparse_csr) and "
    "(dense.is_sparse or dense.is_sparse_csr) else ts._sparse_addmm("
    "ts.zeros([sparse.size(0), dense.size(1)], dtype=sparse.dtype), sparse, dense, beta=0)",
)
derive(
    "aten::_sparse_addmm",
    self="mul_conj(grad, beta)", mat1="mul_conj(_sparse_factor_gradient(grad, mat1, mat2), alpha)",
    mat2="mul_conj(mat1.t().conj().mm(grad), alpha)",
)  # fmt: skip
derive(
    "aten::_sparse_sparse_matmul",
    self="_mask_to_pattern(ts._sparse_sparse_matmul(grad, other.t().conj()), self)",
    other="_mask_to_pattern(ts._sparse_sparse_matmul(self.t().conj(), grad), other)",
)
derive(
    "aten::sparse_sampled_addmm",
    self="mul_conj(grad, beta)", mat1="mul_conj(grad.mm(mat2.t().conj()), alpha)",
    mat2="mul_conj(grad.t().conj().mm(mat1).t(), alpha)",
)  # fmt: skip
compose("aten::smm", "ts._sparse_mm(self, mat2)")
constant(
    "aten::hspmm aten::sspaddmm aten::_sparse_sum_backward aten::_sparse_softmax_backward_data "
    "aten::_sparse_log_softmax_backward_data aten::embedding_sparse_backward aten::_rows_as_sparse "
    "aten::_indices aten::_values aten::indices aten::crow_indices aten::col_indices aten::ccol_indices "
    "aten::row_indices aten::_coalesced_ aten::sparse_resize_ aten::sparse_resize_and_clear_ "
    "aten::resize_as_sparse_ aten::copy_sparse_to_sparse_ aten::_validate_sparse_coo_tensor_args "
    "aten::sparse_coo_tensor.size aten::_sparse_coo_tensor_with_dims",
    "PyTorch does not define its derivative",
)

compose("aten::_sparse_sum", "self.coalesce().values().sum()")
compose("aten::_sparse_sum.dtype", "self.coalesce().values().sum(dtype=dtype)")
derive(
    "aten::_sparse_sum.dim",
    self="ts._sparse_sum_backward(grad, self, dim)",
    name="SparseSumBackward0",
)
compose("aten::_sparse_sum.dim_dtype", "ts._sparse_sum(self.to(dtype), dim)")
for _name in ("softmax", "log_softmax"):
    _node = "".join(part.title() for part in _name.split("_"))
    derive(
        f"aten::_sparse_{_name}", name=f"Sparse{_node}Backward0",
        self=f"ts._sparse_{_name}_backward_data(grad, result, dim, self)",
    )  # fmt: skip
    compose(
        f"aten::_sparse_{_name}.int",
        f"ts._sparse_{_name}(self if dtype is None else self.to(dtype), dim, False)",
    )
