"""Classes that override functions: `__torch_function__`."""

from cpython.object cimport PyObject

# Whether one of the arguments of a call, or of their lists and tuples, is of such a class; named ones stand behind the others.
cdef bint any_overrides(PyObject *const *args, Py_ssize_t count) except -1
