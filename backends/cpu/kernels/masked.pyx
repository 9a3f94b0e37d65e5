"""Selection of elements of CPU tensors by masks (masked select, masked fill, where), for any dtype.

Input: interpreter registers with tensors and masks. Output: the register of the result. For other arguments,
the operator's Python kernel runs. The operators are:

    where(c, x, y), masked_fill(x, c, 0)      one element per mask element (operands broadcast)
    masked_select, x[c], nonzero(c)           one element per true mask element (operands are contiguous)
"""

import numpy as np

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport fabs, isfinite
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_choice, register_kernel
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, INT64
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of
from ts._core.tensor.overlap cimport share_memory, has_internal_overlap
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrote
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    CONTIGUOUS_FLAGS, MAX_DIMS, contiguous_array_or_null, has_integer_width, is_tensor, item_size, new_contiguous, new_like, set_result, set_result_with_own_dtype, set_object_result,
    scalar_type,
)
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, element, four_bytes, two_bytes
from ts.backends.cpu.kernels.tensor_iterator cimport (
    Loop, Operand, broadcast_into, set_operand_strides, set_scalar_operand, new_result, iterate_operands
)

cnp.import_array()


# ---------------------------------------------------------------- elementwise selection

cdef inline element select(uint8_t mask, element x, element y) noexcept nogil:
    """Return `x` if `mask` is not 0, else `y`, without a branch, which random masks would mispredict."""
    cdef element bits = -<element>(mask != 0)
    return (x & bits) | (y & ~bits)


cdef void select_elements(
    const uint8_t *mask, npy_intp n, const element *x, npy_intp x_stride, const element *y, npy_intp y_stride, element *out
) noexcept nogil:
    """Compute out[i] = x[i] if mask[i] else y[i]. `x_stride` and `y_stride` are 1, or 0 for a scalar."""
    cdef npy_intp i
    cdef element one
    if x_stride == 0:
        one = x[0]
        if y_stride == 0:
            for i in range(n):
                out[i] = select(mask[i], one, y[0])
        else:
            for i in range(n):
                out[i] = select(mask[i], one, y[i])
    elif y_stride == 0:
        one = y[0]
        for i in range(n):
            out[i] = select(mask[i], x[i], one)
    else:
        for i in range(n):
            out[i] = select(mask[i], x[i], y[i])


cdef int store_selected(
    Operator op, IValue *r, const int32_t *at, int kind, PyArrayObject *mask, char *x, npy_intp x_stride, char *y, npy_intp y_stride
) except -1:
    cdef object result = new_like(mask, kind)
    cdef ReleasedGil gil_state = leave_gil(size_of(mask), r, at, op.nargs)
    select_rows(
        item_size(<PyArrayObject *>result), <uint8_t *>data_of(mask), size_of(mask), x, x_stride, y, y_stride,
        data_of(<PyArrayObject *>result)
    )
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef void select_rows(
    npy_intp width, const uint8_t *m, npy_intp n, char *x, npy_intp x_stride, char *y, npy_intp y_stride, char *out
) noexcept nogil:
    """Select between contiguous elements of `width` bytes. A stride is 1, or 0 for a scalar."""
    if width == 4:
        select_elements[four_bytes](m, n, <four_bytes *>x, x_stride, <four_bytes *>y, y_stride, <four_bytes *>out)
    elif width == 8:
        select_elements[eight_bytes](m, n, <eight_bytes *>x, x_stride, <eight_bytes *>y, y_stride, <eight_bytes *>out)
    elif width == 2:
        select_elements[two_bytes](m, n, <two_bytes *>x, x_stride, <two_bytes *>y, y_stride, <two_bytes *>out)
    else:
        select_elements[int8_t](m, n, <int8_t *>x, x_stride, <int8_t *>y, y_stride, <int8_t *>out)


