"""Constructors of sparse tensors, stored as coordinates or as compressed rows or columns.

Both calls construct a tensor whose element (0, 2) is 3 and whose element (1, 0) is 4:

    ts.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    ts.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3))

Indices are always checked against the sizes, even with `check_invariants=False`. Kernels read memory at these
indices without another check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ts
from ts import dtypes
from ts._core.tensor import factories
from ts._core.tensor.tensor import Tensor
from ts.sparse.invariants import check_sparse_tensor_invariants

__all__ = [
    "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor", "spmm",
]  # fmt: skip


def _indices(data: Any, dtype: dtypes.dtype | None = dtypes.int64) -> Tensor:
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    return factories.tensor(data, dtype=dtype)


def _values(data: Any, dtype: Any, device: Any) -> Tensor:
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return factories.tensor(data, dtype=dtype, device=device)


def _check_device(device: Any) -> None:
    if device is not None and (target := ts.device(device)).type != "cpu":
        raise NotImplementedError(f"sparse tensors are only supported on the CPU, not on '{target}'")


def _size(size: Any) -> list[int]:
    return [size] if isinstance(size, int) else [int(n) for n in size]


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """Return a COO tensor with `values[i]` at `indices[:, i]`. Without `values`, it stores no elements."""
    _check_device(device)
    if values is None:
        shape = _size(indices if indices is not None else size)
        result: Tensor = ts.ops.aten.sparse_coo_tensor.size(shape, dtype=dtype)
        return result.requires_grad_(requires_grad)
    at, elements = _indices(indices), _values(values, dtype, device)
    if elements.ndim == 0:
        elements = elements.reshape(1)
    if size is None:
        ts.ops.aten.sparse_coo_tensor.indices(at, elements.detach(), is_coalesced=is_coalesced)
        largest = [int(n) + 1 for n in at.max(1).values] if at.shape[1] else [0] * at.shape[0]
        size = [*largest, *elements.shape[1:]]
    sizes = _size(size)
    if check_invariants or (
        is_coalesced and check_invariants is not False and check_sparse_tensor_invariants.is_enabled()
    ):
        ts.ops.aten._validate_sparse_coo_tensor_args(at, elements, sizes, is_coalesced)
    if at.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    result = ts.ops.aten._sparse_coo_tensor_with_dims_and_tensors(
        at.shape[0], elements.ndim - 1, sizes, at, elements, is_coalesced=is_coalesced
    )
    if requires_grad:
        result = result.detach().requires_grad_(True)
    return result


def _compressed(
    layout: dtypes.layout, pointers: Any, plain: Any, values: Any, size: Any, options: dict[str, Any]
) -> Tensor:
    _check_device(options.get("device"))
    elements = _values(values, options.get("dtype"), options.get("device"))
    components = (_indices(pointers, None), _indices(plain, None), elements)
    make = ts.ops.aten.sparse_compressed_tensor
    result: Tensor
    if size is None:
        result = make.comp_plain_value(*components, layout=layout)
    else:
        result = make.comp_plain_value_size(*components, _size(size), layout=layout)
    return result.requires_grad_(bool(options.get("requires_grad", False)))


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix of compressed rows or columns, which `layout` selects."""
    if layout is None:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got None")
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _compressed(layout, compressed_indices, plain_indices, values, size, options)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix of compressed rows."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _compressed(dtypes.sparse_csr, crow_indices, col_indices, values, size, options)


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix of compressed columns."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _compressed(dtypes.sparse_csc, ccol_indices, row_indices, values, size, options)


def sparse_bsr_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """Raise NotImplementedError, because block layouts are not supported."""
    raise NotImplementedError(_block_layout_error("sparse_bsr_tensor", "sparse_bsr"))


def sparse_bsc_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """Raise NotImplementedError, because block layouts are not supported."""
    raise NotImplementedError(_block_layout_error("sparse_bsc_tensor", "sparse_bsc"))


def _block_layout_error(name: str, layout: str) -> str:
    return (
        f"{name}: tensors of layout torch.{layout} are not supported: use torch.sparse_csr_tensor or "
        "torch.sparse_coo_tensor"
    )


# Scripts that contain calls of these functions can be compiled. An error is only raised when such a call
# runs.
for _function, _layout in ((sparse_bsr_tensor, "sparse_bsr"), (sparse_bsc_tensor, "sparse_bsc")):
    vars(_function)["__unsupported_message__"] = _block_layout_error(_function.__name__, _layout)


def spmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the matrix product, as `torch.mm`. The first matrix may be sparse."""
    product: Tensor = ts.mm(input, mat2) if out is None else ts.mm(input, mat2, out=out)
    return product
