"""Operators of the modules `math` and `cmath`, on int, float, complex and Scalar arguments.

The C library computes the functions of ints and floats in double precision. As in PyTorch, undefined results
are nan or inf. Unlike in PyTorch, the Scalar overloads use double precision too. For example, the overloads
of a square root are:

    aten::sqrt.int  aten::sqrt.float  aten::sqrt.complex  aten::sqrt.Scalar
"""

from libc.math cimport (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    copysign,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    expm1,
    fabs,
    frexp,
    isfinite,
    isinf,
    isnan,
    ldexp,
    lgamma,
    log,
    log10,
    log1p,
    modf,
    nearbyint,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    tgamma,
)
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc

from ts._core.dispatch.operator cimport Kernel, Operator
from ts._core.builtin_ops.number cimport complex_of, from_parts, is_complex, real_of, set_complex
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.tagged cimport IValue, set_bool, set_float, set_int


cdef extern from "<complex.h>" nogil:
    double complex cacos(double complex)
    double complex cacosh(double complex)
    double complex casin(double complex)
    double complex casinh(double complex)
    double complex catan(double complex)
    double complex catanh(double complex)
    double complex ccos(double complex)
    double complex ccosh(double complex)
    double complex cexp(double complex)
    double complex clog(double complex)
    double complex csin(double complex)
    double complex csinh(double complex)
    double complex csqrt(double complex)
    double complex ctan(double complex)
    double complex ctanh(double complex)
    double carg(double complex)


ctypedef double (*FloatUnary)(double) noexcept nogil
ctypedef double complex (*ComplexUnary)(double complex) noexcept nogil


cdef struct Unary:                 # C functions of a unary operator, for real and for complex arguments
    FloatUnary of_real
    ComplexUnary of_complex


# ---------------------------------------------------------------- kernels

cdef int real_function(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_float(&r[at[1]], (<Unary *>op.data).of_real(real_of(&r[at[0]])))
    return 0


cdef int complex_function(Operator op, IValue *r, const int32_t *at) except -1:
    return set_complex(&r[at[1]], (<Unary *>op.data).of_complex(complex_of(&r[at[0]])))


cdef int number_function(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]):
        if (<Unary *>op.data).of_complex == NULL:
            raise RuntimeError(f"{op.name} is not defined for complex numbers")
        return complex_function(op, r, at)
    return real_function(op, r, at)


cdef int real_predicate(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[1]], (<Unary *>op.data).of_real(real_of(&r[at[0]])) != 0)
    return 0


