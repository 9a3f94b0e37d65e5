"""Factories of CPU tensors that are filled with a number, and copies of CPU tensors.

Input: interpreter registers with sizes, numbers and dtypes, or with the tensor to copy. Output: the register
of the new tensor. For other arguments, the operator's Python kernel runs. The operators are:

    zeros([2, 3]), full, empty, arange(10)      zeros_like(x), x.new_zeros([2])      x.clone()
    x.zero_(), x.fill_(2)                       x.contiguous() (returns x itself if it is contiguous)
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.float cimport FLT_MAX
from libc.math cimport ceil, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy, memset
from numpy cimport npy_bool, npy_intp

from ts._core.value.container cimport List, list_item
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.parallel_for cimport parallel_copy
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, CFLOAT, DOUBLE, FLOAT, INT8, INT32, INT64, UINT8
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    MAX_DIMS, contiguous_array_or_null, is_tensor, item_size, new_contiguous, new_like, set_result, set_object_result, scalar_type
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrote
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

from ts import devices, dtypes
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, four_bytes

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int copy_array "PyArray_CopyInto"(PyArrayObject *to, PyArrayObject *source) except -1

# tensors with more elements are created by the operator's Python kernel, which raises the error if memory is
# exhausted
cdef int64_t MAX_ELEMENTS = <int64_t>1 << 40
cdef int64_t MAX_FLOAT_RANGE_ELEMENTS = 1 << 24    # larger ranges are computed without the GIL by NumPy


cdef bint is_cpu(IValue *device) noexcept:
    if device.tag == TAG_NONE or <object>device.v.o is devices.CPU:
        return True
    return type(<object>device.v.o) is devices.device and <object>device.v.o == devices.CPU


cdef bint is_plain_cpu(IValue *layout, IValue *device, IValue *pinned) noexcept:
    """Return whether the arguments layout, device and pin_memory select an ordinary CPU tensor."""
    if layout.tag != TAG_NONE and layout.v.i != 0:
        return False
    if not is_cpu(device):
        return False
    return pinned.tag == TAG_NONE or pinned.v.i == 0


cdef inline bint has_width(int kind) noexcept:
    return kind in (BOOL, INT32, INT64, FLOAT, DOUBLE)


cdef int read_dtype(IValue *dtype, int missing) except -2:
    """Return the ScalarType for the argument `dtype`, or -1 if the dtype is unsupported.

    If `dtype` is None, the ScalarType is `missing`, or the default dtype if `missing` is -1.
    """
    cdef int kind = missing
    if dtype.tag != TAG_NONE:
        kind = <int>dtype.v.i
    elif missing < 0:
        kind = dtypes.get_default_dtype().code
    return kind if has_width(kind) else -1


cdef int read_filled_dtype(IValue *dtype, int missing) except -2:
    """Return the ScalarType like `read_dtype`, also for the additional dtypes of `store_element_bytes`."""
    cdef int kind = missing if dtype.tag == TAG_NONE else <int>dtype.v.i
    return kind if kind in (UINT8, INT8, CFLOAT) else read_dtype(dtype, missing)


cdef bint read_sizes(IValue *x, npy_intp *dims, int *nd) noexcept:
    cdef List sizes
    cdef npy_intp total = 1
    cdef Py_ssize_t i
    cdef int64_t n
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return False
    sizes = <List>x.v.o
    if sizes.size > MAX_DIMS:
        return False
    for i in range(sizes.size):
        n = list_item(<PyObject *>sizes, i).v.i
        if not 0 <= n <= MAX_ELEMENTS:
            return False
        dims[i] = n
        if n > 1:
            if total > MAX_ELEMENTS // n:
                return False
            total *= n
    nd[0] = <int>sizes.size
    return True


# ---------------------------------------------------------------- filling

cdef bint store_scalar(IValue *scalar, int kind, char *out) noexcept:
    """Write `scalar` as an element of dtype `kind`.

    Return False if the dtype is unsupported, cannot represent the value, or has a lower category than the
    scalar (for example an int dtype and a float scalar).
    """
    cdef double value
    if scalar.tag != TAG_FLOAT and scalar.tag != TAG_INT and scalar.tag != TAG_BOOL:
        return False
    value = scalar.v.f if scalar.tag == TAG_FLOAT else <double>scalar.v.i
    if kind == FLOAT:
        if isfinite(value) and fabs(value) > FLT_MAX:
            return False
        (<float *>out)[0] = <float>value
    elif kind == DOUBLE:
        (<double *>out)[0] = value
    elif kind == INT64 and scalar.tag != TAG_FLOAT:
        (<int64_t *>out)[0] = scalar.v.i
    elif kind == INT32 and scalar.tag != TAG_FLOAT and -2147483648 <= scalar.v.i <= 2147483647:
        (<int32_t *>out)[0] = <int32_t>scalar.v.i
    elif kind == BOOL and scalar.tag == TAG_BOOL:
        (<uint8_t *>out)[0] = scalar.v.i != 0
    else:
        return False
    return True


cdef bint store_element_bytes(IValue *scalar, int kind, char *out) noexcept:
    """Write `scalar` like `store_scalar`, which supports fewer dtypes."""
    if kind == UINT8 or kind == INT8:
        if scalar.tag != TAG_INT and scalar.tag != TAG_BOOL:
            return False
        if not (0 <= scalar.v.i <= 255 if kind == UINT8 else -128 <= scalar.v.i <= 127):
            return False
        out[0] = <char>scalar.v.i
        return True
    if kind == CFLOAT:
        (<float *>out)[1] = 0
        return store_scalar(scalar, FLOAT, out)
    return store_scalar(scalar, kind, out)


cdef extern from "simd.h" nogil:
    void simd_fill_four(four_bytes *out, npy_intp n, int32_t value)
    void simd_fill_eight(eight_bytes *out, npy_intp n, int64_t value)

cdef const char *EIGHT_ZERO_BYTES = b"\0\0\0\0\0\0\0\0"


cdef void fill_with(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, const char *scalar_bytes) noexcept:
    cdef char *out = data_of(a)
    cdef npy_intp n = size_of(a), width = item_size(a)
    cdef int32_t four
    cdef int64_t eight
    cdef ReleasedGil gil_state = leave_gil(n, r, at, op.nargs)
    if width == 1:
        memset(out, scalar_bytes[0], n)
    elif memcmp(scalar_bytes, EIGHT_ZERO_BYTES, width) == 0:
        memset(out, 0, n * width)
    elif width == 4:
        memcpy(&four, scalar_bytes, 4)
        simd_fill_four(<four_bytes *>out, n, four)
    else:
        memcpy(&eight, scalar_bytes, 8)
        simd_fill_eight(<eight_bytes *>out, n, eight)
    take_gil(gil_state)


cdef int create_full(
    Operator op, IValue *r, const int32_t *at, int nd, npy_intp *dims, int kind, IValue *scalar
) except -1:
    """Create a tensor of shape `dims` and dtype `kind` filled with `scalar`."""
    cdef char value[8]
    cdef object result
    cdef PyArrayObject *a
    if kind < 0 or not store_element_bytes(scalar, kind, value):
        return UNSUPPORTED
    result = new_contiguous(nd, dims, kind)
    a = <PyArrayObject *>result
    fill_with(op, r, at, a, value)
    return set_result(&r[at[op.nargs]], result, kind)


cdef IValue ZERO, ONE
ZERO.tag = ONE.tag = TAG_BOOL
ZERO.v.i = 0
ONE.v.i = 1


cdef int create_by_sizes(Operator op, IValue *r, const int32_t *at, int sizes_at, int dtype_at, int missing, IValue *scalar) except -1:
    cdef npy_intp dims[MAX_DIMS]
    cdef int nd
    if not is_plain_cpu(&r[at[dtype_at + 1]], &r[at[dtype_at + 2]], &r[at[dtype_at + 3]]):
        return UNSUPPORTED
    if not read_sizes(&r[at[sizes_at]], dims, &nd):
        return UNSUPPORTED
    return create_full(op, r, at, nd, dims, read_filled_dtype(&r[at[dtype_at]], missing), scalar)


cdef int zeros(Operator op, IValue *r, const int32_t *at) except -1:
    return create_by_sizes(op, r, at, 0, 1, -1, &ZERO)

cdef int empty(Operator op, IValue *r, const int32_t *at) except -1:
    if r[at[5]].tag != TAG_NONE and r[at[5]].v.i != 0:
        return UNSUPPORTED
    return create_by_sizes(op, r, at, 0, 1, -1, &ZERO)

cdef int ones(Operator op, IValue *r, const int32_t *at) except -1:
    return create_by_sizes(op, r, at, 0, 1, -1, &ONE)

cdef int full(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int missing = -1
    if r[at[1]].tag == TAG_INT:
        missing = INT64
    elif r[at[1]].tag == TAG_BOOL:
        missing = BOOL
    return create_by_sizes(op, r, at, 0, 2, missing, &r[at[1]])


cdef int create_with_dtype_of(Operator op, IValue *r, const int32_t *at, int dtype_at, IValue *scalar) except -1:
    """Create a tensor filled with `scalar`, such as x.new_zeros([2]), with x's dtype if no dtype is given."""
    if contiguous_array_or_null(&r[at[0]]) == NULL:
        return UNSUPPORTED
    return create_by_sizes(op, r, at, 1, dtype_at, scalar_type(&r[at[0]]), scalar)


