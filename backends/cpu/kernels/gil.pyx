"""The GIL, given away while a kernel computes, and what stays alive until it is back: `gil.pxd` says how."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport TAG_OBJECT

cdef extern from "Python.h":
    PyThreadState *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(PyThreadState *) noexcept nogil


cdef int hold(list held, IValue *x) except -1:
    """Add the array of a tensor, or those of a list of tensors."""
    cdef Py_ssize_t i
    cdef List several
    if x.tag != TAG_OBJECT:
        return 0
    if isinstance(<object>x.v.o, Tensor):
        held.append((<Tensor>x.v.o).array)
    elif type(<object>x.v.o) is List:
        several = <List>x.v.o
        for i in range(several.size):
            hold(held, &several.items[i])
    return 0


cdef list arrays_of(IValue *r, const int32_t *at, int nargs):
    cdef list held = []
    cdef int i
    for i in range(nargs):
        hold(held, &r[at[i]])
    return held


cdef Away leave_holding_arguments(IValue *r, const int32_t *at, int nargs) noexcept:
    try:
        return leave(arrays_of(r, at, nargs))
    except MemoryError:
        return leave(None)


cdef Away leave_holding(PyArrayObject *a, PyArrayObject *b) noexcept:
    try:
        return leave([<object>a] if b == NULL else [<object>a, <object>b])
    except MemoryError:
        return leave(None)


cdef Away leave(list held) noexcept:
    cdef Away away
    away.thread = NULL
    if held is not None:
        Py_INCREF(held)
        away.held = <PyObject *>held
        away.thread = PyEval_SaveThread()
    return away


cdef void come_back(Away away) noexcept:
    PyEval_RestoreThread(away.thread)
    Py_DECREF(<object>away.held)
