"""Pointwise operators with three arguments, options, or several results.

Input: arrays and numbers that broadcast to one shape. Output: arrays of the broadcast shape.
"""

from __future__ import annotations

import math
from typing import Any

from ts import dtypes
from ts.ops import common
from ts.ops.out_variants import FOUND_DTYPE_ERROR, POINTWISE_OUT, write
from ts.ops.pointwise import promote
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ITEM, ShapeAndDtype, depends, float_like, itself
from ts.ops.type_promotion import SAME
from ts.ops.unary import digamma

Array = common.Array

# ------------------------------------------------------------------------------ operators with three operands


@op(
    "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out="out",
    cuda="a + d * b * c",
    layout="like_all",
    autocast={"cuda": "widest"},
    graph_autodiff=True,
)
def _addcmul(xp: Any, self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    x, a, b = promote(xp, SAME, self, tensor1, tensor2)
    if x.dtype == common.BOOL:
        common.raise_unsupported_dtype("addcmul_cpu_out", x.dtype)
    return common.cast(xp, x + common.cast_checked(xp, value, x.dtype) * a * b, x.dtype)


@op(
    "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out="out",
    cuda="a + d * (b / c)",
    layout="like_all",
    autocast={"cuda": "widest"},
)
def _addcdiv(xp: Any, self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    if tensor1.dtype.kind in "iub" and tensor2.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
            "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
            "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
            "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
        )
    x, a, b = promote(xp, SAME, self, tensor1, tensor2)
    return common.cast(xp, x + common.cast_checked(xp, value, x.dtype) * a / b, x.dtype)


@op(
    "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    inplace=True,
    out="Scalar_out",
    cuda="abs(c) < 0.5f ? a + c * (b - a) : b - (b - a) * (1 - c)",
    graph_autodiff=True,
)
@op(
    "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="abs(c) < 0.5f ? a + c * (b - a) : b - (b - a) * (1 - c)",
    out_dtype_error=FOUND_DTYPE_ERROR,
    graph_autodiff=True,
)
@shared_fields(layout="like_all")
def _lerp(xp: Any, self: Array, end: Array, weight: Any) -> Array:
    for other in (end, weight):
        if not isinstance(other, (int, float, complex)) and other.dtype != self.dtype:
            raise RuntimeError(
                f"expected dtype {common.CPP_NAME_OF[self.dtype]} for "
                f"`{'end' if other is end else 'weight'}` but got dtype {common.CPP_NAME_OF[other.dtype]}"
            )
    if self.dtype.kind in "biu":
        kind = "scalar" if isinstance(weight, (int, float, complex)) else "tensor"
        common.raise_unsupported_dtype(f"lerp_kernel_{kind}", self.dtype)
    common.check_number(weight, self.dtype)
    w = common.cast(xp, weight, self.dtype)
    near = self + w * (end - self)
    return xp.where(xp.abs(w) < 0.5, near, end - (end - self) * (1 - w)).astype(self.dtype)


@op(
    "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    tile=True,
    out="self_out",
    cuda="a ? b : c",
    out_dtype_error="Expected out type to be {want} but got {got}",
    graph_autodiff=True,
)
@op(
    "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    tile=True,
    cuda="a ? b : c",
    where="f",
)
@op(
    "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    tile=True,
    cuda="a ? b : c",
)
@op("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", cuda="a ? b : c")
@shared_fields(layout="like_all")
def _where(xp: Any, condition: Array, self: Any, other: Any) -> Array:
    if condition.dtype not in (common.BOOL, common.UINT8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{common.NAME_OF[condition.dtype]}"
        )
    dtype = common.result_type(self, other)
    convert = common.cast_checked if common.CATEGORY_OF[dtype] == common.INTEGRAL else common.cast
    x, y = convert(xp, self, dtype), convert(xp, other, dtype)
    common.broadcast_shapes(condition.shape, x.shape, y.shape)
    return xp.where(condition.astype(bool), x, y)


# ---------------------------------------------------------------------------------------- clamp and rounding


# Names of PyTorch's kernels in the error messages for complex numbers: (if only a lower limit is passed, if
# only an upper limit is passed)
_ONE_LIMIT = ("maximum_cpu", "minimum_cpu")


def clamp_kernel(xp: Any, self: Array, min: Any = None, max: Any = None) -> Array:
    """Clamp `self` to [min, max]. If a limit is NaN, the result is NaN."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    dtype = common.result_type(self, min, max)
    if dtype.kind == "c":
        common.raise_unsupported_dtype(
            "clamp_cpu" if min is not None and max is not None else _ONE_LIMIT[min is None], dtype
        )
    result = common.cast(xp, self, dtype)
    if min is not None:
        result = _limited(xp.maximum, result, common.cast_checked(xp, min, dtype))
    if max is not None:
        result = _limited(xp.minimum, result, common.cast_checked(xp, max, dtype))
    return result


def _limited(limit_by: Any, x: Array, limit: Any) -> Array:
    """Return `limit_by(x, limit)`, NumPy's minimum or maximum. If x and a 0-dim limit are zero, return x.

    The two zeros may have different signs. For equal operands, NumPy returns the first operand for float16,
    and the second for other dtypes.
    """
    if x.dtype.name != "float16" and getattr(limit, "ndim", 0) == 0:
        return limit_by(limit, x)
    return limit_by(x, limit)


@op(
    "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    tile=True,
    layout="like_all",
    inplace=True,
    cuda="min(max(a, b), c)",
    **POINTWISE_OUT,
    graph_autodiff=True,
)
@op(
    "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    layout="like_all",
    inplace=True,
    out="Tensor_out",
    cuda="min(max(a, b), c)",
    graph_autodiff=True,
)
@op(
    "aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    layout="like_all",
    inplace=True,
    out="out",
    same_as="aten::clamp",
)
@op(
    "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    layout="like_all",
    inplace=True,
    out="Tensor_out",
    same_as="aten::clamp",
)
def _clamp(xp: Any, self: Array, min: Any = None, max: Any = None) -> Array:
    has_both = min is not None and max is not None
    if has_both and self.dtype == common.BOOL and common.result_type(self, min, max) == common.BOOL:
        name = "clamp_scalar_cpu" if isinstance(min, bool) else "clamp_cpu"
        common.raise_unsupported_dtype(name, common.BOOL)
    return clamp_kernel(xp, self, min, max)


@op(
    "aten::clamp_min(Tensor self, Scalar min) -> Tensor",
    tile=True,
    layout="like_all",
    inplace=True,
    cuda="max(a, b)",
    dtype_errors={"b": "clamp_min_scalar_cpu"},
    **POINTWISE_OUT,
)
@op(
    "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="max(a, b)",
    layout="like_all",
)
def _clamp_min(xp: Any, self: Array, min: Any) -> Array:
    return clamp_kernel(xp, self, min, None)


@op(
    "aten::clamp_max(Tensor self, Scalar max) -> Tensor",
    tile=True,
    layout="like_all",
    inplace=True,
    cuda="min(a, b)",
    dtype_errors={"b": "clamp_max_scalar_cpu"},
    **POINTWISE_OUT,
)
@op(
    "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="min(a, b)",
    layout="like_all",
)
def _clamp_max(xp: Any, self: Array, max: Any) -> Array:
    return clamp_kernel(xp, self, None, max)


@op(
    "aten::round(Tensor self) -> Tensor",
    inplace=True,
    cuda="rint(a)",
    **POINTWISE_OUT,
    sparse="elementwise.on_values",
    graph_autodiff=True,
    layout="like_all",
)
@op(
    "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
    inplace=True,
    out="decimals_out",
    out_dtype_error=FOUND_DTYPE_ERROR,
    layout="like_all",
)
@op(
    "aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
    dtype_errors={"i": "round_vml_cpu"},
    same_as="aten::round",
    **POINTWISE_OUT,
)
def _round(xp: Any, self: Array, decimals: int = 0) -> Array:
    if self.dtype.kind in "bc":
        common.raise_unsupported_dtype("round_vml_cpu", self.dtype)
    if self.dtype.kind in "iu":
        if decimals:
            common.raise_unsupported_dtype("round_cpu", self.dtype)
        return self.copy()
    if decimals == 0:
        return xp.rint(self)
    ten = xp.asarray(float(f"1e{abs(decimals)}"), dtype=self.dtype)  # infinite if 10 ** decimals overflows
    return xp.rint(self * ten) / ten if decimals > 0 else xp.rint(self / ten) * ten


@op(
    "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    inplace=True,
    out="out",
    layout="like_first",
    out_dtype_error="nan_to_num: dtype of out: {got} should be same as input: {want}",
    sparse="elementwise.on_values",
)
def _nan_to_num(
    xp: Any, self: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Array:
    if self.dtype.kind in "iub":
        return self.copy()
    wide = common.cast(xp, self, common.opmath(self.dtype))
    if wide.dtype != self.dtype:
        largest = float(dtypes.finfo(dtypes.from_numpy_dtype(self.dtype)).max)
        posinf, neginf = (largest if posinf is None else posinf), (-largest if neginf is None else neginf)
    return common.cast(xp, xp.nan_to_num(wide, nan=nan or 0.0, posinf=posinf, neginf=neginf), self.dtype)


@op("aten::logit(Tensor self, float? eps=None) -> Tensor", inplace=True, out="out")
@op("aten::special_logit(Tensor self, float? eps=None) -> Tensor", out="out", same_as="aten::logit")
@shared_fields(dtype_errors={"c": "logit_cpu"})
def _logit(xp: Any, self: Array, eps: float | None = None) -> Array:
    dtype = common.float_dtype(self.dtype)
    x = common.cast(xp, self, common.opmath(dtype))
    if eps is not None:
        x = xp.clip(x, xp.asarray(eps, x.dtype), xp.asarray(1 - eps, x.dtype))
    return common.cast(xp, xp.log(x / (1 - x)), dtype)


def _polygamma_shape(n: int, self: Array) -> ShapeAndDtype:
    """Return the shape of `self` with its float-promoted dtype."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return float_like(self)


@op("aten::polygamma(int n, Tensor self) -> Tensor", out="out", work=1.0)
@op("aten::special_polygamma(int n, Tensor self) -> Tensor", out="out", work=1.0, same_as="aten::polygamma")
@shared_fields(layout="like_first", shape=_polygamma_shape)
def _polygamma(xp: Any, n: int, self: Array) -> Array:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    x = common.cast(xp, self, common.float_dtype(self.dtype))
    if n == 0:
        return common.cast(xp, digamma(xp, x), x.dtype)
    return common.cast(xp, xp.in_pieces(lambda chunk: xp.scipy("special").polygamma(n, chunk), x), x.dtype)


@op(
    "aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
    where="m",
    variant="inplace",
    shape=itself,
    work=1.0,
)
def _polygamma_in_place(xp: Any, self: Array, n: int) -> Array:
    return write(xp, self, _polygamma(xp, n, self))


@op(
    "aten::mvlgamma(Tensor self, int p) -> Tensor",
    inplace=True,
    out="out",
    out_cast_error="mvlgamma: result type {want} can't be cast to the desired output type {want}",
)
@op(
    "aten::special_multigammaln(Tensor self, int p) -> Tensor",
    out="out",
    same_as="aten::mvlgamma",
    out_cast_error="mvlgamma: result type {want} can't be cast to the desired output type {want}",
)
@shared_fields(layout="contiguous", dtype_errors={"b": "The input tensor may not be a boolean tensor."})
def _mvlgamma(xp: Any, self: Array, p: int) -> Array:
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = common.cast(xp, self, common.float_dtype(self.dtype))
    shifted = x[..., None] - xp.arange(p, dtype=x.dtype) / 2
    total = xp.in_pieces(xp.special("gammaln"), shifted).sum(-1)
    return common.cast(xp, total + 0.25 * p * (p - 1) * math.log(math.pi), x.dtype)


@op(
    "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
    "bool equal_nan=False) -> Tensor",
    layout="like_all",
)
def _isclose(
    xp: Any, self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    if self.dtype != other.dtype:
        raise RuntimeError(f"{common.NAME_OF[self.dtype]} did not match {common.NAME_OF[other.dtype]}")
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if not bound >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound:g}")
    return _close(xp, self, other, rtol, atol, equal_nan)


def _close(xp: Any, a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    close = a == b
    if equal_nan and a.dtype.kind in "fc":
        close = close | (xp.isnan(a) & xp.isnan(b))
    if rtol == 0 and atol == 0:
        return close
    x = a if a.dtype.kind in "fc" else a.astype(common.DOUBLE)
    y = b if b.dtype.kind in "fc" else b.astype(common.DOUBLE)
    error = xp.abs(x - y)
    return close | (xp.isfinite(error) & (error <= atol + xp.abs(rtol * y)))


@op(
    "aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
    "bool equal_nan=False) -> bool",
    shape=ITEM,
)
def _allclose(
    xp: Any, self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    return bool(_isclose(xp, self, other, rtol, atol, equal_nan).all())


@op("aten::equal(Tensor self, Tensor other) -> bool", shape=depends("equal"))
def _equal(xp: Any, self: Array, other: Array) -> bool:
    return self.shape == other.shape and bool((self == other).all())


_OTHER_OUT = "Expected object of scalar type {want} but got scalar type {got} for argument 'out'"


@op(
    "aten::complex(Tensor real, Tensor imag) -> Tensor",
    out="out",
    out_dtype_error=_OTHER_OUT,
    layout="like_all",
)
def _complex(xp: Any, real: Array, imag: Array) -> Array:
    _check_parts(real, imag)
    shape = common.broadcast_shapes(real.shape, imag.shape)
    _check_same(real, imag)
    result = xp.empty(shape, dtype=common.complex_dtype(real.dtype))
    if result.dtype.kind == "c":
        result.real, result.imag = real, imag
    else:  # a complex dtype of `ml_dtypes`
        components = result.reshape(*shape, 1).view(real.dtype)
        components[..., 0], components[..., 1] = real, imag
    return result


@op(
    "aten::polar(Tensor abs, Tensor angle) -> Tensor",
    out="out",
    out_dtype_error=_OTHER_OUT,
    layout="like_all",
    autocast={"cpu": "float32"},
)
def _polar(xp: Any, abs: Array, angle: Array) -> Array:
    _check_parts(abs, angle)
    _check_same(abs, angle)
    if abs.dtype == common.HALF:
        common.raise_unsupported_dtype("polar_cpu", common.HALF)
    return _complex(xp, abs * xp.cos(angle), abs * xp.sin(angle))


def _check_same(a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {common.NAME_OF[a.dtype]} but got scalar type "
            f"{common.NAME_OF[b.dtype]} for second argument"
        )


def _check_parts(a: Array, b: Array) -> None:
    if not {a.dtype, b.dtype} <= {common.HALF, common.FLOAT, common.DOUBLE}:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {common.NAME_OF[a.dtype]} "
            f"and {common.NAME_OF[b.dtype]}"
        )


@op(
    "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    out="Tensor_out",
    out_dtype_error="torch.frexp() expects mantissa to have dtype {want_cpp} but got {got_cpp}",
)
def _frexp(xp: Any, self: Array) -> tuple[Array, Array]:
    if self.dtype.kind != "f" and self.dtype not in common.HALF_DTYPES:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = xp.frexp(self)
    return mantissa, common.cast(xp, exponent, common.INT32)
