"""Accounting of a program's memory under `ts.limits(bytes=...)`.

    with ts.limits(bytes=1 << 20):     an allowance for this thread
    take_bytes(n)                      lists, dicts, tuples and objects, when they grow; fails when it is used up
    give_bytes(n)                      when they shrink or are freed
    NumPy                              through its memory handler, which is ours on threads with an allowance
    take_text(n)                       strings, which are Python's: see below

Allowances nest as limits do: what is taken counts in all of them.  Memory that was there before may be given
back under an allowance that never gave it, so `used` stops at zero.

Python does not tell when a string is freed.  The lengths of new ones are added up, and when that sum and the
rest do not fit, the process's resident memory (Linux's /proc) tells how much of it is still there: free memory is
given back to the system before, or strings would go where others were.  Where there is no /proc, only single
strings are limited.

Without an allowance anywhere, all of this is one look at `limited`.
"""

import os

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdlib cimport calloc, free

from ts.errors import MemoryExceeded

cnp.import_array()

cdef extern from *:
    """
    static _Thread_local MemoryBudget *allowance_here = NULL;
    static _Thread_local PyObject *handler_before = NULL;
    static _Thread_local MemoryBudget *watching = NULL;
    /* What this thread was refused last, for the message of the error; a size below 0: nothing. */
    static _Thread_local struct { long long size, used, requested; } refusal = {-1, 0, 0};

    static void note_refusal(long long size, long long used, long long requested) {
        refusal.size = size;
        refusal.used = used;
        refusal.requested = requested;
    }

    static void allowance_give(long long n) {
        for (MemoryBudget *a = allowance_here; a != NULL; a = a->outer)
            if (__atomic_sub_fetch(&a->used, n, __ATOMIC_RELAXED) < 0)
                __atomic_store_n(&a->used, 0, __ATOMIC_RELAXED);
    }

    static int allowance_take(long long n) {
        MemoryBudget *a, *b;
        for (a = allowance_here; a != NULL; a = a->outer) {
            long long used = __atomic_add_fetch(&a->used, n, __ATOMIC_RELAXED);
            if (used <= a->size) {
                if (used > a->most)
                    a->most = used;
                continue;
            }
            note_refusal(a->size, used - n, n);
            for (b = allowance_here; b != a->outer; b = b->outer)
                __atomic_sub_fetch(&b->used, n, __ATOMIC_RELAXED);
            return -1;
        }
        return 0;
    }

    static int array_take(size_t n) {
        if (allowance_take((long long)n) == 0)
            return 0;
        allowance_here->refused = 1;
        return -1;
    }

    static void *counted_malloc(void *context, size_t n) {
        return array_take(n) < 0 ? NULL : malloc(n ? n : 1);
    }

    static void *counted_calloc(void *context, size_t n, size_t size) {
        if (size != 0 && n > (size_t)PY_SSIZE_T_MAX / size)
            return NULL;
        return array_take(n * size) < 0 ? NULL : calloc(n ? n : 1, size ? size : 1);
    }

    /* How much there was is not known, so all counts as new. */
    static void *counted_realloc(void *context, void *place, size_t n) {
        return array_take(n) < 0 ? NULL : realloc(place, n ? n : 1);
    }

    static void counted_free(void *context, void *place, size_t n) {
        allowance_give((long long)n);
        free(place);
    }

    #ifdef __GLIBC__
    #include <malloc.h>
    static void trim_memory(void) { malloc_trim(0); }    /* what is free is not resident then */
    #else
    static void trim_memory(void) {}
    #endif

    enum { MAX_CACHED_SIZE = 31 << 20 };

    /* Free blocks of up to so many bytes stay with the process, up to twice as much together: glibc's rule for programs in
       which such a block was freed once. Before, the pages of each result go back to the system, and come back zeroed. */
    static void keep_free_blocks(void) {
        void *volatile block = malloc(MAX_CACHED_SIZE);
        free(block);
    }

    static PyDataMem_Handler counting_handler = {
        "ts_counted", 1, {NULL, counted_malloc, counted_calloc, counted_realloc, counted_free}
    };
    """
    MemoryBudget *allowance_here
    MemoryBudget *watching
    struct Refusal "":
        long long size
        long long used
        long long requested
    Refusal refusal
    void note_refusal(long long size, long long used, long long requested) noexcept
    PyObject *handler_before
    int allowance_take(long long n) noexcept nogil
    void trim_memory() noexcept nogil
    void keep_free_blocks() noexcept nogil
    void allowance_give(long long n) noexcept nogil
    object PyDataMem_SetHandler(object handler)
    void *counting_handler_address "&counting_handler"

