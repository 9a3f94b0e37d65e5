"""View operators (zero-copy) on CPU tensors without calling NumPy: only shape, strides and pointer change.

Input: interpreter registers with a tensor, and with dimensions or a range. Output: the register of the view.

For unsupported arguments, the operator's Python kernel runs. The table shows expressions and their effects:

    x[1], x[i, j]    aten::select.int        x.t(), x.transpose(0, 1)     strides exchanged
    x[a:b]           aten::slice.Tensor      x.unsqueeze(0)               a dimension of size 1
    x.split([2, 3])  aten::split.sizes       x.mT, x.movedim(0, -1)       another dimension order
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item, list_new, list_slot
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport MAX_VIEW_ARGUMENTS, ReadView, View, register_kernel, register_view
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TENSOR_SPEC, list_spec, set_object, set_object_steal
from ts._core.thread.deadline cimport count_items
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, strides_of
from ts._core.tensor.basic_indexing cimport strided_view
from ts._core.tensor.tensor cimport Tensor, mark_one_of_several
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

cnp.import_array()

cdef enum:
    MAX_UNUSED_STEP = 1 << 16          # maximal step of `unfold` if there is only one window


cdef int run_view(ReadView read, Operator op, IValue *r, const int32_t *at) except -1:
    """Store a view of the first argument. `read` computes the view's geometry from the other arguments."""
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef IValue *others[MAX_VIEW_ARGUMENTS]
    cdef View v
    cdef int i
    if a == NULL:
        return UNSUPPORTED
    for i in range(1, op.nargs):
        others[i - 1] = &r[at[i]]
    init_view(&v, a)
    if not read(&v, others, 0, 0):
        return UNSUPPORTED
    return store_view(&r[at[op.nargs]], <Tensor>r[at[0]].v.o, v.nd, v.dims, v.strides, v.offset)


# ---------------------------------------------------------------- select, slice, narrow

