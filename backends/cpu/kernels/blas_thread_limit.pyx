"""Single-threaded BLAS in NumPy and SciPy while an operator runs, for deterministic results.

With several threads, BLAS divides sums, and rounding would depend on the number of threads. After the
operator, BLAS gets back its previous number of threads. Example:

    begin()
    np.linalg.svd(a)
    end()
"""

import os
import sys

ctypedef int (*Getter)() noexcept nogil
ctypedef void (*Setter)(int) noexcept nogil

cdef enum:
    MAX_LIBRARIES = 8

cdef struct BlasLibrary:
    Getter get
    Setter set
    int initial_count

cdef BlasLibrary libraries[MAX_LIBRARIES]
cdef int library_count = -1            # number of BLAS libraries in `libraries`, or -1 before the first search
cdef int depth = 0
cdef bint is_scipy_loaded = False      # whether scipy.linalg, which loads its own BLAS, was loaded at the last search


cdef int _find_blas_libraries() except -1:
    global library_count, is_scipy_loaded
    cdef int i
    cdef bint is_registered
    if library_count < 0:
        library_count = 0
    is_scipy_loaded = "scipy.linalg" in sys.modules
    from ts.backends.cpu import blas  # imported here because only Python kernels need it

    for get, set_ in blas.controls():
        is_registered = False
        for i in range(library_count):
            is_registered = is_registered or <size_t>libraries[i].get == <size_t>get
        if not is_registered and library_count < MAX_LIBRARIES:
            libraries[library_count].get = <Getter><void *><size_t>get
            libraries[library_count].set = <Setter><void *><size_t>set_
            if depth > 0:
                _limit_threads(&libraries[library_count])
            library_count += 1
    return 0


cdef void _limit_threads(BlasLibrary *library) noexcept:
    library.initial_count = library.get()
    if library.initial_count > 1:
        library.set(1)


cdef int begin() except -1:
    global depth
    cdef int i
    if library_count < 0:
        _find_blas_libraries()
    if depth == 0:
        for i in range(library_count):
            _limit_threads(&libraries[i])
    depth += 1
    return 0


cdef void end() noexcept:
    global depth
    cdef int i
    depth -= 1
    if depth == 0:
        for i in range(library_count):
            if libraries[i].initial_count > 1:
                libraries[i].set(libraries[i].initial_count)


def limit_scipy_threads():
    """Search for SciPy's BLAS library if scipy.linalg was loaded after the last search."""
    if not is_scipy_loaded and library_count >= 0 and "scipy.linalg" in sys.modules:
        _find_blas_libraries()


def _restore_in_child():
    """Restore the initial numbers of BLAS threads in a child process after a fork.

    A parent thread between `begin` and `end` does not exist in the child. `end` is therefore never called
    there.
    """
    global depth
    cdef int i
    for i in range(library_count):
        if depth > 0 and libraries[i].initial_count > 1:
            libraries[i].set(libraries[i].initial_count)
    depth = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restore_in_child)


def thread_counts():
    """Return the current number of threads of each BLAS library."""
    if library_count < 0:
        _find_blas_libraries()
    return [libraries[i].get() for i in range(library_count)]


def call_single_threaded(function):
    """Call `function` with single-threaded BLAS and return its result."""
    begin()
    try:
        return function()
    finally:
        end()
