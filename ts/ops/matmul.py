"""Matrix multiplication and other products of vectors and matrices.

Input: arrays with equal inner dimensions. Output: the product, computed by `xp.matmul`. Products of integers
wrap on overflow. 16-bit floats are multiplied in 32 bits.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.matmul_checks import (
    OTHER_DTYPE,
    check_addmm_dtypes,
    check_addmv_dtypes,
    check_bmm_dtypes,
    check_bmm_shapes,
    check_dot,
    check_matmul,
    check_mm_dtypes,
    check_mm_shapes,
    check_mv,
    check_not_bool,
)
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT, castable
from ts.ops.registry import find, op, shared_fields
from ts.ops.result_strides import with_result_strides
from ts.ops.unsupported_dtypes import INEXACT

Array = common.Array


def product(xp: Any, a: Array, b: Array) -> Array:
    """Return the matrix product of two arrays of one dtype. The sums of 16-bit floats have 32 bits."""
    if a.dtype != b.dtype:
        raise RuntimeError(common.dtype_message(OTHER_DTYPE, a.dtype, b.dtype))
    wide = a.dtype if xp.has_low_precision_products else common.opmath(a.dtype)
    result = xp.products(common.cast(xp, a, wide), common.cast(xp, b, wide))
    return common.cast(xp, xp.asarray(result), a.dtype)


def _need(x: Array, ndim: int, message: str) -> None:
    if x.ndim != ndim:
        raise RuntimeError(message)


@op(
    "aten::mm(Tensor self, Tensor mat2) -> Tensor",
    **SAME_DTYPE_OUT,
    autocast="lower",
    sparse="matmul.mm",
    copies_sizes=True,
    graph_autodiff=True,
)
def _mm(xp: Any, self: Array, mat2: Array) -> Array:
    _need(self, 2, "self must be a matrix")
    _need(mat2, 2, "mat2 must be a matrix")
    check_mm_shapes(self.shape, mat2.shape)
    check_mm_dtypes(self.dtype, mat2.dtype)
    return product(xp, self, mat2)


@op(
    "aten::bmm(Tensor self, Tensor mat2) -> Tensor",
    **SAME_DTYPE_OUT,
    autocast="lower",
    sparse="matmul.bmm",
    copies_sizes=True,
    graph_autodiff=True,
)
def _bmm(xp: Any, self: Array, mat2: Array) -> Array:
    _need(self, 3, "batch1 must be a 3D tensor")
    _need(mat2, 3, "batch2 must be a 3D tensor")
    check_bmm_shapes(self.shape, mat2.shape)
    check_bmm_dtypes(self.dtype, mat2.dtype)
    return product(xp, self, mat2)


@op(
    "aten::mv(Tensor self, Tensor vec) -> Tensor",
    out="out",
    autocast={"cuda": "lower"},
    sparse="matmul.mv",
    graph_autodiff=True,
)
def _mv(xp: Any, self: Array, vec: Array) -> Array:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    check_mv(self.shape, vec.shape)
    check_addmv_dtypes(vec.dtype, self.dtype, vec.dtype)
    return product(xp, self, vec)


@op(
    "aten::dot(Tensor self, Tensor tensor) -> Tensor",
    out="out",
    out_dtype_error="result dtype {got} does not match input dtype {want}",
    autocast={"cuda": "widest"},
    graph_autodiff=True,
)
def _dot(xp: Any, self: Array, tensor: Array) -> Array:
    check_dot(self, tensor)
    return product(xp, self, tensor)


@op(
    "aten::vdot(Tensor self, Tensor other) -> Tensor",
    out="out",
    out_dtype_error="result dtype {got} does not match input dtype {want}",
    autocast={"cuda": "widest"},
)
def _vdot(xp: Any, self: Array, other: Array) -> Array:
    check_dot(self, other)
    return product(xp, xp.conj(self), other)


@op(
    "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    out="out",
    layout="contiguous",
    out_dtype_error="linalg.vecdot: Expected out of dtype{want} but found {got}",
    work=cost_model.of(cost_model.elements, 0.1),
    autocast="lower",
)
def _vecdot(xp: Any, x: Array, y: Array, dim: int = -1) -> Array:
    if common.CATEGORY_OF[x.dtype] < common.FLOATING:
        raise RuntimeError(f"linalg.vecdot: {INEXACT.format(dtype=common.NAME_OF[x.dtype])}")
    if x.dtype != y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{common.NAME_OF[x.dtype]} and y of type {common.NAME_OF[y.dtype]} instead"
        )
    shape = common.broadcast_shapes(x.shape, y.shape)
    return xp.sum(xp.conj(x) * y, axis=common.wrap_dim(dim, len(shape)))


@op(
    "aten::outer(Tensor self, Tensor vec2) -> Tensor", out="out", work=cost_model.of(cost_model.elements, 0.1)
)
@op(
    "aten::ger(Tensor self, Tensor vec2) -> Tensor",
    out="out",
    work=cost_model.of(cost_model.elements, 0.1),
    same_as="aten::outer",
)
def _outer(xp: Any, self: Array, vec2: Array) -> Array:
    if self.ndim != 1 or vec2.ndim != 1:
        bad = "input" if self.ndim != 1 else "vec2"
        raise RuntimeError(f"outer: Expected 1-D argument {'self' if bad == 'input' else 'vec2'}, but got "
                           f"{(self if bad == 'input' else vec2).ndim}-D")  # fmt: skip
    dtype = common.result_type(self, vec2)
    return xp.multiply(common.cast(xp, self, dtype)[:, None], common.cast(xp, vec2, dtype)[None, :])


@op(
    "aten::matmul(Tensor self, Tensor other) -> Tensor", **COPIED_OUT, sparse="matmul.matmul",
    copies_sizes=True, graph_autodiff=True,
)  # fmt: skip
@op("aten::linalg_matmul(Tensor self, Tensor other) -> Tensor", same_as="aten::matmul", **COPIED_OUT)
@shared_fields(layout="contiguous", autocast="lower")
def _matmul(xp: Any, self: Array, other: Array) -> Array:
    if self.ndim == 0 or other.ndim == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{self.ndim}D and {other.ndim}D")  # fmt: skip
    inner = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if self.shape[-1] != inner or self.dtype != other.dtype or self.dtype == common.BOOL:
        check_matmul(self, other)
    common.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    return product(xp, self, other)


def blend(xp: Any, self: Array, result: Array, beta: Any, alpha: Any) -> Array:
    """Return beta * self + alpha * result. If beta is 0, `self` is ignored, even if it contains NaN."""
    if self.dtype != result.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {common.NAME_OF[self.dtype]} and "
            f"{common.NAME_OF[result.dtype]}"
        )
    shape = common.broadcast_shapes(self.shape, result.shape)
    if shape != result.shape:
        raise RuntimeError(
            f"The expanded size of the tensor ({result.shape[-1]}) must match the existing size "
            f"({self.shape[-1]}) at non-singleton dimension {result.ndim - 1}.  Target sizes: "
            f"{list(result.shape)}.  Tensor sizes: {list(self.shape)}"
        )
    for factor in (alpha, beta):
        if isinstance(factor, complex) and common.CATEGORY_OF[self.dtype] != common.COMPLEX:
            common.check_number(factor, self.dtype)
    if alpha != 1 or isinstance(alpha, bool):
        result = result * common.cast(xp, alpha, result.dtype)
    if beta == 0:
        return result
    return result + (self if beta == 1 else self * common.cast(xp, beta, self.dtype))


@op(
    "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    autocast="lower",
    sparse="matmul.addmm",
    copies_sizes=True,
    graph_autodiff=True,
)
def _addmm(xp: Any, self: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    _need(mat1, 2, f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    _need(mat2, 2, f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    check_mm_shapes(mat1.shape, mat2.shape)
    check_addmm_dtypes(self.dtype, mat1.dtype, mat2.dtype)
    return blend(xp, self, product(xp, mat1, mat2), beta, alpha)


@op(
    "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    autocast={"cuda": "lower"},
)
def _addmv(xp: Any, self: Array, mat: Array, vec: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    check_mv(mat.shape, vec.shape)
    check_addmv_dtypes(self.dtype, mat.dtype, vec.dtype)
    return blend(xp, self, product(xp, mat, vec), beta, alpha)


@op(
    "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    autocast={"cuda": "lower"},
)
def _addr(xp: Any, self: Array, vec1: Array, vec2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    product = _outer(xp, vec1, vec2)
    dtype = common.promote_types(self.dtype, product.dtype)
    for name, factor in (("beta", beta), ("alpha", alpha)):
        common.check_factor(dtype, factor, name)
    return blend(xp, common.cast(xp, self, dtype), common.cast(xp, product, dtype), beta, alpha)


@op(
    "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    autocast="lower",
)
def _baddbmm(xp: Any, self: Array, batch1: Array, batch2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    _need(batch1, 3, "batch1 must be a 3D tensor")
    _need(batch2, 3, "batch2 must be a 3D tensor")
    if self.dtype != batch1.dtype:
        names = [common.CPP_NAME_OF[x.dtype] for x in (self, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}"
        )
    check_bmm_shapes(batch1.shape, batch2.shape)
    check_bmm_dtypes(batch1.dtype, batch2.dtype, "baddbmm")
    return blend(xp, self, product(xp, batch1, batch2), beta, alpha)


@op(
    "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    autocast="lower",
)
def _addbmm(xp: Any, self: Array, batch1: Array, batch2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    _need(batch1, 3, "batch1 must be a 3D tensor")
    _need(batch2, 3, "batch2 must be a 3D tensor")
    check_bmm_shapes(batch1.shape, batch2.shape)
    check_addmm_dtypes(self.dtype, batch1.dtype, batch2.dtype)
    return blend(xp, self, xp.sum(product(xp, batch1, batch2), axis=0, dtype=batch1.dtype), beta, alpha)


@op(
    "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    **SAME_DTYPE_OUT,
    work=cost_model.linear,
    autocast="lower",
    copies_sizes=True,
    graph_autodiff=True,
)
def _linear(xp: Any, input: Array, weight: Array, bias: Array | None = None) -> Array:
    if weight.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    if input.shape[-1:] != weight.shape[-1:]:
        flat = f"{math.prod(input.shape[:-1])}x{input.shape[-1]}"
        turned = f"{weight.shape[-1]}x{weight.shape[0]}"
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({flat} and {turned})")
    if bias is not None:
        check_addmm_dtypes(bias.dtype, input.dtype, weight.dtype)
    elif weight.ndim == 1:
        check_addmv_dtypes(weight.dtype, input.dtype, weight.dtype)
    else:
        check_mm_dtypes(input.dtype, weight.dtype)
    result = product(xp, input, weight.T)
    return result if bias is None else xp.add(result, bias)


@op(
    "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    work=cost_model.bilinear,
    autocast={"cuda": "widest"},
)
def _bilinear(xp: Any, input1: Array, input2: Array, weight: Array, bias: Array | None = None) -> Array:
    if weight.ndim != 3:
        raise RuntimeError(f"bilinear(): weight must be a 3-D tensor, but got a {weight.ndim}-D one")
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for d, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if not size_guards.equal(m, n):
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {m} and {n}")
    for k, x in ((1, input1), (2, input2)):
        if x.ndim == 0 or not size_guards.equal(x.shape[-1], weight.shape[k]):
            input_size = x.shape[-1] if x.ndim else 0
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {input_size} but expected "
                f"{weight.shape[k]}"
            )
    outputs, first, second = weight.shape
    if bias is not None and not size_guards.equal_shapes(bias.shape, (outputs,)):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0] if bias.ndim else 0} but "
            f"expected {outputs}"
        )
    dtype = weight.dtype
    if not input1.dtype == input2.dtype == dtype:
        names = [common.CPP_NAME_OF[x.dtype] for x in (input1, input2, weight)]
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {names[0]}, input2: {names[1]}, weight: "
            f"{names[2]}"
        )
    check_not_bool("bmm", dtype)
    a, b, w = (common.cast(xp, x, common.opmath(dtype)) for x in (input1, input2, weight))
    halfway = xp.matmul(a.reshape(-1, first), w.transpose(1, 0, 2).reshape(first, outputs * second))
    result = xp.matmul(halfway.reshape(-1, outputs, second), b.reshape(-1, second, 1))
    result = result.reshape(*input1.shape[:-1], outputs)
    return common.cast(xp, result if bias is None else result + bias, dtype)


@op(
    "aten::inner(Tensor self, Tensor other) -> Tensor",
    out="out",
    out_dtype_error="tensordot: Expected the output tensor to have dtype {want}, but got an output tensor "
    "with dtype {got}",
    autocast={"cpu": "lower", "cuda": "widest"},
)
def _inner(xp: Any, self: Array, other: Array) -> Array:
    if self.ndim == 0 or other.ndim == 0:
        return xp.multiply(self, other)
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    check_not_bool("addmm_impl_cpu_", self.dtype)
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    return xp.asarray(xp.inner(self, other))


@op(
    "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    out="out",
    where="f",
    out_dtype_error="tensordot: Expected the output tensor to have dtype {want}, but got an output tensor "
    "with dtype {got}",
    work=cost_model.contraction,
    autocast={"cpu": "lower", "cuda": "widest"},
)
def _tensordot(
    xp: Any, self: Array, other: Array, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Array:
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    check_not_bool("addmm_impl_cpu_", self.dtype)
    first = [common.wrap_dim(d, self.ndim) for d in dims_self]
    second = [common.wrap_dim(d, other.ndim) for d in dims_other]
    x, y = self, other
    # If a contracted dimension has size 1 in only one operand, sum the other operand along this dimension.
    for a, b in zip(first, second, strict=True):
        if x.shape[a] != y.shape[b]:
            if 1 not in (x.shape[a], y.shape[b]):
                raise RuntimeError(
                    f"contracted dimensions need to match, but first has size {x.shape[a]} in dim {a} and "
                    f"second has size {y.shape[b]} in dim {b}"
                )
            x = xp.sum(x, axis=a, keepdims=True, dtype=x.dtype) if y.shape[b] == 1 else x
            y = xp.sum(y, axis=b, keepdims=True, dtype=y.dtype) if x.shape[a] == 1 else y
    return xp.asarray(xp.tensordot(x, y, (first, second)))


@op("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", out="out", autocast={"cuda": "widest"})
@op("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", out="out")
@shared_fields(
    layout="contiguous", out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=cost_model.of(cost_model.elements, 0.1),
)  # fmt: skip
def _cross(xp: Any, self: Array, other: Array, dim: int | None = None) -> Array:
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if dim is not None:
        at = common.wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if not size_guards.equal(self.shape[at], 3) or not size_guards.equal(other.shape[at], 3):
            raise RuntimeError(
                f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[at]} and "
                f"{other.shape[at]}"
            )
    shape = common.broadcast_shapes(self.shape, other.shape)
    check_bmm_dtypes(self.dtype, other.dtype, "cross")
    if dim is None:
        axis = next((i for i, n in enumerate(self.shape) if size_guards.evaluate_guard(n == 3)), None)
        if axis is None:
            raise RuntimeError("no dimension of size 3 in input")
    else:
        axis = common.wrap_dim(dim, len(shape))
    a, b = xp.broadcast_to(self, shape), xp.broadcast_to(other, shape)
    x, y = xp.roll(a, -1, axis), xp.roll(b, -2, axis)
    return x * y - xp.roll(a, -2, axis) * xp.roll(b, -1, axis)


@op(
    "aten::chain_matmul(Tensor[] matrices) -> Tensor",
    out="out",
    out_dtype_error="multi_dot(): expected out tensor to have dtype {want_cpp} but got {got_cpp}",
)
@op(
    "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
    out="out",
    out_dtype_error="multi_dot(): expected out tensor to have dtype {want_cpp} but got {got_cpp}",
)
@shared_fields(work=cost_model.chain, autocast="lower")
def _multi_dot(xp: Any, tensors: Sequence[Array]) -> Array:
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(len(tensors)))
    last = len(tensors) - 1
    for i, t in enumerate(tensors):
        if 0 < i < last:
            _need(t, 2, f"multi_dot(): tensor {i} must be 2D but got {t.ndim}D")
        elif t.ndim not in (1, 2):
            which = "the last" if i else "the first"
            raise RuntimeError(f"multi_dot(): {which} tensor must be 1D or 2D but got {t.ndim}D")
        if t.dtype != tensors[0].dtype:
            template = "multi_dot(): all tensors must have be the same dtype but tensor 0 is {want_cpp} and "
            template += f"tensor {i} {{got_cpp}}"
            raise RuntimeError(common.dtype_message(template, tensors[0].dtype, t.dtype))
    dtype = tensors[0].dtype
    check_not_bool("addmm_impl_cpu_", dtype)
    result = common.cast(xp, tensors[0], common.opmath(dtype))
    for i, t in enumerate(tensors[1:]):
        if not size_guards.equal(result.shape[-1], t.shape[0]):
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(t.shape)} cannot be multiplied"
            )
        result = xp.matmul(result, common.cast(xp, t, common.opmath(dtype)))
    return common.cast(xp, xp.asarray(result), dtype)


@op(
    "aten::matrix_power(Tensor self, int n) -> Tensor",
    out="out",
    work=cost_model.power,
    same_as="aten::linalg_matrix_power",
    out_cast_error=castable("matrix_power"),
)
@op(
    "aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
    out="out",
    work=cost_model.power,
    out_cast_error=castable("matrix_power"),
)
def _matrix_power(xp: Any, self: Array, n: int) -> Array:
    if self.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if not size_guards.equal(self.shape[-1], self.shape[-2]):
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{self.shape[-2]} by {self.shape[-1]} matrices"
        )
    square, result = self, None
    is_inverse = n == -1
    if n < 0:
        inverse = find("aten::linalg_inv")
        assert inverse is not None
        square, n = inverse.kernel(xp, self), -n
    while n:
        if n & 1:
            result = square if result is None else xp.matmul(result, square)
        n >>= 1
        square = xp.matmul(square, square) if n else square
    if result is None:
        return xp.zeros_like(self) + xp.eye(self.shape[-1], dtype=self.dtype)
    if is_inverse:
        return with_result_strides(xp, "columns", result, ())
    return self.copy() if result is self else result.astype(self.dtype, copy=False)


def _expand_summed_ellipsis(equation: str, tensors: Sequence[Array]) -> str:
    """Replace `...` by letters if the output has no `...`, so that NumPy sums over these dimensions."""
    inputs, arrow, output = equation.partition("->")
    if not arrow or "." in output or "." not in inputs:
        return equation
    free = [c for c in string.ascii_letters if c not in equation]
    operands = []
    for letters, x in zip(inputs.split(","), tensors, strict=True):
        more = x.ndim - len(letters) + 3
        operands.append(letters.replace("...", "".join(free[len(free) - more :]) if more else ""))
    return ",".join(operands) + "->" + output


def _check_product_dtypes(equation: str, tensors: Sequence[Array]) -> None:
    """Check dtypes like PyTorch, which contracts the operands from left to right.

    Contractions with a sum are matrix products, and require equal dtypes other than bool. Contractions
    without a sum are pointwise products, which promote dtypes.
    """
    inputs, arrow, output = equation.partition("->")
    operands = inputs.split(",")
    if not arrow:
        output = "".join(c for c in inputs if inputs.count(c) == 1)
    left, dtype = set(operands[0]), tensors[0].dtype
    for i, (letters, x) in enumerate(zip(operands[1:], tensors[1:], strict=True), 2):
        later = set("".join(operands[i:]) + output)
        if (left & set(letters)) - later - {"."}:
            check_bmm_dtypes(dtype, x.dtype)
        left, dtype = (left | set(letters)) & later, common.promote_types(dtype, x.dtype)


def _check_equation(equation: str, tensors: Sequence[Array]) -> None:
    """Raise RuntimeError if the equation's subscripts do not match the operands."""
    inputs, _, output = equation.partition("->")
    operands = inputs.split(",")
    if len(operands) != len(tensors):
        is_too_few = len(operands) < len(tensors)
        raise RuntimeError(
            "einsum(): more operands were provided than specified in the equation" if is_too_few
            else "einsum(): fewer operands were provided than specified in the equation"
        )  # fmt: skip
    letter_sizes: dict[str, int] = {}
    for at, (letters, x) in enumerate(zip(operands, tensors, strict=True)):
        head, dots, tail = letters.partition("...")
        subscript_count = len(head) + len(tail)
        if (subscript_count != x.ndim and not dots) or subscript_count > x.ndim:
            relation = "is more than" if dots else "does not match"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({subscript_count}) {relation} "
                f"the number of dimensions ({x.ndim}) for operand {at}"
                + ("" if dots else " and no ellipsis was given")
            )
        sizes = [*x.shape[: len(head)], *x.shape[x.ndim - len(tail) :]]
        for letter, n in zip(head + tail, sizes, strict=True):
            if letter_sizes.setdefault(letter, n) != n and 1 not in (letter_sizes[letter], n):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {at} which does not broadcast "
                    f"with previously seen size {letter_sizes[letter]}"
                )
            letter_sizes[letter] = max(letter_sizes[letter], n)
    for letter in output.replace(".", ""):
        if letter not in letter_sizes:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )


@op(
    "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    layout="contiguous",
    work=cost_model.einsum,
    autocast="lower",
)
def _einsum(xp: Any, equation: str, tensors: Sequence[Array], path: Sequence[int] | None = None) -> Array:
    # no `->` is added: for an implicit result, NumPy and PyTorch use the same order of subscripts
    compact = equation.replace(" ", "")
    if any(c not in string.ascii_letters + ",.->" for c in compact):
        raise RuntimeError(f"einsum(): invalid subscript given in the equation string: {equation}")
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    _check_equation(compact, tensors)
    _check_product_dtypes(compact, tensors)
    compact = _expand_summed_ellipsis(compact, tensors)
    dtype = common.result_type(*tensors)
    wide = common.opmath(dtype)
    try:
        summed = xp.einsum(compact, *[common.cast(xp, t, wide) for t in tensors], optimize=len(tensors) > 2)
        return common.cast(xp, xp.asarray(summed), dtype)
    except ValueError as error:
        raise RuntimeError(f"einsum(): {error}") from None
