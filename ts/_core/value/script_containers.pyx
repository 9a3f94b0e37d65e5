"""ScriptList and ScriptDict, the results of `ts.jit.script` for a list or dictionary.

Python and scripts share the container without a copy. Each new item must have the item type of the container.

Example:

    shared = ts.jit.script([1, 2])
    f(shared)                           a script, which may change the list
    shared.append(3)

`[]` becomes a List[Tensor] and `{}` a Dict[str, Tensor]. An empty container changes its type if it is passed
to a script that expects another type.
"""

from cpython.ref cimport PyObject

from ts._core.late_binding import resolve
from ts._core.value.container cimport (
    TAG_DELETED,
    dict_contains,
    dict_find,
    dict_new,
    dict_pop,
    dict_set,
    list_append,
    list_clear_items,
    list_fill,
    list_grow,
    list_item,
    list_new,
    list_remove_at,
    list_replace,
    list_slice,
    list_store,
)
from ts._core.value.ivalue cimport (
    INT_SPEC,
    IValue,
    KIND_DICT,
    STR_SPEC,
    TENSOR_SPEC,
    TypeSpec,
    box,
    list_spec,
    release,
    retain,
    unbox,
)
from ts._core.value.values cimport core_text


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *o) noexcept


cdef TypeSpec EMPTY_DICT_SPEC = TypeSpec(KIND_DICT, (STR_SPEC, TENSOR_SPEC), "Dict[str, Tensor]")


cdef bint may_change_type(PyObject *core, TypeSpec own, TypeSpec expected) except -1:
    """Return whether an empty container may be replaced by one of type `expected`.

    It must have no other references.
    """
    return expected is not None and own.kind == expected.kind and Py_REFCNT(core) == 1 and len(<object>core) == 0


cdef object to_shared_core(object x, type cls, TypeSpec empty_spec):
    """Convert the Python list or dict `x`, an instance of `cls`, to a core container of the inferred type.

    An empty container gets the type `empty_spec`.
    """
    cdef IValue value
    if not isinstance(x, cls):
        raise TypeError(f"__init__(): incompatible constructor arguments: expected a {cls.__name__}, not {x!r}")
    spec = resolve("container_spec")(x) if x else empty_spec
    try:
        unbox(x, spec, &value)
    except TypeError as error:  # an integer has more than 64 bits
        raise RuntimeError(str(error)) from None
    try:
        return <object>value.v.o
    finally:
        release(&value)


cdef object boxed(IValue value):
    """Convert a borrowed value to a Python object."""
    retain(&value)
    try:
        return box(&value)
    finally:
        release(&value)


cdef int unbox_item(ScriptList x, object item, IValue *out) except -1:
    return unbox(item, <TypeSpec>x.core.spec.children[0], out)


cdef object converted(ScriptList x, object item):
    """Return an item as Python code reads it from the list: `1` becomes `1.0` in a List[float]."""
    cdef IValue value
    unbox_item(x, item, &value)
    try:
        return box(&value)
    finally:
        release(&value)


cdef Py_ssize_t position(ScriptList x, object index, Py_ssize_t end) except -1:
    """Convert an index to a position between 0 and `end` - 1. A negative index counts from the end."""
    cdef IValue value
    unbox(index, INT_SPEC, &value)
    if value.v.i < 0:
        value.v.i += x.core.size
    if not 0 <= value.v.i < end:
        raise IndexError("list index out of range")
    return value.v.i


