"""Releasing the GIL (global interpreter lock) in `nogil` kernels, while the arguments' arrays are kept alive.

While the GIL is released, another thread may assign `x.data` or remove tensors from a list. Therefore,
`leave_gil` holds references to the arrays of the operator's arguments and of their lists. Pointers obtained
before `leave_gil` stay valid until `take_gil`. Example:

    cdef ReleasedGil gil_state = leave_gil(work, r, at, op.nargs)
    ...                                   # must not access Python objects
    take_gil(gil_state)                   # now only objects created by this kernel are certain to exist
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport RELEASE_GIL_FROM, PyArrayObject
from ts._core.value.ivalue cimport IValue

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyThreadState

cdef enum:
    EXPENSIVE_ELEMENT_COST = 4         # factor by which operators that take about 1 ns per element multiply `work`

ctypedef struct ReleasedGil:
    PyThreadState *thread              # NULL if the GIL was not released
    PyObject **references                    # references to arrays, which end with NULL

# Release the GIL until `reacquire_gil`. Until then, new references keep the arrays of all arguments alive
# (`release_gil_holding_arguments`), or only the arrays `a` and `b` (`release_gil_holding_arrays`). If memory
# for the references cannot be allocated, the GIL is not released.
cdef ReleasedGil release_gil_holding_arguments(IValue *r, const int32_t *at, int nargs) noexcept
cdef ReleasedGil release_gil_holding_arrays(PyArrayObject *a, PyArrayObject *b) noexcept
cdef void reacquire_gil(ReleasedGil away) noexcept


cdef inline ReleasedGil leave_gil(npy_intp work, IValue *r, const int32_t *at, int nargs) noexcept:
    """Release the GIL if `work`, a number of elements, is at least RELEASE_GIL_FROM.

    The caller must pass the returned state to `take_gil`, which takes the GIL again. The arguments are kept
    alive until then.
    """
    cdef ReleasedGil gil_state
    if work >= RELEASE_GIL_FROM:
        return release_gil_holding_arguments(r, at, nargs)
    gil_state.thread = NULL
    return gil_state


cdef inline ReleasedGil release_gil_for_arrays(npy_intp work, PyArrayObject *a, PyArrayObject *b) noexcept:
    """Release the GIL like `leave_gil`, while keeping the arrays `a` and `b` alive. `b` may be NULL."""
    cdef ReleasedGil gil_state
    if work >= RELEASE_GIL_FROM:
        return release_gil_holding_arrays(a, b)
    gil_state.thread = NULL
    return gil_state


cdef inline void take_gil(ReleasedGil gil_state) noexcept:
    if gil_state.thread != NULL:
        reacquire_gil(gil_state)
