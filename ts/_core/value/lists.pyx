"""List, a dynamic array with capacity and amortized growth, and Tuple, with inline storage of few items.

Python code can read lists and tuples (len, iteration, ==, repr) and create them with `ivalue.to_core`. Only
operators modify them. `lists.pxd` has the inline accessors. `container.pxd` describes the memory layout.

    >>> to_core([1, 2], List[int])
    [1, 2]
"""

cimport cython
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

from ts._core.thread.allowance cimport credit_bytes, limited, take_bytes
from ts._core.value.ivalue cimport box_shallow
from ts._core.value.no_python_construction cimport seal
from ts._core.value.spec cimport KIND_BOOL, KIND_FLOAT, KIND_INT
from ts._core.value.tagged cimport TAG_FLOAT, TAG_INT, release
from ts._core.value.values cimport core_equal, core_text


cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void *o) noexcept


cdef int raise_list_index() except -1 nogil:
    with gil:
        raise IndexError("list index out of range")


cdef int raise_no_memory() except -1 nogil:
    with gil:
        raise MemoryError()


cdef class SharedContainer:
    cdef object core_of_type(self, TypeSpec spec):
        raise NotImplementedError


# ---------------------------------------------------------------- List

cdef enum:
    LIST_BYTES = 64      # bytes of a list without its items, as counted for the memory limit
    TUPLE_BYTES = 64


@cython.final
@cython.freelist(64)
cdef class List:
    def __dealloc__(self):
        if owns_items(self):
            release_items(<IValue *>self.items, self.size)
        free(self.items)
        if limited:
            credit_bytes(LIST_BYTES + self.capacity * item_bytes(self.item))

    def __len__(self):
        return self.size

    def __getitem__(self, Py_ssize_t i):
        cdef Py_ssize_t index = list_index(<PyObject *>self, i)
        cdef IValue value
        if index < 0:
            raise_list_index()
        value = list_item(<PyObject *>self, index)
        return box_shallow(&value)

    def __iter__(self):
        cdef Py_ssize_t i = 0
        cdef IValue value
        while i < self.size:
            value = list_item(<PyObject *>self, i)
            yield box_shallow(&value)
            i += 1

    def __eq__(self, other):
        return core_equal(self, other)

    __hash__ = None

    def __repr__(self):
        return core_text(self)


seal(List)


cdef inline bint owns_items(List x) noexcept:
    """Return whether items may be references to objects."""
    return x.item == TAG_NONE and (x.spec is None or not (<TypeSpec>x.spec.children[0]).plain)


cdef inline Tag item_of(TypeSpec spec) noexcept:
    """Return the tag of all items of a list that stores plain numbers (int, float or bool) without tags.

    Return TAG_NONE for other lists, in which each item has a tag.
    """
    cdef int kind = (<TypeSpec>spec.children[0]).kind
    return TAG_INT if kind == KIND_INT else TAG_FLOAT if kind == KIND_FLOAT else TAG_BOOL if kind == KIND_BOOL else TAG_NONE


cdef List list_new(TypeSpec spec, Py_ssize_t capacity):
    cdef Tag item = TAG_NONE if spec is None else item_of(spec)
    if limited:
        take_bytes(LIST_BYTES + capacity * item_bytes(item))
    cdef List x = List.__new__(List)
    x.item = item
    if spec is not None:
        x.spec = spec
        if (<TypeSpec>spec.children[0]).acyclic:
            PyObject_GC_UnTrack(<PyObject *>x)  # no reference cycle can contain the list
    if capacity > 0:
        x.items = malloc(capacity * item_bytes(item))
        if x.items == NULL:
            raise MemoryError()
        x.capacity = capacity
    return x


cdef int list_grow(PyObject *x, Py_ssize_t size) except -1 nogil:
    """Allocate memory for `size` items, with spare capacity, so that appends take amortized constant time."""
    cdef Py_ssize_t capacity
    cdef void *items
    if size <= (<List>x).capacity:
        return 0
    capacity = size + (size >> 3) + 6
    if size > (<Py_ssize_t>1 << 58):
        return raise_no_memory()
    if limited:
        take_bytes((capacity - (<List>x).capacity) * item_bytes((<List>x).item))
    items = realloc((<List>x).items, capacity * item_bytes((<List>x).item))
    if items == NULL:
        return raise_no_memory()
    (<List>x).items = items
    (<List>x).capacity = capacity
    return 0


cdef List list_slice(List x, int64_t start, int64_t step, Py_ssize_t n):
    cdef List result = list_new(x.spec, n)
    cdef Py_ssize_t i
    cdef IValue value
    while n > 0 and max(start, start + (n - 1) * step) >= x.size:
        n -= 1  # the allocation of `result` may have run finalizers that shortened x
    if step == 1 and x.item != TAG_NONE and n > 0:
        memcpy(result.items, <char *>x.items + start * item_bytes(x.item), n * item_bytes(x.item))
    else:
        for i in range(n):
            value = list_item(<PyObject *>x, start + i * step)
            retain(&value)
            list_store(<PyObject *>result, i, &value)
    result.size = n
    return result


