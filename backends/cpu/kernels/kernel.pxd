"""What kernels in C over whole tensors share: arguments out of registers, results into them.

    cdef int my_kernel(Operator op, IValue *r, const int32_t *at) except -1:
        cdef PyArrayObject *x = flat_array(&r[at[0]])
        if x == NULL:                       # another device, another layout: the record's own kernel
            return run_record(op, r, at)
        made = new_like(x, kind)
        away = leave_gil(size_of(x), r, at, op.nargs)
        ...                                 # reads x, writes made; no Python object is touched
        take_gil(away)
        return put_array(&r[at[op.nargs]], made, kind)

What a kernel may assume, and who proved it:

    registers     `op.nargs` arguments that fit the schema: an int where it says int, a list of them where it says that, None
                  where it may be; and one register for each result.  Binding and the verifier have checked it.
    tensors       any device, dtype, layout, number of dimensions up to MOST_DIMS, and no elements: the kernel looks.  What
                  `flat_array` gives is a CPU array, aligned and in C order.
    lists         any length; of tensors, they may hold None where the schema says so.
    numbers       any: dimensions, sizes and indices are tested against the shape before they are used as such.
    memory        pointers are good until the GIL is given away, and through `leave_gil` until it is back (`gil.pxd`).
                  Elements may change meanwhile, and what is computed from them is then anything.

A kernel that assumes more says so, and who proves it.  Loops below the kernels (`noexcept nogil`) assume what their kernel
has tested: as many elements as they are told, and no overlap of what they write with what they read.

A function that Python can call (`def`) may assume what its signature converts, and nothing else: it proves the rest where
it is entered, once, as `correlate` does.  So do methods that workers call (`parts.pxd`).
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.float cimport FLT_MAX
from libc.math cimport fabs
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT, set_object_steal
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, dims_of, flags_of, ndim_of, new_array
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, number_of_scalar_type, scalar_type_of_number, wrap_cpu

cdef enum:
    FLAT = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED
    MOST_DIMS = 64                     # that NumPy can have


cdef inline bint is_tensor(IValue *x) noexcept:
    return x.tag == TAG_OBJECT and isinstance(<object>x.v.o, Tensor)


cdef inline PyArrayObject *flat_array(IValue *x) noexcept:
    """The array of a CPU tensor whose elements lie in order; NULL for anything else."""
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    cdef PyArrayObject *a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & FLAT == FLAT else NULL


cdef inline int scalar_type(IValue *x) noexcept:
    """The dtype of a register that holds a tensor."""
    return (<Tensor>x.v.o).scalar_type


cdef inline PyArrayObject *float_array(IValue *x) noexcept:
    """The same for tensors of float32 and float64 only."""
    cdef PyArrayObject *a = flat_array(x)
    return a if a != NULL and (scalar_type(x) == FLOAT or scalar_type(x) == DOUBLE) else NULL


cdef inline bint read_number(IValue *x, int kind, double *out) noexcept:
    """A finite number that the floating dtype holds."""
    if x.tag == TAG_FLOAT:
        out[0] = x.v.f
    elif x.tag == TAG_INT or x.tag == TAG_BOOL:
        out[0] = <double>x.v.i
    else:
        return False
    return fabs(out[0]) <= FLT_MAX if kind == FLOAT else out[0] - out[0] == 0


cdef inline bint same_dtype(IValue *dtype, int kind) noexcept:
    """Whether an optional dtype argument asks for nothing else than `kind`."""
    return dtype.tag == TAG_NONE or (dtype.tag == TAG_INT and dtype.v.i == kind)


cdef inline object new_flat(int nd, npy_intp *dims, int kind):
    """An array with undefined elements."""
    return new_array(nd, dims, number_of_scalar_type(kind))


cdef inline object new_like(PyArrayObject *a, int kind):
    """An array of the shape of `a`, with undefined elements."""
    return new_array(ndim_of(a), dims_of(a), number_of_scalar_type(kind))


cdef inline npy_intp item_size(PyArrayObject *a) noexcept:
    return cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)


cdef inline bint has_plain_width(npy_intp width) noexcept:
    """Whether elements of so many bytes are moved as integers."""
    return width == 1 or width == 2 or width == 4 or width == 8


ctypedef struct Axis:                  # a dimension of an array that is seen as (outer, n, inner)
    npy_intp outer
    npy_intp n
    npy_intp inner


cdef inline int read_axis(PyArrayObject *a, int64_t dim, Axis *axis) noexcept:
    """The dimension, counted from the front; -1 where there is none."""
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


cdef inline int put_array(IValue *out, object array, int kind) except -1:
    """out := a tensor around a new array, releasing what `out` held."""
    cdef Tensor made = wrap_cpu(array, kind)
    Py_INCREF(made)
    set_object_steal(out, <PyObject *>made)
    return 0


cdef inline int put_made(IValue *out, object array) except -1:
    """The same, where the array says the dtype: that of an argument may be another by now."""
    return put_array(out, array, scalar_type_of_number(cnp.PyArray_TYPE(<cnp.ndarray>array)))


cdef inline int put_object(IValue *out, object x) except -1:
    Py_INCREF(x)
    set_object_steal(out, <PyObject *>x)
    return 0
