"""Matrix transpose and other views with permuted dimensions.

Input: an array and the dimensions to permute. Output: a view. As in PyTorch, there are two operators for an
attribute such as `x.mT`, because archives contain both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts.ops import common
from ts.ops.registry import op

Array = common.Array


@op(
    "aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", loop="permute", sparse="view_ops.permute",
    copies_sizes=True,
)  # fmt: skip
def _permute(xp: Any, self: Array, dims: Sequence[int]) -> Array:
    if len(dims) != self.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length "
            f"of the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}"
        )
    axes = [common.wrap_dim(d, self.ndim) for d in dims]
    if len(set(axes)) != len(axes):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return self.transpose(axes)


@op(
    "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    inplace="",
    loop="transpose",
    view_input=True,
    sparse="view_ops.transpose",
    copies_sizes=True,
)
@op(
    "aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    inplace=True,
    same_as="aten::transpose",
    sparse="view_ops.transpose",
)
@op(
    "aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    inplace=True,
    same_as="aten::transpose",
    sparse="view_ops.transpose",
)
def _transpose(xp: Any, self: Array, dim0: int, dim1: int) -> Array:
    a, b = common.wrap_dim(dim0, self.ndim), common.wrap_dim(dim1, self.ndim)
    return self.swapaxes(a, b) if self.ndim else self[...]


def check_rank_of_t(name: str, rank: int) -> None:
    """Raise RuntimeError if the operand of `t` or `t_` has more than 2 dimensions."""
    if rank > 2:
        raise RuntimeError(f"{name}() expects a tensor with <= 2 dimensions, but self is {rank}D")


def _t_in_place(xp: Any, self: Array) -> Array:
    check_rank_of_t("t_", self.ndim)
    return self.T


@op(
    "aten::t(Tensor(a) self) -> Tensor(a)", inplace=True, inplace_kernel=_t_in_place, loop="t",
    view_input=True, sparse="view_ops.t", copies_sizes=True,
)  # fmt: skip
def _t(xp: Any, self: Array) -> Array:
    check_rank_of_t("t", self.ndim)
    return self.T


@op("aten::numpy_T(Tensor(a) self) -> Tensor(a)", where="m", sparse="view_ops.reverse")
@op("aten::numpy_T.a(Tensor(a) self) -> Tensor(a)", where="")
def _numpy_T(xp: Any, self: Array) -> Array:
    return self.T


def _transpose_matrices(name: str, self: Array) -> Array:
    """Return the transposed view of each matrix."""
    if self.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return self.swapaxes(-1, -2) if self.ndim else self


def _conjugate(xp: Any, self: Array) -> Array:
    return xp.conj(self) if self.dtype.kind == "c" else self


@op("aten::mT(Tensor(a) self) -> Tensor(a)", where="m", sparse="view_ops.transpose_last")
@op("aten::mT.a(Tensor(a) self) -> Tensor(a)", where="")
def _mT(xp: Any, self: Array) -> Array:
    return _transpose_matrices("mT", self)


@op("aten::mH(Tensor(a) self) -> Tensor(a)", where="m", sparse="view_ops.adjoint")
@op("aten::mH.a(Tensor(a) self) -> Tensor(a)", where="")
def _mH(xp: Any, self: Array) -> Array:
    return _conjugate(xp, _transpose_matrices("mH", self))


@op("aten::adjoint(Tensor(a) self) -> Tensor(a)", same_as="aten::mH", sparse="view_ops.adjoint")
def _adjoint(xp: Any, self: Array) -> Array:
    return _conjugate(xp, _transpose_matrices("adjoint()", self))


@op("aten::matrix_H(Tensor(a) self) -> Tensor(a)", where="m", sparse="view_ops.adjoint")
@op("aten::matrix_H.a(Tensor(a) self) -> Tensor(a)", where="")
def _matrix_H(xp: Any, self: Array) -> Array:
    if self.ndim not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{batches}"
        )
    return _conjugate(xp, self.T if self.ndim else self)
