"""Stack overflow check for recursive code in C or Python: tests whether this thread has little C stack left.

Python's recursion limit counts calls, not bytes, so recursion on a small stack could crash the process.
Functions whose recursion runs Python code or descends into nested values call this check:

    if stack_is_low(): raise RecursionError(...)
"""

cdef extern from "ts/_core/thread/stack.h":
    bint stack_is_low "ts_stack_is_low" () noexcept nogil