def select_contiguous(mask, x, y):
    """Return numpy.where(mask, x, y), computed without branches, or None for unsupported operands.

    `mask` is a contiguous array of bools. `x` and `y` are contiguous arrays of its shape with one dtype of 1, 2, 4 or 8
    bytes. One of them can be a number or a 0-dim array that does not change the dtype.
    """
    cdef PyArrayObject *operands[2]
    cdef PyArrayObject *m
    cdef npy_intp width, n
    cdef int i
    array = x if type(x) is np.ndarray and x.ndim else y
    if type(mask) is not np.ndarray or type(array) is not np.ndarray or mask.dtype.char != "?" or array.dtype.hasobject:
        return None
    dtype = array.dtype
    pair = []
    for choice in (x, y):
        if type(choice) is not np.ndarray or choice.dtype is not dtype:
            if np.ndim(choice) or np.result_type(array, choice) is not dtype:
                return None
            choice = np.asarray(choice, dtype)
        pair.append(choice)
    m = <PyArrayObject *>mask
    n, width = size_of(m), dtype.itemsize
    if not has_integer_width(width) or flags_of(m) & CONTIGUOUS_FLAGS != CONTIGUOUS_FLAGS:
        return None
    for i in range(2):
        operands[i] = <PyArrayObject *>pair[i]
        if not flags_of(operands[i]) & cnp.NPY_ARRAY_ALIGNED or not matches_mask(operands[i], m):
            return None
    result = np.empty(mask.shape, dtype)
    select_rows(
        width, <uint8_t *>data_of(m), n, data_of(operands[0]), ndim_of(operands[0]) != 0, data_of(operands[1]),
        ndim_of(operands[1]) != 0, data_of(<PyArrayObject *>result)
    )
    return result


cdef bint store_exact_scalar(IValue *scalar, int kind, char *out) noexcept:
    if kind == FLOAT or kind == DOUBLE:
        if scalar.tag != TAG_FLOAT and scalar.tag != TAG_INT and scalar.tag != TAG_BOOL:
            return False
        if kind == FLOAT:
            if scalar.tag == TAG_FLOAT and isfinite(scalar.v.f) and fabs(scalar.v.f) > FLT_MAX:
                return False
            (<float *>out)[0] = <float>scalar.v.f if scalar.tag == TAG_FLOAT else <float>scalar.v.i
        else:
            (<double *>out)[0] = scalar.v.f if scalar.tag == TAG_FLOAT else <double>scalar.v.i
        return True
    if kind == INT64 and (scalar.tag == TAG_INT or scalar.tag == TAG_BOOL):
        (<int64_t *>out)[0] = scalar.v.i
        return True
    if kind == BOOL and scalar.tag == TAG_BOOL:
        (<uint8_t *>out)[0] = scalar.v.i != 0
        return True
    return False


cdef void select_strided(char **args, npy_intp n, const npy_intp *strides, element of_width) noexcept nogil:
    """Select between operands with any byte strides. `args` are mask, x, y and out."""
    if strides[0] == 1 and strides[3] == sizeof(element) and strides[1] in (0, sizeof(element)) and strides[2] in (0, sizeof(element)):
        select_elements[element](
            <uint8_t *>args[0], n, <element *>args[1], strides[1] != 0, <element *>args[2], strides[2] != 0, <element *>args[3]
        )
        return
    cdef npy_intp i
    cdef char *mask = args[0]
    cdef char *x = args[1]
    cdef char *y = args[2]
    cdef char *out = args[3]
    for i in range(n):
        (<element *>out)[0] = select[element](mask[0], (<element *>x)[0], (<element *>y)[0])
        mask += strides[0]
        x += strides[1]
        y += strides[2]
        out += strides[3]

