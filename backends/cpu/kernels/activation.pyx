"""Activation functions of floating CPU tensors, with branchless selection (predication) of elements.

Input: interpreter registers with a tensor and numbers. Output: the register of the result. For other
arguments, the operator's Python kernel runs. The operators are:

    leaky_relu(x, 0.1)      prelu(x, slopes)      silu(x)      gelu(x), gelu(x, approximate="tanh")
    elu(x), celu(x), selu(x), softplus(x), logsigmoid(x)
    hardtanh(x), relu6(x), hardshrink(x), softshrink(x), threshold(x, 0.1, 20)
"""

cimport numpy as cnp
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, shorten, widen
from ts.backends.cpu.kernels.parallel_for cimport VECTOR_BLOCK_ELEMENTS, parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, FLOAT32_CONTIGUOUS, Tile, register_kernel, register_tile
from ts.backends.cpu.kernels.vector_math cimport DoubleRow, FloatRow, double_row, float_row
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, HALF, PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of
from ts._core.tensor.overlap cimport has_internal_overlap
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrote
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport CONTIGUOUS_FLAGS, float_array, is_tensor, new_like, set_result, read_number, scalar_type, set_object_result

cnp.import_array()

cdef enum:
    TILE = 512                         # number of elements of a tile
    MIN_PLANE = 16                     # smallest number of elements of a channel for which prelu runs a loop per channel

cdef extern from "numpy/arrayobject.h":
    # This function takes a reference to the dtype from the caller (steals it).
    object new_alike "PyArray_NewLikeArray"(cnp.ndarray, cnp.NPY_ORDER, cnp.dtype, int)

cdef extern from "activation.h" nogil:
    ctypedef void (*FloatPiece "PieceOfFloats")(const float *x, npy_intp n, float a, float b, float *out) noexcept
    ctypedef void (*DoublePiece "PieceOfDoubles")(const double *x, npy_intp n, double a, double b, double *out) noexcept
    FloatPiece float_leaky, float_between, float_soft_shrink, float_hard_shrink, float_threshold
    DoublePiece double_leaky, double_between, double_soft_shrink, double_hard_shrink, double_threshold
    void float_below(const float *x, npy_intp n, float by, float *out)
    void double_below(const double *x, npy_intp n, double by, double *out)
    void float_above(const float *x, const float *below, npy_intp n, float alpha, float scale, float *out)
    void double_above(const double *x, const double *below, npy_intp n, double alpha, double scale, double *out)
    void float_softened(const float *x, const float *soft, npy_intp n, float beta, float threshold, float *out)
    void double_softened(const double *x, const double *soft, npy_intp n, double beta, double threshold, double *out)


cdef struct Rows:                      # row functions of one activation, for float32 and float64
    FloatRow of_floats
    DoubleRow of_doubles

cdef Rows find_rows(str name) except *:
    return Rows(float_row(name), double_row(name))

cdef Rows SILU = find_rows("silu"), GELU = find_rows("gelu"), GELU_TANH = find_rows("gelu_tanh")
cdef Rows EXPM1 = find_rows("expm1"), SOFTPLUS_OF_ONE = find_rows("softplus"), LOG_SIGMOID_ROWS = find_rows("log_sigmoid")


cdef PyArrayObject *aligned_float_array(IValue *x) noexcept:
    """Return the array of an aligned floating CPU tensor without overlapping elements, else NULL."""
    cdef PyArrayObject *a
    cdef int kind
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    kind = scalar_type(x)
    if kind != FLOAT and kind != DOUBLE and kind != HALF and kind != BFLOAT16:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & cnp.NPY_ARRAY_ALIGNED and not has_internal_overlap(a) else NULL


cdef object make_dense(PyArrayObject *a):
    """Return the array if it is contiguous, else a dense copy with the same dimension order."""
    if flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS:
        return <object>a
    return cnp.PyArray_NewCopy(<cnp.ndarray>a, cnp.NPY_KEEPORDER)


