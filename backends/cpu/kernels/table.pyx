"""The kernels in C of the CPU: each module registers its own when it is imported.

    register_kernel("aten::cumsum", cumsum)        for the overload without a name
    register_kernel("softmax", softmax)            for the records that name it: `loop="softmax"`
"""

cdef dict kernels = {}                 # name -> address
cdef dict tiles = {}
cdef dict choices = {}
cdef set conversions = set()


cdef int register_kernel(str name, Kernel kernel) except -1:
    kernels[name] = <size_t><void *>kernel
    return 0


cdef Kernel kernel_named(str name) except? NULL:
    return <Kernel><void *><size_t>kernels.get(name, 0)


cdef int register_tile(str name, ReadTile read) except -1:
    tiles[name] = <size_t><void *>read
    return 0


cdef ReadTile tile_named(str name) except? NULL:
    return <ReadTile><void *><size_t>tiles.get(name, 0)


cdef int register_choice(str name, int mask, int first, int second) except -1:
    choices[name] = (mask, first, second)
    return 0


cdef tuple choice_named(str name):
    return choices.get(name)


cdef int register_conversion(str name) except -1:
    conversions.add(name)
    return 0


cdef bint conversion_named(str name) except -1:
    return name in conversions
