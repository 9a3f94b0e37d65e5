"""Helpers of C kernels that read arguments from registers and store results in registers.

A kernel uses the helpers like this:

    cdef int my_kernel(Operator op, IValue *r, const int32_t *at) except -1:
        cdef PyArrayObject *x = contiguous_array_or_null(&r[at[0]])
        if x == NULL:                       # another device or layout
            return UNSUPPORTED
        result = new_like(x, kind)
        gil_state = leave_gil(size_of(x), r, at, op.nargs)
        ...                                 # reads x and writes result, without access to Python objects
        take_gil(gil_state)
        return set_result(&r[at[op.nargs]], result, kind)

Argument binding and the bytecode verifier guarantee these preconditions of a kernel:

    registers     `op.nargs` arguments that match the schema, and one register for each result
    lists         any length. Lists of tensors contain None only if the schema allows this.
    memory        pointers are valid while the GIL is held, and from `leave_gil` to `take_gil` (`gil.pxd`)

The kernel checks everything else: the device, dtype and layout of tensors, and all numbers before their use.
If other threads write elements during the call, the results are undefined.

Inner loops (`noexcept nogil`) do not check their arguments. Functions that Python or the thread pool can call
check all preconditions on entry.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.float cimport FLT_MAX
from libc.math cimport fabs
from libc.stdint cimport int64_t
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT, set_object_steal
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, dims_of, flags_of, ndim_of, new_array
from ts._core.tensor.scalar_types cimport number_of_scalar_type, scalar_type_of_number
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu

cdef enum:
    CONTIGUOUS_FLAGS = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED
    MAX_DIMS = 64                      # NumPy's maximal number of dimensions


cdef inline bint is_tensor(IValue *x) noexcept:
    return x.tag == TAG_OBJECT and isinstance(<object>x.v.o, Tensor)


cdef inline PyArrayObject *contiguous_array_or_null(IValue *x) noexcept:
    """Return the array of `x` if `x` is an aligned, C-contiguous CPU tensor, else NULL."""
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    cdef PyArrayObject *a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS else NULL


cdef inline int scalar_type(IValue *x) noexcept:
    """Return the ScalarType of the tensor in register `x`."""
    return (<Tensor>x.v.o).scalar_type


cdef inline PyArrayObject *float_array(IValue *x) noexcept:
    """Return the array of `x` if `x` is a contiguous float32 or float64 CPU tensor, else NULL."""
    cdef PyArrayObject *a = contiguous_array_or_null(x)
    return a if a != NULL and (scalar_type(x) == FLOAT or scalar_type(x) == DOUBLE) else NULL


cdef inline bint read_number(IValue *x, int kind, double *out) noexcept:
    """Write a Python number to `out`.

    Return False unless it is a finite number in the range of dtype `kind`.
    """
    if x.tag == TAG_FLOAT:
        out[0] = x.v.f
    elif x.tag == TAG_INT or x.tag == TAG_BOOL:
        out[0] = <double>x.v.i
    else:
        return False
    return fabs(out[0]) <= FLT_MAX if kind == FLOAT else out[0] - out[0] == 0


cdef inline bint same_dtype(IValue *dtype, int kind) noexcept:
    """Return whether the optional argument `dtype` is None or equals the ScalarType `kind`."""
    return dtype.tag == TAG_NONE or (dtype.tag == TAG_INT and dtype.v.i == kind)


cdef inline object new_contiguous(int nd, npy_intp *dims, int kind):
    """Allocate a C-contiguous array of the given shape. Its elements are uninitialized."""
    return new_array(nd, dims, number_of_scalar_type(kind))


cdef inline object new_zeros(int nd, npy_intp *dims, int kind):
    """Allocate a C-contiguous array of zeros of the given shape."""
    cdef object array = new_array(nd, dims, number_of_scalar_type(kind))
    memset(cnp.PyArray_DATA(<cnp.ndarray>array), 0, cnp.PyArray_NBYTES(<cnp.ndarray>array))
    return array


cdef inline object new_like(PyArrayObject *a, int kind):
    """Allocate a C-contiguous array with the shape of `a`. Its elements are uninitialized."""
    return new_array(ndim_of(a), dims_of(a), number_of_scalar_type(kind))


cdef inline npy_intp item_size(PyArrayObject *a) noexcept:
    return cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)


cdef inline bint has_integer_width(npy_intp width) noexcept:
    """Return whether elements of `width` bytes can be copied as integers of `width` bytes."""
    return width == 1 or width == 2 or width == 4 or width == 8


ctypedef struct Axis:  # a shape viewed as (outer, n, inner), where n is the size of one selected dimension
    npy_intp outer
    npy_intp n
    npy_intp inner


cdef inline int read_axis(PyArrayObject *a, int64_t dim, Axis *axis) noexcept:
    """View the shape of `a` as (outer, n, inner), where n is the size of dimension `dim`.

    Return `dim` as a non-negative number, or -1 if it is out of range.
    """
    cdef int d
    if dim < 0:
        dim += ndim_of(a)
    if not 0 <= dim < ndim_of(a):
        return -1
    axis.outer = axis.inner = 1
    axis.n = dims_of(a)[dim]
    for d in range(<int>dim):
        axis.outer *= dims_of(a)[d]
    for d in range(<int>dim + 1, ndim_of(a)):
        axis.inner *= dims_of(a)[d]
    return <int>dim


cdef inline int set_result(IValue *out, object array, int kind) except -1:
    """Store a new array as a CPU tensor in `out`, releasing the previous value."""
    cdef Tensor result = wrap_cpu(array, kind)
    Py_INCREF(result)
    set_object_steal(out, <PyObject *>result)
    return 0


cdef inline int set_result_with_own_dtype(IValue *out, object array) except -1:
    """Store a new array as a CPU tensor in `out`, with the dtype of the array.

    Callers use this function if another thread may have changed the dtype of an argument during the kernel.
    """
    return set_result(out, array, scalar_type_of_number(cnp.PyArray_TYPE(<cnp.ndarray>array)))


cdef inline int set_object_result(IValue *out, object x) except -1:
    Py_INCREF(x)
    set_object_steal(out, <PyObject *>x)
    return 0