cdef void select_1(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    select_strided[int8_t](args, n[0], strides, 0)

cdef void select_2(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    select_strided[two_bytes](args, n[0], strides, 0)

cdef void select_4(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    select_strided[four_bytes](args, n[0], strides, 0)

cdef void select_8(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    select_strided[eight_bytes](args, n[0], strides, 0)


cdef Loop selection_loop(npy_intp width) noexcept:
    if width == 8:
        return select_8
    if width == 4:
        return select_4
    return select_2 if width == 2 else select_1


cdef PyArrayObject *aligned_array(IValue *x) noexcept:
    """Return the array of `x` if it is an aligned CPU tensor, with any strides, else NULL."""
    cdef PyArrayObject *a
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & cnp.NPY_ARRAY_ALIGNED else NULL


cdef inline bint matches_mask(PyArrayObject *a, PyArrayObject *mask) noexcept:
    """Return whether `a` is NULL, 0-dim, or contiguous with the shape of the mask."""
    return a == NULL or ndim_of(a) == 0 or (flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS and same_shape(a, mask))


cdef int where(Operator op, IValue *r, const int32_t *at) except -1:
    """Select elements of tensors with one dtype that broadcast, or of a tensor and a number."""
    cdef PyArrayObject *mask = aligned_array(&r[at[0]])
    cdef PyArrayObject *arrays[2]
    cdef char numbers[2][8]
    cdef char *data[2]
    cdef int kind = -1, i
    cdef npy_intp width = 0
    if mask == NULL or scalar_type(&r[at[0]]) != BOOL:
        return UNSUPPORTED
    for i in range(2):
        arrays[i] = NULL
        if r[at[i + 1]].tag == TAG_OBJECT:
            arrays[i] = aligned_array(&r[at[i + 1]])
            if arrays[i] == NULL or (kind >= 0 and scalar_type(&r[at[i + 1]]) != kind):
                return UNSUPPORTED
            kind = scalar_type(&r[at[i + 1]])
            width = item_size(arrays[i])
            data[i] = data_of(arrays[i])
    if kind < 0 or not has_integer_width(width):
        return UNSUPPORTED
    for i in range(2):
        if arrays[i] == NULL:
            if not store_exact_scalar(&r[at[i + 1]], kind, numbers[i]):
                return UNSUPPORTED
            data[i] = numbers[i]
    if not (
        flags_of(mask) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS
        and matches_mask(arrays[0], mask)
        and matches_mask(arrays[1], mask)
    ):
        return where_nd(op, r, at, kind, mask, arrays, data, width)
    return store_selected(
        op, r, at, kind, mask, data[0], arrays[0] != NULL and ndim_of(arrays[0]) != 0,
        data[1], arrays[1] != NULL and ndim_of(arrays[1]) != 0,
    )


cdef int where_nd(
    Operator op, IValue *r, const int32_t *at, int kind, PyArrayObject *mask, PyArrayObject **arrays, char **data, npy_intp width
) except -1:
    """Select elements of operands that broadcast or are not contiguous."""
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[4]
    cdef int nd = ndim_of(mask), i
    # Hold a reference to the second array. `iterate_operands` may release the GIL while it reads this array,
    # and another thread may then drop the other references.
    cdef object last = None if arrays[1] == NULL else <object>arrays[1]
    for i in range(2):
        if arrays[i] != NULL:
            nd = max(nd, ndim_of(arrays[i]))
    for i in range(nd):
        shape[i] = 1
    if not broadcast_into(shape, nd, mask):
        return UNSUPPORTED
    for i in range(2):
        if arrays[i] != NULL and not broadcast_into(shape, nd, arrays[i]):
            return UNSUPPORTED
    set_operand_strides(&operands[0], mask, nd, shape)
    for i in range(2):
        if arrays[i] == NULL:
            set_scalar_operand(&operands[i + 1], data[i], nd)
        else:
            set_operand_strides(&operands[i + 1], arrays[i], nd, shape)
    result = new_result(operands, 3, nd, shape, kind)
    iterate_operands(selection_loop(width), NULL, operands, 4, nd, shape)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int masked_fill(Operator op, IValue *r, const int32_t *at) except -1:
    """Return a C-contiguous copy of a tensor in which the masked elements are set to a number."""
    cdef PyArrayObject *a = aligned_array(&r[at[0]])
    cdef PyArrayObject *mask = aligned_array(&r[at[1]])
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[4]
    cdef char scalar_bytes[8]
    cdef int kind, nd, d
    if a == NULL or mask == NULL or scalar_type(&r[at[1]]) != BOOL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not has_integer_width(item_size(a)) or not store_exact_scalar(&r[at[2]], kind, scalar_bytes):
        return UNSUPPORTED
    if flags_of(a) & flags_of(mask) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS and same_shape(a, mask):
        return store_selected(op, r, at, kind, mask, scalar_bytes, 0, data_of(a), 1)
    nd = max(ndim_of(a), ndim_of(mask))
    for d in range(nd):
        shape[d] = 1
    if not broadcast_into(shape, nd, a) or not broadcast_into(shape, nd, mask):
        return UNSUPPORTED
    result = new_contiguous(nd, shape, kind)
    set_operand_strides(&operands[0], mask, nd, shape)
    set_operand_strides(&operands[2], a, nd, shape)
    set_operand_strides(&operands[3], <PyArrayObject *>result, nd, shape)
    owner = <object>a
    fill_masked(operands, nd, shape, scalar_bytes, item_size(a))
    return set_result(&r[at[op.nargs]], result, kind)


cdef int fill_masked(Operand *operands, int nd, npy_intp *shape, char *scalar_bytes, npy_intp width) except -1:
    """Write the result of masked_fill to operand 3.

    Elements whose mask (operand 0) is true become the number at `scalar_bytes`. Other elements are those of
    operand 2.
    """
    set_scalar_operand(&operands[1], scalar_bytes, nd)
    return iterate_operands(selection_loop(width), NULL, operands, 4, nd, shape)


cdef int masked_fill_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    """Set the masked elements of a tensor to a number in place. The mask must broadcast to the tensor."""
    cdef PyArrayObject *a = aligned_array(&r[at[0]])
    cdef PyArrayObject *mask = aligned_array(&r[at[1]])
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[4]
    cdef char scalar_bytes[8]
    cdef int kind, nd, d
    if a == NULL or mask == NULL or scalar_type(&r[at[1]]) != BOOL or ndim_of(mask) > ndim_of(a):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not has_integer_width(item_size(a)) or not store_exact_scalar(&r[at[2]], kind, scalar_bytes):
        return UNSUPPORTED
    if not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE or has_internal_overlap(a) or share_memory(a, mask):
        return UNSUPPORTED
    nd = ndim_of(a)
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    if not broadcast_into(shape, nd, mask):
        return UNSUPPORTED
    for d in range(nd):  # for a mask that is larger than the tensor, the Python kernel raises the error
        if shape[d] != dims_of(a)[d]:
            return UNSUPPORTED
    set_operand_strides(&operands[0], mask, nd, shape)
    set_operand_strides(&operands[2], a, nd, shape)
    operands[3] = operands[2]
    owner = <object>a
    fill_masked(operands, nd, shape, scalar_bytes, item_size(a))
    wrote(<Tensor>r[at[0]].v.o)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


# ---------------------------------------------------------------- compression

cdef npy_intp count_true(const uint8_t *mask, npy_intp n) noexcept nogil:
    cdef npy_intp i, count = 0
    for i in range(n):
        count += mask[i] != 0
    return count


cdef void compress(const uint8_t *mask, npy_intp n, const element *x, element *out, npy_intp count) noexcept nogil:
    """Copy the elements whose mask is true to consecutive positions of `out`, at most `count` elements.

    To avoid branches, every element is written, but the position advances only if the mask is true.
    """
    cdef npy_intp i, position = 0
    for i in range(n):
        if position == count:
            return
        out[position] = x[i]
        position += mask[i] != 0


cdef object compress_elements(int nargs, IValue *r, const int32_t *at, PyArrayObject *a, int kind, PyArrayObject *mask):
    cdef const uint8_t *m = <const uint8_t *>data_of(mask)
    cdef npy_intp n = size_of(a), width = item_size(a), count = count_true(m, n)
    cdef object result = new_contiguous(1, &count, kind)
    cdef char *out = data_of(<PyArrayObject *>result)
    cdef ReleasedGil gil_state = leave_gil(n, r, at, nargs)
    if width == 4:
        compress[four_bytes](m, n, <four_bytes *>data_of(a), <four_bytes *>out, count)
    elif width == 8:
        compress[eight_bytes](m, n, <eight_bytes *>data_of(a), <eight_bytes *>out, count)
    elif width == 2:
        compress[two_bytes](m, n, <two_bytes *>data_of(a), <two_bytes *>out, count)
    else:
        compress[int8_t](m, n, <int8_t *>data_of(a), <int8_t *>out, count)
    take_gil(gil_state)
    return result


cdef object select_by_mask(int nargs, IValue *r, const int32_t *at, IValue *source, IValue *by):
    cdef PyArrayObject *a = contiguous_array_or_null(source)
    cdef PyArrayObject *mask = contiguous_array_or_null(by)
    if a == NULL or mask == NULL or scalar_type(by) != BOOL or ndim_of(a) == 0 or not same_shape(a, mask):
        return None
    return compress_elements(nargs, r, at, a, scalar_type(source), mask) if has_integer_width(item_size(a)) else None


cdef int masked_select(Operator op, IValue *r, const int32_t *at) except -1:
    result = select_by_mask(op.nargs, r, at, &r[at[0]], &r[at[1]])
    return UNSUPPORTED if result is None else set_result_with_own_dtype(&r[at[op.nargs]], result)


cdef int nonzero(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute the indices of true elements of a 1-d or 2-d mask."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef const uint8_t *mask
    cdef npy_intp dims[2]
    cdef npy_intp i, columns, position = 0, n
    cdef int64_t *out
    cdef object result
    cdef ReleasedGil gil_state
    if a == NULL or scalar_type(&r[at[0]]) != BOOL or not 1 <= ndim_of(a) <= 2:
        return UNSUPPORTED
    mask = <const uint8_t *>data_of(a)
    n = size_of(a)
    dims[0] = count_true(mask, n)
    dims[1] = ndim_of(a)
    result = new_contiguous(2, dims, INT64)
    out = <int64_t *>data_of(<PyArrayObject *>result)
    columns = dims_of(a)[1] if ndim_of(a) == 2 else 0
    gil_state = leave_gil(n, r, at, op.nargs)
    if ndim_of(a) == 1:
        for i in range(n):
            if position == dims[0]:
                break
            out[position] = i
            position += mask[i] != 0
    else:
        for i in range(n):
            # Check the bound, because another thread may have set elements of the mask after they were
            # counted.
            if mask[i] and position < dims[0]:
                out[2 * position] = i // columns
                out[2 * position + 1] = i % columns
                position += 1
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, INT64)


register_choice("aten::where.self", 0, 1, 2)
register_choice("aten::where.ScalarOther", 0, 1, 2)
register_choice("aten::where.ScalarSelf", 0, 1, 2)
register_choice("aten::masked_fill.Scalar", 1, 2, 0)

register_kernel("aten::where.self", where)
register_kernel("aten::where.ScalarOther", where)
register_kernel("aten::where.ScalarSelf", where)
register_kernel("aten::masked_fill.Scalar", masked_fill)
register_kernel("aten::masked_fill_.Scalar", masked_fill_inplace)
register_kernel("aten::masked_select", masked_select, CONTIGUOUS)
register_kernel("aten::nonzero", nonzero, CONTIGUOUS)
