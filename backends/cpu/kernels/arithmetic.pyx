"""Pointwise arithmetic with scalar parameters on contiguous CPU tensors of one dtype.

Input: interpreter registers with tensors of one shape, and numbers. Output: the register of the result. For
other arguments, the operator's Python kernel runs. Examples of calls:

    x.clamp(0, 1), clamp_min, clamp_max      x ** 2             1 - x, add(x, y, alpha=2)
    lerp(x, y, 0.5), addcmul(x, y, z)        k % 3, k // 3      (`k` has integers)
    x.addcdiv_(y, z), x.lerp_(y, 0.5)        in place
"""

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.parallel_for cimport VECTOR_BLOCK_ELEMENTS, parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, FLOAT32_CONTIGUOUS, Tile, register_kernel, register_tile
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, copy_value
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, flags_of, same_shape, size_of
from ts._core.tensor.overlap cimport has_partial_overlap
from ts._core.tensor.tensor cimport Tensor, wrote
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, new_like, set_result, read_number, scalar_type

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

ctypedef void (*FloatLoop)(const float *, const float *, const float *, npy_intp, float, float *) noexcept nogil

cdef extern from "arithmetic.h" nogil:
    FloatLoop simd_square_row, simd_rsub_row, simd_add_scaled_row, simd_addcmul_row, simd_addcdiv_row
    FloatLoop simd_lerp_low_row, simd_lerp_high_row
    void float_lerp_by(const float *x, const float *y, const float *z, npy_intp n, float *out)
    void double_lerp_by(const double *x, const double *y, const double *z, npy_intp n, double *out)
    void simd_clamp_row(const float *x, npy_intp n, float low, float high, float *out)
    void simd_clamp_min_row(const float *x, npy_intp n, float low, float *out)
    void simd_clamp_max_row(const float *x, npy_intp n, float high, float *out)
    void int_quotient_row(const int64_t *x, npy_intp n, int64_t scalar, int64_t *out)  # requires scalar > 1
    void int_rest_row(const int64_t *x, npy_intp n, int64_t scalar, int64_t *out)

ctypedef fused number:
    double
    int64_t

ctypedef fused floating:
    float
    double


cdef PyArrayObject *matching_array(PyArrayObject *a, int kind, IValue *x) noexcept:
    """Return the array of `x` if `x` is a contiguous CPU tensor with dtype `kind` and the shape of `a`, else
    NULL.
    """
    cdef PyArrayObject *b = contiguous_array_or_null(x)
    return b if b != NULL and scalar_type(x) == kind and same_shape(a, b) else NULL


# ---------------------------------------------------------------- clamp

cdef void clamp_row(const number *x, npy_intp n, bint has_low, number low, bint has_high, number high, number *out) noexcept nogil:
    """Clamp a row. A NaN element stays NaN, and if low > high, the result is high."""
    cdef npy_intp i
    cdef number value
    if has_low and has_high:
        for i in range(n):
            value = low if x[i] < low else x[i]
            out[i] = high if value > high else value
    elif has_low:
        for i in range(n):
            out[i] = low if x[i] < low else x[i]
    else:
        for i in range(n):
            out[i] = high if x[i] > high else x[i]


cdef bint can_write(PyArrayObject *x, PyArrayObject *y, PyArrayObject *z) noexcept:
    """Return whether `x` is writable and has no partial overlap with `y` or `z`, each of which may be NULL."""
    if not flags_of(x) & cnp.NPY_ARRAY_WRITEABLE:
        return False
    return (y == NULL or not has_partial_overlap(x, y)) and (z == NULL or not has_partial_overlap(x, z))


cdef int return_written(Operator op, IValue *r, const int32_t *at) except -1:
    """Increment the version counter of the first argument, and store this tensor as the operator's result."""
    wrote(<Tensor>r[at[0]].v.o)
    copy_value(&r[at[op.nargs]], &r[at[0]])
    return 0


cdef struct Clamp:
    int kind
    char *x
    bint has_low
    bint has_high
    double low
    double high
    int64_t low_integer
    int64_t high_integer
    char *out


