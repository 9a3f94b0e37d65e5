"""Pointwise operators of two or more arguments: arithmetic, comparison, logic, bits.

In: arrays and numbers that broadcast; out: one array of the broadcast shape.  A row of the tables:

    binary("maximum", SAME, "maximum", "max(a, b)")
           name       promotion  ufunc or body  CUDA expression

Overloads with a number on one side have rows of their own where PyTorch has schemas of their own;
kernels are the same, because a number keeps its rank in promotion (see `rules.result_type`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts.ops import rules
from ts.ops.registry import Record, add, inplace_of, op, out_of
from ts.ops.unary import BOOLEAN, FLOAT, SAME, types_without

Array = rules.Array
Body = str | Callable[[Any, Array, Array], Array]


def promote(xp: Any, promotion: str, *operands: Any) -> tuple[Array, ...]:
    """The operands as arrays of their common dtype, checked to broadcast."""
    dtype = rules.result_type(*operands)
    if promotion == FLOAT:
        dtype = rules.float_dtype(dtype)
    rules.broadcast_shapes(*(rules.shape_of(x) for x in operands))
    return tuple(rules.cast(xp, x, dtype) for x in operands)


def kernel_of(name: str, promotion: str, body: Body, no: str = "") -> Callable[..., Array]:
    """The kernel of a row: promote, refuse, compute, give the result its dtype."""

    def kernel(xp: Any, a: Any, b: Any) -> Array:
        x, y = promote(xp, promotion, a, b)
        if no and x.dtype.kind in no:
            rules.refuse(name, x.dtype)
        result = getattr(xp, body)(x, y) if isinstance(body, str) else body(xp, x, y)
        return rules.cast(xp, result, rules.BOOL if promotion == BOOLEAN else x.dtype)

    return kernel


TENSOR = ("", "Tensor other", "out", "")  # overload, argument, out overload, in-place overload


def binary(
    name: str, promotion: str, body: Body, cuda: str | None = None, *, no: str = "", forms: str = "io",
    overloads: str = "", second: str = "other", aliases: tuple[str, ...] = (), where: str = "fm",
) -> None:  # fmt: skip
    """Declare `aten::name`.

    overloads   ""              name(Tensor self, Tensor other)
                "Tensor"        name.Tensor, with name.Scalar after it and Scalar_out / Tensor_out
    """
    kernel = kernel_of(name, promotion, body, no)
    ufunc = body if isinstance(body, str) else None
    for spelled in (name, *aliases):
        rows = (("", "Tensor", "out"),) if not overloads else OVERLOADS[overloads]
        if spelled != name and overloads == "tensor":
            rows = OVERLOADS["alias"]
        for overload, kind, out in rows:
            dot = f".{overload}" if overload else ""
            text = f"aten::{spelled}{dot}(Tensor self, {kind} {second}) -> Tensor"
            record = add(
                Record(text, kernel, "pointwise", promotion=promotion, ufunc=ufunc, types=types_without(no), cuda=cuda, where=where)
            )
            if "i" in forms and not spelled.startswith("special_"):
                add(inplace_of(record, "Tensor" if overloads == "floor" and kind == "Tensor" else None))
            if "o" in forms and out:
                add(out_of(record, out))


#                       overload, kind of the second argument, overload of the out= form
OVERLOADS = {
    "compare": (("Tensor", "Tensor", "Tensor_out"), ("Scalar", "Scalar", "Scalar_out")),
    "tensor": (("Tensor", "Tensor", "out"), ("Scalar", "Scalar", "Scalar_out")),
    "scalar first": (("Scalar", "Scalar", "Scalar_out"), ("Tensor", "Tensor", "Tensor_out")),
    "dunder": (("Scalar", "Scalar", ""), ("Tensor", "Tensor", "")),
    "alias": (("Tensor", "Tensor", "out"), ("Scalar", "Scalar", "")),
    "floor": (("", "Tensor", "out"), ("Scalar", "Scalar", "Scalar_out")),
    "shift": (("Tensor", "Tensor", "Tensor_out"), ("Tensor_Scalar", "Scalar", "Tensor_Scalar_out")),
}


# ---------------------------------------------------------------------------------------- bodies


def _refuse_bool_sub(x: Array) -> None:
    if x.dtype == rules.BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )


def _floor_divide(xp: Any, x: Array, y: Array) -> Array:
    _refuse_zero(xp, y)
    return xp.floor_divide(x, y)


def _refuse_zero(xp: Any, y: Array) -> None:
    if y.dtype.kind in "iub" and (y == 0).any():
        raise RuntimeError("ZeroDivisionError")


def _true_divide(xp: Any, x: Array, y: Array) -> Array:
    return xp.true_divide(x, y)


def _remainder(xp: Any, x: Array, y: Array) -> Array:
    _refuse_zero(xp, y)
    return xp.remainder(x, y)


def _fmod(xp: Any, x: Array, y: Array) -> Array:
    _refuse_zero(xp, y)
    return xp.fmod(x, y)


def _power(xp: Any, x: Array, y: Array) -> Array:
    if x.dtype == rules.BOOL:
        return x | ~y
    if x.dtype.kind in "iu":
        safe = xp.power(x, xp.where(y < 0, 0, y))
        inverse = (
            xp.where(x == 1, 1, xp.where(x == -1, xp.where(y % 2 == 0, 1, -1), 0))
            if x.dtype.kind == "i"
            else x == 1
        )
        return xp.where(y < 0, inverse, safe)
    return xp.power(x, y)


def _xlogy(xp: Any, x: Array, y: Array) -> Array:
    return xp.where(xp.isnan(y), y, xp.where(x == 0, 0, x * xp.log(y)))


def _xlog1py(xp: Any, x: Array, y: Array) -> Array:
    return xp.where(xp.isnan(y), y, xp.where(x == 0, 0, x * xp.log1p(y)))


def _logaddexp(xp: Any, x: Array, y: Array) -> Array:
    if x.dtype.kind != "c":
        return xp.logaddexp(x, y)
    high, low = xp.where(x.real >= y.real, x, y), xp.where(x.real >= y.real, y, x)
    return xp.where(high == low, high + math.log(2), high + xp.log1p(xp.exp(low - high)))


def _logical(name: str) -> Callable[[Any, Array, Array], Array]:
    def body(xp: Any, x: Array, y: Array) -> Array:
        return getattr(xp, name)(x != 0, y != 0)

    return body


def _heaviside(xp: Any, x: Array, y: Array) -> Array:
    return xp.where(x == 0, y, (x > 0).astype(x.dtype))


def _special2(name: str) -> Callable[[Any, Array, Array], Array]:
    def body(xp: Any, x: Array, y: Array) -> Array:
        return getattr(rules.special_functions(xp), name)(x, y)

    return body


def _shift(name: str) -> Callable[[Any, Array, Array], Array]:
    def body(xp: Any, x: Array, y: Array) -> Array:
        bits = x.dtype.itemsize * 8
        wild = (y < 0) | (y >= bits)
        moved = getattr(xp, name)(x, xp.where(wild, 0, y))
        beyond = (x >> (bits - 1)) if name == "right_shift" and x.dtype.kind == "i" else xp.zeros_like(x)
        return xp.where(wild, beyond, moved)

    return body


# ---------------------------------------------------------------------------------------- tables

#                     promotion ufunc or body       CUDA
binary("mul", SAME, "multiply", "a * b", overloads="tensor", aliases=("multiply",))
binary("div", FLOAT, "true_divide", "a / b", overloads="tensor", aliases=("divide", "true_divide"))
binary("floor_divide", SAME, _floor_divide, "floor(a / b)", overloads="floor", no="c")
binary("remainder", SAME, _remainder, overloads="compare", no="bc")
binary("fmod", SAME, _fmod, "fmod(a, b)", overloads="compare", no="bc")
binary("atan2", FLOAT, "arctan2", "atan2(a, b)", no="c", aliases=("arctan2",))
binary("copysign", FLOAT, "copysign", "copysign(a, b)", no="c", overloads="tensor")
binary("nextafter", SAME, "nextafter", "nextafter(a, b)", no="biuc")
binary("hypot", SAME, "hypot", "hypot(a, b)", no="biuc")
binary("maximum", SAME, "maximum", "a > b || isnan(a) ? a : b", no="c", forms="o")
binary("minimum", SAME, "minimum", "a < b || isnan(a) ? a : b", no="c", forms="o")
binary("fmax", SAME, "fmax", "fmax(a, b)", no="c", forms="o")
binary("fmin", SAME, "fmin", "fmin(a, b)", no="c", forms="o")
binary("logaddexp", SAME, _logaddexp, forms="o", no="biu")
binary("logaddexp2", SAME, "logaddexp2", forms="o", no="biuc")
binary("heaviside", SAME, _heaviside, second="values", no="c")
binary("gcd", SAME, "gcd", no="bfc")
binary("lcm", SAME, "lcm", no="bfc")
binary("igamma", SAME, _special2("gammainc"), no="biuc", aliases=("special_gammainc",))
binary("igammac", SAME, _special2("gammaincc"), no="biuc", aliases=("special_gammaincc",))
binary("special_zeta", FLOAT, _special2("zeta"), no="c", where="f")

for _name, _ufunc, _cuda, _aliases in (
    ("eq", "equal", "a == b", ()),
    ("ne", "not_equal", "a != b", ("not_equal",)),
    ("lt", "less", "a < b", ("less",)),
    ("le", "less_equal", "a <= b", ("less_equal",)),
    ("gt", "greater", "a > b", ("greater",)),
    ("ge", "greater_equal", "a >= b", ("greater_equal",)),
):
    binary(
        _name, BOOLEAN, _ufunc, _cuda, overloads="compare", aliases=_aliases,
        no="" if _name in ("eq", "ne") else "c",
    )  # fmt: skip

binary("logical_and", BOOLEAN, _logical("logical_and"), "a && b")
binary("logical_or", BOOLEAN, _logical("logical_or"), "a || b")
binary("logical_xor", BOOLEAN, _logical("logical_xor"), "!a != !b")

for _name, _ufunc, _cuda in (
    ("and", "bitwise_and", "a & b"),
    ("or", "bitwise_or", "a | b"),
    ("xor", "bitwise_xor", "a ^ b"),
):
    binary(_ufunc, SAME, _ufunc, _cuda, overloads="compare", no="fc")
    add(Record(
        f"aten::{_ufunc}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        kernel_of(_ufunc, SAME, _ufunc, "fc"), "pointwise", promotion=SAME, cuda=_cuda, where="f",
    ))  # fmt: skip
    binary(f"__{_name}__", SAME, _ufunc, _cuda, overloads="dunder", no="fc", forms="", where="m")

binary("bitwise_left_shift", SAME, _shift("left_shift"), "a << b", overloads="shift", no="bfc")
binary("bitwise_right_shift", SAME, _shift("right_shift"), "a >> b", overloads="shift", no="bfc")
binary("__lshift__", SAME, _shift("left_shift"), "a << b", overloads="dunder", forms="", no="bfc", where="m")
binary("__rshift__", SAME, _shift("right_shift"), "a >> b", overloads="dunder", forms="", no="bfc", where="m")


# ---------------------------------------------------------------------------------------- with alpha, modes


def _alpha(dtype: rules.DType, alpha: Any) -> None:
    if isinstance(alpha, bool) and dtype != rules.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def add_kernel(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    """self + alpha * other"""
    x, y = promote(xp, SAME, self, other)
    if alpha is not True and alpha == 1:
        return xp.add(x, y)
    _alpha(x.dtype, alpha)
    return rules.cast(xp, xp.add(x, y * rules.cast(xp, alpha, x.dtype)), x.dtype)


def sub_kernel(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    """self - alpha * other"""
    x, y = promote(xp, SAME, self, other)
    _refuse_bool_sub(x)
    if alpha == 1:
        return xp.subtract(x, y)
    _alpha(x.dtype, alpha)
    return rules.cast(xp, xp.subtract(x, y * rules.cast(xp, alpha, x.dtype)), x.dtype)


def _divide(xp: Any, self: Any, other: Any, rounding_mode: str | None) -> Array:
    if rounding_mode is None:
        return kernel_of("div", FLOAT, "true_divide")(xp, self, other)
    x, y = promote(xp, SAME, self, other)
    _refuse_zero(xp, y)
    if rounding_mode == "floor":
        return xp.floor_divide(x, y)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    if x.dtype.kind == "f" or x.dtype == rules.BFLOAT16:
        return rules.cast(xp, xp.trunc(x / y), x.dtype)
    quotient = xp.floor_divide(x, y)
    return rules.cast(xp, quotient + ((quotient < 0) & (quotient * y != x)), x.dtype)


@op(
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="add",
    cuda="a + b",
)
@op(
    "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="Scalar_out",
    promotion=SAME,
    ufunc="add",
    cuda="a + b",
)
def _add(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    return add_kernel(xp, self, other, alpha)


@op(
    "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="subtract",
    cuda="a - b",
)
@op(
    "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="Scalar_out",
    promotion=SAME,
    ufunc="subtract",
    cuda="a - b",
)
@op("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", inplace=True, out="out")
@op("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", inplace=True)
def _sub(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    return sub_kernel(xp, self, other, alpha)


@op(
    "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    out="Tensor_out",
    promotion=SAME,
    cuda="b - a",
)
@op(
    "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    out="Scalar_out",
    promotion=SAME,
    cuda="b - a",
)
def _rsub(xp: Any, self: Array, other: Any, alpha: Any = 1) -> Array:
    return sub_kernel(xp, other, self, alpha)


@op(
    "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="out_mode",
)
@op(
    "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="Scalar_mode_out",
)
@op(
    "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="out_mode",
)
@op("aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", inplace=True)
def _div_mode(xp: Any, self: Array, other: Any, rounding_mode: str | None) -> Array:
    return _divide(xp, self, other, rounding_mode)


@op("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out="Scalar_Tensor_out")
def _remainder_number(xp: Any, self: Any, other: Array) -> Array:
    return kernel_of("remainder", SAME, _remainder, "bc")(xp, self, other)


@op(
    "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    inplace="Tensor",
    out="Tensor_Tensor_out",
    promotion=SAME,
    cuda="pow(a, b)",
)
@op(
    "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    inplace="Scalar",
    out="Tensor_Scalar_out",
    promotion=SAME,
    cuda="pow(a, b)",
)
@op(
    "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    out="Scalar_out",
    promotion=SAME,
    cuda="pow(a, b)",
)
def _pow(xp: Any, self: Any, exponent: Any) -> Array:
    x, y = promote(xp, SAME, self, exponent)
    if x.dtype.kind in "iu" and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if isinstance(exponent, (int, float)) and exponent == 2 and x.dtype != rules.BOOL:
        return x * x
    return rules.cast(xp, _power(xp, x, y), x.dtype)


@op(
    "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    inplace="Tensor",
    out="Tensor_Tensor_out",
)
@op("aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", out="Scalar_out")
@op(
    "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    inplace="Scalar",
    out="Tensor_Scalar_out",
)
def _float_power(xp: Any, self: Any, exponent: Any) -> Array:
    kind = max(rules.category(self), rules.category(exponent))
    dtype = rules.CDOUBLE if kind == rules.COMPLEX else rules.DOUBLE
    return xp.power(rules.cast(xp, self, dtype), rules.cast(xp, exponent, dtype))


@op("aten::__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", where="m")
@op("aten::__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", where="m")
def _ior(xp: Any, self: Array, other: Any) -> Array:
    self[...] = kernel_of("bitwise_or", SAME, "bitwise_or", "fc")(xp, self, other)
    return self


@op("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", inplace="", out="out")
def _ldexp(xp: Any, self: Array, other: Array) -> Array:
    power = _pow(xp, 2.0, other)
    return kernel_of("mul", SAME, "multiply")(xp, self, power)


@op("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", inplace=True, out="OutTensor")
@op("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", out="OutScalar_Self")
@op("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", inplace=True, out="OutScalar_Other")
@op("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", out="out")
@op("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", out="self_scalar_out")
@op("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", out="other_scalar_out")
def _xlogy_op(xp: Any, self: Any, other: Any) -> Array:
    x, y = promote(xp, FLOAT, self, other)
    return rules.cast(xp, _xlogy(xp, x, y), x.dtype)


@op("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", out="out")
@op("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", out="self_scalar_out")
@op("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", out="other_scalar_out")
def _xlog1py_op(xp: Any, self: Any, other: Any) -> Array:
    x, y = promote(xp, FLOAT, self, other)
    return rules.cast(xp, _xlog1py(xp, x, y), x.dtype)


@op("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", out="self_scalar_out")
@op("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", out="other_scalar_out")
def _zeta(xp: Any, self: Any, other: Any) -> Array:
    return kernel_of("special_zeta", FLOAT, _special2("zeta"), "c")(xp, self, other)


@op(
    "aten::bitwise_not(Tensor self) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="invert",
    cuda="~a",
)
def _bitwise_not(xp: Any, self: Array) -> Array:
    return xp.invert(self)


# ---------------------------------------------------------------------------------------- three operands


@op(
    "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out="out",
    cuda="a + alpha * b * c",
)
def _addcmul(xp: Any, self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    x, a, b = promote(xp, SAME, self, tensor1, tensor2)
    return rules.cast(xp, x + rules.cast(xp, value, x.dtype) * a * b, x.dtype)


@op(
    "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    inplace=True,
    out="out",
    cuda="a + alpha * b / c",
)
def _addcdiv(xp: Any, self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    x, a, b = promote(xp, SAME, self, tensor1, tensor2)
    if a.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform "
            "a true division of tensor1 and tensor2."
        )
    return rules.cast(xp, x + rules.cast(xp, value, x.dtype) * (a / b), x.dtype)


@op(
    "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="a + c * (b - a)",
)
@op(
    "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    inplace=True,
    out="Scalar_out",
    cuda="a + c * (b - a)",
)
def _lerp(xp: Any, self: Array, end: Array, weight: Any) -> Array:
    for other in (end, weight):
        if not isinstance(other, (int, float, complex)) and other.dtype != self.dtype:
            raise RuntimeError(
                f"expected dtype {NAMES[self.dtype]} for `{'end' if other is end else 'weight'}` but got dtype "
                f"{NAMES[other.dtype]}"
            )
    w = rules.cast(xp, weight, self.dtype)
    near = self + w * (end - self)
    return xp.where(xp.abs(w) < 0.5, near, end - (end - self) * (1 - w)).astype(self.dtype)


NAMES = {
    rules.HALF: "c10::Half",
    rules.FLOAT: "float",
    rules.DOUBLE: "double",
    rules.INT64: "long int",
    rules.BOOL: "bool",
}


@op(
    "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    out="self_out",
    cuda="a ? b : c",
)
@op(
    "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    cuda="a ? b : c",
    where="f",
)
@op(
    "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    cuda="a ? b : c",
    where="f",
)
@op("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", cuda="a ? b : c", where="f")
def _where(xp: Any, condition: Array, self: Any, other: Any) -> Array:
    if condition.dtype not in (rules.BOOL, rules.UINT8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {rules.NAME_OF[condition.dtype]}"
        )
    x, y = promote(xp, SAME, self, other)
    rules.broadcast_shapes(condition.shape, x.shape, y.shape)
    return xp.where(condition.astype(bool), x, y)


# ---------------------------------------------------------------------------------------- clamp, rounding


def clamp_kernel(xp: Any, self: Array, min: Any = None, max: Any = None) -> Array:
    """self limited to [min, max]; a NaN limit gives NaN."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if self.dtype.kind == "c":
        raise RuntimeError("clamp is not supported for complex types")
    dtype = rules.result_type(self, min, max)
    result = rules.cast(xp, self, dtype)
    if min is not None:
        result = xp.maximum(result, rules.cast(xp, min, dtype))
    if max is not None:
        result = xp.minimum(result, rules.cast(xp, max, dtype))
    return result


