"""Object, an instance of a scripted class.

The memory of a class and of an instance is:

    ObjectClass  names, specs: the attributes by slot        tags -> [ tag | tag ]     of a new object's slots
    Object       slots -> [ IValue | IValue ]                cls: its ObjectClass

In a new object, the slot of a number attribute already has the tag of its type. Typed code then copies only
the 8-byte payload. The slot of an object attribute is NULL until it is assigned. `container.pxd` describes
the properties of all containers.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.tagged cimport IValue


@cython.final
cdef class ObjectClass:
    """Layout of a scripted class: for each attribute slot, the name, the type and the IValue tag before assignment."""
    cdef readonly str name            # qualified name of the class
    cdef readonly object type         # type of the class in `ts.ir.types`, which the core does not inspect
    cdef readonly tuple names         # attribute name of each slot, or None before the first object is created
    cdef readonly tuple specs         # TypeSpec of the attribute in each slot
    cdef public object spec           # TypeSpec of the class
    # Python function less(a, b) -> bool that calls the method `__lt__`, or None before the first comparison
    cdef public object less
    cdef object describe              # function that returns (names, specs). `settle` calls it once.
    cdef int64_t *tags
    cdef Py_ssize_t size

    cpdef int settle(self) except -1  # call `describe` and store the names and specs


@cython.final
cdef class Object:
    cdef IValue *slots
    cdef Py_ssize_t size
    cdef readonly ObjectClass cls
    cdef object __weakref__


# Create an object and return a new reference to it. In its slots, numbers are 0, values of optional types are
# None, and all other values are unset.
cdef Object object_new(ObjectClass cls)


cdef inline IValue *object_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    return &(<Object>x).slots[i]
