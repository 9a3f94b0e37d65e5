"""Type conversion (cast) of contiguous CPU tensors, such as `x.half()` or `x.to(ts.int64)`.

Input: interpreter registers with a tensor and a dtype. Output: the register of a converted copy. If the
tensor already has the dtype, the output is the tensor itself.

For other arguments, the operator's Python kernel runs.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from numpy cimport npy_bool, npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, HALF, INT32, INT64, UINT8, PyArrayObject, data_of, size_of
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport item_size, contiguous_array_or_null, new_like, set_result, scalar_type, set_object_result
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, shorten, widen
from ts.backends.cpu.kernels.parallel_for cimport VECTOR_BLOCK_ELEMENTS, parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport register_conversion, register_kernel

cdef extern from "short_floats.h" nogil:
    void widen_floats_row(const float *x, npy_intp n, double *out)
    void shorten_doubles_row(const double *x, npy_intp n, float *out)

cdef enum:
    TILE = 1024                        # number of elements of a buffer for an intermediate dtype


# ---------------------------------------------------------------- C number types of the dtypes

ctypedef fused source_type:
    npy_bool                           # elements of bool and uint8 tensors
    int32_t
    int64_t
    float
    double

ctypedef fused target_type:
    int32_t
    int64_t
    float
    double


cdef void cast(const source_type *x, npy_intp n, target_type *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = <target_type>x[i]


cdef void cast_to(const source_type *x, npy_intp n, int kind, void *out) noexcept nogil:
    cdef npy_intp i
    if kind == FLOAT:
        cast(x, n, <float *>out)
    elif kind == DOUBLE:
        cast(x, n, <double *>out)
    elif kind == INT64:
        cast(x, n, <int64_t *>out)
    elif kind == INT32:
        cast(x, n, <int32_t *>out)
    else:
        for i in range(n):
            (<uint8_t *>out)[i] = x[i] != 0


cdef void cast_bools(const npy_bool *x, npy_intp n, int kind, char *out) noexcept nogil:
    """Convert bools. Every nonzero byte counts as True (`x.view(ts.bool)` can create bytes other than 0 and 1)."""
    cdef npy_bool scratch[TILE]
    cdef npy_intp count, i
    while n > 0:
        count = min(n, <npy_intp>TILE)
        for i in range(count):
            scratch[i] = x[i] != 0
        cast_to[npy_bool](scratch, count, kind, out)
        x += count
        out += count * (8 if kind == DOUBLE or kind == INT64 else 4)
        n -= count


cdef inline bint is_number(long kind) noexcept nogil:
    return kind == BOOL or kind == INT32 or kind == INT64 or kind == FLOAT or kind == DOUBLE


cdef void cast_numbers(const char *x, int source, npy_intp n, int target, char *out) noexcept nogil:
    if source == FLOAT:
        cast_to(<const float *>x, n, target, out)
    elif source == DOUBLE:
        cast_to(<const double *>x, n, target, out)
    elif source == INT64:
        cast_to(<const int64_t *>x, n, target, out)
    elif source == INT32:
        cast_to(<const int32_t *>x, n, target, out)
    elif source == BOOL:
        cast_bools(<const npy_bool *>x, n, target, out)
    else:
        cast_to(<const npy_bool *>x, n, target, out)


# ---------------------------------------------------------------- half precision

cdef inline bint is_float(long kind) noexcept nogil:
    return kind == FLOAT or kind == DOUBLE or kind == HALF or kind == BFLOAT16


cdef inline int width(int kind) noexcept nogil:
    return 8 if kind == DOUBLE else 4 if kind == FLOAT else 2


cdef void read_floats(const char *x, int kind, npy_intp n, float *out) noexcept nogil:
    if kind == DOUBLE:
        shorten_doubles_row(<const double *>x, n, out)
    else:
        widen(x, 2, n, kind == BFLOAT16, out)


cdef void write_floats(const float *x, npy_intp n, int kind, char *out) noexcept nogil:
    if kind == DOUBLE:
        widen_floats_row(x, n, <double *>out)
    else:
        shorten(x, n, kind == BFLOAT16, out, 2)


cdef void convert(const char *x, int source, npy_intp n, int target, char *out) noexcept nogil:
    cdef float scratch[TILE]
    cdef npy_intp count
    if target == FLOAT:
        read_floats(x, source, n, <float *>out)
        return
    if source == FLOAT:
        write_floats(<const float *>x, n, target, out)
        return
    while n > 0:
        count = min(n, <npy_intp>TILE)
        read_floats(x, source, count, scratch)
        write_floats(scratch, count, target, out)
        x += count * width(source)
        out += count * width(target)
        n -= count


# ---------------------------------------------------------------- conversion loops by dtype pair

cdef bint has_conversion(int source, int target) noexcept nogil:
    if is_float(source) and is_float(target):
        return source != target
    return source != target and (is_number(source) or source == UINT8) and is_number(target)


cdef void *conversion_data(int source, int target) noexcept nogil:
    return <void *><size_t>(source << 8 | target)


cdef void convert_tile(char **args, const npy_intp *count, const npy_intp *strides, void *data) noexcept nogil:
    convert_row(args[0], <int>(<size_t>data >> 8), count[0], <int>(<size_t>data & 0xff), args[1])


cdef void convert_row(const char *x, int source, npy_intp n, int target, char *out) noexcept nogil:
    if is_float(source) and is_float(target):
        convert(x, source, n, target, out)
    else:
        cast_numbers(x, source, n, target, out)


cdef struct Conversion:
    const char *x
    npy_intp source_width
    npy_intp target_width
    int source
    int target
    char *out


cdef int convert_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Convert the elements [start, end)."""
    cdef Conversion *task = <Conversion *>context
    convert_row(
        task.x + start * task.source_width, task.source, end - start, task.target, task.out + start * task.target_width
    )
    return 0


