"""Inner loops of pointwise arithmetic (exponentiation by squaring, remainders, floor division, shifts).

NumPy lacks these loops, or its results differ from PyTorch's. The loops have the arguments of NumPy's inner
loops: pointers, a count, and strides in bytes. The table shows the names of the loops and their operations:

    rest, rest_as_in_c, quotient_down   x % y, x.fmod(y), x // y (RuntimeError for integer division by zero)
    powers                              x ** y, truncated for integers with negative y
    left_shift_by, right_shift_by       x << y, x >> y, where an invalid y shifts all bits out
    signs, one_by_root                  sign, rsqrt
    log_of_sum                          logaddexp of floats
"""

from cpython.exc cimport PyErr_SetString
from libc.math cimport fabs, fmod, fmodf, sqrt, sqrtf
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT8, INT16, INT32, INT64, UINT8
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.kernel_registry cimport register_loops
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cdef enum:
    MAX_EXACT_QUOTIENT = 1 << 28       # maximal quotient of float32 numbers whose remainder is exact in double

ctypedef fused integral:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused floating:
    float
    double

ctypedef fused number:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t
    float
    double


cdef void raise_zero_division() noexcept nogil:
    with gil:
        PyErr_SetString(RuntimeError, b"ZeroDivisionError")


# ---------------------------------------------------------------- remainders and quotients

cdef inline float rest_of_floats(float x, float y) noexcept nogil:
    """Return the remainder of truncated division, which has the sign of `x`."""
    cdef double quotient = <double>x / y
    if fabs(quotient) < 1 and x != 0:
        return x
    if fabs(quotient) < MAX_EXACT_QUOTIENT and x != 0:
        quotient = x - <double>(<int64_t>quotient) * y
        return <float>quotient if quotient != 0 else x * 0
    return fmodf(x, y)


cdef inline floating floor_remainder(floating x, floating y) noexcept nogil:
    """Return the remainder of floor division.

    A nonzero remainder has the sign of `y`, and a remainder of zero has the sign of `x`.
    """
    cdef floating rest = rest_of_floats(x, y) if floating is float else fmod(x, y)
    return rest + y if rest != 0 and (rest < 0) != (y < 0) else rest


cdef inline void rest_floating(char **a, npy_intp n, const npy_intp *s, floating kind) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        (<floating *>(a[2] + i * s[2]))[0] = floor_remainder[floating](
            (<floating *>(a[0] + i * s[0]))[0], (<floating *>(a[1] + i * s[1]))[0]
        )


cdef enum Division:
    REMAINDER
    C_REMAINDER
    FLOOR_QUOTIENT


cdef inline void divide_integral(char **a, npy_intp n, const npy_intp *s, Division division, integral kind) noexcept nogil:
    cdef npy_intp i
    cdef integral x, y, remainder, value
    for i in range(n):
        x, y = (<integral *>(a[0] + i * s[0]))[0], (<integral *>(a[1] + i * s[1]))[0]
        if y == 0:
            raise_zero_division()
            return
        # x // -1 is -x, which wraps around for the smallest integer. A division in C would trap.
        if integral is not uint8_t and y == -1:
            value = <integral>(0 - <uint64_t>x) if division == FLOOR_QUOTIENT else 0
        else:
            remainder = x % y
            if division == FLOOR_QUOTIENT:
                value = x // y
                if integral is not uint8_t and remainder != 0 and (remainder ^ y) < 0:
                    value -= 1
            else:
                value = remainder
                if integral is not uint8_t and division == REMAINDER and remainder != 0 and (remainder ^ y) < 0:
                    value += y
        (<integral *>(a[2] + i * s[2]))[0] = value


# ---------------------------------------------------------------- powers of integers

cdef inline void power_integral(char **a, npy_intp n, const npy_intp *s, integral kind) noexcept nogil:
    cdef npy_intp i
    cdef integral x, y, value
    for i in range(n):
        x, y = (<integral *>(a[0] + i * s[0]))[0], (<integral *>(a[1] + i * s[1]))[0]
        if integral is not uint8_t and y < 0:
            value = 1 if x == 1 else ((-1 if y & 1 else 1) if x == -1 else 0)
        else:
            value = 1
            while y > 0:
                if y & 1:
                    value = <integral>(<uint64_t>value * <uint64_t>x)
                x = <integral>(<uint64_t>x * <uint64_t>x)
                y >>= 1
        (<integral *>(a[2] + i * s[2]))[0] = value