cdef bint view_select(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int i, axis = wrap_dim(others[0].v.i, v.nd)
    cdef int64_t index = others[1].v.i
    if axis < 0 or not -v.dims[axis] <= index < v.dims[axis]:
        return False
    if index < 0:
        index += v.dims[axis]
    v.offset = index * v.strides[axis]
    v.nd -= 1
    for i in range(axis, v.nd):
        v.dims[i], v.strides[i] = v.dims[i + 1], v.strides[i + 1]
    return True


cdef inline int64_t slice_bound(IValue *x, int64_t missing, int64_t n) noexcept:
    """Return the slice bound `x` as an index from the start, clamped to [0, n].

    For None, the bound is `missing`. A negative bound counts from the end.
    """
    cdef int64_t i = missing if x.tag == TAG_NONE else x.v.i
    if i < 0:
        i += n
    return 0 if i < 0 else (n if i > n else i)


cdef bint view_slice(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int axis = wrap_dim(others[0].v.i, v.nd)
    cdef int64_t start, end, stride = others[3].v.i
    if axis < 0 or stride <= 0:
        return False
    start = slice_bound(others[1], 0, v.dims[axis])
    end = slice_bound(others[2], v.dims[axis], v.dims[axis])
    v.offset = start * v.strides[axis]
    v.dims[axis] = (end - start - 1) // stride + 1 if end > start else 0
    v.strides[axis] *= stride
    return True


cdef bint view_narrow(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int axis = wrap_dim(others[0].v.i, v.nd)
    cdef int64_t start = others[1].v.i, length = others[2].v.i
    if axis < 0:
        return False
    if start < 0:
        start += v.dims[axis]
    if not 0 <= start <= v.dims[axis] or not 0 <= length <= v.dims[axis] - start:
        return False
    v.offset = start * v.strides[axis]
    v.dims[axis] = length
    return True


cdef bint view_unfold(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int axis = wrap_dim(others[0].v.i, v.nd)
    cdef int64_t size = others[1].v.i, step = others[2].v.i, count
    if axis < 0 or v.nd + 1 > MAX_DIMS or not 0 <= size <= v.dims[axis] or step <= 0:
        return False
    count = (v.dims[axis] - size) // step + 1
    v.dims[v.nd], v.strides[v.nd] = size, v.strides[axis]
    if count == 1 and step > MAX_UNUSED_STEP:  # the product with the stride might overflow
        return False
    v.strides[axis] *= step
    v.dims[axis] = count
    v.nd += 1
    return True


cdef int unfold(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_unfold, op, r, at)


cdef int select(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_select, op, r, at)


cdef int slice_part(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_slice, op, r, at)


cdef int narrow(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_narrow, op, r, at)


# ---------------------------------------------------------------- split, chunk, unbind

cdef int store_chunk(List views, int64_t i, PyObject *view) except -1:
    """Store `view`, to which the list takes over the reference, as item `i` of a list of views."""
    list_slot(<PyObject *>views, i).v.o = view
    list_slot(<PyObject *>views, i).tag = TAG_OBJECT
    return mark_one_of_several(<Tensor>view)


cdef int store_chunks(IValue *r, const int32_t *at, int axis, int64_t size, IValue *out) except -1:
    """Store a list of consecutive views of size `size` along dimension `axis`. The last view may be smaller."""
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int nd = copy_layout(a, dims, strides)
    cdef int64_t n = dims[axis], start = 0, count = 1 if n == 0 else (n - 1) // size + 1, i
    owner = <object>a
    cdef List views = list_new(list_spec(TENSOR_SPEC), count)
    for i in range(count):
        dims[axis] = min(size, n - start)
        count_items(0)
        store_chunk(views, i, strided_view(<Tensor>r[at[0]].v.o, a, nd, dims, strides, start * strides[axis]))
        views.size = i + 1
        start += size
    Py_INCREF(views)
    set_object_steal(out, <PyObject *>views)
    return 0


cdef bint view_chunk_at(View *v, int axis, int64_t size, int result_index, int result_count) noexcept:
    """Restrict `v` to chunk number `result_index` of a split along `axis` into chunks of size `size`.

    Return False if the split does not give `result_count` chunks.
    """
    if (v.dims[axis] - 1) // size + 1 != result_count:
        return False
    v.offset = result_index * size * v.strides[axis]
    v.dims[axis] = min(size, v.dims[axis] - result_index * size)
    return True


cdef bint view_split(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int64_t size = others[0].v.i
    cdef int axis = wrap_dim(others[1].v.i, v.nd)
    return axis >= 0 and size > 0 and v.dims[axis] > 0 and view_chunk_at(v, axis, size, result_index, result_count)


cdef bint view_chunk(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int64_t count = others[0].v.i
    cdef int axis = wrap_dim(others[1].v.i, v.nd)
    return axis >= 0 and count > 0 and v.dims[axis] > 0 and view_chunk_at(v, axis, (v.dims[axis] - 1) // count + 1, result_index, result_count)


cdef int split(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef int64_t size = r[at[1]].v.i
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[2]].v.i, ndim_of(a))
    if axis < 0 or size <= 0:
        return UNSUPPORTED
    return store_chunks(r, at, axis, size, &r[at[3]])


cdef int chunk(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef int64_t count = r[at[1]].v.i
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[2]].v.i, ndim_of(a))
    if axis < 0 or count <= 0 or dims_of(a)[axis] == 0:
        return UNSUPPORTED
    return store_chunks(r, at, axis, (dims_of(a)[axis] - 1) // count + 1, &r[at[3]])


cdef int split_sizes(Operator op, IValue *r, const int32_t *at) except -1:
    """Split a tensor by a list of sizes. Each size is read once, because another thread may change the list."""
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef List sizes = <List>r[at[1]].v.o
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[2]].v.i, ndim_of(a)), nd
    cdef int64_t start = 0, i = 0, total
    if axis < 0:
        return UNSUPPORTED
    nd = copy_layout(a, dims, strides)
    total = dims[axis]
    owner = <object>a
    cdef List views = list_new(list_spec(TENSOR_SPEC), sizes.size)
    while i < sizes.size and i < views.capacity:
        dims[axis] = list_item(<PyObject *>sizes, i).v.i
        if not 0 <= dims[axis] <= total - start:
            return UNSUPPORTED
        count_items(0)
        store_chunk(views, i, strided_view(<Tensor>r[at[0]].v.o, a, nd, dims, strides, start * strides[axis]))
        start += dims[axis]
        i += 1
        views.size = i
    if start != total:
        return UNSUPPORTED
    set_object(&r[at[3]], views)
    return 0


cdef int unbind(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[1]].v.i, ndim_of(a))
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp count, stride
    cdef int64_t i
    cdef int nd, j
    if axis < 0:
        return UNSUPPORTED
    nd = copy_layout(a, dims, strides) - 1
    count, stride = dims[axis], strides[axis]
    for j in range(axis, nd):
        dims[j] = dims[j + 1]
        strides[j] = strides[j + 1]
    owner = <object>a
    cdef List views = list_new(list_spec(TENSOR_SPEC), count)
    for i in range(count):
        count_items(0)
        store_chunk(views, i, strided_view(<Tensor>r[at[0]].v.o, a, nd, dims, strides, i * stride))
        views.size = i + 1
    Py_INCREF(views)
    set_object_steal(&r[at[2]], <PyObject *>views)
    return 0


# ---------------------------------------------------------------- dimension order

cdef void swap_dimensions(View *v, int i, int j) noexcept:
    v.dims[i], v.dims[j] = v.dims[j], v.dims[i]
    v.strides[i], v.strides[j] = v.strides[j], v.strides[i]


cdef bint view_transpose(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int i = wrap_dim(others[0].v.i, v.nd), j = wrap_dim(others[1].v.i, v.nd)
    if i < 0 or j < 0:
        return False
    swap_dimensions(v, i, j)
    return True


cdef bint view_t(View *v, IValue **others, int result_index, int result_count) noexcept:
    if v.nd == 2:
        swap_dimensions(v, 0, 1)
    return v.nd <= 2


cdef bint view_mt(View *v, IValue **others, int result_index, int result_count) noexcept:
    if v.nd < 2:
        return False
    swap_dimensions(v, v.nd - 2, v.nd - 1)
    return True


cdef int transpose(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_transpose, op, r, at)


cdef int matrix_transpose(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_t, op, r, at)


cdef int matrices_transpose(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_mt, op, r, at)


cdef int move_dimension(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp n, stride
    cdef int source, target, nd, i
    if a == NULL:
        return UNSUPPORTED
    source, target = wrap_dim(r[at[1]].v.i, ndim_of(a)), wrap_dim(r[at[2]].v.i, ndim_of(a))
    if source < 0 or target < 0:
        return UNSUPPORTED
    nd = copy_layout(a, dims, strides)
    n, stride = dims[source], strides[source]
    for i in range(source, target):
        dims[i], strides[i] = dims[i + 1], strides[i + 1]
    for i in range(source, target, -1):
        dims[i], strides[i] = dims[i - 1], strides[i - 1]
    dims[target], strides[target] = n, stride
    return store_view(&r[at[3]], <Tensor>r[at[0]].v.o, nd, dims, strides, 0)


cdef int permute(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef List order = <List>r[at[1]].v.o
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int i, axis
    cdef int64_t seen = 0
    if a == NULL or order.size != ndim_of(a):
        return UNSUPPORTED
    for i in range(ndim_of(a)):
        axis = wrap_dim(list_item(<PyObject *>order, i).v.i, ndim_of(a))
        if axis < 0 or seen >> axis & 1:
            return UNSUPPORTED
        seen |= <int64_t>1 << axis
        dims[i] = dims_of(a)[axis]
        strides[i] = strides_of(a)[axis]
    return store_view(&r[at[2]], <Tensor>r[at[0]].v.o, ndim_of(a), dims, strides, 0)


# ---------------------------------------------------------------- meshgrid

cdef int meshgrid(Operator op, IValue *r, const int32_t *at) except -1:
    """Store a list of the vectors, each expanded along all dimensions except its own.

    Vectors of size 0 or 1 are left to the Python kernel.
    """
    cdef List tensors = <List>r[at[0]].v.o
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef PyArrayObject *a
    cdef Tensor tensor
    cdef int count = <int>tensors.size, i, d
    cdef bint exchanged = False
    if op.nargs > 1:
        if r[at[1]].tag != TAG_OBJECT or <object>r[at[1]].v.o not in ("ij", "xy"):
            return UNSUPPORTED
        exchanged = count > 1 and <object>r[at[1]].v.o == "xy"
    if not 1 <= count <= MAX_DIMS:
        return UNSUPPORTED
    for i in range(count):
        a = cpu_array(list_slot(<PyObject *>tensors, i))
        if a == NULL or ndim_of(a) != 1 or dims_of(a)[0] < 2:
            return UNSUPPORTED
        if (<Tensor>list_slot(<PyObject *>tensors, i).v.o).scalar_type != (<Tensor>list_slot(<PyObject *>tensors, 0).v.o).scalar_type:
            return UNSUPPORTED
        dims[1 - i if exchanged and i < 2 else i] = dims_of(a)[0]
    cdef List views = list_new(list_spec(TENSOR_SPEC), count)
    for i in range(count):
        tensor = <Tensor>list_slot(<PyObject *>tensors, i).v.o
        a = <PyArrayObject *>tensor.array
        for d in range(count):
            strides[d] = 0
        strides[1 - i if exchanged and i < 2 else i] = strides_of(a)[0]
        list_slot(<PyObject *>views, i).v.o = strided_view(tensor, a, count, dims, strides, 0)
        list_slot(<PyObject *>views, i).tag = TAG_OBJECT
        views.size = i + 1
    Py_INCREF(views)
    set_object_steal(&r[at[op.nargs]], <PyObject *>views)
    return 0


# ---------------------------------------------------------------- dimensions of size 1

cdef bint view_unsqueeze(View *v, IValue **others, int result_index, int result_count) noexcept:
    cdef int i, axis = wrap_dim(others[0].v.i, v.nd + 1)
    if axis < 0 or v.nd + 1 > MAX_DIMS:
        return False
    for i in range(v.nd, axis, -1):
        v.dims[i], v.strides[i] = v.dims[i - 1], v.strides[i - 1]
    # As in PyTorch, the stride of the new dimension is the size of the next dimension times the stride of the
    # next dimension.
    v.strides[axis] = v.dims[axis + 1] * v.strides[axis + 1] if axis < v.nd else v.item
    v.dims[axis] = 1
    v.nd += 1
    return True


cdef int unsqueeze(Operator op, IValue *r, const int32_t *at) except -1:
    return run_view(view_unsqueeze, op, r, at)


cdef int store_squeezed(IValue *r, const int32_t *at, PyArrayObject *a, int axis, IValue *out) except -1:
    """Store a view without dimension `axis` if this dimension has size 1, else a view with all dimensions.

    If `axis` is negative, all dimensions of size 1 are removed.
    """
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int i, nd = 0
    for i in range(ndim_of(a)):
        if dims_of(a)[i] != 1 or (axis >= 0 and i != axis):
            dims[nd] = dims_of(a)[i]
            strides[nd] = strides_of(a)[i]
            nd += 1
    return store_view(out, <Tensor>r[at[0]].v.o, nd, dims, strides, 0)


cdef int squeeze(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    if a == NULL:
        return UNSUPPORTED
    return store_squeezed(r, at, a, -1, &r[at[1]])


cdef int squeeze_dim(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = cpu_array(&r[at[0]])
    cdef int axis = -1 if a == NULL else wrap_dim(r[at[1]].v.i, ndim_of(a))
    if axis < 0:
        return UNSUPPORTED
    return store_squeezed(r, at, a, axis, &r[at[2]])


register_kernel("select", select)
register_kernel("slice", slice_part)
register_kernel("narrow", narrow)
register_kernel("aten::unfold", unfold)
register_kernel("split", split)
register_kernel("chunk", chunk)
register_kernel("unbind", unbind)
register_kernel("aten::split.sizes", split_sizes)
register_kernel("aten::split", split_sizes)
register_kernel("aten::split_with_sizes", split_sizes)
register_kernel("transpose", transpose)
register_kernel("aten::swapaxes", transpose)
register_kernel("aten::swapdims", transpose)
register_kernel("t", matrix_transpose)
register_kernel("aten::numpy_T", matrix_transpose)
register_kernel("aten::mT", matrices_transpose)
register_kernel("aten::movedim.int", move_dimension)
register_kernel("aten::moveaxis.int", move_dimension)
register_kernel("permute", permute)
register_kernel("aten::meshgrid", meshgrid)
register_kernel("aten::meshgrid.indexing", meshgrid)
register_kernel("unsqueeze", unsqueeze)
register_kernel("squeeze", squeeze)
register_kernel("squeeze_dim", squeeze_dim)
register_view("aten::select.int", view_select)
register_view("aten::slice.Tensor", view_slice)
register_view("aten::narrow", view_narrow)
register_view("aten::split.Tensor", view_split)
register_view("aten::chunk", view_chunk)
register_view("aten::transpose.int", view_transpose)
register_view("aten::t", view_t)
register_view("aten::unsqueeze", view_unsqueeze)
