"""Test for arguments whose classes define `__torch_function__`."""

from cpython.object cimport PyObject

# Return whether the class of an argument, or of an item of a list or tuple argument, defines
# `__torch_function__`.
cdef bint any_overrides(PyObject *const *args, Py_ssize_t count) except -1