# ---------------------------------------------------------------- shifts

cdef inline void shift_left(char **a, npy_intp n, const npy_intp *s, integral kind) noexcept nogil:
    cdef npy_intp i
    cdef integral x, y
    for i in range(n):
        x, y = (<integral *>(a[0] + i * s[0]))[0], (<integral *>(a[1] + i * s[1]))[0]
        (<integral *>(a[2] + i * s[2]))[0] = <integral>(<uint64_t>x << y) if 0 <= y < <int>(8 * sizeof(integral)) else 0


cdef inline void shift_right(char **a, npy_intp n, const npy_intp *s, integral kind) noexcept nogil:
    cdef npy_intp i
    cdef integral x, y
    for i in range(n):
        x, y = (<integral *>(a[0] + i * s[0]))[0], (<integral *>(a[1] + i * s[1]))[0]
        if 0 <= y < <int>(8 * sizeof(integral)):
            x = x >> y
        else:
            x = -1 if integral is not uint8_t and x < 0 else 0
        (<integral *>(a[2] + i * s[2]))[0] = x


# ---------------------------------------------------------------- signs, roots

cdef inline void sign_loop(char **a, npy_intp n, const npy_intp *s, number kind) noexcept nogil:
    cdef npy_intp i
    cdef number x
    for i in range(n):
        x = (<number *>(a[0] + i * s[0]))[0]
        (<number *>(a[1] + i * s[1]))[0] = <number>((x > 0) - (x < 0))


cdef inline void root_loop(char **a, npy_intp n, const npy_intp *s, floating kind) noexcept nogil:
    cdef npy_intp i
    cdef floating one = 1
    if s[0] == sizeof(floating) and s[1] == sizeof(floating):
        for i in range(n):
            if floating is float:
                (<float *>a[1])[i] = one / sqrtf((<float *>a[0])[i])
            else:
                (<double *>a[1])[i] = one / sqrt((<double *>a[0])[i])
        return
    for i in range(n):
        (<floating *>(a[1] + i * s[1]))[0] = one / <floating>sqrt((<floating *>(a[0] + i * s[0]))[0])


# ---------------------------------------------------------------- loops of each dtype with NumPy's signature

cdef void rest_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    rest_floating[float](a, n[0], s, 0)

cdef void rest_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    rest_floating[double](a, n[0], s, 0)

cdef void rest_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[uint8_t](a, n[0], s, REMAINDER, 0)

cdef void rest_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int8_t](a, n[0], s, REMAINDER, 0)

cdef void rest_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int16_t](a, n[0], s, REMAINDER, 0)

cdef void rest_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int32_t](a, n[0], s, REMAINDER, 0)

cdef void rest_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int64_t](a, n[0], s, REMAINDER, 0)

cdef void rest_as_in_c_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[uint8_t](a, n[0], s, C_REMAINDER, 0)

cdef void rest_as_in_c_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int8_t](a, n[0], s, C_REMAINDER, 0)

cdef void rest_as_in_c_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int16_t](a, n[0], s, C_REMAINDER, 0)

cdef void rest_as_in_c_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int32_t](a, n[0], s, C_REMAINDER, 0)

cdef void rest_as_in_c_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int64_t](a, n[0], s, C_REMAINDER, 0)

cdef void quotient_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[uint8_t](a, n[0], s, FLOOR_QUOTIENT, 0)

cdef void quotient_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int8_t](a, n[0], s, FLOOR_QUOTIENT, 0)

cdef void quotient_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int16_t](a, n[0], s, FLOOR_QUOTIENT, 0)

cdef void quotient_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int32_t](a, n[0], s, FLOOR_QUOTIENT, 0)

cdef void quotient_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    divide_integral[int64_t](a, n[0], s, FLOOR_QUOTIENT, 0)

cdef void power_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    power_integral[uint8_t](a, n[0], s, 0)

cdef void power_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    power_integral[int8_t](a, n[0], s, 0)

cdef void power_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    power_integral[int16_t](a, n[0], s, 0)

cdef void power_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    power_integral[int32_t](a, n[0], s, 0)

cdef void power_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    power_integral[int64_t](a, n[0], s, 0)

cdef void left_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_left[uint8_t](a, n[0], s, 0)

cdef void left_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_left[int8_t](a, n[0], s, 0)

cdef void left_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_left[int16_t](a, n[0], s, 0)

cdef void left_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_left[int32_t](a, n[0], s, 0)

cdef void left_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_left[int64_t](a, n[0], s, 0)

