"""The kernels in C of the CPU: each module registers its own when it is imported.

    register_kernel("aten::cumsum", cumsum)        for the overload without a name
    register_kernel("softmax", softmax)            for the records that name it: `loop="softmax"`
"""

cdef dict kernels = {}                 # name -> address


cdef int register_kernel(str name, Kernel kernel) except -1:
    kernels[name] = <size_t><void *>kernel
    return 0


cdef Kernel kernel_named(str name) except? NULL:
    return <Kernel><void *><size_t>kernels.get(name, 0)
