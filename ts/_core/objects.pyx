"""The body of Object, the instance of a scripted class; `objects.pxd` holds the accessors."""

cimport cython
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ts._core.lists cimport release_items


@cython.final
@cython.trashcan(True)  # linked structures may be deep
cdef class Object:
    def __dealloc__(self):
        release_items(self.slots, self.size)
        free(self.slots)


cdef Object object_new(object cls, Py_ssize_t size):
    cdef Object x = Object.__new__(Object)
    x.cls = cls
    x.slots = <IValue *>malloc(max(size, 1) * sizeof(IValue))
    if x.slots == NULL:
        raise MemoryError()
    memset(x.slots, 0, size * sizeof(IValue))
    x.size = size
    return x
