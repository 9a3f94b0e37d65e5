"""What kernels in C over whole tensors share: arguments out of registers, results into them, the GIL.

    cdef int my_kernel(Operator op, IValue *r, const int32_t *at) except -1:
        cdef PyArrayObject *x = flat_array(&r[at[0]])
        if x == NULL:                       # another device, another layout: the record's own kernel
            return run_record(op, r, at)
        result = new_like(x, scalar_type(&r[at[0]]))
        ...
        return put_array(&r[at[op.nargs]], result, FLOAT)

What such an entry may assume, and who proved it:

    at[0 .. nargs), and at[nargs ..) for results, are registers       the verifier, for bytecode; dispatch, which made
    whose tags are those of the schema's types                        the registers, for calls from Python
    an optional argument may be TAG_NONE, a list may be empty         nobody proves more
    device, dtype, dimensions, sizes, strides, alignment, values      nobody: the kernel looks, by `flat_array` and its
                                                                      like, before it trusts; MOST_DIMS bounds the first

A function that Python can call (`def`) may assume what its signature converts, and nothing else: it proves the rest where
it is entered, once, as `correlate` does.  So do methods that workers call (`parts.pxd`).
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE, TAG_OBJECT, set_object_steal
from ts._core.tensor.ndarray cimport RELEASE_GIL_FROM, PyArrayObject, dims_of, flags_of, ndim_of, new_array
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, number_of_scalar_type, wrap_cpu

cdef extern from "Python.h":
    ctypedef struct PyThreadState
    PyThreadState *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(PyThreadState *) noexcept nogil

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


cdef inline bint same_dtype(IValue *dtype, int kind) noexcept:
    """Whether an optional dtype argument asks for nothing else than `kind`."""
    return dtype.tag == TAG_NONE or (dtype.tag == TAG_INT and dtype.v.i == kind)


cdef inline object new_flat(int nd, npy_intp *dims, int kind):
    """An array with undefined elements."""
    return new_array(nd, dims, number_of_scalar_type(kind))


cdef inline object new_like(PyArrayObject *a, int kind):
    """An array of the shape of `a`, with undefined elements."""
    return new_array(ndim_of(a), dims_of(a), number_of_scalar_type(kind))


cdef inline int put_array(IValue *out, object array, int kind) except -1:
    """out := a tensor around a new array, releasing what `out` held."""
    cdef Tensor made = wrap_cpu(array, kind)
    Py_INCREF(made)
    set_object_steal(out, <PyObject *>made)
    return 0


cdef inline int put_object(IValue *out, object x) except -1:
    Py_INCREF(x)
    set_object_steal(out, <PyObject *>x)
    return 0


cdef inline PyThreadState *leave_gil(npy_intp work) noexcept:
    """Give the GIL away where the work is worth it; until `take_gil`, no Python object may be touched."""
    return PyEval_SaveThread() if work >= RELEASE_GIL_FROM else NULL


cdef inline void take_gil(PyThreadState *state) noexcept:
    if state != NULL:
        PyEval_RestoreThread(state)
