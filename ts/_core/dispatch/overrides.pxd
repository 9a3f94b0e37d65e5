"""Test for arguments whose classes define `__torch_function__`."""

from cpython.object cimport PyObject

# Return whether an argument, or an item of an argument that is a list or tuple, has a class that defines
# `__torch_function__`.
cdef bint any_overrides(PyObject *const *args, Py_ssize_t count) except -1
