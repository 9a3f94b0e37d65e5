"""The GIL, given away while a kernel computes, and what stays alive until it is back.

    cdef Away away = leave_gil(work, r, at, op.nargs)
    ...                                   # no Python object is touched
    take_gil(away)                        # from here on, only what the kernel made is known to be there

Another thread may bind `x.data`, or take tensors out of a list, while a kernel reads their memory.  So whoever gives the
GIL away says what it works on, and that is held: the arrays of all tensors among an operator's arguments, those in its
lists as well.  A kernel has nothing to remember, and pointers that it took before `leave_gil` are good until `take_gil`.
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport RELEASE_GIL_FROM, PyArrayObject
from ts._core.value.ivalue cimport IValue

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyThreadState

cdef enum:
    COSTLY = 4                         # by which work counts more, where an element takes about a nanosecond

ctypedef struct Away:
    PyThreadState *thread              # NULL: the GIL was kept
    PyObject **held                    # arrays, and NULL behind the last

# The GIL is kept where there is no memory to remember what is held.
cdef Away leave_holding_arguments(IValue *r, const int32_t *at, int nargs) noexcept
cdef Away leave_holding(PyArrayObject *a, PyArrayObject *b) noexcept
cdef void come_back(Away away) noexcept


cdef inline Away leave_gil(npy_intp work, IValue *r, const int32_t *at, int nargs) noexcept:
    """Give the GIL away where the work is worth it, until `take_gil`."""
    cdef Away here
    if work >= RELEASE_GIL_FROM:
        return leave_holding_arguments(r, at, nargs)
    here.thread = NULL
    return here


cdef inline Away leave_gil_with(npy_intp work, PyArrayObject *a, PyArrayObject *b) noexcept:
    """The same for one array or two, where there are no registers; `b` may be NULL."""
    cdef Away here
    if work >= RELEASE_GIL_FROM:
        return leave_holding(a, b)
    here.thread = NULL
    return here


cdef inline void take_gil(Away away) noexcept:
    if away.thread != NULL:
        come_back(away)