cdef int new_zeros(Operator op, IValue *r, const int32_t *at) except -1:
    return create_with_dtype_of(op, r, at, 2, &ZERO)

cdef int new_ones(Operator op, IValue *r, const int32_t *at) except -1:
    return create_with_dtype_of(op, r, at, 2, &ONE)

cdef int new_full(Operator op, IValue *r, const int32_t *at) except -1:
    return create_with_dtype_of(op, r, at, 3, &r[at[2]])


cdef bint has_row_major_strides(PyArrayObject *a) noexcept:
    """Return whether no dimension has a larger stride than its predecessor, and all strides are positive.

    A tensor that is created with the format of `a` is then contiguous, also if `a` is not.
    """
    cdef int d
    for d in range(1, ndim_of(a)):
        if strides_of(a)[d] > strides_of(a)[d - 1]:
            return False
    return ndim_of(a) == 0 or strides_of(a)[ndim_of(a) - 1] > 0


cdef int create_like(Operator op, IValue *r, const int32_t *at, int dtype_at, IValue *scalar) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef IValue *format = &r[at[dtype_at + 4]]
    if a == NULL and is_tensor(&r[at[0]]) and (<Tensor>r[at[0]].v.o).backend == BACKEND_CPU:
        a = <PyArrayObject *>(<Tensor>r[at[0]].v.o).array
        if not has_row_major_strides(a):
            return UNSUPPORTED
    if a == NULL or not is_plain_cpu(&r[at[dtype_at + 1]], &r[at[dtype_at + 2]], &r[at[dtype_at + 3]]):
        return UNSUPPORTED
    if format.tag != TAG_NONE and format.v.i > 1:
        return UNSUPPORTED
    return create_full(op, r, at, ndim_of(a), dims_of(a), read_filled_dtype(&r[at[dtype_at]], scalar_type(&r[at[0]])), scalar)


