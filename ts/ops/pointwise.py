"""Pointwise operators of two or more arguments (arithmetic, comparison, logic, bits).

Tables declare operators. A row contains a name, a promotion rule, a NumPy ufunc or function, and a CUDA
expression:

    binary("maximum", SAME, "maximum", "max(a, b)")

If PyTorch has a separate schema for a number operand, the table has a separate row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ts import dtypes
from ts.ops import common, numpy_arithmetic
from ts.ops.numpy_arithmetic import PRODUCTS, WITH_PRODUCTS
from ts.ops.operator_record import OperatorRecord, OutRecord, inplace_of
from ts.ops.out_variants import COPIED, POINTWISE_OUT, ComplexErrorMessage
from ts.ops.registry import add, op, shared_fields
from ts.ops.type_promotion import (
    BOOLEAN,
    FLOAT,
    NOTHING,
    SAME,
    UnsupportedKinds,
    dtype_errors_by_kind,
    special,
    types_except,
)
from ts.ops.unsupported_dtypes import check

Array = common.Array
Body = str | Callable[[Any, Array, Array], Array]


def promote(xp: Any, promotion: str, *operands: Any) -> tuple[Array, ...]:
    """Cast the operands to their common dtype. Raise RuntimeError if their shapes do not broadcast."""
    dtype = common.result_type(*operands)
    if promotion == FLOAT:
        dtype = common.float_dtype(dtype)
    common.broadcast_shapes(*(common.shape_of(x) for x in operands))
    return tuple(common.cast(xp, x, dtype) for x in operands)


def kernel_of(
    promotion: str, body: Body, dtype_errors: Mapping[str, str] = NOTHING, mixed: str = ""
) -> Callable[..., Array]:
    """Return a kernel that promotes two operands, checks their dtype, and computes `body`.

    If `mixed` is not "", the kernel does not promote operands of different dtypes, but raises RuntimeError
    with the text `mixed`.
    """

    def kernel(xp: Any, a: Any, b: Any) -> Array:
        if mixed and a.dtype != b.dtype:
            for dtype in (a.dtype, b.dtype):
                check(dtype_errors, dtype)
            raise RuntimeError(mixed)
        x, y = promote(xp, promotion, a, b)
        if dtype_errors:
            check(dtype_errors, x.dtype)
        result = xp.in_pieces(getattr(xp, body) if isinstance(body, str) else partial(body, xp), x, y)
        return common.cast(xp, result, common.BOOL if promotion == BOOLEAN else x.dtype)

    return kernel


# (overload, second argument, overload of the out= variant, overload of the in-place variant)
TENSOR = ("", "Tensor other", "out", "")


def binary(
    name: str,
    promotion: str,
    body: Body,
    cuda: str | None = None,
    *,
    unsupported: UnsupportedKinds = "",
    forms: str = "io",
    overloads: str = "",
    second: str = "other",
    aliases: tuple[str, ...] = (),
    layout: str | tuple[str, ...] = "like_all",
    numbers_first: bool = False,
    mixed: str = "",
    inplace_order: str = "",
    ufunc: str | None = None,
    **fields: Any,
) -> None:
    """Declare `aten::name` with the variants `forms` (i in-place, o out=), and its `aliases`.

    ufunc           name of the ufunc whose loop runs directly. If `body` is a name, this is the ufunc
    overloads       key of `OVERLOADS`. The default "" declares name(Tensor self, Tensor other)
    mixed           error text for arguments of different dtypes, or "" if they are promoted
    numbers_first   True if overload resolution of in-place and out= variants tries Scalar before Tensor
    fields          other record fields. Aliases do not get `order` and `since`
    """
    kernel = kernel_of(promotion, body, dtype_errors_by_kind(name, unsupported), mixed)
    if isinstance(body, str):
        ufunc = body
    types = fields.pop("types", types_except(unsupported))
    for spelled in (name, *aliases):
        alias_fields = {} if spelled == name else {"order": "", "since": 0, "same_as": f"aten::{name}"}
        records = []
        for overload, kind, out in OVERLOADS[
            "alias" if alias_fields and overloads == "tensor" else overloads
        ]:
            dot = f".{overload}" if overload else ""
            record = OperatorRecord(
                f"aten::{spelled}{dot}(Tensor self, {kind} {second}) -> Tensor",
                kernel,
                "pointwise",
                promotion=promotion,
                ufunc=ufunc,
                types=types,
                cuda=cuda,
                layout=layout,
                # PyTorch added the `out=` variants of Scalar overloads after the version `since`.
                since_variants="io" if kind == "Tensor" else "i",
                **{**fields, **alias_fields, **(COPIED if out.endswith("=") else {})},
            )
            records.append((add(record), out.rstrip("=")))
        for record, out in reversed(records) if numbers_first else records:
            if "i" in forms and not spelled.startswith("special_"):
                renamed = "Tensor" if overloads == "floor" and not record.overload else None
                dunder = f"aten::__i{spelled[2:]}" if overloads == "dunder" else ""
                add(inplace_of(record, renamed, inplace_order, dunder))
            if "o" in forms and out:
                add(OutRecord(record, out))


def number_first(name: str, body: Body, cuda: str, unsupported: UnsupportedKinds) -> None:
    """Declare the overload of `aten::name` whose first argument is a number."""
    kernel = kernel_of(SAME, body, dtype_errors_by_kind(name, unsupported))
    schema = f"aten::{name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"
    op(
        schema, out="Scalar_Tensor_out", family="pointwise", promotion=SAME, types=types_except(unsupported),
        cuda=cuda, layout="like_all", **COPIED,
    )(kernel)  # fmt: skip


# Dict from the argument `overloads` of `binary` to a tuple of overloads. Each of these consists of the
# Dict from the argument `overloads` of `binary` to a tuple of overloads. Each of these consists of the
# overload name, the type of the second argument, and the overload name of the `out=` variant. A final "=" is
# not part of the name. It means that PyTorch's `out=` variant computes a new result and copies it to the
# output.
OVERLOADS = {
    "": (("", "Tensor", "out"),),
    "compare": (("Tensor", "Tensor", "Tensor_out"), ("Scalar", "Scalar", "Scalar_out")),
    "tensor": (("Tensor", "Tensor", "out"), ("Scalar", "Scalar", "Scalar_out=")),
    "either": (("Tensor", "Tensor", "out"), ("Scalar", "Scalar", "Scalar_out")),
    "dunder": (("Tensor", "Tensor", "Tensor_out="), ("Scalar", "Scalar", "Scalar_out=")),
    "alias": (("Tensor", "Tensor", "out"), ("Scalar", "Scalar", "")),
    "floor": (("", "Tensor", "out"), ("Scalar", "Scalar", "Scalar_out=")),
    "shift": (("Tensor", "Tensor", "Tensor_out"), ("Tensor_Scalar", "Scalar", "Tensor_Scalar_out")),
}


# ---------------------------------------------------------------------------------------- tables of operators

# arguments: name, type promotion, ufunc or Python function, CUDA expression
binary(
    "mul", SAME, "multiply", "a * b", overloads="tensor", aliases=("multiply",), wraps_numbers=True,
    order="Tensor Scalar out Scalar_out left_t right_", sparse="elementwise.multiply",
    element_role="arithmetic", graph_autodiff=True,
)  # fmt: skip
binary(
    "div", FLOAT, "true_divide", "a / b", overloads="tensor", aliases=("divide", "true_divide"),
    wraps_numbers=True, since=4, sparse="elementwise.divide", element_role="arithmetic", graph_autodiff=True,
)  # fmt: skip
binary(
    "floor_divide", SAME, numpy_arithmetic.floor_divide, "floor_divide(a, b)", overloads="floor",
    unsupported={"bc": "div_floor_cpu"}, wraps_numbers=True, ufunc="quotient_down",
    sparse="elementwise.floor_divide",
)  # fmt: skip
binary(
    "remainder",
    SAME,
    numpy_arithmetic.remainder,
    "rest_down(a, b)",
    overloads="compare",
    unsupported="bc",
    ufunc="rest",
    graph_autodiff="Scalar",
)
binary(
    "fmod",
    SAME,
    numpy_arithmetic.fmod,
    "fmod(a, b)",
    overloads="compare",
    unsupported="bc",
    ufunc="rest_as_in_c",
    graph_autodiff="Scalar",
)
binary(
    "atan2",
    FLOAT,
    "arctan2",
    "atan2(a, b)",
    unsupported="c",
    aliases=("arctan2",),
    autocast={"cuda": "widest"},
)
binary("copysign", FLOAT, "copysign", "copysign(a, b)", unsupported="c", overloads="either")
# `types` is limited to 32-bit and 64-bit floats, because the adjacent 16-bit float needs another computation.
binary("nextafter", SAME, "nextafter", "nextafter(a, b)", unsupported="bic", types="fd")
binary("hypot", SAME, "hypot", "hypot(a, b)", unsupported="bic")
for _name, _cuda, _role in (
    ("maximum", "a > b || isnan(a) ? a : b", "maximum"),
    ("minimum", "a < b || isnan(a) ? a : b", "minimum"),
    ("fmax", "fmax(a, b)", ""),
    ("fmin", "fmin(a, b)", ""),
):
    binary(
        _name,
        SAME,
        _name,
        _cuda,
        unsupported={"c": f"{_name} not implemented for complex tensors."},
        forms="o",
        element_role=_role,
    )
binary(
    "logaddexp",
    SAME,
    numpy_arithmetic.logaddexp,
    "log_of_sum(a, b)",
    forms="o",
    unsupported="bi",
    ufunc="log_of_sum",
)
binary("logaddexp2", SAME, "logaddexp2", forms="o", unsupported="bic")
_MIXED = "heaviside is not yet implemented for tensors with different dtypes."
_COMPLEX = "heaviside is not yet implemented for complex tensors."
binary(
    "heaviside", SAME, numpy_arithmetic.heaviside, second="values", mixed=_MIXED,
    out_dtype_error=ComplexErrorMessage(_MIXED, _COMPLEX), unsupported={"c": _COMPLEX},
)  # fmt: skip
binary("gcd", SAME, "gcd", unsupported="bhfc", layout=())
binary("lcm", SAME, numpy_arithmetic.lcm, unsupported="bhfc", layout=())
binary("igamma", SAME, special("gammainc"), unsupported="bic", aliases=("special_gammainc",))
binary("igammac", SAME, special("gammaincc"), unsupported="bic", aliases=("special_gammaincc",))
binary("special_zeta", FLOAT, special("zeta"), unsupported="ch", where="f")

_EQUALITY = (
    "Tensor Scalar Scalar_out Tensor_out int_list device bool enum int complex float int_float float_int "
    "float_complex complex_float - str float_list Tensor_list"
)
for _name, _ufunc, _cuda, _aliases, _unsupported, _order, _complement in (
    ("eq", "equal", "a == b", (), "", _EQUALITY, "ne"),
    ("ne", "not_equal", "a != b", ("not_equal",), "", _EQUALITY, "eq"),
    ("lt", "less", "a < b", ("less",), "c", "", "ge"),
    ("le", "less_equal", "a <= b", ("less_equal",), "c", "", "gt"),
    ("gt", "greater", "a > b", ("greater",), "c", "", "le"),
    ("ge", "greater_equal", "a >= b", ("greater_equal",), "c", "", "lt"),
):
    binary(
        _name, BOOLEAN, _ufunc, _cuda, overloads="compare", aliases=_aliases, unsupported=_unsupported,
        numbers_first=True, order=_order, element_role="comparison", complement=f"aten::{_complement}",
        graph_autodiff="Scalar" if _name == "gt" else False,
    )  # fmt: skip

binary("logical_and", BOOLEAN, numpy_arithmetic.logical("logical_and"), "a && b", ufunc="logical_and")
binary("logical_or", BOOLEAN, numpy_arithmetic.logical("logical_or"), "a || b", ufunc="logical_or")
binary("logical_xor", BOOLEAN, numpy_arithmetic.logical("logical_xor"), "!a != !b", ufunc="logical_xor")

for _name, _ufunc, _cuda in (
    ("and", "bitwise_and", "a & b"),
    ("or", "bitwise_or", "a | b"),
    ("xor", "bitwise_xor", "a ^ b"),
):
    _dtype_errors = {"hfc": f"{_ufunc}_cpu"}
    binary(_ufunc, SAME, _ufunc, _cuda, overloads="compare", unsupported=_dtype_errors)
    number_first(_ufunc, _ufunc, _cuda, _dtype_errors)
    binary(
        f"__{_name}__", SAME, _ufunc, _cuda, overloads="dunder", unsupported=_dtype_errors, forms="i",
        where="m", layout=(), order="Scalar" if _name == "and" else "",
    )  # fmt: skip

for _side, _cuda in (("left", "a << b"), ("right", "a >> b")):
    _dtype_errors = {"bhfc": f"{_side[0]}shift_cpu"}
    binary(
        f"bitwise_{_side}_shift", SAME, numpy_arithmetic.shift(f"{_side}_shift"), _cuda, overloads="shift",
        unsupported=_dtype_errors,
        inplace_order="Tensor_Scalar", ufunc=f"{_side}_shift_by",
    )  # fmt: skip
    number_first(f"bitwise_{_side}_shift", numpy_arithmetic.shift(f"{_side}_shift"), _cuda, _dtype_errors)
    binary(
        f"__{_side[0]}shift__", SAME, numpy_arithmetic.shift(f"{_side}_shift"), _cuda, overloads="dunder",
        unsupported=_dtype_errors, where="m", layout=(), order="Tensor Scalar Scalar_out",
        ufunc=f"{_side}_shift_by",
    )  # fmt: skip


# --------------------------------------------------------------------------- operators with `alpha` or a mode


def add_kernel(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    """Return self + alpha * other."""
    x, y = promote(xp, SAME, self, other)
    if type(alpha) is int and alpha == 1:
        return xp.add(x, y)
    common.check_factor(x.dtype, alpha, "alpha")
    return common.cast(xp, xp.add(x, y * common.cast_checked(xp, alpha, x.dtype)), x.dtype)


def sub_kernel(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    """Return self - alpha * other."""
    numpy_arithmetic.check_no_bool_subtraction(self, other)
    x, y = promote(xp, SAME, self, other)
    if type(alpha) is int and alpha == 1:
        return xp.subtract(x, y)
    common.check_factor(x.dtype, alpha, "alpha")
    return common.cast(xp, xp.subtract(x, y * common.cast_checked(xp, alpha, x.dtype)), x.dtype)


def _divide(xp: Any, self: Any, other: Any, rounding_mode: str | None) -> Array:
    """Divide with a rounding mode: "floor", "trunc", or None for true division."""
    if rounding_mode is None:
        return kernel_of(FLOAT, "true_divide")(xp, self, other)
    x, y = promote(xp, SAME, self, other)
    if x.dtype == common.BOOL and rounding_mode in ("floor", "trunc"):
        common.raise_unsupported_dtype(f"div_{rounding_mode}_cpu", x.dtype)
    numpy_arithmetic.check_nonzero_divisor(xp, y)
    if rounding_mode == "floor":
        return xp.floor_divide(x, y)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    if x.dtype.kind == "f" or x.dtype in common.HALF_DTYPES:
        return common.cast(xp, xp.trunc(x / y), x.dtype)
    quotient = xp.floor_divide(x, y)
    return common.cast(xp, quotient + ((quotient < 0) & (quotient * y != x)), x.dtype)


@op(
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="add",
    cuda="a + b",
    order="Tensor Scalar out Scalar_out t str",
    wraps_numbers=True,
    sparse="elementwise.add",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="Scalar_out",
    promotion=SAME,
    ufunc="add",
    cuda="a + b",
    wraps_numbers=True,
    **COPIED,
    sparse="elementwise.add",
    element_role="arithmetic",
    graph_autodiff=True,
)
@shared_fields(layout="like_all")
def _add(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    return add_kernel(xp, self, other, alpha)


_RECTIFIED = (
    common.FLOAT, common.DOUBLE, common.INT64, common.INT32, dtypes.int8.numpy_dtype,
    dtypes.int16.numpy_dtype,
)  # fmt: skip


@op(
    "aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    order="Tensor out",
)
@op(
    "aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="Scalar_out",
    **COPIED,
)
@shared_fields(layout="like_all")
def _add_relu(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    if self.dtype not in _RECTIFIED:
        raise RuntimeError(f"Unsupported datatype for add_relu:{common.CPP_NAME_OF[self.dtype]}")
    total = add_kernel(xp, self, other, alpha)
    return xp.maximum(total, total.dtype.type(0))


@op(
    "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="subtract",
    cuda="a - b",
    wraps_numbers=True,
    sparse="elementwise.subtract",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="Scalar_out",
    promotion=SAME,
    ufunc="subtract",
    cuda="a - b",
    wraps_numbers=True,
    **COPIED,
    sparse="elementwise.subtract",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    out="out",
    order="Tensor out",
    same_as="aten::sub",
    wraps_numbers=True,
    sparse="elementwise.subtract",
    element_role="arithmetic",
)
@op(
    "aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inplace=True,
    same_as="aten::sub",
    wraps_numbers=True,
    sparse="elementwise.subtract",
    element_role="arithmetic",
)
@shared_fields(layout="like_all")
def _sub(xp: Any, self: Any, other: Any, alpha: Any = 1) -> Array:
    return sub_kernel(xp, self, other, alpha)


@op(
    "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    out="Tensor_out",
    promotion=SAME,
    cuda="b - a",
    **COPIED,
    sparse="elementwise.reverse_subtract",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    tile=True,
    out="Scalar_out",
    promotion=SAME,
    cuda="b - a",
    **COPIED,
    sparse="elementwise.reverse_subtract",
    element_role="arithmetic",
    graph_autodiff=True,
)
def _rsub(xp: Any, self: Array, other: Any, alpha: Any = 1) -> Array:
    return sub_kernel(xp, other, self, alpha)


@op(
    "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="out_mode",
    layout="like_all",
    order="Tensor Scalar Tensor_mode Scalar_mode out out_mode",
    inplace_order="Tensor Tensor_mode",
    wraps_numbers=True,
    since=4,
    sparse="elementwise.divide",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="Scalar_mode_out",
    wraps_numbers=True,
    since=4,
    since_variants="i",
    **COPIED,
    sparse="elementwise.divide",
    element_role="arithmetic",
    graph_autodiff=True,
)
@op(
    "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    out="out_mode",
    layout="like_all",
    inplace_order="Tensor Tensor_mode Scalar_mode",
    same_as="aten::div",
    wraps_numbers=True,
    sparse="elementwise.divide",
    element_role="arithmetic",
)
@op(
    "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    inplace=True,
    layout="like_all",
    same_as="aten::div",
    wraps_numbers=True,
    sparse="elementwise.divide",
    element_role="arithmetic",
)
def _div_mode(xp: Any, self: Array, other: Any, rounding_mode: str | None) -> Array:
    return _divide(xp, self, other, rounding_mode)


@op("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out="Scalar_Tensor_out", **COPIED)
def _remainder_number(xp: Any, self: Any, other: Array) -> Array:
    return kernel_of(SAME, numpy_arithmetic.remainder, dtype_errors_by_kind("remainder", "bc"))(
        xp, self, other
    )


@op(
    "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    inplace="Tensor",
    out="Tensor_Tensor_out",
    promotion=SAME,
    ufunc="powers",
    cuda="pow(a, b)",
    layout="like_all",
    order="Tensor_Tensor Tensor_Scalar Scalar Tensor_Tensor_out Scalar_out",
    inplace_order="Scalar",
    autocast={"cuda": "float32"},
    graph_autodiff=True,
)
@op(
    "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    tile=True,
    inplace="Scalar",
    out="Tensor_Scalar_out",
    promotion=SAME,
    cuda="pow(a, b)",
    autocast={"cuda": "float32"},
    sparse="elementwise.power",
    graph_autodiff=True,
)
@op(
    "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    out="Scalar_out",
    promotion=SAME,
    cuda="pow(a, b)",
    layout="contiguous",
    autocast={"cuda": "float32"},
    graph_autodiff=True,
)
def _pow(xp: Any, self: Any, exponent: Any) -> Array:
    x, y = promote(xp, SAME, self, exponent)
    if x.dtype == common.BOOL and not isinstance(exponent, bool):
        common.raise_unsupported_dtype("pow", x.dtype)
    if x.dtype.kind in "iu" and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        common.check_number(exponent, x.dtype)
    if isinstance(exponent, (int, float)) and exponent == 2 and x.dtype != common.BOOL:
        return x * x
    if isinstance(exponent, (int, float)) and exponent in PRODUCTS and x.dtype in WITH_PRODUCTS:
        return PRODUCTS[exponent](xp, x)
    return common.cast(xp, numpy_arithmetic.power(xp, x, y), x.dtype)


_POWER = "the {} given to float_power{} has dtype {{got}} but the operation's result requires dtype {{want}}"
_POWER_IN_PLACE = _POWER.format("base", "_")
_POWER_DTYPE_ERROR = _POWER.format("output", "")


@op(
    "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    inplace="Tensor",
    self_dtype_error=_POWER_IN_PLACE,
    out="Tensor_Tensor_out",
    layout="like_all",
    order="Tensor_Tensor Tensor_Scalar",
    out_dtype_error=_POWER_DTYPE_ERROR,
)
@op(
    "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    out="Scalar_out",
    layout="contiguous",
    out_dtype_error=_POWER_DTYPE_ERROR,
)
@op(
    "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    inplace="Scalar",
    self_dtype_error=_POWER_IN_PLACE,
    out="Tensor_Scalar_out",
    layout="like_all",
    out_dtype_error=_POWER_DTYPE_ERROR,
)
def _float_power(xp: Any, self: Any, exponent: Any) -> Array:
    kind = max(common.category(self), common.category(exponent))
    dtype = common.CDOUBLE if kind == common.COMPLEX else common.DOUBLE
    return xp.power(common.cast(xp, self, dtype), common.cast(xp, exponent, dtype))


@op(
    "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    inplace="",
    out="out",
    layout="like_all",
    out_cast_error="ldexp can't be cast to the desired output type {got}",
)
def _ldexp(xp: Any, self: Array, other: Array) -> Array:
    power = _pow(xp, 2.0, other)
    return kernel_of(SAME, "multiply")(xp, self, power)


@op(
    "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    inplace=True,
    out="OutTensor",
    order="Tensor Scalar_Other",
)
@op("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", out="OutScalar_Self")
@op("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", inplace=True, out="OutScalar_Other")
@op(
    "aten::special_xlogy(Tensor self, Tensor other) -> Tensor",
    out="out",
    order="- other_scalar",
    same_as="aten::xlogy",
)
@op(
    "aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
    out="self_scalar_out",
    same_as="aten::xlogy",
)
@op(
    "aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
    out="other_scalar_out",
    same_as="aten::xlogy",
)
@shared_fields(layout="like_all")
def _xlogy_op(xp: Any, self: Any, other: Any) -> Array:
    x, y = promote(xp, FLOAT, self, other)
    if x.dtype.kind == "c":
        common.raise_unsupported_dtype("xlogy_cpu", x.dtype)
    return common.cast(xp, numpy_arithmetic.xlogy(xp, x, y), x.dtype)


@op("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", out="out", order="- other_scalar")
@op("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", out="self_scalar_out")
@op("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", out="other_scalar_out")
@shared_fields(layout="like_all")
def _xlog1py_op(xp: Any, self: Any, other: Any) -> Array:
    x, y = promote(xp, FLOAT, self, other)
    if x.dtype.kind == "c":
        common.raise_unsupported_dtype("xlog1py_cpu", x.dtype)
    return common.cast(xp, numpy_arithmetic.xlog1py(xp, x, y), x.dtype)


@op("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", out="self_scalar_out")
@op(
    "aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
    out="other_scalar_out",
    order="- other_scalar",
)
@shared_fields(layout="like_all")
def _zeta(xp: Any, self: Any, other: Any) -> Array:
    return kernel_of(FLOAT, special("zeta"), dtype_errors_by_kind("zeta", "ch"))(xp, self, other)


@op(
    "aten::bitwise_not(Tensor self) -> Tensor",
    inplace=True,
    promotion=SAME,
    ufunc="invert",
    types="?bhilqBHILQ",
    cuda="~a",
    **POINTWISE_OUT,
)
def _bitwise_not(xp: Any, self: Array) -> Array:
    if common.category(self) >= common.FLOATING:
        common.raise_unsupported_dtype("bitwise_not_cpu", self.dtype)
    return xp.invert(self)
