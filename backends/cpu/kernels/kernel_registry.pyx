"""Registry of the C kernels of the CPU.

The first lookup of a kernel's name imports the module that registers the kernel. Examples of registrations:

    register_kernel("aten::cumsum", cumsum, FLOAT32_CONTIGUOUS)    for the overload without a name
    register_kernel("select", select)                              for operator records with `loop="select"`
"""

from importlib import import_module

from ts._core.dispatch.operator cimport call_python_kernel
from ts.backends.cpu.kernels.kernel_index import OPERATOR_TO_MODULE

cdef dict kernels = {}                 # name -> address of the kernel function
cdef dict requirements = {}            # name -> Requirement of the kernel
cdef dict fallbacks = {ANY_LAYOUT: <size_t><void *>call_python_kernel}
cdef dict FALLBACK_MODULES = {CONTIGUOUS: "contiguous_arguments", FLOAT32_CONTIGUOUS: "upcast_half"}
cdef dict tiles = {}
cdef dict channels = {}
cdef dict views = {}
cdef dict epilogues = {}
cdef dict choices = {}
cdef set conversions = set()
cdef dict loops = {}
cdef set imported_modules = set()


def names():
    """Return all names registered by the modules imported so far."""
    return {*kernels, *tiles, *channels, *views, *epilogues, *choices, *conversions, *loops}


cdef int import_registering_module(str name) except -1:
    """Import the module that registers the operator `name`, unless it has been imported or the index lacks `name`."""
    module_name = OPERATOR_TO_MODULE.get(name)
    if module_name is not None and module_name not in imported_modules:
        import_module(f"ts.backends.cpu.kernels.{module_name}")
        imported_modules.add(module_name)
    return 0


cdef void *find_address(dict registry, str name) except? NULL:
    """Return the address registered for `name`, or NULL if none is registered."""
    import_registering_module(name)
    return <void *><size_t>registry.get(name, 0)


cdef int register_kernel(str name, Kernel kernel, Requirement requirement=ANY_LAYOUT) except -1:
    kernels[name] = <size_t><void *>kernel
    requirements[name] = requirement
    return 0


cdef Kernel find_kernel(str name) except? NULL:
    return <Kernel>find_address(kernels, name)


cdef int register_fallback(Requirement requirement, Kernel fallback) except -1:
    fallbacks[requirement] = <size_t><void *>fallback
    return 0


cdef Kernel fallback_of(str name) except NULL:
    requirement = requirements[name]
    if requirement not in fallbacks:
        import_module(f"ts.backends.cpu.kernels.{FALLBACK_MODULES[requirement]}")
    return <Kernel><void *><size_t>fallbacks[requirement]


cdef int register_tile(str name, ReadTile read) except -1:
    tiles[name] = <size_t><void *>read
    return 0


cdef ReadTile find_tile(str name) except? NULL:
    return <ReadTile>find_address(tiles, name)


cdef int register_view(str name, ReadView read) except -1:
    views[name] = <size_t><void *>read
    return 0


cdef ReadView find_view(str name) except? NULL:
    return <ReadView>find_address(views, name)


cdef int register_channels(str name, ReadChannels read) except -1:
    channels[name] = <size_t><void *>read
    return 0


cdef ReadChannels find_channels(str name) except? NULL:
    return <ReadChannels>find_address(channels, name)


cdef int register_epilogue(str name, ReadEpilogue read) except -1:
    epilogues[name] = <size_t><void *>read
    return 0


cdef ReadEpilogue find_epilogue(str name) except? NULL:
    return <ReadEpilogue>find_address(epilogues, name)


cdef int register_choice(str name, int mask, int first, int second) except -1:
    choices[name] = (mask, first, second)
    return 0


cdef tuple find_choice(str name):
    import_registering_module(name)
    return choices.get(name)


cdef int register_conversion(str name) except -1:
    conversions.add(name)
    return 0


cdef bint is_conversion(str name) except -1:
    import_registering_module(name)
    return name in conversions


cdef int register_loops(str name, object ufunc_loops) except -1:
    loops[name] = ufunc_loops
    return 0


cdef object find_loops(str name):
    import_registering_module(name)
    return loops.get(name)
