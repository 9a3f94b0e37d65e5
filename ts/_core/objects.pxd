"""Object: the instance of a scripted class; see `container.pxd` for what holds of every container."""

cimport cython
from cpython.ref cimport PyObject

from ts._core.tagged cimport IValue


@cython.final
cdef class Object:
    cdef IValue *slots
    cdef Py_ssize_t size
    cdef readonly object cls          # describes the scripted class: attribute names, methods


# All slots None: overwrite them in place.  New reference.
cdef Object object_new(object cls, Py_ssize_t size)


cdef inline IValue *object_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    return &(<Object>x).slots[i]