cdef object new_like_dense(object a, int kind):
    """Allocate an array of dtype `kind` with the strides of the dense array `a`.

    Its elements are uninitialized.
    """
    cdef cnp.dtype dtype
    if flags_of(<PyArrayObject *>a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS:
        return new_like(<PyArrayObject *>a, kind)
    dtype = cnp.PyArray_DescrFromType(cnp.PyArray_TYPE(<cnp.ndarray>a))
    Py_INCREF(dtype)
    return new_alike(<cnp.ndarray>a, cnp.NPY_KEEPORDER, dtype, 0)


cdef void run_row_in_half_tiles(FloatRow loop, const char *x, npy_intp n, bint brain, char *out) noexcept nogil:
    cdef float scratch[TILE]
    cdef npy_intp count
    while n > 0:
        count = min(n, <npy_intp>TILE)
        widen(x, 2, count, brain, scratch)
        loop(scratch, count, scratch)
        shorten(scratch, count, brain, out, 2)
        x += 2 * count
        out += 2 * count
        n -= count


cdef inline bint is_in_place(Operator op) noexcept:
    return len(op.written) != 0


cdef bint can_overwrite(PyArrayObject *a) noexcept:
    """Return whether an in-place kernel can write to the array: it is contiguous and writable."""
    return flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS and flags_of(a) & cnp.NPY_ARRAY_WRITEABLE


cdef int store_result(Operator op, IValue *r, const int32_t *at, bint in_place, object result, int kind) except -1:
    """Store the result of an activation. An in-place operator returns its first argument."""
    if not in_place:
        return set_result(&r[at[op.nargs]], result, kind)
    wrote(<Tensor>r[at[0]].v.o)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


cdef struct RowTask:
    Rows rows
    int kind
    char *x
    char *out


cdef int run_element_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Apply the row kernel to the elements [start, end)."""
    cdef RowTask *task = <RowTask *>context
    if task.kind == FLOAT:
        task.rows.of_floats(<float *>task.x + start, end - start, <float *>task.out + start)
    elif task.kind == DOUBLE:
        task.rows.of_doubles(<double *>task.x + start, end - start, <double *>task.out + start)
    else:
        run_row_in_half_tiles(
            task.rows.of_floats, task.x + 2 * start, end - start, task.kind == BFLOAT16, task.out + 2 * start
        )
    return 0


cdef int run_row_kernel(Operator op, IValue *r, const int32_t *at, Rows rows) except -1:
    """Apply the row kernel `rows` to the elements of the first argument, and store the result.

    The kernel has functions for float32 and float64. Half-precision elements are converted to float32 in
    tiles.
    """
    cdef PyArrayObject *x = aligned_float_array(&r[at[0]])
    cdef int kind
    cdef bint in_place = is_in_place(op)
    cdef object source, result
    cdef RowTask task
    cdef ReleasedGil gil_state
    if x == NULL or (in_place and not can_overwrite(x)):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    source = make_dense(x)
    x = <PyArrayObject *>source
    result = source if in_place else new_like_dense(source, kind)
    task.rows, task.kind, task.x, task.out = rows, kind, data_of(x), data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(x) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    parallel_ranges(run_element_range, &task, size_of(x), EXPENSIVE_ELEMENT_COST, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return store_result(op, r, at, in_place, result, kind)


cdef int silu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_row_kernel(op, r, at, SILU)


cdef int gelu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef str approximate
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not str:
        return UNSUPPORTED
    approximate = <str>r[at[1]].v.o
    if approximate == "none":
        return run_row_kernel(op, r, at, GELU)
    if approximate == "tanh":
        return run_row_kernel(op, r, at, GELU_TANH)
    return UNSUPPORTED


cdef int leaky_relu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef bint in_place = is_in_place(op)
    cdef double slope
    cdef int kind
    cdef object result
    cdef void *out
    cdef ReleasedGil gil_state
    if x == NULL or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &slope) or (in_place and not can_overwrite(x)):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    result = <object>x if in_place else new_like(x, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(x) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    if kind == FLOAT:
        float_leaky(<float *>data_of(x), size_of(x), <float>slope, 0, <float *>out)
    else:
        double_leaky(<double *>data_of(x), size_of(x), slope, 0, <double *>out)
    take_gil(gil_state)
    return store_result(op, r, at, in_place, result, kind)


cdef int prelu(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute prelu of a tensor whose slope is one number, or one number for each channel of dimension 1."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *weight = float_array(&r[at[1]])
    cdef npy_intp plane, i, channels
    cdef int kind
    cdef object result
    cdef void *out
    cdef ReleasedGil gil_state
    if x == NULL or weight == NULL or ndim_of(weight) > 1 or size_of(weight) == 0 or size_of(x) == 0:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    channels = size_of(weight)
    if scalar_type(&r[at[1]]) != kind or (channels > 1 and (ndim_of(x) < 2 or dims_of(x)[1] != channels)):
        return UNSUPPORTED
    plane = size_of(x) if channels == 1 else size_of(x) // (dims_of(x)[0] * channels)
    if channels > 1 and plane < MIN_PLANE:
        return UNSUPPORTED
    owner = <object>weight
    result = new_like(x, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    for i in range(size_of(x) // plane):
        if kind == FLOAT:
            float_leaky(
                <float *>data_of(x) + i * plane, plane, (<float *>data_of(weight))[i % channels], 0, <float *>out + i * plane
            )
        else:
            double_leaky(
                <double *>data_of(x) + i * plane, plane, (<double *>data_of(weight))[i % channels], 0, <double *>out + i * plane
            )
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


# ---------------------------------------------------------------- functions with up to three parameters

ctypedef fused floating:
    float
    double

cdef enum ActivationKind:
    ELU                                # parameters: alpha, scale, input_scale
    SOFTPLUS                           # parameters: beta, threshold
    LOG_SIGMOID
    HARDTANH                           # parameters: lower and upper limit
    SOFT_SHRINK                        # parameter: lambda
    HARD_SHRINK
    THRESHOLD                          # parameters: threshold, replacement value


cdef inline void apply_row(Rows rows, floating *x, npy_intp n) noexcept nogil:
    """Apply the row kernel to `x` in place."""
    if floating is float:
        rows.of_floats(x, n, x)
    else:
        rows.of_doubles(x, n, x)


cdef void elu_in_tiles(const floating *x, npy_intp n, floating alpha, floating scale, floating input_scale, floating *out) noexcept nogil:
    """Compute ELU with results that are bit-identical to those of the operator record's Python kernel.

    Both kernels execute the arithmetic operations in the same order.
    """
    cdef floating scratch[TILE]
    cdef npy_intp count
    while n > 0:
        count = min(n, <npy_intp>TILE)
        if floating is float:
            float_below(x, count, input_scale, scratch)
            apply_row(EXPM1, scratch, count)
            float_above(x, scratch, count, alpha, scale, out)
        else:
            double_below(x, count, input_scale, scratch)
            apply_row(EXPM1, scratch, count)
            double_above(x, scratch, count, alpha, scale, out)
        x += count
        out += count
        n -= count


cdef void softplus_in_tiles(const floating *x, npy_intp n, floating beta, floating threshold, floating *out) noexcept nogil:
    cdef floating scratch[TILE]
    cdef npy_intp i, count
    while n > 0:
        count = min(n, <npy_intp>TILE)
        for i in range(count):
            scratch[i] = x[i] * beta
        apply_row(SOFTPLUS_OF_ONE, scratch, count)
        if floating is float:
            float_softened(x, scratch, count, beta, threshold, out)
        else:
            double_softened(x, scratch, count, beta, threshold, out)
        x += count
        out += count
        n -= count


cdef void compute(ActivationKind formula, const floating *x, npy_intp n, double *parameters, floating *out) noexcept nogil:
    cdef floating a = <floating>parameters[0], b = <floating>parameters[1]
    if formula == ELU:
        elu_in_tiles(x, n, a, b, <floating>parameters[2], out)
        return
    if formula == SOFTPLUS:
        softplus_in_tiles(x, n, a, b, out)
        return
    if formula == LOG_SIGMOID:
        if floating is float:
            LOG_SIGMOID_ROWS.of_floats(x, n, out)
        else:
            LOG_SIGMOID_ROWS.of_doubles(x, n, out)
        return
    if floating is float:
        (float_between if formula == HARDTANH else float_soft_shrink if formula == SOFT_SHRINK
         else float_hard_shrink if formula == HARD_SHRINK
         else float_threshold)(x, n, a, b, out)
    else:
        (double_between if formula == HARDTANH else double_soft_shrink if formula == SOFT_SHRINK
         else double_hard_shrink if formula == HARD_SHRINK
         else double_threshold)(x, n, a, b, out)


cdef struct FormulaTask:
    ActivationKind formula
    int kind
    char *x
    double parameters[3]
    char *out


cdef int run_formula_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute the elements [start, end)."""
    cdef FormulaTask *task = <FormulaTask *>context
    if task.kind == FLOAT:
        compute[float](task.formula, <float *>task.x + start, end - start, task.parameters, <float *>task.out + start)
    else:
        compute[double](task.formula, <double *>task.x + start, end - start, task.parameters, <double *>task.out + start)
    return 0


cdef int run_formula(Operator op, IValue *r, const int32_t *at, ActivationKind formula, double a, double b, double c) except -1:
    cdef PyArrayObject *x = aligned_float_array(&r[at[0]])
    cdef FormulaTask task
    cdef bint in_place = is_in_place(op)
    cdef int kind
    cdef object source, result
    cdef ReleasedGil gil_state
    if x == NULL or scalar_type(&r[at[0]]) == HALF or scalar_type(&r[at[0]]) == BFLOAT16:
        return UNSUPPORTED
    if in_place and not can_overwrite(x):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    source = make_dense(x)
    x = <PyArrayObject *>source
    result = source if in_place else new_like_dense(source, kind)
    task.formula, task.kind, task.x, task.out = formula, kind, data_of(x), data_of(<PyArrayObject *>result)
    task.parameters[0], task.parameters[1], task.parameters[2] = a, b, c
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    parallel_ranges(run_formula_range, &task, size_of(x), EXPENSIVE_ELEMENT_COST, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return store_result(op, r, at, in_place, result, kind)


cdef bint read_numbers(IValue *r, const int32_t *at, int count, double *parameters) noexcept:
    """Read the `count` numbers that follow the tensor argument into `parameters`.

    Return False if the tensor is unsupported (for example half-precision), or if the tensor's dtype cannot
    represent one of the numbers.
    """
    cdef int i
    if aligned_float_array(&r[at[0]]) == NULL or scalar_type(&r[at[0]]) == HALF or scalar_type(&r[at[0]]) == BFLOAT16:
        return False
    for i in range(count):
        if not read_number(&r[at[1 + i]], scalar_type(&r[at[0]]), &parameters[i]):
            return False
    return True


cdef int run_with_numbers(Operator op, IValue *r, const int32_t *at, ActivationKind formula, int count) except -1:
    """Run a formula whose parameters are the `count` arguments after the tensor."""
    cdef double[3] parameters = [0, 0, 0]
    if not read_numbers(r, at, count, parameters):
        return UNSUPPORTED
    return run_formula(op, r, at, formula, parameters[0], parameters[1], parameters[2])


cdef int elu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_with_numbers(op, r, at, ELU, 3)

cdef int celu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double parameters[1]
    if not read_numbers(r, at, 1, parameters) or parameters[0] == 0:
        return UNSUPPORTED
    return run_formula(op, r, at, ELU, parameters[0], 1, 1 / parameters[0])

cdef int selu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_formula(op, r, at, ELU, 1.6732632423543772, 1.0507009873554805, 1)

cdef int softplus(Operator op, IValue *r, const int32_t *at) except -1:
    return run_with_numbers(op, r, at, SOFTPLUS, 2)

cdef int log_sigmoid(Operator op, IValue *r, const int32_t *at) except -1:
    # The result must be C-contiguous, and `run_formula` gives the result the dimension order of the input.
    # Therefore, only C-contiguous inputs are supported here.
    if float_array(&r[at[0]]) == NULL:
        return UNSUPPORTED
    return run_formula(op, r, at, LOG_SIGMOID, 0, 0, 0)

cdef int hardtanh(Operator op, IValue *r, const int32_t *at) except -1:
    return run_with_numbers(op, r, at, HARDTANH, 2)

cdef int relu6(Operator op, IValue *r, const int32_t *at) except -1:
    return run_formula(op, r, at, HARDTANH, 0, 6, 0)

cdef int softshrink(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double parameters[1]
    if not read_numbers(r, at, 1, parameters) or parameters[0] < 0:
        return UNSUPPORTED
    return run_formula(op, r, at, SOFT_SHRINK, parameters[0], 0, 0)

cdef int hardshrink(Operator op, IValue *r, const int32_t *at) except -1:
    return run_with_numbers(op, r, at, HARD_SHRINK, 1)

cdef int threshold(Operator op, IValue *r, const int32_t *at) except -1:
    return run_with_numbers(op, r, at, THRESHOLD, 2)


# ---------------------------------------------------------------- loops of fusion groups

cdef void formula_floats(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    compute[float](<ActivationKind>tile.what, <float *>args[0], n[0], tile.by, <float *>args[1])

cdef void formula_doubles(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef Tile *tile = <Tile *>data
    compute[double](<ActivationKind>tile.what, <double *>args[0], n[0], tile.by, <double *>args[1])

cdef void leaky_relu_floats_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    float_leaky(<float *>args[0], n[0], <float>(<Tile *>data).by[0], 0, <float *>args[1])

cdef void leaky_relu_doubles_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    double_leaky(<double *>args[0], n[0], (<Tile *>data).by[0], 0, <double *>args[1])


cdef bint configure_formula(int kind, Tile *tile, ActivationKind formula, IValue **others, int count) noexcept:
    cdef int i
    for i in range(count):
        if not read_number(others[i], kind, &tile.by[i]):
            return False
    tile.what = formula
    tile.function = formula_floats if kind == FLOAT else formula_doubles
    return True

cdef bint read_softplus(int kind, IValue **others, Tile *tile) noexcept:
    return configure_formula(kind, tile, SOFTPLUS, others, 2)

cdef bint read_log_sigmoid(int kind, IValue **others, Tile *tile) noexcept:
    return configure_formula(kind, tile, LOG_SIGMOID, others, 0)

cdef bint read_hardtanh(int kind, IValue **others, Tile *tile) noexcept:
    return configure_formula(kind, tile, HARDTANH, others, 2)

cdef bint read_relu6(int kind, IValue **others, Tile *tile) noexcept:
    tile.by[0], tile.by[1] = 0, 6
    return configure_formula(kind, tile, HARDTANH, others, 0)

cdef bint read_threshold(int kind, IValue **others, Tile *tile) noexcept:
    return configure_formula(kind, tile, THRESHOLD, others, 2)

cdef void run_rows_float_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef int what = (<Tile *>data).what
    (<FloatRow>(SILU.of_floats if what == 0 else GELU.of_floats if what == 1 else GELU_TANH.of_floats))(<float *>args[0], n[0], <float *>args[1])

cdef void run_rows_double_tile(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    cdef int what = (<Tile *>data).what
    (<DoubleRow>(SILU.of_doubles if what == 0 else GELU.of_doubles if what == 1 else GELU_TANH.of_doubles))(<double *>args[0], n[0], <double *>args[1])

cdef bint read_silu(int kind, IValue **others, Tile *tile) noexcept:
    tile.what = 0
    tile.function = run_rows_float_tile if kind == FLOAT else run_rows_double_tile
    return True

cdef bint read_gelu(int kind, IValue **others, Tile *tile) noexcept:
    if others[0].tag != TAG_OBJECT or type(<object>others[0].v.o) is not str:
        return False
    tile.what = 1 if <str>others[0].v.o == "none" else 2
    tile.function = run_rows_float_tile if kind == FLOAT else run_rows_double_tile
    return <str>others[0].v.o == "none" or <str>others[0].v.o == "tanh"

cdef bint read_elu(int kind, IValue **others, Tile *tile) noexcept:
    return configure_formula(kind, tile, ELU, others, 3)

cdef bint read_celu(int kind, IValue **others, Tile *tile) noexcept:
    if not configure_formula(kind, tile, ELU, others, 1) or tile.by[0] == 0:
        return False
    tile.by[1], tile.by[2] = 1, 1 / tile.by[0]
    return True

cdef bint read_selu(int kind, IValue **others, Tile *tile) noexcept:
    tile.by[0], tile.by[1], tile.by[2] = 1.6732632423543772, 1.0507009873554805, 1
    return configure_formula(kind, tile, ELU, others, 0)

cdef bint read_leaky_relu(int kind, IValue **others, Tile *tile) noexcept:
    tile.function = leaky_relu_floats_tile if kind == FLOAT else leaky_relu_doubles_tile
    return read_number(others[0], kind, &tile.by[0])


register_tile("aten::softplus", read_softplus)
register_tile("aten::log_sigmoid", read_log_sigmoid)
register_tile("aten::hardtanh", read_hardtanh)
register_tile("aten::relu6", read_relu6)
register_tile("aten::threshold", read_threshold)
register_tile("aten::silu", read_silu)
register_tile("aten::elu", read_elu)
register_tile("aten::celu", read_celu)
register_tile("aten::selu", read_selu)
register_tile("aten::gelu", read_gelu)
register_tile("aten::leaky_relu", read_leaky_relu)

register_kernel("aten::elu", elu, FLOAT32_CONTIGUOUS)
register_kernel("aten::celu", celu, FLOAT32_CONTIGUOUS)
register_kernel("aten::selu", selu, FLOAT32_CONTIGUOUS)
register_kernel("aten::softplus", softplus, FLOAT32_CONTIGUOUS)
register_kernel("aten::log_sigmoid", log_sigmoid, FLOAT32_CONTIGUOUS)
register_kernel("aten::hardtanh", hardtanh, FLOAT32_CONTIGUOUS)
register_kernel("aten::relu6", relu6, FLOAT32_CONTIGUOUS)
register_kernel("aten::softshrink", softshrink, FLOAT32_CONTIGUOUS)
register_kernel("aten::hardshrink", hardshrink, CONTIGUOUS)
register_kernel("aten::threshold", threshold, FLOAT32_CONTIGUOUS)
register_kernel("aten::leaky_relu", leaky_relu, FLOAT32_CONTIGUOUS)
register_kernel("aten::prelu", prelu)
register_kernel("aten::silu_", silu)
register_kernel("aten::leaky_relu_", leaky_relu)
register_kernel("aten::elu_", elu)
register_kernel("aten::celu_", celu)
register_kernel("aten::selu_", selu)
register_kernel("aten::hardtanh_", hardtanh)
register_kernel("aten::relu6_", relu6)
register_kernel("aten::threshold_", threshold)
register_kernel("aten::silu", silu, FLOAT32_CONTIGUOUS)
register_kernel("aten::gelu", gelu, FLOAT32_CONTIGUOUS)
