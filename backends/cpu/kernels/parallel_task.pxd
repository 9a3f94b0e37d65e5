"""Parallel work: methods of prepared objects, which `thread_pool.run` calls with (part, parts) on several
threads.

Python code can call such a method while it runs, so the method checks its arguments.
"""


cdef inline int require_part(Py_ssize_t part, Py_ssize_t parts, bint prepared) except -1:
    """Raise ValueError unless 0 <= part < parts and a kernel has prepared the object."""
    if not prepared or not 0 <= part < parts <= 1 << 20:
        raise ValueError("this method can only be called by the thread pool that runs its kernel")
    return 0
