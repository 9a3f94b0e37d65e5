"""Memory accounting (memory limit, quota) of the allocations of a program, by lock-free atomic counters.

The functions count the memory of lists, dicts, tuples, objects and strings:

    take_bytes(n)      counts n allocated bytes, and raises MemoryExceeded beyond the budget
    credit_bytes(n)    subtracts n freed bytes
    take_text(n)       counts a new string of n bytes

A memory handler of NumPy counts arrays on threads with a budget. In nested `ts.limits` blocks, an allocation
counts in the budgets of all blocks. If a block frees memory that was allocated before the block, `used` stays
zero instead of becoming negative.

Python does not report freed strings, so `take_text` adds up the sizes of all new strings. If this sum and the
counted bytes exceed the budget, the process's resident memory is checked instead. Its growth since the start
of the budget must not exceed the budget. Without /proc, only the size of a single string is limited.
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
    /* The last refused allocation of this thread, for the error message. If there is none, size < 0. */
    static _Thread_local struct { long long size, used, requested; } failed_allocation = {-1, 0, 0};

    static void note_failed_allocation(long long size, long long used, long long requested) {
        failed_allocation.size = size;
        failed_allocation.used = used;
        failed_allocation.requested = requested;
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
                if (used > a->peak)
                    a->peak = used;
                continue;
            }
            note_failed_allocation(a->size, used - n, n);
            for (b = allowance_here; b != a->outer; b = b->outer)
                __atomic_sub_fetch(&b->used, n, __ATOMIC_RELAXED);
            return -1;
        }
        return 0;
    }

    static int array_take(size_t n) {
        if (allowance_take((long long)n) == 0)
            return 0;
        allowance_here->exceeded = 1;
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

    /* The old size is unknown, so the whole new size is charged. */
    static void *counted_realloc(void *context, void *place, size_t n) {
        return array_take(n) < 0 ? NULL : realloc(place, n ? n : 1);
    }

    static void counted_free(void *context, void *place, size_t n) {
        allowance_give((long long)n);
        free(place);
    }

    #ifdef __GLIBC__
    #include <malloc.h>
    static void trim_memory(void) { malloc_trim(0); }    /* returns free memory to the system */
    #else
    static void trim_memory(void) {}
    #endif

    enum { MAX_CACHED_SIZE = 31 << 20 };

    /* Freeing one block of this size raises glibc's dynamic mmap threshold: afterwards, free blocks up to this size stay
       in the process (trim threshold: twice the size). Otherwise, the system would map and zero each array result. */
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
    struct FailedAllocation "":
        long long size
        long long used
        long long requested
    FailedAllocation failed_allocation
    void note_failed_allocation(long long size, long long used, long long requested) noexcept
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
            raise_memory_limit_error()
    return 0


cdef void credit_bytes(Py_ssize_t size) noexcept nogil:
    allowance_give(size)


cdef int raise_memory_limit_error() except -1:
    raise memory_limit_error()


cdef object memory_limit_error():
    """Return the error for the last allocation of this thread that exceeded a budget."""
    cdef MemoryBudget *a = allowance_here
    if failed_allocation.size < 0:        # no data: another thread made the allocation
        note_failed_allocation(0 if a == NULL else a.size, 0 if a == NULL else a.used, 0)
    more = f" and {failed_allocation.requested} more were requested" if failed_allocation.requested > 0 else ""
    message = (
        f"the program used more memory than ts.limits(bytes={failed_allocation.size}) allows: "
        f"{failed_allocation.used} bytes were in use{more}"
    )
    note_failed_allocation(-1, 0, 0)
    return MemoryExceeded(message)


cdef int take_program(Py_ssize_t size) except -1:
    cdef MemoryBudget *a = allowance_here
    if a != NULL and a.forks_end:
        note_failed_allocation(a.size, a.used, size)
        raise_memory_limit_error()
    if allowance_take(size) < 0:
        a.forks_end = a.forked > 0
        raise_memory_limit_error()
    if a != NULL:
        a.forked += 1
    return 0


cdef void credit_program(Py_ssize_t size) noexcept:
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
                note_failed_allocation(a.size, max(growth, 0), size)
                raise_memory_limit_error()
            a.texts = max(growth - a.used, 0) + size
        a = a.outer
    return 0


cdef object as_limit(error):
    cdef MemoryBudget *a = allowance_here
    cause = error
    if a == NULL or not a.exceeded:
        return error
    while cause is not None and not isinstance(cause, MemoryError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return error
    a.exceeded = False
    return memory_limit_error()


cdef long long resident_bytes():
    """Return the resident memory of the process in bytes, or 0 if the system does not report it."""
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
    retain_allowance(a.outer)
    a.users = 1
    a.size = size
    trim_memory()
    a.resident = resident_bytes()
    return a


cdef void retain_allowance(MemoryBudget *a) noexcept:
    if a != NULL:
        a.users += 1


cdef void release_allowance(MemoryBudget *a) noexcept:
    cdef MemoryBudget *outer
    while a != NULL:
        a.users -= 1
        if a.users > 0:
            return
        outer = a.outer
        free(a)
        a = outer


cdef int set_allowance(MemoryBudget *a) except -1:
    """Set the memory budget of this thread to `a`. NULL stands for no budget.

    Install NumPy's counting memory handler if the thread gets a budget, and remove the handler if the thread
    has no budget any more.
    """
    global limited, allowance_here, handler_before
    cdef PyObject *previous
    if a == NULL:
        a = watching
    if allowance_here == NULL and a != NULL:
        handler = PyDataMem_SetHandler(counting)
        # Check again, because the call above may run the garbage collector. If a program is collected and
        # ends, its end sets the budget.
        if allowance_here == NULL:
            limited += 1
            Py_INCREF(handler)
            handler_before = <PyObject *>handler
        allowance_here = a
    elif allowance_here != NULL and a == NULL:
        previous = handler_before
        limited -= 1
        allowance_here, handler_before = NULL, NULL
        PyDataMem_SetHandler(<object>previous)
        Py_DECREF(<object>previous)
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