cdef int list_remove_at(PyObject *x, Py_ssize_t i, IValue *out) except -1 nogil:
    """Remove item `i`, which must be in range, and move it to `out`. The old value of `out` is not released."""
    cdef Py_ssize_t bytes = item_bytes((<List>x).item), rest = (<List>x).size - i - 1
    cdef char *slot = <char *>(<List>x).items + i * bytes
    out[0] = list_item(x, i)
    if rest:
        memmove(slot, slot + bytes, rest * bytes)
    (<List>x).size = (<List>x).size - 1
    return 0


cdef void list_fill(PyObject *x, Py_ssize_t start, PyObject *other, Py_ssize_t n) noexcept:
    cdef Py_ssize_t i, bytes = item_bytes((<List>x).item)
    cdef IValue value
    if (<List>x).item == (<List>other).item and n > 0:
        memcpy(<char *>(<List>x).items + start * bytes, (<List>other).items, n * bytes)
        if not owns_items(<List>x):
            return
        for i in range(n):
            retain(&(<IValue *>(<List>x).items)[start + i])
        return
    for i in range(n):
        value = list_item(other, i)
        retain(&value)
        list_store(x, start + i, &value)


cdef void list_reverse(PyObject *x) noexcept nogil:
    cdef Py_ssize_t i, last = (<List>x).size - 1
    cdef IValue value, other
    for i in range((<List>x).size // 2):
        value, other = list_item(x, i), list_item(x, last - i)
        list_store(x, i, &other)
        list_store(x, last - i, &value)


cdef int list_clear_items(PyObject *x) except -1:
    cdef Py_ssize_t n = (<List>x).size, capacity = (<List>x).capacity
    cdef void *items = (<List>x).items
    (<List>x).size = 0
    if not owns_items(<List>x):
        return 0
    (<List>x).items = NULL
    (<List>x).capacity = 0
    release_items(<IValue *>items, n)  # may run Python code that reads x
    if (<List>x).items == NULL:
        (<List>x).items, (<List>x).capacity = items, capacity
        return 0
    free(items)
    if limited:
        credit_bytes(capacity * sizeof(IValue))
    return 0


# Releasing an item may free a container, which releases its own items by recursion on the C stack. From the
# recursion depth MAX_RELEASE on, items are therefore appended to an array. The outermost call releases the
# items in the array.

cdef enum:
    MAX_RELEASE = 100

cdef int release_depth = 0
cdef IValue *postponed = NULL
cdef Py_ssize_t postponed_count = 0, postponed_room = 0


cdef void release_items(IValue *items, Py_ssize_t n) noexcept nogil:
    global release_depth
    cdef Py_ssize_t i
    if n == 0 or (release_depth >= MAX_RELEASE and postpone(items, n)):
        return
    release_depth += 1
    for i in range(n):
        release(items + i)
    release_depth -= 1
    if release_depth == 0 and postponed_count:
        release_postponed()


cdef bint postpone(IValue *items, Py_ssize_t n) noexcept nogil:
    """Append items to the array of items that the outermost release operation releases at its end.

    Return False if memory is exhausted.
    """
    global postponed, postponed_count, postponed_room
    cdef Py_ssize_t room = 2 * (postponed_count + n)
    cdef IValue *larger
    if postponed_count + n > postponed_room:
        larger = <IValue *>realloc(postponed, room * sizeof(IValue))
        if larger == NULL:
            return False
        postponed, postponed_room = larger, room
    memcpy(postponed + postponed_count, items, n * sizeof(IValue))
    postponed_count += n
    return True


cdef void release_postponed() noexcept nogil:
    global release_depth, postponed, postponed_count, postponed_room
    cdef IValue item
    while postponed_count:
        postponed_count -= 1
        item = postponed[postponed_count]
        release_depth += 1
        release(&item)
        release_depth -= 1
    free(postponed)
    postponed = NULL
    postponed_room = 0


# ---------------------------------------------------------------- Tuple

@cython.final
@cython.freelist(64)
cdef class Tuple:
    def __dealloc__(self):
        release_items(self.items, self.size)
        if self.items != self.inline_items:
            free(self.items)
        if limited:
            credit_bytes(TUPLE_BYTES + self.size * sizeof(IValue))

    def __len__(self):
        return self.size

    def __getitem__(self, Py_ssize_t i):
        if i < 0:
            i += self.size
        if not 0 <= i < self.size:
            raise IndexError("tuple index out of range")
        return box_shallow(&self.items[i])

    def __iter__(self):
        for i in range(self.size):
            yield box_shallow(&self.items[i])

    def __eq__(self, other):
        return core_equal(self, other)

    __hash__ = None

    def __repr__(self):
        return core_text(self)


seal(Tuple)


cdef Tuple tuple_new(TypeSpec spec, Py_ssize_t size):
    if limited:
        take_bytes(TUPLE_BYTES + size * sizeof(IValue))
    cdef Tuple x = Tuple.__new__(Tuple)
    x.spec = spec
    if spec is not None and spec.acyclic:
        PyObject_GC_UnTrack(<PyObject *>x)
    if size <= INLINE_ITEMS:
        x.items = x.inline_items
    else:
        x.items = <IValue *>malloc(size * sizeof(IValue))
        if x.items == NULL:
            raise MemoryError()
    memset(x.items, 0, size * sizeof(IValue))  # sets all items to None, because TAG_NONE is 0
    x.size = size
    return x
