"""Reshaping and expansion of CPU tensors, by a view if the strides allow it, otherwise by a copy.

Input: interpreter registers with a tensor and sizes. Output: the register of the view or copy.

If the operator does not permit a necessary copy, its Python kernel runs and raises the error. The operators
are:

    x.view(2, -1), x.reshape(6), x.flatten(1), x.unflatten(0, [2, 3])     the same number of elements
    x.expand(4, 3), x.expand_as(y)                                        repeated elements
    view_as_real(z), view_as_complex(x)                                   another dtype
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport CDOUBLE, CFLOAT, DOUBLE, FLOAT
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.basic_indexing cimport view_with_dtype
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, set_object_steal
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, set_result, scalar_type, set_object_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.view cimport copy_layout, cpu_array, store_view, wrap_dim
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cnp.import_array()


# ---------------------------------------------------------------- reshape

cdef bint read_sizes(List sizes, npy_intp count, npy_intp *dims) noexcept:
    """Read the shape `sizes`, in which one size may be -1, into `dims`.

    The size -1 is replaced so that the shape has `count` > 0 elements. Return False if the shape cannot have
    `count` elements.
    """
    cdef npy_intp known_size = 1
    cdef Py_ssize_t i
    cdef int inferred_index = -1
    cdef int64_t n
    if sizes.size > MAX_DIMS or count == 0:
        return False
    for i in range(sizes.size):
        n = list_item(<PyObject *>sizes, i).v.i
        if n == -1 and inferred_index < 0:
            inferred_index = <int>i
        elif n <= 0 or n > count:
            return False
        else:
            known_size *= n
            if known_size > count:
                return False
        dims[i] = n
    if inferred_index >= 0:
        dims[inferred_index] = count // known_size
        known_size *= dims[inferred_index]
    return known_size == count


cdef bint fit_strides(PyArrayObject *a, int nd, const npy_intp *dims, npy_intp *strides) noexcept:
    """Compute the strides of a view of `a` with the shape `dims`. Return False if no such view exists.

    Adjacent dimensions without gaps are merged. The new dimensions then split the merged dimensions, starting
    with the innermost.
    """
    cdef int i = ndim_of(a) - 1, j = nd - 1
    cdef npy_intp stride = cnp.PyArray_ITEMSIZE(<cnp.ndarray>a), run = 1, filled = 1
    while True:
        while i >= 0 and dims_of(a)[i] == 1:
            i -= 1
        if i >= 0:
            run, stride = dims_of(a)[i], strides_of(a)[i]
            i -= 1
            while i >= 0 and (dims_of(a)[i] == 1 or strides_of(a)[i] == stride * run):
                run *= dims_of(a)[i]
                i -= 1
            filled = 1
        while j >= 0 and (filled < run or dims[j] == 1):
            strides[j] = stride * filled
            filled *= dims[j]
            j -= 1
        if filled != run:
            return False
        if i < 0:
            return j < 0


cdef int store_reshaped(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, int nd, npy_intp *dims, bint may_copy) except -1:
    """Store a view of `a` with the shape `dims`. If no such view exists, store a copy if `may_copy`.

    Run the operator's Python kernel if a copy is necessary but not allowed.
    """
    cdef npy_intp strides[MAX_DIMS]
    cdef cnp.PyArray_Dims shape
    if fit_strides(a, nd, dims, strides):
        return store_view(&r[at[op.nargs]], <Tensor>r[at[0]].v.o, nd, dims, strides, 0)
    if not may_copy:
        return UNSUPPORTED
    shape.ptr, shape.len = dims, nd
    result = cnp.PyArray_Newshape(<cnp.ndarray>contiguous_copy(a), &shape, cnp.NPY_CORDER)
    return set_result(&r[at[op.nargs]], result, scalar_type(&r[at[0]]))


cdef int run_reshape(Operator op, IValue *r, const int32_t *at, bint may_copy) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef List sizes = <List>r[at[1]].v.o
    cdef npy_intp dims[MAX_DIMS]
    if a == NULL or not read_sizes(sizes, size_of(a), dims):
        return UNSUPPORTED
    return store_reshaped(op, r, at, a, <int>sizes.size, dims, may_copy)


cdef int view(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reshape(op, r, at, False)


cdef int reshape(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reshape(op, r, at, True)


cdef int view_as(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef PyArrayObject *b = cpu_array(&r[at[1]])
    if a == NULL or b == NULL or size_of(a) == 0 or size_of(b) != size_of(a):
        return UNSUPPORTED
    return store_reshaped(op, r, at, a, ndim_of(b), dims_of(b), False)


cdef int flatten(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef npy_intp dims[MAX_DIMS]
    cdef int start, end, i, nd = 0
    if a == NULL or size_of(a) == 0:
        return UNSUPPORTED
    start, end = wrap_dim(r[at[1]].v.i, ndim_of(a)), wrap_dim(r[at[2]].v.i, ndim_of(a))
    if start < 0 or end < start:
        return UNSUPPORTED
    if end == start:
        return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)
    for i in range(ndim_of(a)):
        if start < i <= end:
            dims[nd - 1] *= dims_of(a)[i]
        else:
            dims[nd] = dims_of(a)[i]
            nd += 1
    return store_reshaped(op, r, at, a, nd, dims, True)


cdef int unflatten(Operator op, IValue *r, const int32_t *at) except -1:
    """Split one dimension into several. The result is always a view."""
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef List sizes = <List>r[at[2]].v.o
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp stride
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[1]].v.i, ndim_of(a)), i, more
    if axis < 0 or sizes.size == 0 or ndim_of(a) - 1 + sizes.size > MAX_DIMS:
        return UNSUPPORTED
    if not read_sizes(sizes, dims_of(a)[axis], dims + axis):
        return UNSUPPORTED
    more = <int>sizes.size - 1
    stride = strides_of(a)[axis]
    for i in range(axis + more, axis - 1, -1):
        strides[i] = stride
        stride *= dims[i]
    for i in range(ndim_of(a)):
        if i != axis:
            dims[i + (more if i > axis else 0)] = dims_of(a)[i]
            strides[i + (more if i > axis else 0)] = strides_of(a)[i]
    return store_view(&r[at[3]], <Tensor>r[at[0]].v.o, ndim_of(a) + more, dims, strides, 0)


# ---------------------------------------------------------------- expand

cdef int expand(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef List sizes = <List>r[at[1]].v.o
    cdef npy_intp dims[MAX_DIMS]
    cdef Py_ssize_t i
    if a == NULL or sizes.size > MAX_DIMS:
        return UNSUPPORTED
    for i in range(sizes.size):
        dims[i] = list_item(<PyObject *>sizes, i).v.i
    return store_expanded(op, r, at, a, <int>sizes.size, dims)


cdef int expand_as(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef PyArrayObject *b = cpu_array(&r[at[1]])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    if a == NULL or b == NULL:
        return UNSUPPORTED
    copy_layout(b, dims, strides)
    return store_expanded(op, r, at, a, ndim_of(b), dims)


cdef int store_expanded(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, int nd, npy_intp *dims) except -1:
    """Store a view of `a` expanded to the sizes `dims`. A size of -1 stands for the unchanged size of `a`."""
    cdef npy_intp strides[MAX_DIMS]
    cdef int i, extra = nd - ndim_of(a)
    cdef npy_intp n, room = INT64_MAX // cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    if extra < 0:
        return UNSUPPORTED
    for i in range(nd - 1, -1, -1):
        n = dims[i]
        if i >= extra and (n == -1 or n == dims_of(a)[i - extra]):
            dims[i] = dims_of(a)[i - extra]
            strides[i] = strides_of(a)[i - extra]
        elif n < 0 or (i >= extra and dims_of(a)[i - extra] != 1):
            return UNSUPPORTED
        elif n != 1 or ndim_of(a) == 0:  # As in PyTorch, all strides of an expanded 0-dim tensor are zero.
            strides[i] = 0
        else:  # A new dimension of size 1 gets the stride that `unsqueeze` would give it.
            strides[i] = dims[i + 1] * strides[i + 1]
        if dims[i] > 1:
            room //= dims[i]
    # If the bytes of the view exceed the maximal size of an array, the operator's Python kernel runs and raises
    # the error.
    if room == 0:
        return UNSUPPORTED
    return store_view(&r[at[op.nargs]], <Tensor>r[at[0]].v.o, nd, dims, strides, 0)


# ---------------------------------------------------------------- complex and real

cdef int view_as_real(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int nd, kind = -1 if a == NULL else scalar_type(&r[at[0]])
    if (kind != CFLOAT and kind != CDOUBLE) or ndim_of(a) == MAX_DIMS:
        return UNSUPPORTED
    nd = copy_layout(a, dims, strides)
    dims[nd] = 2
    strides[nd] = 4 if kind == CFLOAT else 8
    set_object_steal(
        &r[at[1]], view_with_dtype(<Tensor>r[at[0]].v.o, FLOAT if kind == CFLOAT else DOUBLE, nd + 1, dims, strides)
    )
    return 0


cdef int view_as_complex(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp item
    cdef int nd, d, kind = -1 if a == NULL else scalar_type(&r[at[0]])
    if (kind != FLOAT and kind != DOUBLE) or ndim_of(a) == 0:
        return UNSUPPORTED
    item = 4 if kind == FLOAT else 8
    nd = copy_layout(a, dims, strides) - 1
    if dims[nd] != 2 or strides[nd] != item or <size_t>data_of(a) % (2 * item):
        return UNSUPPORTED
    for d in range(nd):
        if strides[d] % (2 * item):
            return UNSUPPORTED
    set_object_steal(
        &r[at[1]], view_with_dtype(<Tensor>r[at[0]].v.o, CFLOAT if kind == FLOAT else CDOUBLE, nd, dims, strides)
    )
    return 0


register_kernel("view", view)
register_kernel("reshape", reshape)
register_kernel("aten::flatten.using_ints", flatten)
register_kernel("aten::unflatten.int", unflatten)
register_kernel("aten::view_as", view_as)
register_kernel("aten::reshape_as", view_as)
register_kernel("expand", expand)
register_kernel("aten::broadcast_to", expand)
register_kernel("aten::expand_as", expand_as)
register_kernel("aten::view_as_real", view_as_real)
register_kernel("aten::view_as_complex", view_as_complex)
