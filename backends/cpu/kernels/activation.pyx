"""Activations of floating CPU tensors whose elements lie in order.

In: registers with a tensor and numbers.  Out: the register of the result.

    leaky_relu(x, 0.1)      silu(x)      gelu(x), gelu(x, approximate="tanh")      elu, celu, selu, softplus, logsigmoid
    hardtanh(x), relu6(x), hardshrink(x), softshrink(x), threshold(x, 0.1, 20)

Other dtypes and layouts are left to the record's own kernel.  relu and sigmoid are loops of ufuncs (`activation_loops`).
"""

cimport numpy as cnp
from libc.math cimport erfc, exp
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.table cimport Tile, register_kernel, register_tile
from ts.backends.cpu.kernels.walk cimport Loop
from ts.backends.cpu.kernels.wide cimport run_widened
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, size_of
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.gil cimport COSTLY, Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, new_like, put_array, read_number, scalar_type

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

ctypedef void (*FloatLoop)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*DoubleLoop)(const double *, npy_intp, double *) noexcept nogil

cdef extern from "activation.h" nogil:
    void simd_silu_row(const float *x, npy_intp n, float *out)
    void simd_gelu_row(const float *x, npy_intp n, float *out)
    void simd_gelu_tanh_row(const float *x, npy_intp n, float *out)
    void simd_leaky_relu_row(const float *x, npy_intp n, float slope, float *out)


cdef void silu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] / (1 + exp(-x[i]))


cdef void gelu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = 0.5 * x[i] * erfc(-0.70710678118654752440 * x[i])


cdef void leaky_relu_doubles(const double *x, npy_intp n, double slope, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] if x[i] > 0 else x[i] * slope


