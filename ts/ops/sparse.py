"""Operators of sparse tensors (construction, accessors, conversions, products, sums and softmax).

Each record has two kernels. The decorated function runs if all tensors are dense. It constructs a sparse
array or raises an error. If a tensor is sparse, the kernel named by the record field `sparse` runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ts import dtypes
from ts.ops import common
from ts.ops.matmul import product
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.sparse_kernels import conversions, not_available
from ts.ops.sparse_kernels.accessors import compressed_array, coo_array

Array = Any
_OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory"
_END: Final = "bool? is_coalesced=None"


# ---------------------------------------------------------------------------------------- construction


@op(
    "aten::_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, SymInt[] size, Tensor "
    f"indices, Tensor values, *, {_OPTIONS}=False, {_END}) -> Tensor",
    sparse="conversions.construct",
)
def _with_dims_and_tensors(
    xp: Any,
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    indices: Array,
    values: Array,
    *options: Any,
) -> Any:
    conversions.check_dimensions(size, sparse_dim, dense_dim)
    conversions.check_coordinates(indices, values, size, False, bool(options[-1]))
    return coo_array(indices, values, size, options[-1], options[0])


@op(
    f"aten::_sparse_coo_tensor_unsafe(Tensor indices, Tensor values, SymInt[] size, *, {_OPTIONS}=None, "
    f"{_END}) -> Tensor",
    sparse="conversions.construct",
)
@op(
    f"aten::sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, *, {_OPTIONS}=None, "
    f"{_END}) -> Tensor",
    where="",
    order="size indices indices_size",
    sparse="conversions.construct",
)
def _with_size(xp: Any, indices: Array, values: Array, size: Sequence[int], *options: Any) -> Any:
    conversions.check_coordinates(indices, values, size, False, bool(options[-1]))
    return coo_array(indices, values, size, options[-1], options[0])


@op(
    f"aten::sparse_coo_tensor.indices(Tensor indices, Tensor values, *, {_OPTIONS}=None, {_END}) -> Tensor",
    where="",
    sparse="conversions.construct",
)
def _with_inferred_size(xp: Any, indices: Array, values: Array, *options: Any) -> Any:
    conversions.check_coordinates(indices, values, None, False, bool(options[-1]))
    return coo_array(indices, values, conversions.infer_size(indices, values), options[-1], options[0])


@op(
    f"aten::sparse_coo_tensor.size(int[] size, *, {_OPTIONS}=False) -> Tensor",
    where="",
    sparse="conversions.construct",
)
def _of_size(xp: Any, size: Sequence[int], dtype: int | None = None, *options: Any) -> Any:
    return conversions.zeros(size, common.dtype_from(dtype))


@op(
    f"aten::_sparse_coo_tensor_with_dims(int sparse_dim, int dense_dim, int[] size, *, {_OPTIONS}=False) "
    "-> Tensor",
    sparse="conversions.construct",
)
def _with_dims(
    xp: Any, sparse_dim: int, dense_dim: int, size: Sequence[int], dtype: int | None = None, *options: Any
) -> Any:
    conversions.check_dimensions(size, sparse_dim, dense_dim)
    return conversions.zeros(size, common.dtype_from(dtype), sparse_dim)


@op(
    "aten::_validate_sparse_coo_tensor_args(Tensor indices, Tensor values, int[] size, bool? "
    "is_coalesced=None, bool? check_pinning=None) -> ()"
)
def _validate_coo(
    xp: Any, indices: Array, values: Array, size: Sequence[int], is_coalesced: Any, *_: Any
) -> None:
    conversions.check_coordinates(indices, values, size, True, bool(is_coalesced))


def _declare_compressed(name: str, groups: str, plain: str, code: int | None) -> None:
    """Declare the constructors of a compressed layout, with and without the argument `size`.

    `groups` is the name of the pointer argument, such as "crow_indices". `plain` is the name of the index
    argument, such as "col_indices". `code` is the layout. It is None if the layout is an argument.
    """
    prefix = {"crow": "crow_col_value", "ccol": "ccol_row_value"}.get(
        groups.partition("_")[0], "comp_plain_value"
    )
    head = f"Tensor {groups}, Tensor {plain}, Tensor values"

    def with_size(xp: Any, pointers: Array, indices: Array, values: Array, size: Any, *options: Any) -> Any:
        layout = options[1] if code is None else code
        return compressed_array(pointers, indices, values, size, layout, options[0])

    def without_size(xp: Any, pointers: Array, indices: Array, values: Array, *options: Any) -> Any:
        layout = options[1] if code is None else code
        return compressed_array(pointers, indices, values, None, layout, options[0])

    size = "SymInt[] size" if code is None else "int[] size"
    op(
        f"aten::{name}.{prefix}_size({head}, {size}, *, {_OPTIONS}=False) -> Tensor",
        where="",
        family="sparse",
        sparse="conversions.construct",
    )(with_size)
    op(
        f"aten::{name}.{prefix}({head}, *, {_OPTIONS}=False) -> Tensor",
        where="",
        family="sparse",
        sparse="conversions.construct",
    )(without_size)


_declare_compressed("sparse_csr_tensor", "crow_indices", "col_indices", dtypes.sparse_csr.code)
_declare_compressed("sparse_csc_tensor", "ccol_indices", "row_indices", dtypes.sparse_csc.code)
_declare_compressed("sparse_compressed_tensor", "compressed_indices", "plain_indices", None)


# ---------------------------------------------------------------------------------------- indices and values


@op("aten::_indices(Tensor(a) self) -> Tensor(a)", where="m", sparse="accessors.stored_indices")
def _indices(xp: Any, self: Array) -> Any:
    raise not_available("aten::_indices", "CPU")


@op("aten::_values(Tensor(a) self) -> Tensor(a)", where="m", sparse="accessors.stored_values")
def _values(xp: Any, self: Array) -> Any:
    raise not_available("aten::_values", "CPU")


@op("aten::_nnz(Tensor self) -> int", where="m", sparse="accessors.nnz")
def _nnz(xp: Any, self: Array) -> int:
    raise not_available("aten::_nnz", "CPU")


def _declare_accessor(name: str, requirement: str, returns: str = "Tensor(a)") -> None:
    """Declare the operator `name`, which accesses a part of a sparse tensor.

    For a dense tensor, the operator raises RuntimeError with a message that contains `requirement`.
    """

    def kernel(xp: Any, self: Array) -> Any:
        raise RuntimeError(f"{name} {requirement} but got Strided")

    argument = "Tensor(a) self" if returns != "bool" else "Tensor self"
    op(f"aten::{name}({argument}) -> {returns}", where="m", family="sparse", sparse=f"accessors.{name}")(
        kernel
    )


_declare_accessor("indices", "expected sparse coordinate tensor layout")
_declare_accessor("values", "expected sparse tensor layout")
_declare_accessor("is_coalesced", "expected sparse coordinate tensor layout", "bool")
_declare_accessor("coalesce", "expected sparse coordinate tensor layout")
for _name in ("crow_indices", "col_indices"):
    _declare_accessor(_name, "expected sparse row compressed tensor layout")
for _name in ("ccol_indices", "row_indices"):
    _declare_accessor(_name, "expected sparse column compressed tensor layout")


@op("aten::_coalesce(Tensor self) -> Tensor", sparse="accessors.coalesce")
def _coalesce(xp: Any, self: Array) -> Any:
    raise not_available("aten::_coalesce", "CPU")


@op("aten::values_copy(Tensor self) -> Tensor", where="f", sparse="accessors.values_copy")
def _values_copy(xp: Any, self: Array) -> Any:
    raise RuntimeError("values expected sparse tensor layout but got Strided")


@op(
    "aten::_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)",
    where="m",
    sparse="accessors.mark_coalesced",
)
def _coalesced(xp: Any, self: Array, coalesced: bool) -> Any:
    raise not_available("aten::_coalesced_", "CPU")


@op("aten::_dimI(Tensor self) -> int", where="m", sparse="accessors.sparse_dim")
@op("aten::sparse_dim(Tensor self) -> int", where="m", sparse="accessors.sparse_dim")
@shared_fields(reads_elements=False)
def _sparse_dim(xp: Any, self: Array) -> int:
    return 0


@op("aten::_dimV(Tensor self) -> int", where="m", sparse="accessors.dense_dim")
@op("aten::dense_dim(Tensor self) -> int", where="m", sparse="accessors.dense_dim")
@shared_fields(reads_elements=False)
def _dense_dim(xp: Any, self: Array) -> int:
    return int(self.ndim)


# ---------------------------------------------------------------------------------------- conversions


@op(
    "aten::to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor", where="m",
    sparse="conversions.to_dense", gives_self=True,
)  # fmt: skip
def _to_dense(xp: Any, self: Array, dtype: int | None = None, masked_grad: Any = None) -> Any:
    return self if dtype is None else common.cast(xp, self, common.dtype_from(dtype))


@op(
    "aten::_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor", where="m",
    order="out -",
    sparse="conversions.to_dense", **COPIED_OUT,
)  # fmt: skip
def _to_dense_of_sparse(xp: Any, self: Array, dtype: int | None = None, masked_grad: Any = None) -> Any:
    raise not_available("aten::_to_dense", "CPU")


@op(
    "aten::to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
    where="m",
    sparse="accessors.to_sparse_of_dim",
)
@op(
    "aten::_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
    where="m",
    sparse="accessors.to_sparse_of_dim",
)
def _to_sparse_of_dim(xp: Any, self: Array, sparse_dim: int) -> Any:
    return conversions.to_sparse(self, sparse_dim)


_TO_SPARSE: Final = "Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> Tensor"


@op(f"aten::to_sparse(Tensor self, *, {_TO_SPARSE}", where="m", sparse="accessors.to_sparse")
@op(f"aten::_to_sparse(Tensor self, *, {_TO_SPARSE}", where="m", sparse="accessors.to_sparse")
def _to_sparse(
    xp: Any, self: Array, layout: int | None = None, blocksize: Any = None, dense_dim: int | None = None
) -> Any:
    target_layout = dtypes.sparse_coo if layout is None else dtypes.LAYOUTS[layout]
    return conversions.convert_to_sparse(self, target_layout)


for _name, _layout in (("to_sparse_csr", dtypes.sparse_csr), ("to_sparse_csc", dtypes.sparse_csc)):

    @op(f"aten::{_name}(Tensor self, int? dense_dim=None) -> Tensor")
    @op(f"aten::_{_name}(Tensor self, int? dense_dim=None) -> Tensor")
    @shared_fields(where="m", sparse=f"accessors.{_name}")
    def _to_compressed(xp: Any, self: Array, dense_dim: int | None = None, layout: Any = _layout) -> Any:
        return conversions.convert_to_sparse(self, layout)


@op("aten::sparse_mask(Tensor self, Tensor mask) -> Tensor", where="m", sparse="conversions.sparse_mask")
def _sparse_mask(xp: Any, self: Array, mask: Array) -> Any:
    raise not_available("aten::sparse_mask", "CPU")


@op(
    "aten::sparse_resize_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)",
    where="m",
    sparse="view_ops.sparse_resize", reshapes=True,
)  # fmt: skip
@op(
    "aten::sparse_resize_and_clear_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> "
    "Tensor(a!)",
    where="m", sparse="view_ops.sparse_resize_and_clear", reshapes=True,
)  # fmt: skip
def _sparse_resize(xp: Any, self: Array, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Any:
    raise not_available("aten::sparse_resize_", "CPU")


@op(
    "aten::resize_as_sparse_(Tensor(a!) self, Tensor the_template) -> Tensor(a!)", where="f",
    sparse="view_ops.resize_as_sparse", reshapes=True,
)  # fmt: skip
def _resize_as_sparse(xp: Any, self: Array, the_template: Array) -> Any:
    raise not_available("aten::resize_as_sparse_", "CPU")


@op(
    "aten::copy_sparse_to_sparse_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    where="f",
    sparse="conversions.copy_in_place", reshapes=True,
)  # fmt: skip
def _copy_sparse(xp: Any, self: Array, src: Array, non_blocking: bool = False) -> Any:
    raise not_available("aten::copy_sparse_to_sparse_", "CPU")


# ---------------------------------------------------------------------------------------- matrix products


@op(
    "aten::_sparse_mm(Tensor sparse, Tensor dense) -> Tensor", sparse="matmul.mm",
    dtype_errors={"b": "addmm_impl_cpu_"}, autocast={"cpu": "lower"},
)  # fmt: skip
def _sparse_mm(xp: Any, sparse: Array, dense: Array) -> Any:
    return product(xp, sparse, dense)


@op(
    "aten::_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    sparse="matmul.addmm",
)  # fmt: skip
def _sparse_addmm(xp: Any, self: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Any:
    raise not_available("aten::_sparse_addmm", "CPU")


@op("aten::_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor", sparse="matmul.mm")
def _sparse_sparse_matmul(xp: Any, self: Array, other: Array) -> Any:
    raise not_available("aten::_sparse_sparse_matmul", "CPU")


@op(
    "aten::sparse_sampled_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    where="", sparse="matmul.sampled_addmm",
)  # fmt: skip
def _sampled_addmm(xp: Any, self: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Any:
    raise not_available("aten::sparse_sampled_addmm", "CPU")


@op("aten::smm(Tensor self, Tensor mat2) -> Tensor", sparse="matmul.smm")
@op("aten::hspmm(Tensor mat1, Tensor mat2) -> Tensor", sparse="matmul.hspmm")
def _sparse_by_dense(xp: Any, self: Array, mat2: Array) -> Any:
    raise not_available("aten::hspmm", "CPU")


@op(
    "aten::sspaddmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    sparse="matmul.sspaddmm",
)
def _sspaddmm(xp: Any, self: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Any:
    raise not_available("aten::sspaddmm", "CPU")


# ---------------------------------------------------------------------------------------- sums and softmax


@op(
    "aten::_sparse_sum(Tensor self) -> Tensor", sparse="reductions.sparse_total",
    order="dim - dtype dim_dtype",
)  # fmt: skip
@op("aten::_sparse_sum.dtype(Tensor self, *, ScalarType dtype) -> Tensor", sparse="reductions.sparse_total")
def _sparse_sum(xp: Any, self: Array, dtype: int | None = None) -> Any:
    raise RuntimeError("_sparse_sum: expected a sparse tensor, but got layout torch.strided")


@op("aten::_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor", sparse="reductions.sparse_sum")
@op(
    "aten::_sparse_sum.dim_dtype(Tensor self, int[1] dim, *, ScalarType dtype) -> Tensor",
    sparse="reductions.sparse_sum",
)
def _sparse_sum_dims(xp: Any, self: Array, dim: Sequence[int], dtype: int | None = None) -> Any:
    raise not_available("aten::_sparse_sum.dim", "CPU")


@op(
    "aten::_sparse_sum_backward(Tensor grad, Tensor self, int[] dim) -> Tensor",
    sparse="reductions.sum_gradient",
)
def _sparse_sum_backward(xp: Any, grad: Array, self: Array, dim: Sequence[int]) -> Any:
    raise not_available("aten::_sparse_sum_backward", "CPU")


for _name in ("softmax", "log_softmax"):

    @op(
        f"aten::_sparse_{_name}(Tensor self, int dim, bool half_to_float) -> Tensor",
        sparse=f"reductions.{_name}",
        order="int -",
    )
    def _sparse_softmax(xp: Any, self: Array, dim: int, half_to_float: bool, name: str = _name) -> Any:
        raise not_available(f"aten::_sparse_{name}", "CPU")

    @op(
        f"aten::_sparse_{_name}.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
        sparse=f"reductions.{_name}_of_dtype",
    )
    def _sparse_softmax_of_dtype(
        xp: Any, self: Array, dim: int, dtype: int | None = None, name: str = _name
    ) -> Any:
        raise not_available(f"aten::_sparse_{name}", "CPU")

    @op(
        f"aten::_sparse_{_name}_backward_data(Tensor grad_output, Tensor output, int dim, Tensor self) -> "
        "Tensor",
        sparse=f"reductions.{_name}_gradient",
    )  # fmt: skip
    def _sparse_softmax_backward(
        xp: Any, grad_output: Array, output: Array, dim: int, self: Array, name: str = _name
    ) -> Any:
        raise not_available(f"aten::_sparse_{name}_backward_data", "CPU")


# ------------------------------------------------------------------------------ gradients of embedding tables


@op(
    "aten::embedding_sparse_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool "
    "scale_grad_by_freq) -> Tensor"
)
def _embedding_sparse_backward(
    xp: Any, grad: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """Return the sparse gradient of an embedding table: one row per index that is not `padding_idx`."""
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    index = indices.reshape(-1).astype(np.int64)
    columns = grad.shape[-1]
    rows = grad.reshape(-1, columns)
    if padding_idx != -1:
        is_read = index != padding_idx
        index, rows = index[is_read], rows[is_read]
    return coo_array(index[None], rows, (num_weights, columns), None, None)


@op(
    "aten::_rows_as_sparse(Tensor index, Tensor rows, SymInt num_weights) -> Tensor",
    where="",
)
def _rows_as_sparse(xp: Any, index: Array, rows: Array, num_weights: int) -> Any:
    """Return a COO array of `num_weights` rows, in which row index[k] is rows[k] and other rows are zero.

    The array is the gradient of an embedding table.
    """
    if index.ndim != 1 or rows.ndim < 1 or len(index) != len(rows) or index.dtype.kind not in "iu":
        raise RuntimeError(
            "_rows_as_sparse: expected one integer index for each row, but got indices of shape "
            f"{list(index.shape)} and rows of shape {list(rows.shape)}"
        )
    if len(index) and not 0 <= index.min() <= index.max() < num_weights:
        raise RuntimeError(f"_rows_as_sparse: indices are out of the range of {num_weights} rows")
    return coo_array(index[None].astype(np.int64), rows, (num_weights, *rows.shape[1:]), None, None)
