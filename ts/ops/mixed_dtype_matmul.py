"""Matrix products with a separate output dtype, and grouped matrix products.

A grouped product multiplies groups of rows by separate matrices. The argument `offs` contains the end index
of each group. Each line shows a call and its result:

    mm(a, b, float32)                   product of 16-bit floats in 32 bits
    _grouped_mm(a, b, offs)             rows offs[i - 1] to offs[i] of a times b[i]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts import dtypes
from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.out_variants import COPIED_OUT, NEVER
from ts.ops.registry import find, op
from ts.ops.shape_functions import ShapeAndDtype

Array = common.Array


# ------------------------------------------------------------------------- products with another result dtype


def _in_dtype(name: str, matrices: int, at: int) -> None:
    """Declare the overload of the product `name` with an argument `out_dtype`, which has the index `at`.

    The factors are the last `matrices` arguments before `out_dtype`. All factors must have the same dtype.
    """
    record = find(f"aten::{name}")
    assert record is not None, name
    compute = record.guarded(record.kernel)

    def kernel(xp: Any, *args: Any) -> Array:
        operands, out_dtype, rest = args[:at], common.dtype_from(args[at]), args[at + 1 :]
        dtype = operands[-1].dtype
        if any(x.dtype != dtype for x in operands[-matrices:]):
            raise RuntimeError("expected all matrices to have the same dtype")
        if out_dtype != dtype and not (out_dtype == common.FLOAT and dtype in common.HALF_DTYPES):
            raise RuntimeError(
                f"out_dtype must be the same as the inputs', {common.NAME_OF[dtype]}, or Float for 16-bit "
                f"floats, but got {common.NAME_OF[out_dtype]}"
            )
        return compute(xp, *(common.cast(xp, x, out_dtype) for x in operands), *rest)

    head, _, tail = record.schema_text.partition("(")
    first, star, keywords = tail.partition(", *")
    arguments, arrow, result = (first if star else tail).partition(") -> ")
    schema = f"{head}.dtype({arguments}, ScalarType out_dtype{star}{keywords}{arrow}{result}"
    op(schema, where="f", out="dtype_out", order="- out dtype_out dtype")(kernel)


for _name, _matrices, _at in (("mm", 2, 2), ("bmm", 2, 2), ("addmm", 2, 3), ("baddbmm", 2, 3)):
    _in_dtype(_name, _matrices, _at)


@op("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", **COPIED_OUT)
def _int_mm(xp: Any, self: Array, mat2: Array) -> Array:
    """Multiply int8 matrices (int8 matmul) with int32 accumulation."""
    for name, x in (("self", self), ("mat2", mat2)):
        if x.ndim != 2:
            raise RuntimeError(f"int_mm_out_cpu: Expected {name} to be of dimension 2 but got {x.ndim}")
    if not size_guards.equal(self.shape[1], mat2.shape[0]):
        raise RuntimeError(
            "int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got "
            f"{self.shape[1]} and {mat2.shape[0]}"
        )
    signed = dtypes.int8.numpy_dtype
    if self.dtype not in (common.UINT8, signed):
        raise RuntimeError(
            "int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got "
            f"{common.CPP_NAME_OF[self.dtype]}"
        )
    if mat2.dtype != signed:
        raise RuntimeError(
            f"int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got {common.CPP_NAME_OF[mat2.dtype]}"
        )
    return xp.matmul(self.astype(common.INT32), mat2.astype(common.INT32))


# ---------------------------------------------------------------------------------------- grouped products


def _grouped_shape(
    self: Array,
    mat2: Array,
    offs: Array | None = None,
    bias: Array | None = None,
    out_dtype: int | None = None,
) -> ShapeAndDtype:
    """Return shape and dtype of grouped products.

    The left column contains the dimensions of the operands:

    2-d @ 3-d, 3-d @ 2-d   the rows or columns of the 2-d operand are grouped, products are concatenated
    2-d @ 2-d              the inner dimension is grouped, products are stacked
    3-d @ 3-d              one group per matrix, products are stacked
    """
    _check_groups(self, mat2, offs, bias, out_dtype)
    rows, columns = self.shape[-2], mat2.shape[-1]
    if self.ndim == 2 and mat2.ndim == 2:
        assert offs is not None
        return (offs.shape[0], rows, columns), self.dtype
    return ((self.shape[0], rows, columns) if self.ndim == mat2.ndim == 3 else (rows, columns)), self.dtype


def _check_groups(
    self: Array, mat2: Array, offs: Array | None, bias: Array | None, out_dtype: int | None
) -> None:
    for name, x in (("mat_a", self), ("mat_b", mat2)):
        if x.dtype != common.FLOAT and x.dtype not in common.HALF_DTYPES:
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {common.NAME_OF[x.dtype]}"
            )
        if x.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    plain = self.ndim == mat2.ndim == 3
    if not size_guards.equal(self.shape[-1], mat2.shape[-2]):
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if (offs is None) != plain:
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if plain and not size_guards.equal(self.shape[0], mat2.shape[0]):
        raise RuntimeError("batched dimension has to match")
    if offs is not None and offs.dtype != common.INT32:
        raise RuntimeError("Offsets have to be int32")
    batches = [x.shape[0] for x in (self, mat2) if x.ndim == 3]
    if offs is not None and batches and batches[0] != offs.shape[0]:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and common.dtype_from(out_dtype) != self.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
    if self.dtype != mat2.dtype:
        template = "expected m1 and m2 to have the same dtype, but got: {want_cpp} != {got_cpp}"
        raise RuntimeError(common.dtype_message(template, self.dtype, mat2.dtype))


@op(
    "aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
    "out_dtype=None) -> Tensor",
    shape=_grouped_shape,
)
def _grouped_mm(
    xp: Any,
    self: Array,
    mat2: Array,
    offs: Array | None = None,
    bias: Array | None = None,
    out_dtype: int | None = None,
) -> Array:
    """Compute grouped products.

    `offs` are the end indices of groups of rows, of columns or of the inner dimension.
    """
    shape, dtype = _grouped_shape(self, mat2, offs, bias, out_dtype)
    a, b = (common.cast(xp, x, common.opmath(dtype)) for x in (self, mat2))
    if offs is None:
        return common.cast(xp, xp.products(a, b), dtype)
    offsets = [int(n) for n in offs]
    output = xp.zeros(shape, dtype=dtype)
    limit = (
        self.shape[0]
        if self.ndim == 2 and mat2.ndim == 3
        else mat2.shape[1]
        if self.ndim == 3
        else a.shape[1]
    )
    if offsets != sorted(offsets) or (offsets and not 0 <= offsets[0] <= offsets[-1] <= limit):
        raise RuntimeError(f"Expected offsets that grow up to {limit} at most, but got {offsets}")
    for i, (start, end) in cost_model.steps(list(enumerate(zip([0, *offsets[:-1]], offsets, strict=True)))):
        group = slice(start, end)
        if self.ndim == 2 and mat2.ndim == 3:
            output[group] = common.cast(xp, xp.matmul(a[group], b[i]), dtype)
        elif self.ndim == 3:
            output[:, group] = common.cast(xp, xp.matmul(a[i], b[:, group]), dtype)
        else:
            output[i] = common.cast(xp, xp.matmul(a[:, group], b[group]), dtype)
    return output


@op(
    "aten::_compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor",
    layout="contiguous",
    out="out",
    out_resized=NEVER,
)
def _linear_combination(xp: Any, input: Array, coefficients: Array) -> Array:
    """Return weighted sums over the first dimension of `input`, one for each row of `coefficients`."""
    if coefficients.ndim != 2 or input.ndim < 1 or coefficients.shape[1] != input.shape[0]:
        raise RuntimeError(
            f"Expected a coefficient for each of the {list(input.shape)} in input, but got "
            f"{list(coefficients.shape)}"
        )
    wide = common.opmath(input.dtype)
    flat = common.cast(xp, input, wide).reshape(input.shape[0], -1)
    result = xp.matmul(common.cast(xp, coefficients, wide), flat)
    return common.cast(xp, result.reshape(coefficients.shape[0], *input.shape[1:]), input.dtype)


@op(
    "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] "
    "sumdim, int unroll_dim=1) -> Tensor",
    layout="contiguous",
    **COPIED_OUT,
)
def _trilinear(
    xp: Any,
    i1: Array,
    i2: Array,
    i3: Array,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Array:
    """Return the sum over `sumdim` of the product of three arrays.

    Before the product, dimensions of size 1 are inserted at `expand1`, `expand2` and `expand3`.
    """
    rank = i1.ndim + len(expand1)
    dtype = common.result_type(i1, i2, i3)
    if dtype == common.BOOL and (expand1 or expand2 or expand3):
        common.raise_unsupported_dtype("bmm", dtype)
    if not 0 <= unroll_dim < rank:
        raise RuntimeError(f"unroll_dim must be in [0,{rank - 1}]")
    factors = []
    for x, new in ((i1, expand1), (i2, expand2), (i3, expand3)):
        wide = common.cast(xp, x, common.opmath(dtype))
        own_dims = [d for d in range(rank) if d not in {common.wrap_dim(n, rank) for n in new}]
        shape = [1] * rank
        for d, n in zip(own_dims, x.shape, strict=True):
            shape[d] = n
        factors.append(wide.reshape(shape))
    total = math.prod(factors[1:], start=factors[0])
    axes = tuple(common.wrap_dim(d, rank) for d in sumdim)
    return common.cast(xp, xp.sum(total, axis=axes, dtype=total.dtype) if axes else total, dtype)
