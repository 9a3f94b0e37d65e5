"""Fast paths of indexing that do not decompose the index into operators.

`x[i]`, `x[a:b]` and `x[..., None]` create views of CPU tensors, and `x[i] = 2` runs one operator. Supported
indices consist of integers, slices, None and `...`, or of int64 tensors and slices `:`, or are a mask. For other indices, the result is None, and
`ts._core.tensor.indexing` evaluates the index or raises an error.
"""

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from numpy cimport npy_intp

from ts._core.tensor.literals cimport store_value
from ts._core.tensor.ndarray cimport (
    BOOL, INT64, PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, same_shape, strides_of
)
from ts._core.tensor.subscripts cimport BOOL_ITEM, ELLIPSIS, INTEGER, NEW_DIM, OTHER, SLICE, consumed_dims, kind_of_basic
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, follow, is_recorded, rank_of, wrap_cpu
from ts._core.thread.context cimport context

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct Descr "PyArray_Descr"
    Descr *descr_of "PyArray_DESCR"(PyArrayObject *) noexcept
    object new_view "PyArray_NewFromDescr"(
        PyTypeObject *type, Descr *descr, int nd, npy_intp *dims, npy_intp *strides, void *data, int flags, PyObject *obj
    )
    int set_base "PyArray_SetBaseObject"(PyArrayObject *array, PyObject *base) except -1
    PyTypeObject *array_type "&PyArray_Type"

cdef extern from "Python.h":
    void incref "Py_INCREF"(PyObject *) noexcept
    void decref "Py_DECREF"(PyObject *) noexcept
    bint PyLong_CheckExact(object)

cdef enum:
    NUMPY_MAX_DIMS = 64                          # maximal number of dimensions of a NumPy array
    LAYOUT_FLAGS = cnp.NPY_ARRAY_ALIGNED | cnp.NPY_ARRAY_WRITEABLE