cdef int clamp_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Clamp the elements [start, end)."""
    cdef Clamp *task = <Clamp *>context
    cdef float *floats = <float *>task.x + start
    cdef float *out = <float *>task.out + start
    if task.kind == FLOAT and task.has_low and task.has_high:
        simd_clamp_row(floats, end - start, <float>task.low, <float>task.high, out)
    elif task.kind == FLOAT and task.has_low:
        simd_clamp_min_row(floats, end - start, <float>task.low, out)
    elif task.kind == FLOAT:
        simd_clamp_max_row(floats, end - start, <float>task.high, out)
    elif task.kind == DOUBLE:
        clamp_row[double](
            <double *>task.x + start, end - start, task.has_low, task.low, task.has_high, task.high, <double *>task.out + start
        )
    else:
        clamp_row[int64_t](
            <int64_t *>task.x + start, end - start, task.has_low, task.low_integer, task.has_high, task.high_integer,
            <int64_t *>task.out + start,
        )
    return 0


cdef int clamp_between(Operator op, IValue *r, const int32_t *at, IValue *low, IValue *high, bint in_place=False) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef bint has_low = low != NULL and low.tag != TAG_NONE, has_high = high != NULL and high.tag != TAG_NONE
    cdef double low_bound = 0, high_bound = 0
    cdef int kind
    cdef object result
    cdef Clamp task
    cdef ReleasedGil gil_state
    if in_place and (a == NULL or scalar_type(&r[at[0]]) not in (INT64, FLOAT, DOUBLE) or not can_write(a, NULL, NULL)):
        return UNSUPPORTED
    if a == NULL or not (has_low or has_high):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if kind == INT64:
        if (has_low and low.tag != TAG_INT) or (has_high and high.tag != TAG_INT):
            return UNSUPPORTED
    elif kind != FLOAT and kind != DOUBLE:
        return UNSUPPORTED
    elif (has_low and not read_number(low, kind, &low_bound)) or (has_high and not read_number(high, kind, &high_bound)):
        return UNSUPPORTED
    result = <object>a if in_place else new_like(a, kind)
    task.kind, task.x, task.out = kind, data_of(a), data_of(<PyArrayObject *>result)
    task.has_low, task.has_high, task.low, task.high = has_low, has_high, low_bound, high_bound
    task.low_integer, task.high_integer = low.v.i if has_low else 0, high.v.i if has_high else 0
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    parallel_ranges(clamp_range, &task, size_of(a), 1, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return return_written(op, r, at) if in_place else set_result(&r[at[op.nargs]], result, kind)


cdef int clamp(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], &r[at[2]])

cdef int clamp_min(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], NULL)

cdef int clamp_max(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, NULL, &r[at[1]])

cdef int clamp_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], &r[at[2]], True)

cdef int clamp_min_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], NULL, True)

cdef int clamp_max_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, NULL, &r[at[1]], True)


# ---------------------------------------------------------------- formulas of 1-3 tensors and a scalar

cdef enum Formula:
    # The powers from SQUARE to INVERSE_ROOT are computed by products, quotients and square roots, with
    # PyTorch's rounding.
    SQUARE
    CUBE
    INVERSE
    INVERSE_SQUARE
    INVERSE_ROOT
    POWER
    RSUB
    ADD_SCALED
    ADDCMUL
    ADDCDIV
    # For |weight| < 0.5, LERP_LOW computes lerp as x + weight * (y - x). Otherwise, LERP_HIGH computes it as
    # y - (y - x) * (1 - weight).
    LERP_LOW
    LERP_HIGH

cdef FloatLoop *float_loops = [  # Formula -> its float32 loop, or NULL if `compute_powers` computes the formula
    simd_square_row, NULL, NULL, NULL, NULL, NULL, simd_rsub_row, simd_add_scaled_row, simd_addcmul_row, simd_addcdiv_row,
    simd_lerp_low_row, simd_lerp_high_row,
]


cdef void compute_doubles(
    Formula formula, const double *x, const double *y, const double *z, npy_intp n, double scalar, double *out
) noexcept nogil:
    cdef npy_intp i
    if formula == RSUB:
        for i in range(n):
            out[i] = scalar - x[i]
    elif formula == ADD_SCALED:
        for i in range(n):
            out[i] = x[i] + scalar * y[i]
    elif formula == ADDCMUL:
        for i in range(n):
            out[i] = x[i] + scalar * y[i] * z[i]
    elif formula == ADDCDIV:
        for i in range(n):
            out[i] = x[i] + scalar * y[i] / z[i]
    elif formula == LERP_LOW:
        for i in range(n):
            out[i] = x[i] + scalar * (y[i] - x[i])
    else:
        for i in range(n):
            out[i] = y[i] - (y[i] - x[i]) * (1 - scalar)


# NumPy's vectorized `power` loop. The operator's Python kernel calls the same loop for tensor exponents and
# strided operands. Therefore, both kernels give the same results.
cdef Loops of_two = ufunc_loops("power", "same", "fd")


cdef void compute_powers(Formula formula, const floating *x, npy_intp n, double scalar, floating *out) noexcept nogil:
    cdef npy_intp i
    cdef npy_intp *strides = [sizeof(floating), 0, sizeof(floating)]
    cdef floating one = 1, exponent = <floating>scalar
    cdef char *args[3]
    cdef int kind = FLOAT if floating is float else DOUBLE
    if formula == POWER:
        args[0], args[1], args[2] = <char *>x, <char *>&exponent, <char *>out
        of_two.function[kind](args, &n, strides, of_two.data[kind])
        return
    for i in range(n):
        if formula == SQUARE:
            out[i] = x[i] * x[i]
        elif formula == CUBE:
            out[i] = x[i] * x[i] * x[i]
        elif formula == INVERSE:
            out[i] = one / x[i]
        elif formula == INVERSE_SQUARE:
            out[i] = one / (x[i] * x[i])
        elif formula == INVERSE_ROOT:
            out[i] = one / <floating>sqrt(x[i])


cdef struct FormulaTask:
    Formula formula
    int kind
    char *x
    char *y                            # or NULL
    char *z                            # or NULL
    double scalar
    char *out


cdef int run_formula_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute the elements [start, end)."""
    cdef FormulaTask *task = <FormulaTask *>context
    cdef npy_intp offset = start * (sizeof(float) if task.kind == FLOAT else sizeof(double)), n = end - start
    cdef char *x = task.x + offset
    cdef char *y = NULL if task.y == NULL else task.y + offset
    cdef char *z = NULL if task.z == NULL else task.z + offset
    cdef char *out = task.out + offset
    if task.formula <= POWER and task.kind == DOUBLE:
        compute_powers[double](task.formula, <double *>x, n, task.scalar, <double *>out)
    elif task.kind == FLOAT and float_loops[<int>task.formula] == NULL:
        compute_powers[float](task.formula, <float *>x, n, task.scalar, <float *>out)
    elif task.kind == FLOAT:
        float_loops[<int>task.formula](<float *>x, <float *>y, <float *>z, n, <float>task.scalar, <float *>out)
    else:
        compute_doubles(task.formula, <double *>x, <double *>y, <double *>z, n, task.scalar, <double *>out)
    return 0


