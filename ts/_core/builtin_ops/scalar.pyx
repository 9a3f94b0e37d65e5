"""Operators on numbers: arithmetic, comparison, logic and conversions.

The overloads of a name share one C function per kind of number. Kernels select the function by the tags of
the arguments. Bools count as ints. For example, the overloads of "add" are:

    aten::add.int  aten::add.float  aten::add.int_float ... aten::add
"""

from libc.math cimport atan2, copysign, fabs, fmod, log, remainder
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc

from ts._core.dispatch.operator cimport Kernel, Operator
from ts._core.builtin_ops.number cimport complex_of, from_parts, is_complex, real_of, set_complex
from ts._core.value.ivalue cimport box_shallow
from ts._core.builtin_ops.op_table cimport define
from ts._core.value.scalar cimport *
from ts._core.value.tagged cimport IValue, TAG_FLOAT, set_bool, set_float, set_int, set_object


cdef extern from "<complex.h>" nogil:
    double complex clog(double complex)
    double complex cpow(double complex, double complex)
    double cabs(double complex)


ctypedef int64_t (*IntBinary)(int64_t, int64_t) noexcept nogil
ctypedef double (*FloatBinary)(double, double) noexcept nogil
ctypedef double complex (*ComplexBinary)(double complex, double complex) noexcept nogil
ctypedef Status (*IntChecked)(int64_t, int64_t, int64_t *) noexcept nogil
ctypedef Status (*FloatChecked)(double, double, double *) noexcept nogil
ctypedef bint (*IntCompare)(int64_t, int64_t) noexcept nogil
ctypedef bint (*FloatCompare)(double, double) noexcept nogil


# C functions of a binary operator, one for each kind of number (int, float, complex). A NULL function means
# that the operator does not support the kind. Functions with `checked` in their name can raise an error.
cdef struct Binary:
    IntBinary of_int
    IntChecked of_int_checked
    FloatBinary of_real
    FloatChecked of_real_checked
    ComplexBinary of_complex


cdef struct Compare:
    IntCompare of_int
    FloatCompare of_real
    bint negate                    # True for `ne`, False for `eq`, used for complex numbers


# ---------------------------------------------------------------- kernels of one argument