cdef int zeros_like(Operator op, IValue *r, const int32_t *at) except -1:
    return create_like(op, r, at, 1, &ZERO)

cdef int ones_like(Operator op, IValue *r, const int32_t *at) except -1:
    return create_like(op, r, at, 1, &ONE)

cdef int full_like(Operator op, IValue *r, const int32_t *at) except -1:
    return create_like(op, r, at, 2, &r[at[1]])


cdef int run_fill(Operator op, IValue *r, const int32_t *at, IValue *scalar) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef char value[8]
    if a == NULL or not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return UNSUPPORTED
    if not has_width(scalar_type(&r[at[0]])) or not store_scalar(scalar, scalar_type(&r[at[0]]), value):
        return UNSUPPORTED
    fill_with(op, r, at, a, value)
    wrote(<Tensor>r[at[0]].v.o)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


cdef int fill_(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fill(op, r, at, &r[at[1]])

cdef int zero_(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fill(op, r, at, &ZERO)


cdef int arange(Operator op, IValue *r, const int32_t *at) except -1:
    """Create a range from `start` (default 0) to `end` (exclusive) with `step` (default 1)."""
    cdef int options = op.nargs - 4, kind, i
    cdef bint is_integral = True
    cdef IValue *number
    if not is_plain_cpu(&r[at[options + 1]], &r[at[options + 2]], &r[at[options + 3]]):
        return UNSUPPORTED
    for i in range(options):
        number = &r[at[i]]
        if number.tag == TAG_FLOAT:
            is_integral = False
        elif number.tag != TAG_INT:
            return UNSUPPORTED
    kind = read_dtype(&r[at[options]], INT64 if is_integral else -1)
    if kind == INT64 and is_integral:
        return integer_range(op, r, at, options)
    return float_range(op, r, at, options, kind) if kind == FLOAT or kind == DOUBLE else UNSUPPORTED


cdef int integer_range(Operator op, IValue *r, const int32_t *at, int options) except -1:
    cdef int64_t start = 0 if options == 1 else r[at[0]].v.i, end = r[at[options > 1]].v.i
    cdef int64_t step = r[at[2]].v.i if options == 3 else 1
    cdef npy_intp n, k
    cdef int64_t *out
    if not (-MAX_ELEMENTS < start < MAX_ELEMENTS and -MAX_ELEMENTS < end < MAX_ELEMENTS and -MAX_ELEMENTS < step < MAX_ELEMENTS):
        return UNSUPPORTED
    if step == 0 or (end < start if step > 0 else end > start):
        return UNSUPPORTED
    n = (end - start + step - 1) // step if step > 0 else (start - end - step - 1) // -step
    result = new_contiguous(1, &n, INT64)
    out = <int64_t *>data_of(<PyArrayObject *>result)
    for k in range(n):
        out[k] = start + k * step
    return set_result(&r[at[op.nargs]], result, INT64)


cdef inline double number_value(IValue *x) noexcept:
    return x.v.f if x.tag == TAG_FLOAT else <double>x.v.i


cdef int float_range(Operator op, IValue *r, const int32_t *at, int options, int kind) except -1:
    """Create a float32 or float64 range, whose elements are computed in double precision."""
    cdef double start = 0 if options == 1 else number_value(&r[at[0]]), end = number_value(&r[at[options > 1]])
    cdef double step = number_value(&r[at[2]]) if options == 3 else 1, count
    cdef npy_intp n, k
    cdef void *out
    if step == 0 or not (fabs(start) < MAX_ELEMENTS and fabs(end) < MAX_ELEMENTS and fabs(step) < MAX_ELEMENTS):
        return UNSUPPORTED
    count = ceil((end - start) / step)
    if not 0 <= count <= MAX_FLOAT_RANGE_ELEMENTS or (end < start if step > 0 else end > start):
        return UNSUPPORTED
    n = <npy_intp>count
    result = new_contiguous(1, &n, kind)
    out = data_of(<PyArrayObject *>result)
    for k in range(n):
        if kind == FLOAT:
            (<float *>out)[k] = <float>(start + k * step)
        else:
            (<double *>out)[k] = start + k * step
    return set_result(&r[at[op.nargs]], result, kind)


cdef int create_from_list(Operator op, IValue *r, const int32_t *at) except -1:
    """Create a vector from a list of numbers: ts.tensor([1, 2])."""
    cdef List numbers
    cdef IValue scalar
    cdef npy_intp n, i
    cdef int kind, missing = -1
    cdef npy_intp width
    cdef char *out
    if r[at[0]].tag != TAG_OBJECT or type(<object>r[at[0]].v.o) is not List or (op.nargs == 4 and r[at[3]].v.i):
        return UNSUPPORTED
    if not is_cpu(&r[at[2]]):
        return UNSUPPORTED
    numbers = <List>r[at[0]].v.o
    n = numbers.size
    if n == 0:
        return UNSUPPORTED
    if list_item(<PyObject *>numbers, 0).tag == TAG_INT:
        missing = INT64
    elif list_item(<PyObject *>numbers, 0).tag == TAG_BOOL:
        missing = BOOL
    kind = read_dtype(&r[at[1]], missing)
    if kind < 0:
        return UNSUPPORTED
    result = new_contiguous(1, &n, kind)
    out = data_of(<PyArrayObject *>result)
    width = item_size(<PyArrayObject *>result)
    for i in range(n):
        if numbers.size != n:
            return UNSUPPORTED
        scalar = list_item(<PyObject *>numbers, i)
        if not store_scalar(&scalar, kind, out + i * width):
            return UNSUPPORTED
    return set_result(&r[at[op.nargs]], result, kind)


# ---------------------------------------------------------------- copies

cdef object vector_array(IValue *x):
    """Return the array of `x` if it is a 1-d CPU tensor, with any stride, else None."""
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return None
    array = (<Tensor>x.v.o).array
    return array if ndim_of(<PyArrayObject *>array) == 1 else None


cdef int clone(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef object result
    cdef npy_intp bytes
    cdef int kind
    cdef ReleasedGil gil_state
    if r[at[1]].tag != TAG_NONE and r[at[1]].v.i > 1:
        return UNSUPPORTED
    if a == NULL:
        owner = vector_array(&r[at[0]])   # strong reference, because NumPy may release the GIL during the copy
        if owner is None:
            return UNSUPPORTED
        kind = scalar_type(&r[at[0]])
        result = new_like(<PyArrayObject *>owner, kind)
        copy_array(<PyArrayObject *>result, <PyArrayObject *>owner)
        return set_result(&r[at[op.nargs]], result, kind)
    kind = scalar_type(&r[at[0]])
    result = new_like(a, kind)
    bytes = size_of(a) * item_size(a)
    gil_state = leave_gil(bytes // 8, r, at, op.nargs)
    parallel_copy(data_of(<PyArrayObject *>result), data_of(a), bytes)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int contiguous(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Tensor x
    if not is_tensor(&r[at[0]]) or (r[at[1]].tag != TAG_NONE and r[at[1]].v.i != 0):
        return UNSUPPORTED
    x = <Tensor>r[at[0]].v.o
    if x.backend != BACKEND_CPU:
        return UNSUPPORTED
    if not flags_of(<PyArrayObject *>x.array) & cnp.NPY_ARRAY_C_CONTIGUOUS:
        return set_result(&r[at[op.nargs]], contiguous_copy(<PyArrayObject *>x.array), x.scalar_type)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


cdef int return_real(Operator op, IValue *r, const int32_t *at) except -1:
    """Run real, conj or resolve_conj. For a tensor with a real dtype, return the tensor itself."""
    if is_tensor(&r[at[0]]) and not 8 <= (<Tensor>r[at[0]].v.o).scalar_type <= 10:
        return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)
    return UNSUPPORTED


register_kernel("aten::zeros", zeros)
register_kernel("aten::empty.memory_format", empty)
register_kernel("aten::ones", ones)
register_kernel("aten::full", full)
register_kernel("aten::new_zeros", new_zeros)
register_kernel("aten::new_empty", new_zeros)
register_kernel("aten::new_ones", new_ones)
register_kernel("aten::new_full", new_full)
register_kernel("aten::zeros_like", zeros_like)
register_kernel("aten::empty_like", zeros_like)
register_kernel("aten::ones_like", ones_like)
register_kernel("aten::full_like", full_like)
register_kernel("aten::fill_.Scalar", fill_)
register_kernel("aten::zero_", zero_)
register_kernel("aten::arange", arange)
register_kernel("aten::arange.start", arange)
register_kernel("aten::arange.start_step", arange)
register_kernel("aten::tensor", create_from_list)
register_kernel("aten::as_tensor.list", create_from_list)
register_kernel("aten::clone", clone)
register_kernel("aten::contiguous", contiguous)
register_kernel("aten::conj", return_real)
register_kernel("aten::real", return_real)
register_kernel("aten::resolve_conj", return_real)