cdef void right_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_right[uint8_t](a, n[0], s, 0)

cdef void right_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_right[int8_t](a, n[0], s, 0)

cdef void right_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_right[int16_t](a, n[0], s, 0)

cdef void right_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_right[int32_t](a, n[0], s, 0)

cdef void right_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    shift_right[int64_t](a, n[0], s, 0)

cdef void sign_uint8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[uint8_t](a, n[0], s, 0)

cdef void sign_int8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[int8_t](a, n[0], s, 0)

cdef void sign_int16(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[int16_t](a, n[0], s, 0)

cdef void sign_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[int32_t](a, n[0], s, 0)

cdef void sign_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[int64_t](a, n[0], s, 0)

cdef void sign_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[float](a, n[0], s, 0)

cdef void sign_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    sign_loop[double](a, n[0], s, 0)

cdef void root_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    root_loop[float](a, n[0], s, 0)

cdef void root_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    root_loop[double](a, n[0], s, 0)

cdef int *integral_types = [UINT8, INT8, INT16, INT32, INT64]
cdef Loop *rests = [rest_uint8, rest_int8, rest_int16, rest_int32, rest_int64]
cdef Loop *rests_as_in_c = [rest_as_in_c_uint8, rest_as_in_c_int8, rest_as_in_c_int16, rest_as_in_c_int32, rest_as_in_c_int64]
cdef Loop *quotients = [quotient_uint8, quotient_int8, quotient_int16, quotient_int32, quotient_int64]
cdef Loop *powers = [power_uint8, power_int8, power_int16, power_int32, power_int64]
cdef Loop *lefts = [left_uint8, left_int8, left_int16, left_int32, left_int64]
cdef Loop *rights = [right_uint8, right_int8, right_int16, right_int32, right_int64]
cdef Loop *signs = [sign_uint8, sign_int8, sign_int16, sign_int32, sign_int64]


cdef int set_loop(Loops loops, int scalar_type, Loop function) except -1:
    loops.function[scalar_type] = function
    loops.data[scalar_type] = NULL
    loops.result_type[scalar_type] = scalar_type
    return 0


cdef Loops make_loops(str name, int arity, Loop *integral_loops, Loop single, Loop double_):
    """Create the `Loops` of one operation from C loops for the integer dtypes, float32 and float64.

    `integral_loops` is NULL if the operation has no integer loops. `single` is NULL if the operation has no
    float32 and float64 loops.
    """
    cdef Loops loops = Loops()
    cdef int i
    loops.name = name
    loops.arity = arity
    if integral_loops != NULL:
        for i in range(5):
            set_loop(loops, integral_types[i], integral_loops[i])
    if single != NULL:
        set_loop(loops, FLOAT, single)
        set_loop(loops, DOUBLE, double_)
    return loops


cdef Loops add_float_loops(Loops integer_loops, str ufunc):
    """Add NumPy's float32 and float64 loops of `ufunc` to `integer_loops`."""
    cdef Loops numpy_loops = ufunc_loops(ufunc, "same", "fd")
    integer_loops.function[FLOAT], integer_loops.function[DOUBLE] = numpy_loops.function[FLOAT], numpy_loops.function[DOUBLE]
    integer_loops.data[FLOAT], integer_loops.data[DOUBLE] = numpy_loops.data[FLOAT], numpy_loops.data[DOUBLE]
    integer_loops.result_type[FLOAT], integer_loops.result_type[DOUBLE] = FLOAT, DOUBLE
    return integer_loops


cdef int register() except -1:
    """Register the loops under the names used by operator records."""
    for loops in (
        make_loops("rest", 2, rests, rest_float, rest_double),
        add_float_loops(make_loops("rest_as_in_c", 2, rests_as_in_c, NULL, NULL), "fmod"),
        add_float_loops(make_loops("quotient_down", 2, quotients, NULL, NULL), "floor_divide"),
        add_float_loops(make_loops("powers", 2, powers, NULL, NULL), "power"),
        add_float_loops(make_loops("log_of_sum", 2, NULL, NULL, NULL), "logaddexp"),
        make_loops("left_shift_by", 2, lefts, NULL, NULL),
        make_loops("right_shift_by", 2, rights, NULL, NULL),
        make_loops("signs", 1, signs, sign_float, sign_double),
        make_loops("one_by_root", 1, NULL, root_float, root_double),
    ):
        register_loops(f"loops:{(<Loops>loops).name}", loops)
    return 0


register()