cdef int floor_number(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    return round_to_int(&r[at[0]], &r[at[1]], floor_checked)


cdef int ceil_number(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    return round_to_int(&r[at[0]], &r[at[1]], ceil_checked)


cdef int round_to_int(IValue *x, IValue *out, Status (*function)(double, int64_t *) noexcept nogil) except -1 nogil:
    cdef int64_t value = x.v.i
    if is_complex(x):
        return raise_not_real()
    if x.tag == TAG_FLOAT and function(x.v.f, &value) != OK:
        return raise_not_an_int(x.v.f)
    set_int(out, value)
    return 0


cdef int raise_not_real() except -1 nogil:
    with gil:
        raise RuntimeError("complex numbers do not support ordering, floor or ceil")


cdef int negate_int(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_int(&r[at[1]], -r[at[0]].v.i)
    return 0


cdef int negate_number(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    if is_complex(x):
        return set_complex(&r[at[1]], -complex_of(x))
    if x.tag == TAG_FLOAT:
        set_float(&r[at[1]], -x.v.f)
    else:
        set_int(&r[at[1]], -x.v.i)
    return 0


cdef int negate_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_float(&r[at[1]], -r[at[0]].v.f)
    return 0


cdef int absolute(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]):
        set_float(&r[at[1]], cabs(complex_of(&r[at[0]])))
        return 0
    return absolute_real(op, r, at)


cdef int absolute_real(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef IValue *x = &r[at[0]]
    if x.tag == TAG_FLOAT:
        set_float(&r[at[1]], fabs(x.v.f))
    else:
        set_int(&r[at[1]], abs_int(x.v.i))
    return 0


cdef int logical_not(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[1]], r[at[0]].v.i == 0)
    return 0


cdef int factorial(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef int64_t value
    cdef Status status = factorial_checked(r[at[0]].v.i, &value)
    if status:
        return raise_status(status)
    set_int(&r[at[1]], value)
    return 0


# ---------------------------------------------------------------- conversions

cdef int to_int(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef IValue *x = &r[at[0]]
    set_int(&r[at[1]], int_from_float(x.v.f) if x.tag == TAG_FLOAT else x.v.i)
    return 0


cdef int to_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_float(&r[at[1]], real_of(&r[at[0]]))
    return 0


cdef double real_part(IValue *x) except? -1:
    """Return the real component of a complex number.

    Raise RuntimeError if the imaginary component is not 0.
    """
    cdef double complex z = complex_of(x)
    if z.imag != 0:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return z.real


cdef int scalar_to_int(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]):
        set_int(&r[at[1]], int_from_float(real_part(&r[at[0]])))
        return 0
    return to_int(op, r, at)


cdef int scalar_to_float(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]):
        set_float(&r[at[1]], real_part(&r[at[0]]))
        return 0
    return to_float(op, r, at)


cdef int to_bool(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[1]], real_of(&r[at[0]]) != 0)
    return 0


cdef int to_complex(Operator op, IValue *r, const int32_t *at) except -1:
    return set_complex(&r[at[1]], complex_of(&r[at[0]]))


cdef int complex_from_parts(Operator op, IValue *r, const int32_t *at) except -1:
    return set_complex(&r[at[2]], from_parts(real_of(&r[at[0]]), real_of(&r[at[1]])))


# ---------------------------------------------------------------- kernels of two arguments

cdef int int_function(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef Binary *f = <Binary *>op.data
    cdef int64_t value
    cdef Status status
    if f.of_int != NULL:
        value = f.of_int(r[at[0]].v.i, r[at[1]].v.i)
    else:
        status = f.of_int_checked(r[at[0]].v.i, r[at[1]].v.i, &value)
        if status:
            return raise_status(status)
    set_int(&r[at[2]], value)
    return 0


cdef int real_function2(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef Binary *f = <Binary *>op.data
    cdef double a = real_of(&r[at[0]]), b = real_of(&r[at[1]]), value
    cdef Status status
    if f.of_real != NULL:
        value = f.of_real(a, b)
    else:
        status = f.of_real_checked(a, b, &value)
        if status:
            return raise_status(status)
    set_float(&r[at[2]], value)
    return 0


cdef int bool_function(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[2]], (<Binary *>op.data).of_int(r[at[0]].v.i, r[at[1]].v.i) != 0)
    return 0


cdef int complex_function2(Operator op, IValue *r, const int32_t *at) except -1:
    return set_complex(&r[at[2]], (<Binary *>op.data).of_complex(complex_of(&r[at[0]]), complex_of(&r[at[1]])))


cdef int number_function2(Operator op, IValue *r, const int32_t *at) except -1:
    """Apply a function to two Scalars in the wider of their types, in the order complex, float, int.

    If both are ints and the operator has no function for ints, apply the function for floats.
    """
    cdef Binary *f = <Binary *>op.data
    if is_complex(&r[at[0]]) or is_complex(&r[at[1]]):
        if f.of_complex == NULL:
            raise RuntimeError(f"{op.name} is not defined for complex numbers")
        return complex_function2(op, r, at)
    if r[at[0]].tag == TAG_FLOAT or r[at[1]].tag == TAG_FLOAT or (f.of_int == NULL and f.of_int_checked == NULL):
        return real_function2(op, r, at)
    return int_function(op, r, at)


cdef int compare_ints(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[2]], (<Compare *>op.data).of_int(r[at[0]].v.i, r[at[1]].v.i))
    return 0


cdef int compare_reals(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_bool(&r[at[2]], (<Compare *>op.data).of_real(real_of(&r[at[0]]), real_of(&r[at[1]])))
    return 0


cdef int compare_numbers(Operator op, IValue *r, const int32_t *at) except -1:
    if is_complex(&r[at[0]]) or is_complex(&r[at[1]]):
        if op.name != "aten::eq" and op.name != "aten::ne":
            return raise_not_real()
        set_bool(&r[at[2]], (complex_of(&r[at[0]]) == complex_of(&r[at[1]])) != (<Compare *>op.data).negate)
        return 0
    if r[at[0]].tag == TAG_FLOAT or r[at[1]].tag == TAG_FLOAT:
        return compare_reals(op, r, at)
    return compare_ints(op, r, at)


cdef int divmod_int(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef int64_t a = r[at[0]].v.i, b = r[at[1]].v.i
    if b == 0:
        return raise_status(INT_DIVMOD_BY_ZERO)
    set_int(&r[at[2]], floordiv_int(a, b))
    set_int(&r[at[3]], mod_int(a, b))
    return 0


cdef int divmod_float(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef double quotient, rest
    cdef Status status = divmod_float_checked(real_of(&r[at[0]]), real_of(&r[at[1]]), &quotient, &rest)
    if status:
        return raise_status(status)
    set_float(&r[at[2]], quotient)
    set_float(&r[at[3]], rest)
    return 0


cdef int range_length_int(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    cdef int64_t length
    cdef Status status = range_length(r[at[0]].v.i, r[at[1]].v.i, r[at[2]].v.i, &length)
    if status:
        return raise_status(status)
    set_int(&r[at[3]], length)
    return 0


cdef int derive_index(Operator op, IValue *r, const int32_t *at) except -1 nogil:
    set_int(&r[at[3]], r[at[1]].v.i + r[at[0]].v.i * r[at[2]].v.i)
    return 0


# ---------------------------------------------------------------- C functions of the families

cdef int64_t add_int(int64_t a, int64_t b) noexcept nogil: return a + b
cdef int64_t sub_int(int64_t a, int64_t b) noexcept nogil: return a - b
cdef int64_t mul_int(int64_t a, int64_t b) noexcept nogil: return a * b
cdef int64_t and_int(int64_t a, int64_t b) noexcept nogil: return a & b
cdef int64_t or_int(int64_t a, int64_t b) noexcept nogil: return a | b
cdef int64_t xor_int(int64_t a, int64_t b) noexcept nogil: return a ^ b
cdef double add_real(double a, double b) noexcept nogil: return a + b
cdef double sub_real(double a, double b) noexcept nogil: return a - b
cdef double mul_real(double a, double b) noexcept nogil: return a * b
cdef double divide(double a, double b) noexcept nogil: return a / b
cdef double log_base(double a, double b) noexcept nogil: return log(a) / log(b)
cdef double complex add_complex(double complex a, double complex b) noexcept nogil: return a + b
cdef double complex sub_complex(double complex a, double complex b) noexcept nogil: return a - b
cdef double complex mul_complex(double complex a, double complex b) noexcept nogil: return a * b
cdef double complex clog_base(double complex a, double complex b) noexcept nogil: return divide_complex(clog(a), clog(b))


cdef double complex divide_complex(double complex a, double complex b) noexcept nogil:
    """Divide complex numbers. As in float division, a zero divisor gives inf or nan components."""
    cdef double square = b.real * b.real + b.imag * b.imag
    if square == 0.0:
        return from_parts(a.real / fabs(b.real), a.imag / fabs(b.real))
    return a / b


cdef bint eq_int(int64_t a, int64_t b) noexcept nogil: return a == b
cdef bint ne_int(int64_t a, int64_t b) noexcept nogil: return a != b
cdef bint lt_int(int64_t a, int64_t b) noexcept nogil: return a < b
cdef bint le_int(int64_t a, int64_t b) noexcept nogil: return a <= b
cdef bint gt_int(int64_t a, int64_t b) noexcept nogil: return a > b
cdef bint ge_int(int64_t a, int64_t b) noexcept nogil: return a >= b
cdef bint eq_real(double a, double b) noexcept nogil: return a == b
cdef bint ne_real(double a, double b) noexcept nogil: return a != b
cdef bint lt_real(double a, double b) noexcept nogil: return a < b
cdef bint le_real(double a, double b) noexcept nogil: return a <= b
cdef bint gt_real(double a, double b) noexcept nogil: return a > b
cdef bint ge_real(double a, double b) noexcept nogil: return a >= b


# ---------------------------------------------------------------- families of overloads

# Names of overloads in PyTorch's order ("-" is the overload without a name, whose arguments are Scalars). The
# first matching overload is selected. The Scalar overload matches all numbers, so it comes last.
cdef str REALS = "int float int_float float_int"
cdef str NUMBERS = "int complex float int_complex complex_int float_complex complex_float int_float float_int -"
cdef str EQUALITY = "bool int complex float int_float float_int float_complex complex_float"
cdef str POWERS = "int complex float int_float float_int float_complex complex_float Scalar_Scalar"
cdef str LOGARITHMS = (
    "int_int float_float complex_complex int_float float_int int_complex complex_int float_complex complex_float Scalar_Scalar"
)


cdef list COMPLEX_PARTS = [
    pair.split("_")
    for pair in "int_bool bool_int float_bool bool_float float_int int_float int_int bool_bool float_float".split()
]


cdef tuple argument_types(str overload):
    """Return the argument types of an overload: ("int", "float") for "int_float", two Scalars for ""."""
    if not overload:
        return "Scalar", "Scalar"
    a, _, b = overload.partition("_")
    return a, b or a


cdef Binary *functions(IntBinary of_int, FloatBinary of_real=NULL, ComplexBinary of_complex=NULL):
    """Return the function table of an operator on two numbers whose functions cannot fail.

    NULL stands for a missing function, such as `of_complex` of an operator without complex numbers.
    """
    cdef Binary *data = <Binary *>calloc(1, sizeof(Binary))
    data.of_int, data.of_real, data.of_complex = of_int, of_real, of_complex
    return data


cdef Binary *checked_binary(IntChecked of_int, FloatBinary of_real=NULL):
    """Return the function table of an operator whose function for ints can fail, for example by a zero divisor."""
    cdef Binary *data = <Binary *>calloc(1, sizeof(Binary))
    data.of_int_checked, data.of_real = of_int, of_real
    return data


cdef Binary *power():
    cdef Binary *data = <Binary *>calloc(1, sizeof(Binary))
    data.of_real_checked, data.of_complex = pow_float_checked, cpow
    return data


cdef list family(str name, str overloads, Binary *data, str result=""):
    """Return the overloads of an operator on two numbers.

    `overloads` lists the names of the overloads, where "-" stands for the unnamed overload on two Scalars. If
    `result` is "", the result has the wider type of the two arguments.
    """
    cdef bint has_ints = data.of_int != NULL or data.of_int_checked != NULL
    cdef Kernel kernel
    cdef list rows = []
    cdef str overload, a, b, wider
    for overload in overloads.split():
        if overload == "-":
            overload = ""
        a, b = argument_types(overload)
        if a == "Scalar":
            kernel, wider = number_function2, "Scalar"
        elif "complex" in (a, b):
            kernel, wider = complex_function2, "complex"
        elif "float" in (a, b) or not has_ints:
            kernel, wider = real_function2, "float"
        else:
            kernel, wider = int_function, "int"
        if result and wider != "complex":
            wider = result
        rows.append(define(
            f"{name}{'.' if overload else ''}{overload}({a} a, {b} b) -> {wider}",
            kernel, data, a != "Scalar" and "complex" not in (a, b),
        ))
    return rows


cdef list bits(str name, IntBinary function):
    cdef Binary *data = functions(function)
    return [
        define(f"aten::{name}.bool(bool a, bool b) -> bool", bool_function, data, True),
        define(f"aten::{name}.int(int a, int b) -> int", int_function, data, True),
    ]


cdef list comparison(str name, str overloads, IntCompare of_int, FloatCompare of_real):
    cdef Compare *data = <Compare *>calloc(1, sizeof(Compare))
    data.of_int, data.of_real, data.negate = of_int, of_real, name == "ne"
    rows = []
    for overload in overloads.split():
        a, b = argument_types(overload)
        schema = f"aten::{name}.{overload}({a} a, {b} b) -> bool"
        if "complex" in (a, b):
            rows.append(define(schema, compare_numbers, data))
        elif "float" in (a, b):
            rows.append(define(schema, compare_reals, data, True))
        else:
            rows.append(define(schema, compare_ints, data, True))
    rows.append(define(f"aten::{name}(Scalar a, Scalar b) -> bool", compare_numbers, data))
    return rows


cdef int complex_from_items(Operator op, IValue *r, const int32_t *at) except -1:
    """Return `complex(x, y)` for numbers and one-element tensors."""
    operands = [box_shallow(&r[at[i]]) for i in range(2)]
    operands = [operand if isinstance(operand, (int, float)) else operand.item() for operand in operands]
    set_object(&r[at[2]], complex(operands[0], operands[1]))
    return 0


def c_function(Operator op not None):
    """Return location and signature of the C function of an operator on two numbers, or None without one.

    The result is (offset, result type, argument type, checked). `offset` is the position of the function's
    address in the operator's data. A checked function returns a Status, and writes its result to the address
    in its last argument.
    """
    cdef Binary *f = <Binary *>op.data
    if not op.scalar:
        return None
    if op.kernels[0] == <Kernel>real_function2:
        if f.of_real != NULL:
            return <char *>&f.of_real - <char *>f, "double", "double", False
        return <char *>&f.of_real_checked - <char *>f, "double", "double", True
    if op.kernels[0] == <Kernel>int_function:
        if f.of_int != NULL:
            return <char *>&f.of_int - <char *>f, "i64", "i64", False
        return <char *>&f.of_int_checked - <char *>f, "i64", "i64", True
    return None


def operators():
    """Return the operators of this module."""
    return (
        # arithmetic
        family("aten::add", NUMBERS, functions(add_int, add_real, add_complex))
        + family("aten::sub", NUMBERS, functions(sub_int, sub_real, sub_complex))
        + family("aten::mul", NUMBERS, functions(mul_int, mul_real, mul_complex))
        + family("aten::div", "int complex float -", functions(NULL, divide, divide_complex), "float")
        + family("aten::floordiv", f"{REALS} -", checked_binary(floordiv_int_checked, floordiv_float))
        + family("aten::remainder", f"{REALS} -", checked_binary(mod_int_checked, mod_float))
        + family("aten::fmod", f"{REALS} -", functions(NULL, fmod), "float")
        + family("aten::mathremainder", f"{REALS} -", functions(NULL, remainder), "float")
        + family("aten::copysign", f"{REALS} -", functions(NULL, copysign), "float")
        + family("aten::atan2", f"{REALS} Scalar_Scalar", functions(NULL, atan2), "float")
        + family("aten::pow", POWERS, power(), "float")
        + family("aten::log", LOGARITHMS, functions(NULL, log_base, clog_base), "float")
        + family("prim::min", f"{REALS} -", functions(min_int, min_float))
        + family("prim::max", f"{REALS} -", functions(max_int, max_float))
        + [
            define("aten::divmod.int(int x, int y) -> (int, int)", divmod_int, NULL, True),
            define("aten::divmod.float(float x, float y) -> (float, float)", divmod_float, NULL, True),
            define("aten::divmod.int_float(int x, float y) -> (float, float)", divmod_float, NULL, True),
            define("aten::divmod.float_int(float x, int y) -> (float, float)", divmod_float, NULL, True),
            define("aten::neg.int(int a) -> int", negate_int, NULL, True),
            define("aten::neg.float(float a) -> float", negate_float, NULL, True),
            define("aten::neg.complex(complex a) -> complex", negate_number),
            define("aten::neg.Scalar(Scalar a) -> Scalar", negate_number),
            define("prim::abs.int(int a) -> int", absolute_real, NULL, True),
            define("prim::abs.float(float a) -> float", absolute_real, NULL, True),
            define("prim::abs.complex(complex a) -> float", absolute),
            define("prim::abs.Scalar(Scalar a) -> Scalar", absolute),
        ]
        # integers
        + family("aten::gcd", "int", functions(gcd_int))
        + family("aten::__lshift__", "int", functions(shift_left))
        + family("aten::__rshift__", "int", functions(shift_right))
        + family("aten::__round_to_zero_floordiv", "int", checked_binary(truncdiv_int_checked))
        + bits("__and__", and_int)
        + bits("__or__", or_int)
        + bits("__xor__", xor_int)
        + [
            define("aten::pow.int_to_int(int a, int b) -> int", int_function, functions(pow_int), True),
            define("aten::__not__(bool self) -> bool", logical_not, NULL, True),
            define("aten::factorial.int(int a) -> int", factorial, NULL, True),
            define("aten::__range_length(int lo, int hi, int step) -> int", range_length_int, NULL, True),
            define("aten::__derive_index(int index, int start, int step) -> int", derive_index, NULL, True),
        ]
        # comparison
        + comparison("eq", EQUALITY, eq_int, eq_real)
        + comparison("ne", EQUALITY, ne_int, ne_real)
        + comparison("lt", REALS, lt_int, lt_real)
        + comparison("le", REALS, le_int, le_real)
        + comparison("gt", REALS, gt_int, gt_real)
        + comparison("ge", REALS, ge_int, ge_real)
        # conversions
        + [
            define("aten::ceil.int(int a) -> int", ceil_number, NULL, True),
            define("aten::ceil.float(float a) -> int", ceil_number, NULL, True),
            define("aten::ceil.Scalar(Scalar a) -> Scalar", ceil_number),
            define("aten::floor.int(int a) -> int", floor_number, NULL, True),
            define("aten::floor.float(float a) -> int", floor_number, NULL, True),
            define("aten::floor.Scalar(Scalar a) -> Scalar", floor_number),
            define("aten::Bool.int(int a) -> bool", to_bool, NULL, True),
            define("aten::Bool.float(float a) -> bool", to_bool, NULL, True),
            define("aten::Int.bool(bool a) -> int", to_int, NULL, True),
            define("aten::Int.float(float a) -> int", to_int, NULL, True),
            define("aten::Int.Scalar(Scalar a) -> int", scalar_to_int),
            define("aten::Float.Scalar(Scalar a) -> float", scalar_to_float),
            define("aten::Float.int(int a) -> float", to_float, NULL, True),
            define("aten::Float.bool(bool a) -> float", to_float, NULL, True),
            define("aten::Complex.Scalar(Scalar a) -> complex", to_complex),
            *[
                define(f"aten::Complex.{x}_{y}({x} x, {y} y) -> complex", complex_from_parts)
                for x, y in COMPLEX_PARTS
            ],
            define("aten::Complex.Tensor_Tensor(Tensor a, Tensor b) -> complex", complex_from_items),
            *[
                define(f"aten::Complex.{x}_{y}({x} x, {y} y) -> complex", complex_from_items)
                for t in ("float", "int", "bool")
                for x, y in (("Tensor", t), (t, "Tensor"))
            ],
        ]
    )