limited = 0
keep_free_blocks()
cdef object counting = PyCapsule_New(counting_handler_address, "mem_handler", NULL)
cdef int PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


cdef bint has_allowance() noexcept:
    return allowance_here != NULL


cdef int take_bytes(Py_ssize_t size) except -1 nogil:
    if allowance_take(size) < 0:
        with gil:
            refuse()
    return 0


cdef void give_bytes(Py_ssize_t size) noexcept nogil:
    allowance_give(size)


cdef int refuse() except -1:
    raise refused_memory()


cdef object refused_memory():
    """Return the error for the last refused allocation of this thread."""
    cdef MemoryBudget *a = allowance_here
    if refusal.size < 0:        # another thread was refused
        note_refusal(0 if a == NULL else a.size, 0 if a == NULL else a.used, 0)
    more = f" and {refusal.requested} more were requested" if refusal.requested > 0 else ""
    text = (
        f"the program used more memory than ts.limits(bytes={refusal.size}) allows: "
        f"{refusal.used} bytes were in use{more}"
    )
    note_refusal(-1, 0, 0)
    return MemoryExceeded(text)


cdef int take_program(Py_ssize_t size) except -1:
    cdef MemoryBudget *a = allowance_here
    if a != NULL and a.forks_end:
        note_refusal(a.size, a.used, size)
        refuse()
    if allowance_take(size) < 0:
        a.forks_end = a.forked > 0
        refuse()
    if a != NULL:
        a.forked += 1
    return 0


cdef void give_program(Py_ssize_t size) noexcept:
    cdef MemoryBudget *a = allowance_here
    allowance_give(size)
    if a != NULL:
        a.forked -= 1
        if a.forked == 0:
            a.forks_end = 0


cdef int take_text(Py_ssize_t size) except -1:
    cdef MemoryBudget *a = allowance_here
    cdef long long growth
    while a != NULL:
        a.texts += size
        if a.used + a.texts > a.size:
            growth = resident_bytes() - a.resident
            if growth + size > a.size:
                trim_memory()
                growth = resident_bytes() - a.resident
            if size > a.size or growth + size > a.size:
                note_refusal(a.size, max(growth, 0), size)
                refuse()
            a.texts = max(growth - a.used, 0) + size
        a = a.outer
    return 0


cdef object as_limit(error):
    cdef MemoryBudget *a = allowance_here
    cause = error
    if a == NULL or not a.refused:
        return error
    while cause is not None and not isinstance(cause, MemoryError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return error
    a.refused = False
    return refused_memory()


cdef long long resident_bytes():
    """The memory that the process has in use, as far as the system tells."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


cdef MemoryBudget *new_allowance(long long size) except NULL:
    cdef MemoryBudget *a = <MemoryBudget *>calloc(1, sizeof(MemoryBudget))
    if a == NULL:
        raise MemoryError()
    a.outer = allowance_here
    hold_allowance(a.outer)
    a.users = 1
    a.size = size
    trim_memory()
    a.resident = resident_bytes()
    return a


cdef void hold_allowance(MemoryBudget *a) noexcept:
    if a != NULL:
        a.users += 1


cdef void drop_allowance(MemoryBudget *a) noexcept:
    cdef MemoryBudget *outer
    while a != NULL:
        a.users -= 1
        if a.users > 0:
            return
        outer = a.outer
        free(a)
        a = outer


cdef int set_allowance(MemoryBudget *a) except -1:
    """To set a handler allocates: a garbage collection then may end programs, which set allowances of their own."""
    global limited, allowance_here, handler_before
    cdef PyObject *found
    if a == NULL:
        a = watching
    if allowance_here == NULL and a != NULL:
        handler = PyDataMem_SetHandler(counting)
        if allowance_here == NULL:  # otherwise it was set meanwhile
            limited += 1
            Py_INCREF(handler)
            handler_before = <PyObject *>handler
        allowance_here = a
    elif allowance_here != NULL and a == NULL:
        found = handler_before
        limited -= 1
        allowance_here, handler_before = NULL, NULL
        PyDataMem_SetHandler(<object>found)
        Py_DECREF(<object>found)
    else:
        allowance_here = a
    return 0


cdef int watch_allowance(MemoryBudget *a) except -1:
    global watching
    cdef MemoryBudget *before = watching
    watching = a
    if allowance_here == before:
        set_allowance(a)
    return 0