cdef int run_formula(
    Operator op, IValue *r, const int32_t *at, Formula formula, PyArrayObject *x, PyArrayObject *y, PyArrayObject *z, double scalar,
    bint in_place=False,
) except -1:
    cdef int kind = scalar_type(&r[at[0]])
    cdef object result = <object>x if in_place else new_like(x, kind)
    cdef FormulaTask task
    cdef ReleasedGil gil_state
    task.formula, task.kind, task.x, task.scalar, task.out = formula, kind, data_of(x), scalar, data_of(<PyArrayObject *>result)
    task.y, task.z = NULL if y == NULL else data_of(y), NULL if z == NULL else data_of(z)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    parallel_ranges(run_formula_range, &task, size_of(x), EXPENSIVE_ELEMENT_COST if formula == POWER else 1, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return return_written(op, r, at) if in_place else set_result(&r[at[op.nargs]], result, kind)


cdef bint is_one(IValue *x) noexcept:
    return (x.tag == TAG_INT and x.v.i == 1) or (x.tag == TAG_FLOAT and x.v.f == 1)


cdef int rsub(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute scalar - x, such as 1 - x. If alpha is not 1, the operator's Python kernel runs."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef double scalar
    if x == NULL or r[at[1]].tag == TAG_BOOL or not is_one(&r[at[2]]) or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &scalar):
        return UNSUPPORTED
    return run_formula(op, r, at, RSUB, x, NULL, NULL, scalar)


cdef int add_scaled(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x + alpha * y."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *y
    cdef double scalar
    if x == NULL or r[at[2]].tag == TAG_BOOL or not read_number(&r[at[2]], scalar_type(&r[at[0]]), &scalar):
        return UNSUPPORTED
    y = matching_array(x, scalar_type(&r[at[0]]), &r[at[1]])
    if y == NULL:
        return UNSUPPORTED
    return run_formula(op, r, at, ADD_SCALED, x, y, NULL, scalar)


cdef Formula formula_of_power(double scalar) noexcept:
    if scalar == 2:
        return SQUARE
    if scalar == 3:
        return CUBE
    if scalar == -1:
        return INVERSE
    if scalar == -2:
        return INVERSE_SQUARE
    return INVERSE_ROOT if scalar == -0.5 else POWER


cdef int power(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute a power with a scalar exponent: x ** 2, x ** 0.3."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef double scalar
    if x == NULL or r[at[1]].tag == TAG_BOOL or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &scalar):
        return UNSUPPORTED
    return run_formula(op, r, at, formula_of_power(scalar), x, NULL, NULL, scalar)


cdef int interpolate(Operator op, IValue *r, const int32_t *at, bint in_place) except -1:
    """Compute x + weight * (y - x) with a scalar weight."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *y
    cdef double scalar
    if x == NULL or not read_number(&r[at[2]], scalar_type(&r[at[0]]), &scalar):
        return UNSUPPORTED
    y = matching_array(x, scalar_type(&r[at[0]]), &r[at[1]])
    if in_place and (y == NULL or not can_write(x, y, NULL)):
        return UNSUPPORTED
    if y == NULL:
        return UNSUPPORTED
    return run_formula(op, r, at, LERP_LOW if -0.5 < scalar < 0.5 else LERP_HIGH, x, y, NULL, scalar, in_place)


cdef int lerp(Operator op, IValue *r, const int32_t *at) except -1:
    return interpolate(op, r, at, False)

cdef int lerp_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return interpolate(op, r, at, True)


cdef int lerp_by(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x + weight * (y - x) with a tensor of weights."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *y
    cdef PyArrayObject *z
    cdef int kind
    cdef object result
    cdef void *out
    cdef ReleasedGil gil_state
    if x == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    y, z = matching_array(x, kind, &r[at[1]]), matching_array(x, kind, &r[at[2]])
    if y == NULL or z == NULL:
        return UNSUPPORTED
    result = new_like(x, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        float_lerp_by(<float *>data_of(x), <float *>data_of(y), <float *>data_of(z), size_of(x), <float *>out)
    else:
        double_lerp_by(<double *>data_of(x), <double *>data_of(y), <double *>data_of(z), size_of(x), <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int add_combined(Operator op, IValue *r, const int32_t *at, Formula formula, bint in_place) except -1:
    """Compute x + value * y * z, or x + value * y / z, as selected by `formula`."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *y
    cdef PyArrayObject *z
    cdef double scalar
    if x == NULL or not read_number(&r[at[3]], scalar_type(&r[at[0]]), &scalar):
        return UNSUPPORTED
    y = matching_array(x, scalar_type(&r[at[0]]), &r[at[1]])
    z = matching_array(x, scalar_type(&r[at[0]]), &r[at[2]])
    if in_place and (y == NULL or z == NULL or not can_write(x, y, z)):
        return UNSUPPORTED
    if y == NULL or z == NULL:
        return UNSUPPORTED
    return run_formula(op, r, at, formula, x, y, z, scalar, in_place)


cdef int addcmul(Operator op, IValue *r, const int32_t *at) except -1:
    return add_combined(op, r, at, ADDCMUL, False)

cdef int addcmul_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return add_combined(op, r, at, ADDCMUL, True)

cdef int addcdiv(Operator op, IValue *r, const int32_t *at) except -1:
    return add_combined(op, r, at, ADDCDIV, False)

cdef int addcdiv_in_place(Operator op, IValue *r, const int32_t *at) except -1:
    return add_combined(op, r, at, ADDCDIV, True)


# ---------------------------------------------------------------- integer division by a number

cdef void divide(bint rest, const int64_t *x, npy_intp n, int64_t scalar, int64_t *out) noexcept nogil:
    """Compute Python's x % scalar for each element if `rest` is True, else Python's x // scalar.

    `scalar` must be neither 0 nor -1.
    """
    cdef npy_intp i
    cdef int64_t left
    if scalar > 1 and rest:
        int_rest_row(x, n, scalar, out)
    elif scalar > 1:
        int_quotient_row(x, n, scalar, out)
    elif rest:
        for i in range(n):
            left = x[i] % scalar
            out[i] = left + scalar if left != 0 and (left ^ scalar) < 0 else left
    else:
        for i in range(n):
            left = x[i] % scalar
            out[i] = x[i] // scalar - (left != 0 and (left ^ scalar) < 0)


cdef int run_division(Operator op, IValue *r, const int32_t *at, bint rest) except -1:
    cdef PyArrayObject *x = contiguous_array_or_null(&r[at[0]])
    cdef int64_t scalar
    cdef object result
    cdef ReleasedGil gil_state
    if x == NULL or scalar_type(&r[at[0]]) != INT64 or r[at[1]].tag != TAG_INT:
        return UNSUPPORTED
    scalar = r[at[1]].v.i
    # The C loops do not support the divisors 0 and -1. Division by 0 is an error in PyTorch. Division of the
    # smallest integer by -1 overflows.
    if scalar == 0 or scalar == -1:
        return UNSUPPORTED
    result = new_like(x, INT64)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    divide(rest, <int64_t *>data_of(x), size_of(x), scalar, <int64_t *>data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, INT64)


cdef int remainder(Operator op, IValue *r, const int32_t *at) except -1:
    return run_division(op, r, at, True)

cdef int floor_divide(Operator op, IValue *r, const int32_t *at) except -1:
    return run_division(op, r, at, False)


# ---------------------------------------------------------------- loops of fusion groups

cdef enum ClampBounds:
    LOW = 1
    HIGH = 2


cdef void clamp_floats(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    cdef float low = <float>tile.by[0], high = <float>tile.by[1]
    if tile.what == LOW | HIGH:
        simd_clamp_row(<float *>args[0], n[0], low, high, <float *>args[1])
    elif tile.what == LOW:
        simd_clamp_min_row(<float *>args[0], n[0], low, <float *>args[1])
    else:
        simd_clamp_max_row(<float *>args[0], n[0], high, <float *>args[1])

cdef void clamp_doubles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    clamp_row[double](
        <double *>args[0], n[0], tile.what & LOW != 0, tile.by[0], tile.what & HIGH != 0, tile.by[1], <double *>args[1]
    )

cdef void formula_floats(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    cdef FloatLoop loop = float_loops[tile.what]
    if loop == NULL:
        compute_powers[float](<Formula>tile.what, <float *>args[0], n[0], tile.by[0], <float *>args[1])
    else:
        loop(<float *>args[0], NULL, NULL, n[0], <float>tile.by[0], <float *>args[1])

cdef void power_doubles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    compute_powers[double](<Formula>tile.what, <double *>args[0], n[0], tile.by[0], <double *>args[1])

cdef void rsub_doubles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    compute_doubles(RSUB, <double *>args[0], NULL, NULL, n[0], (<Tile *>data).by[0], <double *>args[1])


cdef bint read_bounds(int kind, IValue *low, IValue *high, Tile *tile) noexcept:
    tile.what = 0
    if low != NULL and low.tag != TAG_NONE:
        tile.what |= LOW
        if not read_number(low, kind, &tile.by[0]):
            return False
    if high != NULL and high.tag != TAG_NONE:
        tile.what |= HIGH
        if not read_number(high, kind, &tile.by[1]):
            return False
    tile.function = clamp_floats if kind == FLOAT else clamp_doubles
    return tile.what != 0

cdef bint read_clamp(int kind, IValue **others, Tile *tile) noexcept:
    return read_bounds(kind, others[0], others[1], tile)

cdef bint read_clamp_min(int kind, IValue **others, Tile *tile) noexcept:
    return read_bounds(kind, others[0], NULL, tile)

cdef bint read_clamp_max(int kind, IValue **others, Tile *tile) noexcept:
    return read_bounds(kind, NULL, others[0], tile)

cdef bint read_power(int kind, IValue **others, Tile *tile) noexcept:
    if others[0].tag == TAG_BOOL or not read_number(others[0], kind, &tile.by[0]):
        return False
    tile.what = formula_of_power(tile.by[0])
    tile.function = formula_floats if kind == FLOAT else power_doubles
    return True

cdef bint read_rsub(int kind, IValue **others, Tile *tile) noexcept:
    if others[0].tag == TAG_BOOL or not is_one(others[1]) or not read_number(others[0], kind, &tile.by[0]):
        return False
    tile.what = RSUB
    tile.function = formula_floats if kind == FLOAT else rsub_doubles
    return True


register_tile("aten::clamp", read_clamp)
register_tile("aten::clamp_min", read_clamp_min)
register_tile("aten::clamp_max", read_clamp_max)
register_tile("aten::pow.Tensor_Scalar", read_power)
register_tile("aten::rsub.Scalar", read_rsub)

register_kernel("aten::clamp", clamp, FLOAT32_CONTIGUOUS)
register_kernel("aten::clip", clamp, FLOAT32_CONTIGUOUS)
register_kernel("aten::clamp_min", clamp_min, FLOAT32_CONTIGUOUS)
register_kernel("aten::clamp_max", clamp_max, FLOAT32_CONTIGUOUS)
register_kernel("aten::pow.Tensor_Scalar", power, CONTIGUOUS)
register_kernel("aten::rsub.Scalar", rsub, CONTIGUOUS)
register_kernel("scaled_sum", add_scaled, CONTIGUOUS)
register_kernel("aten::remainder.Scalar", remainder, CONTIGUOUS)
register_kernel("aten::floor_divide.Scalar", floor_divide, CONTIGUOUS)
register_kernel("aten::lerp.Scalar", lerp, CONTIGUOUS)
register_kernel("aten::lerp_.Scalar", lerp_in_place, CONTIGUOUS)
register_kernel("aten::lerp.Tensor", lerp_by, CONTIGUOUS)
register_kernel("aten::addcmul", addcmul, CONTIGUOUS)
register_kernel("aten::addcmul_", addcmul_in_place, CONTIGUOUS)
register_kernel("aten::addcdiv", addcdiv, CONTIGUOUS)
register_kernel("aten::addcdiv_", addcdiv_in_place, CONTIGUOUS)
register_kernel("aten::clamp_", clamp_in_place, FLOAT32_CONTIGUOUS)
register_kernel("aten::clip_", clamp_in_place, FLOAT32_CONTIGUOUS)
register_kernel("aten::clamp_min_", clamp_min_in_place, FLOAT32_CONTIGUOUS)
register_kernel("aten::clamp_max_", clamp_max_in_place, FLOAT32_CONTIGUOUS)