cdef class ScriptList(SharedContainer):
    """List that Python and scripts share. All items have one type, which is inferred from the initial items.

    Operations raise TypeError for an item of another type, and IndexError for an index out of range.
    """

    def __cinit__(self):
        self.core = list_new(list_spec(TENSOR_SPEC), 0)

    def __init__(self, items):
        self.core = to_shared_core(items, list, list_spec(TENSOR_SPEC))

    cdef object core_of_type(self, TypeSpec spec):
        if may_change_type(<PyObject *>self.core, self.core.spec, spec):
            self.core = list_new(spec, 0)
        return self.core

    def __len__(self):
        return self.core.size

    def __bool__(self):
        return self.core.size != 0

    def __repr__(self):
        return core_text(self.core)

    def __iter__(self):
        cdef Py_ssize_t i = 0
        while i < self.core.size:
            yield boxed(list_item(<PyObject *>self.core, i))
            i += 1

    def __getitem__(self, index):
        cdef ScriptList part
        if isinstance(index, slice):
            positions = range(*index.indices(self.core.size))
            part = ScriptList.__new__(ScriptList)
            part.core = list_slice(self.core, positions.start, positions.step, len(positions))
            return part
        return boxed(list_item(<PyObject *>self.core, position(self, index, self.core.size)))

    def __setitem__(self, index, item):
        cdef IValue value
        if isinstance(index, slice):
            if not isinstance(item, list):
                raise TypeError(f"__setitem__(): incompatible function arguments: expected a list, not {item!r}")
            positions = range(*index.indices(self.core.size))
            if len(positions) != len(item):
                raise RuntimeError("Left and right hand size of slice assignment have different sizes")
            for i, each in zip(positions, item):
                self[i] = each
            return
        unbox_item(self, item, &value)
        try:
            list_replace(<PyObject *>self.core, position(self, index, self.core.size), &value)
        finally:
            release(&value)

    def __delitem__(self, index):
        self.pop(index)

    def __contains__(self, item):
        return self.count(item) > 0

    def __reduce__(self):
        return type(self), (list(self),)

    def count(self, item):
        """Return the number of items that are equal to `item`."""
        item = converted(self, item)
        return sum([bool(each == item) for each in self])

    def remove(self, item):
        """Remove the first item that is equal to `item`. Raise ValueError if there is none."""
        item = converted(self, item)
        for i, each in enumerate(self):
            if each == item:
                del self[i]
                return
        raise ValueError("ScriptList.remove(x): x not in list")

    def append(self, item):
        cdef IValue value
        unbox_item(self, item, &value)
        try:
            list_append(<PyObject *>self.core, &value)
        finally:
            release(&value)

    def extend(self, items):
        """Append the items of an iterable. Append nothing and raise TypeError if an item has another type."""
        cdef IValue value
        cdef Py_ssize_t n
        unbox(list(items), self.core.spec, &value)
        try:
            n = self.core.size
            list_grow(<PyObject *>self.core, n + (<List>value.v.o).size)
            list_fill(<PyObject *>self.core, n, value.v.o, (<List>value.v.o).size)
            self.core.size = n + (<List>value.v.o).size
        finally:
            release(&value)

    def clear(self):
        list_clear_items(<PyObject *>self.core)

    def pop(self, index=-1):
        """Remove and return the item with index `index`."""
        cdef IValue value
        list_remove_at(<PyObject *>self.core, position(self, index, self.core.size), &value)
        try:
            return box(&value)
        finally:
            release(&value)

    def insert(self, index, item):
        """Insert an item before an index. The length of the list is a valid index, too."""
        cdef Py_ssize_t i = position(self, index, self.core.size + 1), j
        cdef IValue last, value
        cdef PyObject *core = <PyObject *>self.core
        self.append(item)
        last = list_item(core, self.core.size - 1)
        for j in range(self.core.size - 1, i, -1):
            value = list_item(core, j - 1)
            list_store(core, j, &value)
        list_store(core, min(i, self.core.size - 1), &last)


cdef int unbox_key(ScriptDict x, object key, IValue *out) except -1:
    return unbox(key, <TypeSpec>x.core.spec.children[0], out)


cdef int unbox_lookup_key(ScriptDict x, object key, IValue *out) except -1:
    try:
        return unbox_key(x, key, out)
    except TypeError:
        raise KeyError(key) from None


cdef class ScriptDict(SharedContainer):
    """Dictionary that Python and scripts share. All keys have one type and all values have one type.

    Operations raise TypeError for a key or value of another type, and KeyError for a missing key.
    """

    def __cinit__(self):
        self.core = dict_new(EMPTY_DICT_SPEC, 0)

    def __init__(self, items):
        self.core = to_shared_core(items, dict, EMPTY_DICT_SPEC)

    cdef object core_of_type(self, TypeSpec spec):
        if may_change_type(<PyObject *>self.core, self.core.spec, spec):
            self.core = dict_new(spec, 0)
        return self.core

    def __len__(self):
        return self.core.size

    def __bool__(self):
        return self.core.size != 0

    def __repr__(self):
        return core_text(self.core)

    def __iter__(self):
        return self.keys()

    def __contains__(self, key):
        cdef IValue k
        unbox_lookup_key(self, key, &k)
        try:
            return dict_contains(<PyObject *>self.core, &k)
        finally:
            release(&k)

    def __getitem__(self, key):
        cdef IValue k
        cdef IValue *value
        unbox_lookup_key(self, key, &k)
        try:
            value = dict_find(<PyObject *>self.core, &k)
            if value == NULL:
                raise KeyError(key)
            return boxed(value[0])
        finally:
            release(&k)

    def __setitem__(self, key, item):
        cdef IValue k, value
        unbox_key(self, key, &k)
        try:
            unbox(item, <TypeSpec>self.core.spec.children[1], &value)
            try:
                dict_set(<PyObject *>self.core, &k, &value)
            finally:
                release(&value)
        finally:
            release(&k)

    def __delitem__(self, key):
        cdef IValue k, value
        unbox_key(self, key, &k)
        try:
            if not dict_pop(<PyObject *>self.core, &k, &value):
                raise KeyError(key)
            release(&value)
        finally:
            release(&k)

    def __reduce__(self):
        raise TypeError("cannot pickle 'torch._C.ScriptDict' object")

    def keys(self):
        """Return an iterator of the keys."""
        return (key for key, _ in self.items())

    def items(self):
        """Return an iterator of (key, value) tuples."""
        cdef Py_ssize_t i = 0
        while i < self.core.used:
            if self.core.entries[i].key.tag != TAG_DELETED:
                key = boxed(self.core.entries[i].key)
                yield key, boxed(self.core.entries[i].value)
            i += 1
