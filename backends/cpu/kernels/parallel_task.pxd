"""Methods that compute one partition of a kernel's work, on several threads.

`thread_pool.run` calls the methods with the arguments (partition, partition_count). Python code can call such
a method too, so each method checks its arguments.
"""


cdef inline int require_partition(Py_ssize_t partition, Py_ssize_t partition_count, bint prepared) except -1:
    """Raise ValueError unless 0 <= partition < partition_count and `prepared` is true.

    `prepared` is true only after a kernel has prepared the object for calls by the thread pool.
    """
    if not prepared or not 0 <= partition < partition_count <= 1 << 20:
        raise ValueError("this method can only be called by the thread pool that runs its kernel")
    return 0
