"""Object: the instance of a scripted class; see `container.pxd` for the properties of all containers.

    ObjectClass  names, specs: the attributes by slot        tags -> [ tag | tag ]     of a new object's slots
    Object       slots -> [ IValue | IValue ]                cls: its ObjectClass

The slot of a number attribute has its final tag from creation, so typed code copies only the 8-byte payload.  The slot
of an object attribute is NULL until it is assigned.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.tagged cimport IValue


@cython.final
cdef class ObjectClass:
    """Layout of a scripted class: attribute names, types and initial tags."""
    cdef readonly str name            # qualified
    cdef readonly object type         # the compiler's type, opaque for the core
    cdef readonly tuple names         # attribute names by slot; None until the first object is created
    cdef readonly tuple specs         # their TypeSpecs
    cdef public object spec           # the TypeSpec of the class itself
    cdef public object less           # less(a, b) -> bool, defined by `__lt__`; None before first use
    cdef object describe              # describe() -> (names, specs), called once
    cdef int64_t *tags
    cdef Py_ssize_t size

    cpdef int settle(self) except -1  # call `describe` and store names and specs


@cython.final
cdef class Object:
    cdef IValue *slots
    cdef Py_ssize_t size
    cdef readonly ObjectClass cls
    cdef object __weakref__


# Create an object, a new reference; numbers are 0, optionals None, other slots unset.
cdef Object object_new(ObjectClass cls)


cdef inline IValue *object_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    return &(<Object>x).slots[i]
