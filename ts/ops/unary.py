"""Pointwise operators of one argument (arithmetic, rounding, transcendental, predicates).

A declaration contains a name, a promotion rule of `ts.ops.type_promotion`, a body and a CUDA expression:

    unary("sin", FLOAT, "sin", "sin(a)")

The body is the name of a NumPy ufunc. If NumPy has no such ufunc, the body is a function (xp, a).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ts.ops import common
from ts.ops.out_variants import COPIED, FOUND_DTYPE_ERROR
from ts.ops.registry import op
from ts.ops.type_promotion import (
    BOOLEAN,
    FLOAT,
    NOTHING,
    REAL,
    SAME,
    UnsupportedKinds,
    dtype_errors_by_kind,
    special,
    types_except,
)
from ts.ops.unsupported_dtypes import NotImplementedMessage, check

Array = common.Array
Body = str | Callable[[Any, Array], Array]


def kernel_of(
    promotion: str, body: Body, dtype_errors: Mapping[str, str] = NOTHING
) -> Callable[[Any, Array], Array]:
    """Return a unary kernel: check the dtype, promote, compute, cast the result."""

    def kernel(xp: Any, a: Array) -> Array:
        dtype = a.dtype
        if dtype_errors:
            check(dtype_errors, dtype)
        if promotion == FLOAT or (promotion == REAL and dtype.kind != "c" and body == "float"):
            dtype = common.float_dtype(dtype)
        work = common.cast(xp, a, common.opmath(dtype) if promotion != BOOLEAN else dtype)
        result = xp.in_pieces(getattr(xp, body) if isinstance(body, str) else partial(body, xp), work)
        if promotion == BOOLEAN:
            return common.cast(xp, result, common.BOOL)
        if promotion == REAL:
            dtype = common.real_dtype(dtype)
        return common.cast(xp, result, dtype)

    return kernel


def unary(
    name: str,
    promotion: str,
    body: Body,
    cuda: str | None = None,
    *,
    unsupported: UnsupportedKinds = "",
    forms: str = "io",
    aliases: tuple[str, ...] = (),
    ufunc: str | None = None,
    **fields: Any,
) -> None:
    """Declare `aten::name` with the variants `forms` (i in-place, o out=), and its `aliases`.

    `unsupported` lists the dtype kinds without a kernel, or maps them to error texts. `fields` are other
    fields of the record. If `body` is a function, `ufunc` can name a ufunc whose loop is run directly.
    """
    kernel = kernel_of(promotion, body, dtype_errors_by_kind(name, unsupported))
    fields.setdefault("layout", "like_all")
    if isinstance(body, str):
        ufunc = body
    for spelled in (name, *aliases):
        schema = f"aten::{spelled}(Tensor self) -> Tensor"
        op(
            schema,
            inplace="i" in forms and not spelled.startswith("special_"),
            out="out" if "o" in forms else (),
            family="unary",
            promotion=promotion,
            ufunc=ufunc,
            types=types_except(unsupported),
            cuda=cuda,
            same_as="" if spelled == name else f"aten::{name}",
            **fields,
        )(kernel)


def _keep_integers(name: str) -> Callable[[Any, Array], Array]:
    def body(xp: Any, a: Array) -> Array:
        return a.copy("K") if a.dtype.kind in "iub" else getattr(xp, name)(a)

    return body


def _sgn(xp: Any, a: Array) -> Array:
    if a.dtype.kind != "c":
        return _sign(xp, a)
    size = xp.abs(a)
    return xp.where(size == 0, 0, a / xp.where(size == 0, 1, size))


def _sign(xp: Any, a: Array) -> Array:
    return (
        a.copy()
        if a.dtype == common.BOOL
        else xp.where(xp.isnan(a), 0, xp.sign(a))
        if a.dtype.kind == "f"
        else xp.sign(a)
    )


def device_function(xp: Any, name: str, a: Array) -> Callable[[Array], Array] | None:
    """Return the device's C function `name` for the dtype of `a`, or None if the device has no such function.

    Fused kernels call the same C function, so that eager and fused results are bit-identical.
    """
    function: Callable[[Array], Array] | None = xp.find_kernel(name) if a.dtype.char in "fd" else None
    return function


def sigmoid(xp: Any, a: Array) -> Array:
    """Compute 1 / (1 + exp(-a)) without overflow for large positive and negative numbers."""
    if a.dtype.kind == "c":
        return 1 / (1 + xp.exp(-a))
    function = device_function(xp, "sigmoid", a)
    if function is not None:
        return function(a)
    small = xp.exp(-xp.abs(a))
    return xp.where(a >= 0, 1 / (1 + small), small / (1 + small))


def _sinc(xp: Any, a: Array) -> Array:
    x = a * xp.asarray(xp.pi, dtype=common.real_dtype(a.dtype))
    return xp.where(a == 0, 1, xp.sin(x) / xp.where(a == 0, 1, x))


def digamma(xp: Any, a: Array) -> Array:
    """Return the derivative of lgamma: -inf at 0.0, and inf at -0.0."""
    return xp.where(a == 0, xp.copysign(xp.inf, -a), xp.special("psi")(a))


def _isreal(xp: Any, a: Array) -> Array:
    return a.imag == 0 if a.dtype.kind == "c" else xp.ones(a.shape, dtype=bool)


def _isfinite(xp: Any, a: Array) -> Array:
    return xp.isfinite(a) if a.dtype.kind not in "iub" else xp.equal(a, a)


def _predicate(name: str) -> Callable[[Any, Array], Array]:
    def body(xp: Any, a: Array) -> Array:
        return getattr(xp, name)(a) if a.dtype.kind not in "iub" else xp.not_equal(a, a)

    return body


def _angle(xp: Any, a: Array) -> Array:
    if a.dtype.kind == "c":
        return xp.angle(a)
    return xp.where(
        xp.isnan(a), a, xp.where(a < 0, xp.asarray(xp.pi, dtype=a.dtype), xp.asarray(0, dtype=a.dtype))
    )


def _entr(xp: Any, a: Array) -> Array:
    return xp.where(xp.isnan(a), a, xp.special("entr")(a))


def _positive(xp: Any, a: Array) -> Array:
    return a


def _spherical_j0(xp: Any, a: Array) -> Array:
    """Return the spherical Bessel function of order 0, sin(a) / a."""
    value = xp.where(xp.abs(a) < 0.5e-3, 1 - a * a / 6, xp.sin(a) / xp.where(a == 0, 1, a))
    return xp.where(xp.isinf(a), 0, value)


def _airy(xp: Any, a: Array) -> Array:
    return xp.where(a > 105, 0, xp.scipy("special").airy(a)[0])  # the result underflows for larger arguments


_NEGATED = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
    "the `~` or `logical_not()` operator instead."
)
_SIGN = NotImplementedMessage(
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
)


def _rounding_dtype_errors(name: str) -> dict[str, str]:
    return {"b": f"{name}_vml_cpu", "c": NotImplementedMessage(f"{name} is not supported for complex inputs")}


# arithmetic                    promotion  ufunc or body               CUDA
_ON_CUDA: Final = {"cuda": "float32"}  # functions that autocast computes in float32
unary(
    "abs",
    REAL,
    "absolute",
    "abs(a)",
    unsupported="b",
    aliases=("absolute",),
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_values",
    element_role="unary",
    graph_autodiff=True,
)
op(  # called for `abs(x)` in scripts
    "prim::abs(Tensor x) -> Tensor", family="unary", promotion=REAL, ufunc="absolute",
    types=types_except("b"), cuda="abs(a)", order="int float complex Scalar", element_role="unary",
)(kernel_of(REAL, "absolute", {"b": "abs_cpu"}))  # fmt: skip
unary(
    "neg",
    SAME,
    "negative",
    "-a",
    unsupported={"b": _NEGATED},
    aliases=("negative",),
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_stored_values",
    element_role="unary",
    graph_autodiff=True,
)
unary("sgn", SAME, _sgn, out_dtype_error=FOUND_DTYPE_ERROR, ufunc="signs", sparse="elementwise.on_values")
unary(
    "sign",
    SAME,
    _sign,
    "(a > 0) - (a < 0)",
    unsupported={"c": _SIGN},
    out_dtype_error=FOUND_DTYPE_ERROR,
    ufunc="signs",
    sparse="elementwise.on_values",
)
unary(
    "reciprocal", FLOAT, lambda xp, a: xp.reciprocal(a), "1 / a", ufunc="reciprocal", autocast=_ON_CUDA,
    element_role="unary", graph_autodiff=True,
)  # fmt: skip
unary(
    "sqrt", FLOAT, "sqrt", "sqrt(a)", sparse="elementwise.on_values", element_role="unary",
    graph_autodiff=True,
)  # fmt: skip
unary(
    "rsqrt", FLOAT, lambda xp, a: 1 / xp.sqrt(a), "rsqrt(a)", ufunc="one_by_root", autocast=_ON_CUDA,
    graph_autodiff=True,
)  # fmt: skip
unary(
    "conj_physical",
    SAME,
    "conjugate",
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_stored_values",
)
unary(
    "_conj_physical", SAME, "conjugate", forms="o", where="f", **COPIED, sparse="elementwise.on_stored_values"
)
for _name, _cuda in (("deg2rad", "a * 0.017453292519943295"), ("rad2deg", "a * 57.29577951308232")):
    unary(
        _name,
        FLOAT,
        _name,
        _cuda,
        unsupported={"c": f"{_name} is not supported for complex tensors."},
        sparse="elementwise.on_values",
    )

# rounding operators
unary(
    "ceil",
    SAME,
    _keep_integers("ceil"),
    "ceil(a)",
    unsupported=_rounding_dtype_errors("ceil"),
    ufunc="ceil",
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary(
    "floor",
    SAME,
    _keep_integers("floor"),
    "floor(a)",
    unsupported=_rounding_dtype_errors("floor"),
    ufunc="floor",
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary(
    "trunc",
    SAME,
    _keep_integers("trunc"),
    "trunc(a)",
    unsupported=_rounding_dtype_errors("trunc"),
    aliases=("fix",),
    ufunc="trunc",
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary(
    "frac",
    SAME,
    lambda xp, a: a - xp.trunc(a),
    "a - trunc(a)",
    unsupported="bic",
    out_dtype_error=FOUND_DTYPE_ERROR,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)

# transcendental functions
unary("exp", FLOAT, "exp", "exp(a)", autocast=_ON_CUDA, graph_autodiff=True)
unary("exp2", FLOAT, "exp2", "exp2(a)", aliases=("special_exp2",))
unary(
    "expm1",
    FLOAT,
    "expm1",
    "expm1(a)",
    aliases=("special_expm1",),
    autocast=_ON_CUDA,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary("log", FLOAT, "log", "log(a)", autocast=_ON_CUDA, graph_autodiff=True)
unary("log2", FLOAT, "log2", "log2(a)", autocast=_ON_CUDA, graph_autodiff=True)
unary("log10", FLOAT, "log10", "log10(a)", autocast=_ON_CUDA, graph_autodiff=True)
unary(
    "log1p",
    FLOAT,
    "log1p",
    "log1p(a)",
    aliases=("special_log1p",),
    autocast=_ON_CUDA,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary("sin", FLOAT, "sin", "sin(a)", sparse="elementwise.on_values", graph_autodiff=True)
unary("cos", FLOAT, "cos", "cos(a)", graph_autodiff=True)
unary("tan", FLOAT, "tan", "tan(a)", autocast=_ON_CUDA, sparse="elementwise.on_values", graph_autodiff=True)
unary(
    "asin", FLOAT, "arcsin", "asin(a)", aliases=("arcsin",), autocast=_ON_CUDA,
    sparse="elementwise.on_values", graph_autodiff=True,
)  # fmt: skip
unary("acos", FLOAT, "arccos", "acos(a)", aliases=("arccos",), autocast=_ON_CUDA, graph_autodiff=True)
unary(
    "atan", FLOAT, "arctan", "atan(a)", aliases=("arctan",), sparse="elementwise.on_values",
    graph_autodiff=True,
)  # fmt: skip
unary(
    "sinh", FLOAT, "sinh", "sinh(a)", autocast=_ON_CUDA, sparse="elementwise.on_values", graph_autodiff=True
)
unary("cosh", FLOAT, "cosh", "cosh(a)", autocast=_ON_CUDA, graph_autodiff=True)
unary("tanh", FLOAT, "tanh", "tanh(a)", sparse="elementwise.on_values", graph_autodiff=True)
unary("asinh", FLOAT, "arcsinh", "asinh(a)", aliases=("arcsinh",), sparse="elementwise.on_values")
unary("acosh", FLOAT, "arccosh", "acosh(a)", aliases=("arccosh",))
unary("atanh", FLOAT, "arctanh", "atanh(a)", aliases=("arctanh",), sparse="elementwise.on_values")
unary("sinc", FLOAT, _sinc, aliases=("special_sinc",))
unary(
    "sigmoid", FLOAT, sigmoid, "1 / (1 + exp(-a))", aliases=("special_expit",), ufunc="sigmoid",
    graph_autodiff=True,
)  # fmt: skip
unary(
    "erf",
    FLOAT,
    special("erf"),
    "erf(a)",
    unsupported={"c": "erf_vml_cpu"},
    aliases=("special_erf",),
    ufunc="erf",
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
unary(
    "erfc",
    FLOAT,
    special("erfc"),
    "erfc(a)",
    unsupported={"c": "erfc_vml_cpu"},
    aliases=("special_erfc",),
    ufunc="erfc",
    graph_autodiff=True,
)
unary(
    "erfinv",
    FLOAT,
    special("erfinv"),
    "erfinv(a)",
    unsupported={"c": "erfinv_vml_cpu"},
    aliases=("special_erfinv",),
    ufunc="erfinv",
    autocast=_ON_CUDA,
    sparse="elementwise.on_values",
)
unary(
    "lgamma",
    FLOAT,
    special("gammaln"),
    "lgamma(a)",
    unsupported={"c": "lgamma_vml_cpu"},
    aliases=("special_gammaln",),
    ufunc="gammaln",
)
unary(
    "digamma",
    FLOAT,
    digamma,
    unsupported={"c": "digamma"},
    aliases=("special_digamma", "special_psi"),
    ufunc="psi",
)
unary(
    "i0",
    FLOAT,
    special("i0"),
    "cyl_bessel_i0(a)",
    unsupported={"c": "i0_vml_cpu"},
    aliases=("special_i0",),
    ufunc="i0",
)

# predicates, which return bools
unary("logical_not", BOOLEAN, "logical_not", "!a")
unary(
    "signbit",
    BOOLEAN,
    lambda xp, a: xp.signbit(a) if common.category(a) == common.FLOATING else a < 0,
    "signbit(a)",
    unsupported={"c": NotImplementedMessage("signbit is not implemented for complex tensors.")},
    forms="o",
    out_dtype_error="signbit does not support non-boolean outputs.",
    sparse="elementwise.on_values",
)
unary(
    "isnan",
    BOOLEAN,
    _predicate("isnan"),
    "isnan(a)",
    forms="o",
    ufunc="isnan",
    work=0.002,
    **COPIED,
    sparse="elementwise.on_values",
)
unary(
    "isinf",
    BOOLEAN,
    _predicate("isinf"),
    "isinf(a)",
    forms="o",
    ufunc="isinf",
    work=0.002,
    **COPIED,
    sparse="elementwise.on_values",
)
unary("isfinite", BOOLEAN, _isfinite, "isfinite(a)", forms="", work=0.002)
for _name, _cuda in (("isposinf", "isinf(a) && a > 0"), ("isneginf", "isinf(a) && a < 0")):
    unary(
        _name, BOOLEAN, _predicate(_name), _cuda, forms="o", work=0.002,
        unsupported={"c": f"{_name} does not support complex inputs."},
        out_dtype_error=f"{_name} does not support non-boolean outputs.", sparse="elementwise.on_values",
    )  # fmt: skip
unary("isreal", BOOLEAN, _isreal, forms="", layout="like_first")

# special functions that exist only in `torch.special`
unary("special_i0e", FLOAT, special("i0e"), unsupported="c", ufunc="i0e")
unary("special_i1", FLOAT, special("i1"), unsupported="c")
unary("special_i1e", FLOAT, special("i1e"), unsupported="c")
unary("special_ndtr", FLOAT, special("ndtr"), "normcdf(a)", unsupported={"c": "erf_vml_cpu"})
unary("special_ndtri", FLOAT, special("ndtri"), "normcdfinv(a)", unsupported="ch")
unary("special_log_ndtr", FLOAT, special("log_ndtr"), unsupported="ch")
unary("special_entr", FLOAT, _entr, unsupported="c")
unary("special_erfcx", FLOAT, special("erfcx"), "erfcx(a)", unsupported="ch")
unary("special_bessel_j0", FLOAT, special("j0"), "j0(a)", unsupported="ch")
unary("special_bessel_j1", FLOAT, special("j1"), "j1(a)", unsupported="ch")
unary("special_bessel_y0", FLOAT, special("y0"), "y0(a)", unsupported="ch")
unary("special_bessel_y1", FLOAT, special("y1"), "y1(a)", unsupported="ch")
unary("special_modified_bessel_i0", FLOAT, special("i0"), unsupported="ch")
unary("special_modified_bessel_i1", FLOAT, special("i1"), unsupported="ch")
unary("special_modified_bessel_k0", FLOAT, special("k0"), unsupported="ch")
unary("special_modified_bessel_k1", FLOAT, special("k1"), unsupported="ch")

# Operators whose parameter is called `x` instead of `self` in PyTorch.
for _name, _body in (
    ("special_airy_ai", _airy),
    ("special_scaled_modified_bessel_k0", special("k0e")),
    ("special_scaled_modified_bessel_k1", special("k1e")),
    ("special_spherical_bessel_j0", _spherical_j0),
):
    _kernel = kernel_of(FLOAT, _body, dtype_errors_by_kind(_name, "ch"))
    op(f"aten::{_name}(Tensor x) -> Tensor", out="out", family="unary", promotion=FLOAT)(_kernel)


@op("aten::angle(Tensor self) -> Tensor", out="out", promotion=REAL, layout="like_real")
def _angle_kernel(xp: Any, a: Array) -> Array:
    x = common.cast(xp, a, common.float_dtype(a.dtype))
    return common.cast(xp, _angle(xp, x), common.real_dtype(x.dtype))


@op(
    "aten::square(Tensor self) -> Tensor",
    inplace=True,
    out="out",
    promotion=SAME,
    ufunc="square",
    cuda="a * a",
    autocast=_ON_CUDA,
)
def _square_kernel(xp: Any, a: Array) -> Array:
    x = common.cast(xp, a, common.accumulate_dtype(a.dtype)) if a.dtype == common.BOOL else a
    return x * x
