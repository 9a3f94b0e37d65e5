"""Implementation of Object and ObjectClass. Their layout and inline accessors are in `objects.pxd`."""

cimport cython
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from ts._core.thread.allowance cimport credit_bytes, limited, take_bytes
from ts._core.value.lists cimport release_items
from ts._core.value.no_python_construction cimport seal
from ts._core.value.spec cimport (
    KIND_ANY,
    KIND_BOOL,
    KIND_FLOAT,
    KIND_INT,
    KIND_NONE,
    KIND_NUMBER,
    KIND_OPTIONAL,
    KIND_UNION,
    TypeSpec,
)
from ts._core.value.tagged cimport TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT


@cython.final
cdef class ObjectClass:
    def __cinit__(self, str name not None, describe, type=None):
        """Store `describe`, a function that returns two lists for the attributes: (names, specs).

        It is called when the first object of the class is created.
        """
        self.name = name
        self.describe = describe
        self.type = type

    def __dealloc__(self):
        free(self.tags)

    def __repr__(self):
        return f"<ObjectClass {self.name}>"

    cpdef int settle(self) except -1:
        cdef Py_ssize_t i
        if self.names is not None:
            return 0
        names, specs = self.describe()
        if self.names is not None:  # `describe` may have let another thread set them
            return 0
        if len(names) != len(specs):
            raise ValueError(f"{self.name} has {len(names)} attribute names, but {len(specs)} attribute types")
        self.tags = <int64_t *>malloc(max(len(specs), 1) * sizeof(int64_t))
        if self.tags == NULL:
            raise MemoryError()
        for i, spec in enumerate(specs):
            self.tags[i] = first_tag(<TypeSpec?>spec)
        self.size = len(specs)
        self.specs = tuple(specs)
        self.names = tuple(names)
        return 0

    def slot(self, str name):
        """Return the slot number of an attribute, or -1 if the class has no such attribute."""
        self.settle()
        return self.names.index(name) if name in self.names else -1


cdef int64_t first_tag(TypeSpec spec) noexcept:
    """Return the tag of an unassigned attribute slot of type `spec`."""
    if spec.kind == KIND_INT:
        return TAG_INT
    if spec.kind == KIND_FLOAT:
        return TAG_FLOAT
    if spec.kind == KIND_BOOL:
        return TAG_BOOL
    if spec.kind in (KIND_NONE, KIND_OPTIONAL, KIND_ANY, KIND_UNION, KIND_NUMBER):
        return TAG_NONE
    return TAG_OBJECT


cdef enum:
    OBJECT_BYTES = 64    # bytes of an object without its slots, as counted for the memory limit


@cython.final
@cython.trashcan(True)  # limits the recursion when deep linked structures are released
cdef class Object:
    def __dealloc__(self):
        release_items(self.slots, self.size)
        free(self.slots)
        if limited:
            credit_bytes(OBJECT_BYTES + self.size * sizeof(IValue))

    def __repr__(self):
        return f"<{self.cls.name} object at {<size_t><void *>self:#x}>"


seal(Object)


cdef Object object_new(ObjectClass cls):
    cdef Py_ssize_t i
    cls.settle()
    if limited:
        take_bytes(OBJECT_BYTES + cls.size * sizeof(IValue))
    cdef Object x = Object.__new__(Object)
    x.cls = cls
    x.slots = <IValue *>malloc(max(cls.size, 1) * sizeof(IValue))
    if x.slots == NULL:
        raise MemoryError()
    for i in range(cls.size):
        x.slots[i].v.i = 0
        x.slots[i].tag = cls.tags[i]
    x.size = cls.size
    return x
