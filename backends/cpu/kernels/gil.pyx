"""Releasing the GIL while the arguments' arrays are kept alive; `gil.pxd` describes the contract."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdlib cimport free, malloc

from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport TAG_OBJECT

cdef extern from "Python.h":
    PyThreadState *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(PyThreadState *) noexcept nogil


cdef Py_ssize_t collect_arrays(IValue *x, PyObject **held) noexcept:
    """Store new references to the array of a tensor, or to the arrays of a tensor list; return their number.

    If `held` is NULL, only count the arrays.
    """
    cdef Py_ssize_t i, n = 0
    cdef List tensors
    cdef IValue item
    if x.tag != TAG_OBJECT:
        return 0
    if isinstance(<object>x.v.o, Tensor):
        if held != NULL:
            held[0] = <PyObject *>(<Tensor>x.v.o).array
            Py_INCREF(<object>held[0])
        return 1
    if type(<object>x.v.o) is List:
        tensors = <List>x.v.o
        for i in range(tensors.size):
            item = list_item(<PyObject *>tensors, i)
            n += collect_arrays(&item, NULL if held == NULL else held + n)
    return n


# From here until the GIL is released, the garbage collector must not run: it could run Python code before all
# arrays are referenced. Therefore the references are stored in C memory instead of a Python list.

cdef PyObject **allocate_references(Py_ssize_t n) noexcept:
    """Allocate memory for `n` references and a terminating NULL; return NULL if memory is exhausted."""
    cdef PyObject **held = <PyObject **>malloc((n + 1) * sizeof(PyObject *))
    if held != NULL:
        held[n] = NULL
    return held


cdef ReleasedGil release_gil_holding_arguments(IValue *r, const int32_t *at, int nargs) noexcept:
    cdef Py_ssize_t n = 0
    cdef PyObject **held
    cdef int i
    for i in range(nargs):
        n += collect_arrays(&r[at[i]], NULL)
    held = allocate_references(n)
    if held != NULL:
        n = 0
        for i in range(nargs):
            n += collect_arrays(&r[at[i]], held + n)
    return save_thread(held)


cdef ReleasedGil release_gil_holding_arrays(PyArrayObject *a, PyArrayObject *b) noexcept:
    cdef PyObject **held = allocate_references(1 if b == NULL else 2)
    if held != NULL:
        held[0] = <PyObject *>a
        Py_INCREF(<object>a)
        if b != NULL:
            held[1] = <PyObject *>b
            Py_INCREF(<object>b)
    return save_thread(held)


cdef ReleasedGil save_thread(PyObject **held) noexcept:
    cdef ReleasedGil gil_state
    gil_state.held = held
    gil_state.thread = PyEval_SaveThread() if held != NULL else NULL
    return gil_state


cdef void reacquire_gil(ReleasedGil gil_state) noexcept:
    cdef PyObject **held = gil_state.held
    PyEval_RestoreThread(gil_state.thread)
    while held[0] != NULL:
        Py_DECREF(<object>held[0])
        held += 1
    free(gil_state.held)
