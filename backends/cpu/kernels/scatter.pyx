"""Scatter, scatter-add and indexed updates of CPU tensors.

Input: interpreter registers with a tensor, indices and values. Output: the register of a copy, or of the
tensor itself for in-place operators.

In-place operators check all indices before they write. For other arguments, the operator's Python kernel
runs. The operators are:

    scatter, scatter_add, scatter_reduce     index_add, index_copy, index_reduce     x[i, j] = y, x[mask] = 2
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Kernel, Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport (
    BOOL, DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of, strides_of
)
from ts._core.tensor.overlap cimport has_internal_overlap, share_memory
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrote
from ts._core.value.container cimport List, list_slot
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    CONTIGUOUS_FLAGS, MAX_DIMS, contiguous_array_or_null, has_integer_width, is_tensor, item_size, new_like, set_result, set_object_result, scalar_type
)
from ts.backends.cpu.kernels.masked cimport store_exact_scalar
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, four_bytes
from ts.backends.cpu.kernels.index_iterator cimport (
    ADD, MAXIMUM, MINIMUM, MULTIPLY, PUT, TEST, IndexIterator, IndexOp, add_dimension, begin_iteration, supports_arithmetic, read_indices, index_offsets,
    iterate_indices
)
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

cnp.import_array()


# ---------------------------------------------------------------- destinations

cdef PyArrayObject *read_array(IValue *x) noexcept:
    """Return the array of an aligned CPU tensor with elements of up to 64 bits, else NULL.

    The strides may be any.
    """
    cdef PyArrayObject *a
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & cnp.NPY_ARRAY_ALIGNED and has_integer_width(item_size(a)) else NULL


cdef bint can_write_in_place(Tensor x, PyArrayObject *index, PyArrayObject *other, int required_flags) noexcept:
    """Return whether the array of `x` is writable, has the required flags, and shares no memory with the operands."""
    cdef PyArrayObject *a = <PyArrayObject *>x.array
    if flags_of(a) & required_flags != required_flags or not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return False
    return are_disjoint(a, index) and (other == NULL or are_disjoint(a, other))


cdef inline bint are_disjoint(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    """Return whether two arrays share no memory.

    Empty arrays with the same address count as overlapping, as in PyTorch.
    """
    return data_of(a) != data_of(b) and not share_memory(a, b)


cdef object new_target(IValue *x, bint in_place, PyArrayObject *index, PyArrayObject *other, int required_flags=CONTIGUOUS_FLAGS):
    """Return the array that the kernel writes: a copy of the tensor's array, or the array itself if `in_place`.

    Return None if `in_place` is True but the kernel cannot write to the array.
    """
    cdef Tensor t = <Tensor>x.v.o
    if in_place:
        return t.array if can_write_in_place(t, index, other, required_flags) else None
    return cnp.PyArray_NewCopy(<cnp.ndarray>t.array, cnp.NPY_CORDER)


cdef int store_target(Operator op, IValue *r, const int32_t *at, object target, int kind, bint in_place) except -1:
    if not in_place:
        return set_result(&r[at[op.nargs]], target, kind)
    wrote(<Tensor>r[at[0]].v.o)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


cdef inline npy_intp iteration_count(IndexIterator *walk) noexcept nogil:
    cdef npy_intp n = 1
    cdef int d
    for d in range(walk.nd):
        n *= walk.dims[d]
    return n


# ---------------------------------------------------------------- reductions

cdef struct Reduction:
    IndexOp index_op
    bint mean
    bint exclude_self  # True if the reduction does not include the destination's old value


cdef bint read_reduction(IValue *name, bint include_self, Reduction *out) except -1:
    if name.tag != TAG_OBJECT or type(<object>name.v.o) is not str:
        return False
    op_code = INDEX_OPS.get(<str>name.v.o)
    if op_code is None:
        return False
    out.index_op, out.mean, out.exclude_self = <IndexOp><int>op_code, <str>name.v.o == "mean", not include_self
    return True


INDEX_OPS = {
    "sum": <int>ADD, "add": <int>ADD, "mean": <int>ADD, "prod": <int>MULTIPLY, "multiply": <int>MULTIPLY, "amax": <int>MAXIMUM,
    "amin": <int>MINIMUM
}


cdef void store_neutral(IndexOp index_op, int kind, char *out) noexcept nogil:
    """Store the neutral element of a reduction, such as 0 for a sum and the lowest number for a maximum."""
    cdef bint low = index_op == MAXIMUM, high = index_op == MINIMUM
    if kind == INT64:
        (<int64_t *>out)[0] = INT64_MIN if low else INT64_MAX if high else index_op == MULTIPLY
    elif kind == INT32:
        (<int32_t *>out)[0] = INT32_MIN if low else INT32_MAX if high else index_op == MULTIPLY
    elif kind == FLOAT:
        (<float *>out)[0] = -INFINITY if low else INFINITY if high else index_op == MULTIPLY
    else:
        (<double *>out)[0] = -INFINITY if low else INFINITY if high else index_op == MULTIPLY


cdef bint write_neutral(IndexIterator *walk, IndexOp index_op, int kind, char *array, const char *index) noexcept nogil:
    cdef char scalar_bytes[8]
    cdef IndexIterator starts = walk[0]
    cdef int d
    store_neutral(index_op, kind, scalar_bytes)
    for d in range(starts.nd):
        starts.other[d] = 0
    return iterate_indices(&starts, PUT, kind, array, index, scalar_bytes)


cdef bint count_indices(IndexIterator *walk, int64_t *counted, const char *index) noexcept nogil:
    """Count the indices of each position: for each index, add 1 to the element of `counted` at the index.

    `counted` has the shape of the destination.
    """
    cdef int64_t one = 1
    cdef IndexIterator ones = walk[0]
    cdef npy_intp size = walk.width
    cdef int d
    ones.stride, ones.width = ones.stride // size * 8, 8
    for d in range(ones.nd):
        ones.array[d] = ones.array[d] // size * 8
        ones.other[d] = 0
    return iterate_indices(&ones, ADD, INT64, <char *>counted, index, <char *>&one)


cdef bint divide(int kind, char *array, const int64_t *counted, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        if counted[i] > 1 and kind == FLOAT:
            (<float *>array)[i] /= <float>counted[i]
        elif counted[i] > 1:
            (<double *>array)[i] /= <double>counted[i]
    return True


cdef int reduce_into(
    Operator op, IValue *r, const int32_t *at, IndexIterator *walk, Reduction reduction, bint in_place, bint are_valid, object target,
    PyArrayObject *index, char *other
) except -1:
    """Combine the elements of `other` with those of `target` at the indices, and store `target` as the
    result. `are_valid` is True if the indices have been checked, and no other thread can change them.
    """
    cdef int kind = scalar_type(&r[at[0]]), d
    cdef PyArrayObject *a = <PyArrayObject *>target
    cdef char *array = data_of(a)
    cdef char *by = data_of(index)
    cdef int64_t *counted = NULL
    cdef npy_intp i
    cdef bint done = True
    cdef ReleasedGil gil_state
    if target is None or (reduction.mean and kind != FLOAT and kind != DOUBLE) or (reduction.index_op != PUT and not supports_arithmetic(kind)):
        return UNSUPPORTED
    if reduction.mean:
        times = new_like(a, INT64)
        counted = <int64_t *>data_of(<PyArrayObject *>times)
        for i in range(size_of(a)):
            counted[i] = 0 if reduction.exclude_self else 1
    gil_state = leave_gil(iteration_count(walk), r, at, op.nargs)
    if in_place and not are_valid:
        done = iterate_indices(walk, TEST, kind, array, by, other)
    if reduction.exclude_self:
        done = done and write_neutral(walk, reduction.index_op, kind, array, by)
    done = done and iterate_indices(walk, reduction.index_op, kind, array, by, other)
    if reduction.mean:
        done = done and count_indices(walk, counted, by) and divide(kind, array, counted, size_of(a))
    take_gil(gil_state)
    return store_target(op, r, at, target, kind, in_place) if done else UNSUPPORTED


# ---------------------------------------------------------------- scatter

cdef int run_scatter(Operator op, IValue *r, const int32_t *at, Reduction reduction) except -1:
    """Run scatter with arguments (self, dim, index, source).

    The index tensor has one index per element. The source may be larger than the index.
    """
    cdef PyArrayObject *a = read_array(&r[at[0]])
    cdef PyArrayObject *index = read_indices(&r[at[2]])
    cdef PyArrayObject *source = read_array(&r[at[3]])
    cdef PyArrayObject *t
    cdef IndexIterator walk
    cdef char scalar_bytes[8]
    cdef char *other = scalar_bytes
    cdef int64_t axis = r[at[1]].v.i
    cdef int d, kind, nd
    cdef bint in_place = op.name.endswith("_")
    if a == NULL or index == NULL or size_of(index) == 0 or ndim_of(a) == 0:
        return UNSUPPORTED
    nd, kind = ndim_of(a), scalar_type(&r[at[0]])
    axis += nd if axis < 0 else 0
    if not 0 <= axis < nd or ndim_of(index) != nd:
        return UNSUPPORTED
    if source == NULL:
        if not store_exact_scalar(&r[at[3]], kind, scalar_bytes):
            return UNSUPPORTED
    elif ndim_of(source) != nd or scalar_type(&r[at[3]]) != kind:
        return UNSUPPORTED
    else:
        other = data_of(source)
    for d in range(nd):
        if (d != axis and dims_of(index)[d] > dims_of(a)[d]) or (source != NULL and dims_of(index)[d] > dims_of(source)[d]):
            return UNSUPPORTED
    target = new_target(&r[at[0]], in_place, index, source)
    if target is None:
        return UNSUPPORTED
    t = <PyArrayObject *>target
    begin_iteration(&walk, item_size(t), strides_of(t)[axis], dims_of(t)[axis], scalar_type(&r[at[2]]) == INT32)
    for d in range(nd):
        add_dimension(
            &walk, dims_of(index)[d], 0 if d == axis else strides_of(t)[d], strides_of(index)[d],
            0 if source == NULL else strides_of(source)[d]
        )
    return reduce_into(op, r, at, &walk, reduction, in_place, False, target, index, other)


cdef inline Reduction plain_reduction(IndexOp index_op) noexcept:
    cdef Reduction reduction
    reduction.index_op, reduction.mean, reduction.exclude_self = index_op, False, False
    return reduction


cdef int scatter(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scatter(op, r, at, plain_reduction(PUT))


cdef int scatter_add(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scatter(op, r, at, plain_reduction(ADD))


cdef int scatter_reduce(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Reduction reduction
    if not read_reduction(&r[at[4]], r[at[5]].v.i != 0, &reduction):
        return UNSUPPORTED
    return run_scatter(op, r, at, reduction)


# ---------------------------------------------------------------- index_add, index_copy, index_reduce

cdef int run_slices(Operator op, IValue *r, const int32_t *at, Reduction reduction) except -1:
    """Run index_add, index_copy or index_reduce with arguments (self, dim, index, source).

    There is one index per slice along the dimension.
    """
    cdef PyArrayObject *a = read_array(&r[at[0]])
    cdef PyArrayObject *index = read_indices(&r[at[2]])
    cdef PyArrayObject *source = read_array(&r[at[3]])
    cdef PyArrayObject *t
    cdef IndexIterator walk
    cdef int64_t axis = r[at[1]].v.i
    cdef int d, nd
    cdef bint in_place = op.name.endswith("_")
    if a == NULL or index == NULL or source == NULL or ndim_of(a) == 0 or ndim_of(index) != 1 or size_of(index) == 0:
        return UNSUPPORTED
    nd = ndim_of(a)
    axis += nd if axis < 0 else 0
    if not 0 <= axis < nd or ndim_of(source) != nd or scalar_type(&r[at[0]]) != scalar_type(&r[at[3]]):
        return UNSUPPORTED
    for d in range(nd):
        if dims_of(source)[d] != (dims_of(index)[0] if d == axis else dims_of(a)[d]):
            return UNSUPPORTED
    target = new_target(&r[at[0]], in_place, index, source)
    if target is None:
        return UNSUPPORTED
    t = <PyArrayObject *>target
    begin_iteration(&walk, item_size(t), strides_of(t)[axis], dims_of(t)[axis], scalar_type(&r[at[2]]) == INT32)
    for d in range(nd):
        add_dimension(
            &walk, dims_of(source)[d], 0 if d == axis else strides_of(t)[d], strides_of(index)[0] if d == axis else 0,
            strides_of(source)[d]
        )
    return reduce_into(op, r, at, &walk, reduction, in_place, False, target, index, data_of(source))


cdef int index_add(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *alpha = &r[at[4]]
    if (alpha.tag == TAG_INT and alpha.v.i == 1) or (alpha.tag == TAG_FLOAT and alpha.v.f == 1):
        return run_slices(op, r, at, plain_reduction(ADD))
    return UNSUPPORTED


cdef int index_copy(Operator op, IValue *r, const int32_t *at) except -1:
    return run_slices(op, r, at, plain_reduction(PUT))


cdef int index_reduce(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Reduction reduction
    if not read_reduction(&r[at[4]], r[at[5]].v.i != 0, &reduction) or reduction.index_op == ADD and not reduction.mean:
        return UNSUPPORTED
    return run_slices(op, r, at, reduction)


# ---------------------------------------------------------------- assignment x[...] = y

cdef int index_put(Operator op, IValue *r, const int32_t *at) except -1:
    """Run index_put with arguments (self, indices, values, accumulate)."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef PyArrayObject *values = read_array(&r[at[2]])
    cdef PyArrayObject *index
    cdef PyArrayObject *t
    cdef IndexIterator walk
    cdef int count, d, nd, lead = 0, covered, rest, before, axis
    cdef npy_intp steps[MAX_DIMS]
    cdef npy_intp n
    cdef bint in_place = op.name.endswith("_"), accumulate = r[at[3]].v.i != 0
    cdef int done
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not List:
        return UNSUPPORTED
    cdef List indices = <List>r[at[1]].v.o
    if not is_tensor(&r[at[0]]) or values == NULL or scalar_type(&r[at[0]]) != scalar_type(&r[at[2]]):
        return UNSUPPORTED
    count = <int>indices.size
    if a != NULL and count == 1 and is_tensor(list_slot(<PyObject *>indices, 0)) and scalar_type(list_slot(<PyObject *>indices, 0)) == BOOL:
        done = fill_masked(op, r, at, a, list_slot(<PyObject *>indices, 0), values, in_place, accumulate)
        if done != UNSUPPORTED:
            return done
    while lead < count and not is_tensor(list_slot(<PyObject *>indices, lead)):
        lead += 1
    array = <object>(<Tensor>r[at[0]].v.o).array
    a = read_array(&r[at[0]]) if in_place else contiguous_array_or_null(&r[at[0]])
    if a == NULL or <PyObject *>a != <PyObject *>array or lead == count or count > ndim_of(a):
        return UNSUPPORTED
    if in_place and has_internal_overlap(a):  # the Python kernel warns or raises an error
        return UNSUPPORTED
    offsets = index_offsets(indices, lead, ndim_of(a) - lead, dims_of(a) + lead, strides_of(a) + lead, &covered)
    if offsets is None:
        return UNSUPPORTED
    index = <PyArrayObject *>offsets
    rest, nd = lead + ndim_of(index), ndim_of(index) + ndim_of(a) - covered
    before = nd - ndim_of(values)
    if before < 0 or nd > MAX_DIMS:
        return UNSUPPORTED
    # Dimensions of a[indices]: those before the indexed dimensions, those of the index tensors, those after.
    for d in range(nd):
        n = dims_of(a)[d] if d < lead else dims_of(index)[d - lead] if d < rest else dims_of(a)[d - rest + lead + covered]
        if d >= before and dims_of(values)[d - before] != 1 and dims_of(values)[d - before] != n:
            return UNSUPPORTED
        steps[d] = 0 if d < before or dims_of(values)[d - before] == 1 else strides_of(values)[d - before]
    if not in_place:
        target = cnp.PyArray_NewCopy(<cnp.ndarray>array, cnp.NPY_CORDER)
    else:
        target = new_target(&r[at[0]], True, index, values, cnp.NPY_ARRAY_ALIGNED)
        if target is not array:        # another thread may have replaced the array
            return UNSUPPORTED
    t = <PyArrayObject *>target
    begin_iteration(&walk, item_size(t), 1, INT64_MAX, False)
    for d in range(nd):
        if lead <= d < rest:
            add_dimension(&walk, dims_of(index)[d - lead], 0, strides_of(index)[d - lead], steps[d])
            continue
        axis = d if d < lead else d - rest + lead + covered
        add_dimension(&walk, dims_of(t)[axis], strides_of(t)[axis], 0, steps[d])
    return reduce_into(op, r, at, &walk, plain_reduction(ADD if accumulate else PUT), in_place, True, target, index, data_of(values))


