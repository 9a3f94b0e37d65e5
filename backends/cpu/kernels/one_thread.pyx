"""Single-threaded BLAS in NumPy and SciPy while an operator runs.

In: the libraries of `ts.backends.cpu.blas.controls`. Out: results that do not depend on the number of BLAS
threads; with several threads, BLAS would divide sums and change their rounding. After each operator, the
program's number of threads is restored for its own calls of NumPy.

    begin(); np.linalg.svd(a); end()

Large products are still parallel: `matmul.pyx` divides them in a way that does not depend on the number of
threads.
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
cdef int control_count = -1            # -1 until the libraries are searched
cdef int depth = 0
cdef bint with_scipy = False           # True if scipy.linalg was loaded when the libraries were last searched


cdef int _look() except -1:
    global control_count, with_scipy
    cdef int i
    cdef bint is_registered
    if control_count < 0:
        control_count = 0
    with_scipy = "scipy.linalg" in sys.modules
    from ts.backends.cpu import blas  # imported here because only Python kernels need it

    for get, set_ in blas.controls():
        is_registered = False
        for i in range(control_count):
            is_registered = is_registered or <size_t>controls[i].get == <size_t>get
        if not is_registered and control_count < MAX_LIBRARIES:
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


def limit_scipy_threads():
    """Search again for BLAS libraries if scipy.linalg was loaded since the last search, to limit SciPy's BLAS
    too.
    """
    if not with_scipy and control_count >= 0 and "scipy.linalg" in sys.modules:
        _look()


def _forget():
    """Restore the number of threads in a forked child: operators of other threads do not run there."""
    global depth
    cdef int i
    for i in range(control_count):
        if depth > 0 and controls[i].before > 1:
            controls[i].set(controls[i].before)
    depth = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def threads():
    """Return the current number of threads of each BLAS library."""
    if control_count < 0:
        _look()
    return [controls[i].get() for i in range(control_count)]


def call(function):
    """Call `function` with single-threaded BLAS and return its result."""
    begin()
    try:
        return function()
    finally:
        end()
