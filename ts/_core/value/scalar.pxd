"""Arithmetic on unboxed ints (two's complement, wraparound at integer overflow), IEEE 754 floats and bools.

Constant folding, eager calls and the interpreter use these functions, so their results are bit-identical.
Ints have 64 bits. Examples:

    floordiv_int(-7, 2) == -4        mod_int(-7, 2) == 1        pow_int(2, 10) == 1024

A function that can fail writes its result to `out` and returns a Status. At `error`, the caller acquires the
GIL and calls `raise_status`:

    status = floordiv_int_checked(a, b, &q)
    if status: goto error

As in PyTorch, float division by zero returns inf or nan. `round` returns a float, and `int(nan)` is the
smallest int. Shift counts are taken modulo 64. Unlike in PyTorch, `x % 0` raises an error, and `INT_MIN //
-1` is INT_MIN. PyTorch terminates the process in both cases.
"""

from libc.math cimport NAN, ceil, floor, fmod, isnan, pow
from libc.stdint cimport int64_t, uint64_t

cdef extern from "<stdint.h>" nogil:
    const int64_t INT64_MIN

cdef enum Status:
    OK = 0
    DIVISION_BY_ZERO = 1           # int // 0, int % 0
    INT_DIVMOD_BY_ZERO = 2         # divmod(int, 0)
    FLOAT_DIVMOD_BY_ZERO = 3       # divmod(float, 0.0)
    ZERO_TO_NEGATIVE_POWER = 4     # 0 ** -1
    NEGATIVE_FACTORIAL = 5
    NOT_AN_INT = 6                 # floor or ceil of nan, inf or a number that is too large
    ZERO_RANGE_STEP = 7
    INDEX_OUT_OF_RANGE = 8


# ---------------------------------------------------------------- ints

cdef inline int64_t floordiv_int(int64_t a, int64_t b) noexcept nogil:
    """Return a // b, rounded towards minus infinity. `b` must not be 0."""
    if b == -1:
        return -a                  # the processor traps at INT_MIN / -1. The negation wraps around to INT_MIN.
    cdef int64_t q = a / b
    return q - 1 if (a % b != 0 and (a ^ b) < 0) else q


cdef inline int64_t mod_int(int64_t a, int64_t b) noexcept nogil:
    """Return a % b with the sign of b. `b` must not be 0."""
    if b == -1:
        return 0
    cdef int64_t r = a % b
    return r + b if (r != 0 and (r ^ b) < 0) else r


cdef inline Status floordiv_int_checked(int64_t a, int64_t b, int64_t *out) noexcept nogil:
    if b == 0:
        return DIVISION_BY_ZERO
    out[0] = floordiv_int(a, b)
    return OK


cdef inline Status mod_int_checked(int64_t a, int64_t b, int64_t *out) noexcept nogil:
    if b == 0:
        return DIVISION_BY_ZERO
    out[0] = mod_int(a, b)
    return OK


cdef inline Status truncdiv_int_checked(int64_t a, int64_t b, int64_t *out) noexcept nogil:
    """Compute a / b rounded towards zero, as in C (aten::__round_to_zero_floordiv).

    Return DIVISION_BY_ZERO if `b` is 0.
    """
    if b == 0:
        return DIVISION_BY_ZERO
    out[0] = -a if b == -1 else a / b
    return OK


cdef inline int64_t shift_left(int64_t a, int64_t n) noexcept nogil:
    return <int64_t>(<uint64_t>a << (<uint64_t>n & 63))


cdef inline int64_t shift_right(int64_t a, int64_t n) noexcept nogil:
    return a >> (<uint64_t>n & 63)


cdef inline int64_t abs_int(int64_t a) noexcept nogil:
    return -a if a < 0 else a


cdef inline int64_t gcd_int(int64_t a, int64_t b) noexcept nogil:
    cdef uint64_t x = <uint64_t>a if a >= 0 else -<uint64_t>a
    cdef uint64_t y = <uint64_t>b if b >= 0 else -<uint64_t>b
    while y != 0:
        x, y = y, x % y
    return <int64_t>x