cdef int run_loop(Operator op, IValue *r, const int32_t *at, FloatLoop of_floats, DoubleLoop of_doubles) except -1:
    """The first argument through one of the loops; a missing one is left to the record."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef int kind
    cdef object made
    cdef void *out
    cdef Away away
    if x == NULL:
        return run_widened(op, r, at)
    kind = scalar_type(&r[at[0]])
    if kind == DOUBLE and of_doubles == NULL:
        return run_widened(op, r, at)
    made = new_like(x, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x) * COSTLY, r, at, op.nargs)
    if kind == FLOAT:
        of_floats(<float *>data_of(x), size_of(x), <float *>out)
    else:
        of_doubles(<double *>data_of(x), size_of(x), <double *>out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int silu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loop(op, r, at, simd_silu_row, silu_doubles)


cdef int gelu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef str approximate
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not str:
        return run_widened(op, r, at)
    approximate = <str>r[at[1]].v.o
    if approximate == "none":
        return run_loop(op, r, at, simd_gelu_row, gelu_doubles)
    if approximate == "tanh":
        return run_loop(op, r, at, simd_gelu_tanh_row, NULL)
    return run_widened(op, r, at)


cdef int leaky_relu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef double slope
    cdef int kind
    cdef object made
    cdef void *out
    cdef Away away
    if x == NULL or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &slope):
        return run_widened(op, r, at)
    kind = scalar_type(&r[at[0]])
    made = new_like(x, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x) * COSTLY, r, at, op.nargs)
    if kind == FLOAT:
        simd_leaky_relu_row(<float *>data_of(x), size_of(x), <float>slope, <float *>out)
    else:
        leaky_relu_doubles(<double *>data_of(x), size_of(x), slope, <double *>out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


# ---------------------------------------------------------------- with up to three numbers

ctypedef fused floating:
    float
    double

cdef enum Formula:
    ELU                                # alpha, scale, input_scale
    SOFTPLUS                           # beta, threshold
    LOG_SIGMOID
    BETWEEN                            # limits
    SOFT_SHRINK                        # width
    HARD_SHRINK
    THRESHOLD                          # limit, what is below


cdef enum:
    TILE = 512                         # elements at a time
    SHORT = 1 << 13                    # elements of elu; NumPy goes through more of them faster

# NumPy's vectorised loops.
cdef Loops exponential = ufunc_loops("exp", "same", "fd")
cdef Loops exponential_less_one = ufunc_loops("expm1", "same", "fd")
cdef Loops logarithm_of_one_more = ufunc_loops("log1p", "same", "fd")


cdef inline void through(Loop loop, floating *x, npy_intp n) noexcept nogil:
    """x := loop(x)"""
    cdef char *args[2]
    cdef npy_intp steps[2]
    args[0] = args[1] = <char *>x
    steps[0] = steps[1] = sizeof(floating)
    loop(args, &n, steps, NULL)


cdef void soften(Loop exp_, Loop log1p_, const floating *x, npy_intp n, floating by, floating *out) noexcept nogil:
    """log(1 + exp(by * x)), without overflow."""
    cdef npy_intp i
    cdef floating v, zero = 0
    for i in range(n):
        v = by * x[i]
        out[i] = v if v < zero else -v
    through[floating](exp_, out, n)
    through[floating](log1p_, out, n)
    for i in range(n):
        v = by * x[i]
        out[i] += zero if v < zero else v


cdef void compute_in_tiles(Formula what, const floating *x, npy_intp n, double *by, floating *out) noexcept nogil:
    """Those with exponentials; `out` is not `x`."""
    cdef int kind = FLOAT if floating is float else DOUBLE
    cdef Loop exp_ = exponential.function[kind], log1p_ = logarithm_of_one_more.function[kind]
    cdef Loop expm1_ = exponential_less_one.function[kind]
    cdef floating a = <floating>by[0], b = <floating>by[1], c = <floating>by[2], minus = -1, zero = 0
    cdef npy_intp i, count
    while n > 0:
        count = min(n, <npy_intp>TILE)
        if what == ELU:
            for i in range(count):
                out[i] = zero if x[i] > zero else x[i] * c
            through[floating](expm1_, out, count)
            for i in range(count):
                out[i] = (x[i] if x[i] > zero else out[i] * a) * b
        elif what == SOFTPLUS:
            soften[floating](exp_, log1p_, x, count, a, out)
            for i in range(count):
                out[i] = x[i] if x[i] * a > b else out[i] / a
        else:
            soften[floating](exp_, log1p_, x, count, minus, out)
            for i in range(count):
                out[i] = -out[i]
        x += count
        out += count
        n -= count


cdef void compute(Formula what, const floating *x, npy_intp n, double *by, floating *out) noexcept nogil:
    cdef floating a = <floating>by[0], b = <floating>by[1], v
    cdef npy_intp i
    if what <= LOG_SIGMOID:
        compute_in_tiles[floating](what, x, n, by, out)
        return
    for i in range(n):
        v = x[i]
        if what == BETWEEN:
            v = a if v < a else v
            out[i] = b if v > b else v
        elif what == SOFT_SHRINK:
            out[i] = v - a if v > a else v + a if v < -a else v * 0
        elif what == HARD_SHRINK:
            out[i] = 0 if -a <= v <= a else v
        else:
            out[i] = b if v <= a else v


cdef int run_formula(Operator op, IValue *r, const int32_t *at, Formula what, double a, double b, double c) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef double[3] by = [a, b, c]
    cdef int kind
    cdef object made
    cdef void *out
    cdef Away away
    if x == NULL or (what == ELU and size_of(x) > SHORT):
        return run_widened(op, r, at)
    kind = scalar_type(&r[at[0]])
    made = new_like(x, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        compute[float](what, <float *>data_of(x), size_of(x), by, <float *>out)
    else:
        compute[double](what, <double *>data_of(x), size_of(x), by, <double *>out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


cdef bint read_numbers(IValue *r, const int32_t *at, int count, double *by) noexcept:
    """The numbers behind the tensor, where its dtype holds them."""
    cdef int i
    if float_array(&r[at[0]]) == NULL:
        return False
    for i in range(count):
        if not read_number(&r[at[1 + i]], scalar_type(&r[at[0]]), &by[i]):
            return False
    return True


cdef int elu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[3]
    if not read_numbers(r, at, 3, by):
        return run_widened(op, r, at)
    return run_formula(op, r, at, ELU, by[0], by[1], by[2])

cdef int celu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[1]
    if not read_numbers(r, at, 1, by) or by[0] == 0:
        return run_widened(op, r, at)
    return run_formula(op, r, at, ELU, by[0], 1, 1 / by[0])

cdef int selu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_formula(op, r, at, ELU, 1.6732632423543772, 1.0507009873554805, 1)

cdef int softplus(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[2]
    if not read_numbers(r, at, 2, by):
        return run_widened(op, r, at)
    return run_formula(op, r, at, SOFTPLUS, by[0], by[1], 0)

cdef int log_sigmoid(Operator op, IValue *r, const int32_t *at) except -1:
    return run_formula(op, r, at, LOG_SIGMOID, 0, 0, 0)

cdef int hardtanh(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[2]
    if not read_numbers(r, at, 2, by):
        return run_widened(op, r, at)
    return run_formula(op, r, at, BETWEEN, by[0], by[1], 0)

cdef int relu6(Operator op, IValue *r, const int32_t *at) except -1:
    return run_formula(op, r, at, BETWEEN, 0, 6, 0)

cdef int softshrink(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[1]
    if not read_numbers(r, at, 1, by) or by[0] < 0:
        return run_widened(op, r, at)
    return run_formula(op, r, at, SOFT_SHRINK, by[0], 0, 0)

cdef int hardshrink(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[1]
    if not read_numbers(r, at, 1, by):
        return run_widened(op, r, at)
    return run_formula(op, r, at, HARD_SHRINK, by[0], 0, 0)

cdef int threshold(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double by[2]
    if not read_numbers(r, at, 2, by):
        return run_widened(op, r, at)
    return run_formula(op, r, at, THRESHOLD, by[0], by[1], 0)


# ---------------------------------------------------------------- rows of groups

cdef void formula_floats(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    compute[float](<Formula>tile.what, <float *>args[0], n[0], tile.by, <float *>args[1])

cdef void formula_doubles(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    compute[double](<Formula>tile.what, <double *>args[0], n[0], tile.by, <double *>args[1])

cdef void silu_floats_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    simd_silu_row(<float *>args[0], n[0], <float *>args[1])

cdef void silu_doubles_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    silu_doubles(<double *>args[0], n[0], <double *>args[1])

cdef void gelu_floats_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    simd_gelu_row(<float *>args[0], n[0], <float *>args[1])

cdef void gelu_tanh_floats_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    simd_gelu_tanh_row(<float *>args[0], n[0], <float *>args[1])

cdef void gelu_doubles_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    gelu_doubles(<double *>args[0], n[0], <double *>args[1])

cdef void leaky_relu_floats_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    simd_leaky_relu_row(<float *>args[0], n[0], <float>(<Tile *>data).by[0], <float *>args[1])

cdef void leaky_relu_doubles_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    leaky_relu_doubles(<double *>args[0], n[0], (<Tile *>data).by[0], <double *>args[1])


cdef bint by_formula(int kind, Tile *tile, Formula what, IValue **others, int count) noexcept:
    cdef int i
    for i in range(count):
        if not read_number(others[i], kind, &tile.by[i]):
            return False
    tile.what = what
    tile.function = formula_floats if kind == FLOAT else formula_doubles
    return True

cdef bint read_softplus(int kind, IValue **others, Tile *tile) noexcept:
    return by_formula(kind, tile, SOFTPLUS, others, 2)

cdef bint read_log_sigmoid(int kind, IValue **others, Tile *tile) noexcept:
    return by_formula(kind, tile, LOG_SIGMOID, others, 0)

cdef bint read_hardtanh(int kind, IValue **others, Tile *tile) noexcept:
    return by_formula(kind, tile, BETWEEN, others, 2)

cdef bint read_relu6(int kind, IValue **others, Tile *tile) noexcept:
    tile.by[0], tile.by[1] = 0, 6
    return by_formula(kind, tile, BETWEEN, others, 0)

cdef bint read_threshold(int kind, IValue **others, Tile *tile) noexcept:
    return by_formula(kind, tile, THRESHOLD, others, 2)

cdef bint read_silu(int kind, IValue **others, Tile *tile) noexcept:
    tile.function = silu_floats_tile if kind == FLOAT else silu_doubles_tile
    return True

cdef bint read_gelu(int kind, IValue **others, Tile *tile) noexcept:
    cdef bint tanh
    if others[0].tag != TAG_OBJECT or type(<object>others[0].v.o) is not str:
        return False
    tanh = <str>others[0].v.o == "tanh"
    if not tanh and <str>others[0].v.o != "none" or tanh and kind == DOUBLE:
        return False
    tile.function = gelu_doubles_tile if kind == DOUBLE else gelu_tanh_floats_tile if tanh else gelu_floats_tile
    return True

cdef bint read_leaky_relu(int kind, IValue **others, Tile *tile) noexcept:
    tile.function = leaky_relu_floats_tile if kind == FLOAT else leaky_relu_doubles_tile
    return read_number(others[0], kind, &tile.by[0])


register_tile("aten::softplus", read_softplus)
register_tile("aten::log_sigmoid", read_log_sigmoid)
register_tile("aten::hardtanh", read_hardtanh)
register_tile("aten::relu6", read_relu6)
register_tile("aten::threshold", read_threshold)
register_tile("aten::silu", read_silu)
register_tile("aten::gelu", read_gelu)
register_tile("aten::leaky_relu", read_leaky_relu)

register_kernel("aten::elu", elu)
register_kernel("aten::celu", celu)
register_kernel("aten::selu", selu)
register_kernel("aten::softplus", softplus)
register_kernel("aten::log_sigmoid", log_sigmoid)
register_kernel("aten::hardtanh", hardtanh)
register_kernel("aten::relu6", relu6)
register_kernel("aten::softshrink", softshrink)
register_kernel("aten::hardshrink", hardshrink)
register_kernel("aten::threshold", threshold)
register_kernel("aten::leaky_relu", leaky_relu)
register_kernel("aten::silu", silu)
register_kernel("aten::gelu", gelu)
