"""Classes whose objects only this program makes.

    seal(List)        List(), List.__new__(List), copies and pickles: TypeError, for subclasses too

Nobody can hold an object that nothing has filled then.  Methods of a sealed class read what its maker wrote and ask no
more; the maker stands in the class's own file, where `List.__new__(List)` is a call of the C function.  Classes that
Python makes are filled by `__cinit__`, which no way leads around either.
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