cdef inline int64_t pow_int(int64_t a, int64_t n) noexcept nogil:
    """Return a ** n by exponentiation by squaring, with wraparound. For negative n, the exact result is truncated towards 0."""
    if n < 0:
        return 1 if a == 1 else ((1 if n % 2 == 0 else -1) if a == -1 else 0)
    cdef int64_t result = 1
    while n > 0:
        if n & 1:
            result *= a
        a *= a
        n >>= 1
    return result


cdef inline Status factorial_checked(int64_t n, int64_t *out) noexcept nogil:
    """Compute n! with wraparound. From n = 66 on, the result is 0, because n! is divisible by 2**64."""
    cdef int64_t i, result = 1
    if n < 0:
        return NEGATIVE_FACTORIAL
    if n >= 66:
        out[0] = 0
        return OK
    for i in range(2, n + 1):
        result *= i
    out[0] = result
    return OK


cdef inline Status range_length(int64_t lo, int64_t hi, int64_t step, int64_t *out) noexcept nogil:
    """Compute the length of range(lo, hi, step), or return an error status if `step` is 0."""
    if step > 0:
        out[0] = <int64_t>((<uint64_t>hi - <uint64_t>lo - 1) / <uint64_t>step) + 1 if lo < hi else 0
    elif step < 0:
        out[0] = <int64_t>((<uint64_t>lo - <uint64_t>hi - 1) / (0 - <uint64_t>step)) + 1 if lo > hi else 0
    else:
        return ZERO_RANGE_STEP
    return OK


# ---------------------------------------------------------------- floats

cdef inline double truediv(double a, double b) noexcept nogil:
    """Return a / b by IEEE 754. As in PyTorch, and unlike in Python, division by zero returns inf or nan."""
    return a / b


cdef inline double floordiv_float(double a, double b) noexcept nogil:
    return floor(a / b)


cdef inline double mod_float(double a, double b) noexcept nogil:
    """Return a % b with the sign of b. As in PyTorch, the result is nan if b is 0 or infinite."""
    return fmod(fmod(a, b) + b, b)


cdef inline Status divmod_float_checked(double a, double b, double *q, double *r) noexcept nogil:
    cdef double rest
    if b == 0.0:
        return FLOAT_DIVMOD_BY_ZERO
    rest = fmod(a, b)
    if rest != 0.0 and (rest < 0) != (b < 0):
        rest += b
    q[0] = (a - rest) / b
    r[0] = rest
    return OK


cdef inline Status pow_float_checked(double a, double b, double *out) noexcept nogil:
    if a == 0.0 and b < 0.0:
        return ZERO_TO_NEGATIVE_POWER
    out[0] = pow(a, b)
    return OK



cdef inline double min_float(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double max_float(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline int64_t min_int(int64_t a, int64_t b) noexcept nogil:
    return a if a < b else b


cdef inline int64_t max_int(int64_t a, int64_t b) noexcept nogil:
    return a if a > b else b


# ---------------------------------------------------------------- conversions

cdef inline bint fits_int(double a) noexcept nogil:
    return -9223372036854775808.0 <= a < 9223372036854775808.0


cdef inline int64_t int_from_float(double a) noexcept nogil:
    """Truncate a float to int64. As on x86 and in PyTorch, values out of range become the smallest int."""
    return <int64_t>a if fits_int(a) else INT64_MIN


cdef inline Status floor_checked(double a, int64_t *out) noexcept nogil:
    cdef double rounded = floor(a)
    if not fits_int(rounded):
        return NOT_AN_INT
    out[0] = <int64_t>rounded
    return OK


cdef inline Status ceil_checked(double a, int64_t *out) noexcept nogil:
    cdef double rounded = ceil(a)
    if not fits_int(rounded):
        return NOT_AN_INT
    out[0] = <int64_t>rounded
    return OK


# ---------------------------------------------------------------- exceptions

# Raise the exception for a `Status`. The function acquires the GIL and returns -1.
cdef int raise_status(int status) except -1 nogil
# Raise the exception for the status NOT_AN_INT. The message contains `value`. The function acquires the GIL
# and returns -1.
cdef int raise_not_an_int(double value) except -1 nogil
