"""Prevention of object creation from Python, for classes whose fields are set by C code after creation.

After `seal(List)`, `List()`, `List.__new__(List)`, copies and pickles raise TypeError, also for subclasses of
List. Therefore, methods of a sealed class need no checks for unset fields. In the file that defines the
class, Cython compiles `List.__new__(List)` to a C call, which still creates objects.
"""

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct TypeSlots "PyTypeObject":
        void *tp_new
        void *tp_vectorcall
        PyObject *tp_dict
    void PyType_Modified(TypeSlots *cls) noexcept


cdef inline int seal(type cls) except -1:
    cdef TypeSlots *slots = <TypeSlots *>cls
    del (<dict>slots.tp_dict)["__new__"]
    slots.tp_new = slots.tp_vectorcall = NULL
    PyType_Modified(slots)
    return 0