cdef int fill_masked(
    Operator op, IValue *r, const int32_t *at, PyArrayObject *a, IValue *by, PyArrayObject *value, bint in_place, bint adds
) except -1:
    """Write one value to the elements for which a mask of the tensor's shape is true.

    Addition of the value (`adds`) is unsupported.
    """
    cdef PyArrayObject *mask = contiguous_array_or_null(by)
    cdef npy_intp i, n
    cdef npy_intp width = item_size(value)
    cdef const uint8_t *true
    cdef char *to
    cdef char *x = data_of(value)
    cdef ReleasedGil gil_state
    if mask == NULL or adds or size_of(value) != 1 or ndim_of(value) > 1 or not same_shape(a, mask) or ndim_of(a) == 0:
        return UNSUPPORTED
    target = new_target(&r[at[0]], in_place, mask, value)
    if target is None:
        return UNSUPPORTED
    n, true, to = size_of(mask), <const uint8_t *>data_of(mask), data_of(<PyArrayObject *>target)
    gil_state = leave_gil(n, r, at, op.nargs)
    for i in range(n):
        if true[i]:
            if width == 4:
                (<four_bytes *>to)[i] = (<four_bytes *>x)[0]
            elif width == 8:
                (<eight_bytes *>to)[i] = (<eight_bytes *>x)[0]
            elif width == 1:
                to[i] = x[0]
            else:
                to[2 * i], to[2 * i + 1] = x[0], x[1]
    take_gil(gil_state)
    return store_target(op, r, at, target, scalar_type(&r[at[0]]), in_place)


cdef int register_variants(str name, str overload, Kernel kernel) except -1:
    """Register `kernel` for the functional and the in-place variant of an operator."""
    register_kernel(f"aten::{name}{overload}", kernel)
    return register_kernel(f"aten::{name}_{overload}", kernel)


register_variants("scatter", ".src", scatter)
register_variants("scatter", ".value", scatter)
register_variants("scatter_add", "", scatter_add)
register_variants("scatter_reduce", ".two", scatter_reduce)
register_variants("index_add", "", index_add)
register_variants("index_copy", "", index_copy)
register_variants("index_reduce", "", index_reduce)
register_variants("index_put", "", index_put)
register_variants("index_put", ".hacked_twin", index_put)