cdef inline PyObject *view_with_descr(
    Tensor x, PyArrayObject *a, PyObject *descr, int kind, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL:
    """Create a tensor that is a view of the array `a` of tensor `x`, with dtype `descr`.

    The view takes over the caller's reference to `descr`.
    """
    cdef PyObject *base = <PyObject *>a
    cdef char *data = data_of(a) + offset
    cdef object array = new_view(
        array_type, <Descr *>descr, nd, dims, strides, data, flags_of(a) & LAYOUT_FLAGS, NULL
    )
    incref(base)
    set_base(<PyArrayObject *>array, base)
    cdef Tensor result = wrap_cpu(array, kind)
    follow(result, x)
    Py_INCREF(result)
    return <PyObject *>result


cdef PyObject *strided_view(
    Tensor x, PyArrayObject *a, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL:
    cdef PyObject *descr = <PyObject *>descr_of(a)
    incref(descr)
    return view_with_descr(x, a, descr, x.scalar_type, nd, dims, strides, offset)


cdef PyObject *view_with_dtype(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL:
    cdef object descr = cnp.PyArray_DescrFromType(number_of_scalar_type(kind))
    Py_INCREF(descr)
    return view_with_descr(x, <PyArrayObject *>x.array, <PyObject *>descr, kind, nd, dims, strides, 0)


cdef bint read_slice_bound(object x, npy_intp missing, npy_intp n, npy_intp *out) except -1:
    """Convert the slice bound `x` to an index from the start, clamped to [0, n], and write the index to out[0].

    None stands for `missing`. Return False if `x` is neither None nor an int in the range of npy_intp.
    """
    cdef npy_intp i
    if x is None:
        out[0] = missing
        return True
    if not PyLong_CheckExact(x):
        return False
    try:
        i = x
    except OverflowError:
        return False
    if i < 0:
        i += n
    out[0] = 0 if i < 0 else (n if i > n else i)
    return True


cdef bint selects_alone(Tensor x, Tensor index):
    """Return whether one call of the operator `index` computes x[index].

    The index must be an int64 tensor or a mask, on the device of `x`.
    """
    cdef int rank
    if index.backend != x.backend or index.device_index != x.device_index:
        return False
    rank = rank_of(index)
    return 0 < rank <= rank_of(x) if index.scalar_type == BOOL else rank > 0 and index.scalar_type == INT64 and rank_of(x) > 0


cdef inline bint is_whole_slice(object item):
    return type(item) is slice and item.start is None and item.stop is None and item.step is None


cdef list index_tensors(Tensor x, object index):
    """Return the indices with which one call of the operator `index` computes x[index], or None.

    The index must be an int64 tensor or a mask, or a tuple of int64 tensors and slices `:`, at most one per dimension.
    """
    cdef list tensors
    cdef Py_ssize_t count = 0
    if type(index) is Tensor:
        return [index] if selects_alone(x, <Tensor>index) else None
    if type(index) is not tuple or len(<tuple>index) > rank_of(x):
        return None
    tensors = []
    for item in <tuple>index:
        if type(item) is Tensor and (<Tensor>item).scalar_type == INT64 and selects_alone(x, <Tensor>item):
            tensors.append(item)
            count = len(tensors)
        elif is_whole_slice(item):
            tensors.append(None)
        else:
            return None
    del tensors[count:]
    return tensors if tensors else None


cdef Tensor basic_view(Tensor x, object index):
    """Return x[index] as a view, or None if the index has no fast path."""
    cdef int kinds[NUMPY_MAX_DIMS]
    cdef int i, kind
    cdef tuple items
    if x.backend != BACKEND_CPU or is_recorded(x):
        return None
    items = <tuple>index if type(index) is tuple else (index,)
    if len(items) > NUMPY_MAX_DIMS:
        return None
    for i in range(len(items)):
        kind = kind_of_basic(items[i])
        if kind == OTHER or kind == BOOL_ITEM:
            return None
        kinds[i] = kind
    return view_of_items(x, items, kinds)


def get(Tensor x not None, index):
    """Return x[index], or None if `ts._core.tensor.indexing` must evaluate the index."""
    cdef list tensors
    result = basic_view(x, index)
    if result is None and (tensors := index_tensors(x, index)) is not None:
        return operator_function("index")(x, tensors)
    return result


def get_view(Tensor x not None, index):
    """Return x[index] as a view, or None if the index has no fast path."""
    return basic_view(x, index)


def get_view_of_steps(Tensor x not None, list steps not None):
    """Return the view of `x` that the steps of a subscript select before index tensors are applied.

    Return None if the steps have no fast path.
    """
    cdef int kinds[NUMPY_MAX_DIMS]
    cdef int i
    if x.backend != BACKEND_CPU or is_recorded(x) or len(steps) > NUMPY_MAX_DIMS:
        return None
    for i in range(len(steps)):
        kinds[i] = (<tuple>steps[i])[0]
        if kinds[i] == INTEGER and not isinstance((<tuple>steps[i])[3], int):
            return None
    return view_of_items(x, tuple([(<tuple>step)[3] for step in steps]), kinds)


cdef object view_of_items(Tensor x, tuple items, int *kinds):
    """Return the view that the subscript `items` select, or None for an invalid item.

    `kinds` has the kind of each item.
    """
    cdef PyArrayObject *a = <PyArrayObject *>x.array
    cdef npy_intp dims[NUMPY_MAX_DIMS]
    cdef npy_intp strides[NUMPY_MAX_DIMS]
    cdef npy_intp start = 0, end = 0, step, offset = 0, i
    cdef int skipped = ndim_of(a), dim = 0, nd = 0, copied, kind, at
    cdef bint has_ellipsis = False
    cdef PyObject *view
    for at in range(len(items)):
        skipped -= consumed_dims(kinds[at])
    if skipped < 0 or len(items) + ndim_of(a) > NUMPY_MAX_DIMS:
        return None
    for at in range(len(items)):
        kind = kinds[at]
        item = items[at]
        if kind == NEW_DIM or kind == BOOL_ITEM:
            dims[nd] = 1
            # As in PyTorch, items are applied in order: the next dimension of `a` is not yet sliced.
            strides[nd] = dims_of(a)[dim] * strides_of(a)[dim] if dim < ndim_of(a) else cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
            nd += 1
        elif kind >= ELLIPSIS:
            copied = consumed_dims(kind)
            if kind == ELLIPSIS:
                if has_ellipsis and skipped:
                    return None  # dimensions of later items may not exist
                has_ellipsis = True
                copied = skipped
            while copied:
                dims[nd] = dims_of(a)[dim]
                strides[nd] = strides_of(a)[dim]
                nd += 1
                dim += 1
                copied -= 1
        elif kind == SLICE:
            step = 1
            if item.step is not None:
                if not PyLong_CheckExact(item.step) or not 0 < item.step < 1 << 60:
                    return None
                step = item.step
            if not read_slice_bound(item.start, 0, dims_of(a)[dim], &start) or not read_slice_bound(item.stop, dims_of(a)[dim], dims_of(a)[dim], &end):
                return None
            end = max(start, end)
            dims[nd] = (end - start + step - 1) // step
            offset += start * strides_of(a)[dim]
            strides[nd] = strides_of(a)[dim] * step
            nd += 1
            dim += 1
        else:
            try:
                i = item
            except OverflowError:
                return None
            if not -dims_of(a)[dim] <= i < dims_of(a)[dim]:
                return None
            offset += (i + dims_of(a)[dim] if i < 0 else i) * strides_of(a)[dim]
            dim += 1
    while dim < ndim_of(a):
        dims[nd] = dims_of(a)[dim]
        strides[nd] = strides_of(a)[dim]
        nd += 1
        dim += 1
    view = strided_view(x, a, nd, dims, strides, offset)
    result = <object>view
    decref(view)
    return result


# ---------------------------------------------------------------- assignment x[index] = value

cdef Tensor scalar_tensor_like(Tensor x, object value):
    """Convert a number to a 0-dim tensor with the dtype of `x`, or return None for overflow."""
    array = new_array(0, NULL, number_of_scalar_type(x.scalar_type))
    return wrap_cpu(array, x.scalar_type) if store_value(value, x.scalar_type, data_of(<PyArrayObject *>array)) else None


def set_item(Tensor x not None, index, value):
    """Execute `x[index] = value` if one operator on the CPU is sufficient, and return True.

    Otherwise return False.
    """
    cdef Tensor source, view
    cdef PyArrayObject *array
    cdef bint has_shape_of_view, fills, is_number = type(value) is not Tensor
    if x.backend != BACKEND_CPU or is_recorded(x):
        return False
    source = scalar_tensor_like(x, value) if is_number else <Tensor>value
    if source is None or source.backend != BACKEND_CPU or is_recorded(source):
        return False
    view = basic_view(x, index)
    if view is not None:
        has_shape_of_view = same_shape(<PyArrayObject *>view.array, <PyArrayObject *>source.array)
        if not is_number and not has_shape_of_view:
            return False
        # PyTorch calls `fill_` for a number. The error of a function transform for a captured tensor contains this name.
        # Otherwise call `copy_`, which has the same effect and a faster kernel.
        fills = not has_shape_of_view and context().min_writable_transform != 0
        operator_function("fill_" if fills else "copy_")(view, source)
        return True
    indices = index_tensors(x, index)
    if indices is None:
        return False
    if not is_number:
        array = <PyArrayObject *>source.array
        # `indexing.put` removes leading dimensions of size 1.
        if source.scalar_type != x.scalar_type or (ndim_of(array) and dims_of(array)[0] == 1):
            return False
        # Copy a 0-dim value that is assigned by a mask: as in PyTorch, it may be a view of `x`.
        if ndim_of(array) == 0 and len(indices) == 1 and (<Tensor>indices[0]).scalar_type == BOOL:
            source = operator_function("clone")(source)
    operator_function("index_put_")(x, indices, source)
    return True