cdef int complex_predicate(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute isnan, isinf or isfinite of a complex number.

    isnan and isinf are True if they are True for at least one component. isfinite is True if both components
    are finite.
    """
    cdef double complex z = complex_of(&r[at[0]])
    cdef bint real = (<Unary *>op.data).of_real(z.real) != 0, imag = (<Unary *>op.data).of_real(z.imag) != 0
    set_bool(&r[at[1]], (real and imag) if op.name == "aten::isfinite" else (real or imag))
    return 0


cdef double is_nan(double x) noexcept nogil:
    return isnan(x)


cdef double is_inf(double x) noexcept nogil:
    return isinf(x)


cdef double is_finite(double x) noexcept nogil:
    return isfinite(x)


cdef double to_degrees(double x) noexcept nogil:
    return x * (180.0 / 3.14159265358979323846)


cdef double to_radians(double x) noexcept nogil:
    return x * (3.14159265358979323846 / 180.0)


cdef double gamma(double x) noexcept nogil:
    return tgamma(x)


cdef double angle_of_real(double x) noexcept nogil:
    return 3.14159265358979323846 if copysign(1.0, x) < 0 else 0.0


cdef double complex clog10(double complex z) noexcept nogil:
    cdef double complex w = clog(z)
    return from_parts(w.real / 2.302585092994045684, w.imag / 2.302585092994045684)


cdef int angle(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]):
        set_float(&r[at[1]], carg(complex_of(&r[at[0]])))
    else:
        set_float(&r[at[1]], angle_of_real(real_of(&r[at[0]])))
    return 0


cdef int frexp_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef int exponent = 0
    cdef double mantissa = frexp(r[at[0]].v.f, &exponent)
    set_float(&r[at[1]], mantissa)
    set_int(&r[at[2]], exponent)
    return 0


cdef int modf_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef double integral = 0
    cdef double fraction = modf(r[at[0]].v.f, &integral)
    set_float(&r[at[1]], fraction)
    set_float(&r[at[2]], integral)
    return 0


cdef int ldexp_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef int64_t n = r[at[1]].v.i
    set_float(&r[at[2]], ldexp(r[at[0]].v.f, <int>(-10000 if n < -10000 else (10000 if n > 10000 else n))))
    return 0


cdef int polar(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double radius = real_of(&r[at[0]]), angle = real_of(&r[at[1]])
    return set_complex(&r[at[2]], from_parts(radius * cos(angle), radius * sin(angle)))


# ---------------------------------------------------------------- families of overloads

cdef list function(str name, FloatUnary real, ComplexUnary of_complex=NULL):
    """Return the overloads of a math function. The result is complex for complex numbers, else a float."""
    cdef Unary *data = <Unary *>calloc(1, sizeof(Unary))
    data.of_real = real
    data.of_complex = of_complex
    rows = [
        define(f"aten::{name}.int(int a) -> float", real_function, data, True),
        define(f"aten::{name}.float(float a) -> float", real_function, data, True),
    ]
    if of_complex != NULL:
        rows.append(define(f"aten::{name}.complex(complex a) -> complex", complex_function, data))
    rows.append(define(f"aten::{name}.Scalar(Scalar a) -> Scalar", number_function, data))
    return rows


cdef list predicate(str name, FloatUnary real):
    cdef Unary *data = <Unary *>calloc(1, sizeof(Unary))
    data.of_real = real
    return [
        define(f"aten::{name}.float(float a) -> bool", real_predicate, data, True),
        define(f"aten::{name}.complex(complex a) -> bool", complex_predicate, data),
    ]


def c_function(Operator op not None):
    """Return location and signature of the operator's C function on one double, or None for other operators.

    The result has the form that `scalar.c_function` describes.
    """
    if op.scalar and op.kernels[0] == <Kernel>real_function:
        return 0, "double", "double", False
    return None


def operators():
    """Return the operators of this module."""
    return (
        function("acos", acos, cacos)
        + function("acosh", acosh, cacosh)
        + function("asin", asin, casin)
        + function("asinh", asinh, casinh)
        + function("atan", atan, catan)
        + function("atanh", atanh, catanh)
        + function("cos", cos, ccos)
        + function("cosh", cosh, ccosh)
        + function("exp", exp, cexp)
        + function("log", log, clog)
        + function("log10", log10, clog10)
        + function("sin", sin, csin)
        + function("sinh", sinh, csinh)
        + function("sqrt", sqrt, csqrt)
        + function("tan", tan, ctan)
        + function("tanh", tanh, ctanh)
        + function("degrees", to_degrees)
        + function("erf", erf)
        + function("erfc", erfc)
        + function("expm1", expm1)
        + function("fabs", fabs)
        + function("gamma", gamma)
        + function("lgamma", lgamma)
        + function("log1p", log1p)
        + function("radians", to_radians)
        + function("round", nearbyint)
        + predicate("isnan", is_nan)
        + predicate("isinf", is_inf)
        + predicate("isfinite", is_finite)
        + [
            define("aten::frexp(float a) -> (float, int)", frexp_float, NULL, True),
            define("aten::modf(float a) -> (float, float)", modf_float, NULL, True),
            define("aten::ldexp(float x, int i) -> float", ldexp_float, NULL, True),
            define("aten::angle.int(int a) -> float", angle, NULL),
            define("aten::angle.float(float a) -> float", angle, NULL),
            define("aten::angle.complex(complex a) -> float", angle),
            define("aten::angle.Scalar(Scalar a) -> Scalar", angle),
            define("aten::polar.int(int a, int b) -> complex", polar),
            define("aten::polar.float(float a, float b) -> complex", polar),
            define("aten::polar.int_float(int a, float b) -> complex", polar),
            define("aten::polar.float_int(float a, int b) -> complex", polar),
            define("aten::polar.Scalar_Scalar(Scalar a, Scalar b) -> Scalar", polar),
        ]
    )