@op(
    "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    inplace=True,
    out="out",
    cuda="min(max(a, b), c)",
)
@op(
    "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="min(max(a, b), c)",
)
@op("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", inplace=True, out="out")
@op(
    "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    inplace=True,
    out="Tensor_out",
)
def _clamp(xp: Any, self: Array, min: Any = None, max: Any = None) -> Array:
    return clamp_kernel(xp, self, min, max)


@op("aten::clamp_min(Tensor self, Scalar min) -> Tensor", inplace=True, out="out", cuda="max(a, b)")
@op(
    "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="max(a, b)",
)
def _clamp_min(xp: Any, self: Array, min: Any) -> Array:
    return clamp_kernel(xp, self, min, None)


@op("aten::clamp_max(Tensor self, Scalar max) -> Tensor", inplace=True, out="out", cuda="min(a, b)")
@op(
    "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    inplace=True,
    out="Tensor_out",
    cuda="min(a, b)",
)
def _clamp_max(xp: Any, self: Array, max: Any) -> Array:
    return clamp_kernel(xp, self, None, max)


@op("aten::round(Tensor self) -> Tensor", inplace=True, out="out", cuda="rint(a)")
@op("aten::round.decimals(Tensor self, *, int decimals) -> Tensor", inplace=True, out="decimals_out")
@op("aten::special_round(Tensor self, *, int decimals=0) -> Tensor", out="out")
def _round(xp: Any, self: Array, decimals: int = 0) -> Array:
    if self.dtype.kind in "bc":
        rules.refuse("round_vml_cpu", self.dtype)
    if self.dtype.kind in "iu":
        if decimals:
            rules.refuse("round_cpu", self.dtype)
        return self.copy()
    if decimals == 0:
        return xp.rint(self)
    ten = xp.asarray(10.0 ** abs(decimals), dtype=self.dtype)
    return xp.rint(self * ten) / ten if decimals > 0 else xp.rint(self / ten) * ten


