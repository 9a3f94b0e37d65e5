"""Registry of the CPU's C kernels; a kernel module is imported when one of its names is first looked up.

    register_kernel("aten::cumsum", cumsum)        the overload without a name
    register_kernel("softmax", softmax)            records with `loop="softmax"`

The generated index `HOMES` maps names to modules.
"""

from importlib import import_module

from ts.backends.cpu.kernels.directory import HOMES

cdef dict kernels = {}                 # name -> address
cdef dict tiles = {}
cdef dict channels = {}
cdef dict views = {}
cdef dict ends = {}
cdef dict choices = {}
cdef set conversions = set()
cdef dict loops = {}
cdef set brought = set()               # names of imported modules


def names():
    """Return all names registered by the modules imported so far."""
    return {*kernels, *tiles, *channels, *views, *ends, *choices, *conversions, *loops}


cdef int bring(str name) except -1:
    """Import the module that registers `name`, if the index has one."""
    home = HOMES.get(name)
    if home is not None and home not in brought:
        import_module(f"ts.backends.cpu.kernels.{home}")
        brought.add(home)
    return 0


cdef void *found(dict where, str name) except? NULL:
    """Return the registered address of a name, or NULL."""
    bring(name)
    return <void *><size_t>where.get(name, 0)


cdef int register_kernel(str name, Kernel kernel) except -1:
    kernels[name] = <size_t><void *>kernel
    return 0


cdef Kernel kernel_named(str name) except? NULL:
    return <Kernel>found(kernels, name)


cdef int register_tile(str name, ReadTile read) except -1:
    tiles[name] = <size_t><void *>read
    return 0


cdef ReadTile tile_named(str name) except? NULL:
    return <ReadTile>found(tiles, name)


cdef int register_view(str name, ReadView read) except -1:
    views[name] = <size_t><void *>read
    return 0


cdef ReadView view_named(str name) except? NULL:
    return <ReadView>found(views, name)


cdef int register_channels(str name, ReadChannels read) except -1:
    channels[name] = <size_t><void *>read
    return 0


cdef ReadChannels channels_named(str name) except? NULL:
    return <ReadChannels>found(channels, name)


cdef int register_end(str name, ReadEnd read) except -1:
    ends[name] = <size_t><void *>read
    return 0


cdef ReadEnd end_named(str name) except? NULL:
    return <ReadEnd>found(ends, name)


cdef int register_choice(str name, int mask, int first, int second) except -1:
    choices[name] = (mask, first, second)
    return 0


cdef tuple choice_named(str name):
    bring(name)
    return choices.get(name)


cdef int register_conversion(str name) except -1:
    conversions.add(name)
    return 0


cdef bint conversion_named(str name) except -1:
    bring(name)
    return name in conversions


cdef int register_loops(str name, object found) except -1:
    loops[name] = found
    return 0


cdef object loops_named(str name):
    bring(name)
    return loops.get(name)
