"""Single-threaded BLAS in NumPy and SciPy while an operator runs.

In: the libraries of `ts.backends.cpu.blas.controls`. Out: results that do not depend on the number of BLAS
threads, by which BLAS divides sums. Between operators, the number set by the program is restored, for its own
calls of NumPy.

    begin(); np.linalg.svd(a); end()

Instead, this package's threads divide products in a way that does not depend on their number (`matmul.pyx`).
"""

import os
import sys

ctypedef int (*Getter)() noexcept nogil
ctypedef void (*Setter)(int) noexcept nogil

cdef enum:
    MAX_LIBRARIES = 8

cdef struct Control:
    Getter get
    Setter set
    int before

cdef Control controls[MAX_LIBRARIES]
cdef int control_count = -1            # -1: not initialized
cdef int depth = 0
cdef bint with_scipy = False           # whether scipy.linalg was loaded at the last search


cdef int _look() except -1:
    global control_count, with_scipy
    cdef int i
    cdef bint known
    if control_count < 0:
        control_count = 0
    with_scipy = "scipy.linalg" in sys.modules
    from ts.backends.cpu import blas  # imported late: only Python kernels need it

    for get, set_ in blas.controls():
        known = False
        for i in range(control_count):
            known = known or <size_t>controls[i].get == <size_t>get
        if not known and control_count < MAX_LIBRARIES:
            controls[control_count].get = <Getter><void *><size_t>get
            controls[control_count].set = <Setter><void *><size_t>set_
            if depth > 0:
                _limit(&controls[control_count])
            control_count += 1
    return 0


cdef void _limit(Control *control) noexcept:
    control.before = control.get()
    if control.before > 1:
        control.set(1)


cdef int begin() except -1:
    global depth
    cdef int i
    if control_count < 0:
        _look()
    if depth == 0:
        for i in range(control_count):
            _limit(&controls[i])
    depth += 1
    return 0


cdef void end() noexcept:
    global depth
    cdef int i
    depth -= 1
    if depth == 0:
        for i in range(control_count):
            if controls[i].before > 1:
                controls[i].set(controls[i].before)


def found_scipy():
    """Limit SciPy's BLAS as well if scipy.linalg has been loaded."""
    if not with_scipy and control_count >= 0 and "scipy.linalg" in sys.modules:
        _look()


def _forget():
    """Restore the number of threads in a forked child, where no other thread's operator is running."""
    global depth
    cdef int i
    for i in range(control_count):
        if depth > 0 and controls[i].before > 1:
            controls[i].set(controls[i].before)
    depth = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def threads():
    """Return the current number of threads of each library."""
    if control_count < 0:
        _look()
    return [controls[i].get() for i in range(control_count)]


def call(function):
    """Return function() called with single-threaded BLAS."""
    begin()
    try:
        return function()
    finally:
        end()