@op(
    "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    inplace=True,
    out="out",
)
def _nan_to_num(
    xp: Any, self: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Array:
    if self.dtype.kind in "iub":
        return self.copy()
    return xp.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf)


@op("aten::logit(Tensor self, float? eps=None) -> Tensor", inplace=True, out="out")
@op("aten::special_logit(Tensor self, float? eps=None) -> Tensor", out="out")
def _logit(xp: Any, self: Array, eps: float | None = None) -> Array:
    x = rules.cast(xp, self, rules.float_dtype(self.dtype))
    if eps is not None:
        x = xp.clip(x, xp.asarray(eps, x.dtype), xp.asarray(1 - eps, x.dtype))
    return xp.log(x / (1 - x))


@op("aten::polygamma(int n, Tensor self) -> Tensor", out="out")
@op("aten::special_polygamma(int n, Tensor self) -> Tensor", out="out")
def _polygamma(xp: Any, n: int, self: Array) -> Array:
    x = rules.cast(xp, self, rules.float_dtype(self.dtype))
    if n == 0:
        return rules.cast(
            xp, xp.where(x == 0, xp.copysign(xp.inf, -x), rules.special_functions(xp).psi(x)), x.dtype
        )
    return rules.cast(xp, rules.special_functions(xp).polygamma(n, x), x.dtype)


