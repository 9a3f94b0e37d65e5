"""Releasing the GIL while the arguments' arrays are kept alive.

`gil.pxd` describes the use of the functions.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdlib cimport free, malloc

from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport TAG_OBJECT

cdef extern from "Python.h":
    PyThreadState *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(PyThreadState *) noexcept nogil


cdef Py_ssize_t collect_arrays(IValue *x, PyObject **references) noexcept:
    """Return the number of arrays in a register with a tensor or a list of tensors.

    Store new references to the arrays in `references`, unless it is NULL.
    """
    cdef Py_ssize_t i, n = 0
    cdef List tensors
    cdef IValue item
    if x.tag != TAG_OBJECT:
        return 0
    if isinstance(<object>x.v.o, Tensor):
        if references != NULL:
            references[0] = <PyObject *>(<Tensor>x.v.o).array
            Py_INCREF(<object>references[0])
        return 1
    if type(<object>x.v.o) is List:
        tensors = <List>x.v.o
        for i in range(tensors.size):
            item = list_item(<PyObject *>tensors, i)
            n += collect_arrays(&item, NULL if references == NULL else references + n)
    return n


# The references are stored in C memory and not in a Python list. Creating a list could start the garbage
# collector, and a finalizer could then replace an array before a reference to it is taken.

cdef PyObject **allocate_references(Py_ssize_t n) noexcept:
    """Allocate memory for `n` references and a terminating NULL. Return NULL if memory is exhausted."""
    cdef PyObject **references = <PyObject **>malloc((n + 1) * sizeof(PyObject *))
    if references != NULL:
        references[n] = NULL
    return references


cdef ReleasedGil release_gil_holding_arguments(IValue *r, const int32_t *at, int nargs) noexcept:
    cdef Py_ssize_t n = 0
    cdef PyObject **references
    cdef int i
    for i in range(nargs):
        n += collect_arrays(&r[at[i]], NULL)
    references = allocate_references(n)
    if references != NULL:
        n = 0
        for i in range(nargs):
            n += collect_arrays(&r[at[i]], references + n)
    return save_thread(references)


cdef ReleasedGil release_gil_holding_arrays(PyArrayObject *a, PyArrayObject *b) noexcept:
    cdef PyObject **references = allocate_references(1 if b == NULL else 2)
    if references != NULL:
        references[0] = <PyObject *>a
        Py_INCREF(<object>a)
        if b != NULL:
            references[1] = <PyObject *>b
            Py_INCREF(<object>b)
    return save_thread(references)


cdef ReleasedGil save_thread(PyObject **references) noexcept:
    cdef ReleasedGil gil_state
    gil_state.references = references
    gil_state.thread = PyEval_SaveThread() if references != NULL else NULL
    return gil_state


cdef void reacquire_gil(ReleasedGil gil_state) noexcept:
    cdef PyObject **references = gil_state.references
    PyEval_RestoreThread(gil_state.thread)
    while references[0] != NULL:
        Py_DECREF(<object>references[0])
        references += 1
    free(gil_state.references)
