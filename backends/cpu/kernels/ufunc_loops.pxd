"""Lookup of the inner loops of NumPy's generalized ufuncs, which kernels call without the overhead for arguments.

A kernel that uses this module calls `cnp.import_ufunc()`. Example:

    find_ufunc_loop(import_module("numpy.fft._pocketfft_umath"), "fft", "Ff->F", &loop)
"""

cimport numpy as cnp

from ts.backends.cpu.kernels.tensor_iterator cimport Loop

ctypedef struct UfuncLoop:
    Loop function                      # NULL if NumPy has no such loop
    void *data


cdef inline int find_ufunc_loop(module, str name, str types, UfuncLoop *loop) except -1:
    """Set `loop` to the loop for the dtypes `types` of the ufunc `name` of `module`. A missing loop stays NULL."""
    cdef cnp.ufunc ufunc
    cdef int i
    candidate = getattr(module, name, None)
    if not isinstance(candidate, cnp.ufunc):
        return 0
    ufunc = candidate
    for i in range(ufunc.ntypes):
        if candidate.types[i] == types:
            loop.function = <Loop><void *>ufunc.functions[i]
            loop.data = NULL if ufunc.data == NULL else ufunc.data[i]
    return 0
