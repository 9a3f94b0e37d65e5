"""Work that `workers.run` shares: a method of a prepared object, called with (part, parts) on several threads.

Python can reach such a method while it runs, so it proves what it takes for granted.
"""


cdef inline int require_part(Py_ssize_t part, Py_ssize_t parts, bint prepared) except -1:
    """Refuse what `workers.run` does not give, and objects that no kernel has prepared."""
    if not prepared or not 0 <= part < parts <= 1 << 20:
        raise ValueError("part of a kernel's work: for its workers alone")
    return 0
