"""Classes that override functions: `__torch_function__`."""

from cpython.object cimport PyObject

# Whether an argument, or an item of its lists and tuples, is of such a class; keyword arguments come last.
cdef bint any_overrides(PyObject *const *args, Py_ssize_t count) except -1
