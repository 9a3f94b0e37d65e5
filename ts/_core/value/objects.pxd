"""Object: the instance of a scripted class; see `container.pxd` for what holds of every container.

    ObjectClass  names, specs: the attributes by slot        tags -> [ tag | tag ]     of a new object's slots
    Object       slots -> [ IValue | IValue ]                cls: its ObjectClass

A slot whose attribute is a number has the right tag from the beginning, so that reading and writing it is
copying eight bytes; one that holds an object is NULL until the attribute is assigned.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.tagged cimport IValue


@cython.final
cdef class ObjectClass:
    """Layout of a scripted class: attribute names, types and initial tags."""
    cdef readonly str name            # qualified
    cdef readonly object type         # the compiler's type, which the core only hands on
    cdef readonly tuple names         # attributes by slot; None until the first object is made
    cdef readonly tuple specs         # their TypeSpecs
    cdef public object spec           # the TypeSpec of the class itself
    cdef public object less           # (a, b) -> bool: the order that `__lt__` defines; None until asked for
    cdef object describe              # () -> (names, specs), asked once
    cdef int64_t *tags
    cdef Py_ssize_t size

    cpdef int settle(self) except -1  # the class is complete: take over names and specs


@cython.final
cdef class Object:
    cdef IValue *slots
    cdef Py_ssize_t size
    cdef readonly ObjectClass cls
    cdef object __weakref__


# Numbers are zero, optionals None, all other slots unset.  New reference.
cdef Object object_new(ObjectClass cls)


cdef inline IValue *object_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    return &(<Object>x).slots[i]