# ---------------------------------------------------------------- the operators

cdef int store_converted(Operator op, IValue *r, const int32_t *at, int64_t requested) except -1:
    """Store a copy of the first argument converted to the dtype `requested`, which may be invalid."""
    cdef PyArrayObject *x = contiguous_array_or_null(&r[at[0]])
    cdef int source = scalar_type(&r[at[0]]), target
    cdef object result
    cdef Conversion task
    cdef ReleasedGil gil_state
    if x == NULL or not 0 <= requested <= BFLOAT16 or not has_conversion(source, <int>requested):
        return UNSUPPORTED
    target = <int>requested
    result = new_like(x, target)
    task.x, task.source_width, task.source, task.target = data_of(x), item_size(x), source, target
    task.out, task.target_width = data_of(<PyArrayObject *>result), item_size(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    parallel_ranges(convert_range, &task, size_of(x), 1, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, target)


cdef int to_copy(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int i
    if contiguous_array_or_null(&r[at[0]]) == NULL or r[at[1]].tag != TAG_INT:
        return UNSUPPORTED
    for i in (2, 3, 4, 6):             # the arguments layout, device, pin_memory, memory_format
        if r[at[i]].tag != TAG_NONE:
            return UNSUPPORTED
    return store_converted(op, r, at, r[at[1]].v.i)


cdef int run_to(Operator op, IValue *r, const int32_t *at, IValue *dtype, IValue *copy, IValue *format) except -1:
    if contiguous_array_or_null(&r[at[0]]) == NULL or dtype.tag != TAG_INT or copy.v.i:
        return UNSUPPORTED
    if format != NULL and format.tag != TAG_NONE and format.v.i > 1:
        return UNSUPPORTED
    if dtype.v.i == scalar_type(&r[at[0]]):
        return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)
    return store_converted(op, r, at, dtype.v.i)


cdef int to_dtype(Operator op, IValue *r, const int32_t *at) except -1:
    return run_to(op, r, at, &r[at[1]], &r[at[3]], &r[at[4]])


cdef int to_prim_dtype(Operator op, IValue *r, const int32_t *at) except -1:
    return run_to(op, r, at, &r[at[1]], &r[at[3]], NULL)


register_kernel("aten::_to_copy", to_copy)
register_kernel("aten::to.dtype", to_dtype)
register_kernel("aten::to.prim_dtype", to_prim_dtype)
register_conversion("aten::to.dtype")
register_conversion("aten::to.other")
register_conversion("aten::type_as")