@op("aten::mvlgamma(Tensor self, int p) -> Tensor", inplace=True, out="out")
@op("aten::special_multigammaln(Tensor self, int p) -> Tensor", out="out")
def _mvlgamma(xp: Any, self: Array, p: int) -> Array:
    x = rules.cast(xp, self, rules.float_dtype(self.dtype))
    lgamma = rules.special_functions(xp).gammaln
    total = sum(lgamma(x - 0.5 * j) for j in range(p))
    return rules.cast(xp, total + 0.25 * p * (p - 1) * math.log(math.pi), x.dtype)


@op(
    "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
    "bool equal_nan=False) -> Tensor",
)
def _isclose(
    xp: Any, self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    if self.dtype != other.dtype:
        raise RuntimeError(
            f"{NAMES.get(self.dtype, self.dtype)} did not match {NAMES.get(other.dtype, other.dtype)}"
        )
    return _close(xp, self, other, rtol, atol, equal_nan)


def _close(xp: Any, a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    close = a == b
    if equal_nan and a.dtype.kind in "fc":
        close = close | (xp.isnan(a) & xp.isnan(b))
    if rtol == 0 and atol == 0:
        return close
    x = a if a.dtype.kind in "fc" else a.astype(rules.DOUBLE)
    y = b if b.dtype.kind in "fc" else b.astype(rules.DOUBLE)
    error = xp.abs(x - y)
    return close | (xp.isfinite(error) & (error <= atol + xp.abs(rtol * y)))


@op(
    "aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
    "bool equal_nan=False) -> bool",
)
def _allclose(
    xp: Any, self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    return bool(_isclose(xp, self, other, rtol, atol, equal_nan).all())


@op("aten::equal(Tensor self, Tensor other) -> bool")
def _equal(xp: Any, self: Array, other: Array) -> bool:
    return self.shape == other.shape and bool((self == other).all())


@op("aten::complex(Tensor real, Tensor imag) -> Tensor", out="out")
def _complex(xp: Any, real: Array, imag: Array) -> Array:
    shape = rules.broadcast_shapes(real.shape, imag.shape)
    if real.dtype != imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {rules.NAME_OF[real.dtype]} but got scalar type "
            f"{rules.NAME_OF[imag.dtype]} for second argument"
        )
    result = xp.empty(shape, dtype=rules.complex_dtype(real.dtype))
    result.real, result.imag = real, imag
    return result


@op("aten::polar(Tensor abs, Tensor angle) -> Tensor", out="out")
def _polar(xp: Any, abs: Array, angle: Array) -> Array:
    return _complex(xp, abs * xp.cos(angle), abs * xp.sin(angle))


@op(
    "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    out="Tensor_out",
    out_names="mantissa,exponent",
    where="fm",
)
def _frexp(xp: Any, self: Array) -> tuple[Array, Array]:
    mantissa, exponent = xp.frexp(self)
    return mantissa, rules.cast(xp, exponent, rules.INT32)
