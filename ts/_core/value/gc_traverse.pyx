"""Cyclic garbage collection of reference cycles through containers, by their type slots `tp_traverse`.

Cython generates traversal only for attributes that are Python objects. The import of this module therefore
replaces the slots `tp_traverse` and `tp_clear` of each container class. The new functions also visit the C
arrays. The classes are final, so no subclass inherits the old slots.
"""

from cpython.ref cimport PyObject
from libc.stdlib cimport free

from ts._core.thread.allowance cimport credit_bytes, limited
from ts._core.value.container cimport Dict, List, Object, TAG_DELETED, Tuple, dict_clear
from ts._core.value.lists cimport item_bytes, release_items
from ts._core.value.tagged cimport IValue, TAG_NONE, TAG_OBJECT, set_none, set_object_steal


cdef extern from "Python.h":
    # C functions of type objects. Their arguments are declared as borrowed pointers, because the reference counts of
    # objects must not change during a garbage collection.
    ctypedef int (*Visit "visitproc")(PyObject *x, void *arg) noexcept
    ctypedef int (*Traverse "traverseproc")(PyObject *x, Visit visit, void *arg) noexcept
    ctypedef int (*Clear "inquiry")(PyObject *x) noexcept
    ctypedef struct TypeSlots "PyTypeObject":
        Traverse tp_traverse
        Clear tp_clear
    void PyType_Modified(TypeSlots *t) noexcept


cdef Traverse list_base_traverse = (<TypeSlots *>List).tp_traverse
cdef Traverse tuple_base_traverse = (<TypeSlots *>Tuple).tp_traverse
cdef Traverse dict_base_traverse = (<TypeSlots *>Dict).tp_traverse
cdef Traverse object_base_traverse = (<TypeSlots *>Object).tp_traverse
cdef Clear list_base_clear = (<TypeSlots *>List).tp_clear
cdef Clear tuple_base_clear = (<TypeSlots *>Tuple).tp_clear
cdef Clear dict_base_clear = (<TypeSlots *>Dict).tp_clear
cdef Clear object_base_clear = (<TypeSlots *>Object).tp_clear


cdef inline int visit_value(IValue *x, Visit visit, void *arg) noexcept:
    if x.tag == TAG_OBJECT and x.v.o != NULL:
        return visit(x.v.o, arg)
    return 0


cdef int visit_items(IValue *items, Py_ssize_t n, Visit visit, void *arg) noexcept:
    cdef Py_ssize_t i
    cdef int status
    for i in range(n):
        status = visit_value(items + i, visit, arg)
        if status:
            return status
    return 0


cdef int list_traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = list_base_traverse(x, visit, arg)
    if status or (<List>x).item != TAG_NONE:
        return status
    return visit_items(<IValue *>(<List>x).items, (<List>x).size, visit, arg)


cdef int tuple_traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = tuple_base_traverse(x, visit, arg)
    return status if status else visit_items((<Tuple>x).items, (<Tuple>x).size, visit, arg)


cdef int object_traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = object_base_traverse(x, visit, arg)
    return status if status else visit_items((<Object>x).slots, (<Object>x).size, visit, arg)


cdef int dict_traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = dict_base_traverse(x, visit, arg)
    cdef Py_ssize_t i
    for i in range((<Dict>x).used):
        if status == 0 and (<Dict>x).entries[i].key.tag != TAG_DELETED:
            status = visit_value(&(<Dict>x).entries[i].key, visit, arg)
            if status == 0:
                status = visit_value(&(<Dict>x).entries[i].value, visit, arg)
    return status


cdef int list_clear(PyObject *x) noexcept:
    cdef Py_ssize_t n = (<List>x).size, capacity = (<List>x).capacity
    cdef void *items = (<List>x).items
    (<List>x).size = (<List>x).capacity = 0
    (<List>x).items = NULL
    if (<List>x).item == TAG_NONE:
        release_items(<IValue *>items, n)
    free(items)
    if limited:
        credit_bytes(capacity * item_bytes((<List>x).item))
    return list_base_clear(x)


cdef int tuple_clear(PyObject *x) noexcept:
    cdef Py_ssize_t i
    for i in range((<Tuple>x).size):
        set_none(&(<Tuple>x).items[i])
    return tuple_base_clear(x)


cdef int object_clear(PyObject *x) noexcept:
    cdef Py_ssize_t i
    for i in range((<Object>x).size):  # numbers stay: typed code reads number slots without a tag check
        if (<Object>x).slots[i].tag == TAG_OBJECT:
            set_object_steal(&(<Object>x).slots[i], NULL)
    return object_base_clear(x)


cdef int dict_clear_slot(PyObject *x) noexcept:
    dict_clear(x)
    return dict_base_clear(x)


cdef void replace_gc_slots(type cls, Traverse traverse, Clear clear) noexcept:
    cdef TypeSlots *slots = <TypeSlots *>cls
    slots.tp_traverse = traverse
    slots.tp_clear = clear
    PyType_Modified(slots)


replace_gc_slots(List, list_traverse, list_clear)
replace_gc_slots(Tuple, tuple_traverse, tuple_clear)
replace_gc_slots(Object, object_traverse, object_clear)
replace_gc_slots(Dict, dict_traverse, dict_clear_slot)
