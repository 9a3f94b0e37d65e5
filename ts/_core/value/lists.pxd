"""The types List and Tuple, with the element layout of lists.

The element layout of a list depends only on the list's type and never changes. The table shows the memory and
the tag of the items for each type:

    List[int], List[float]    items -> [ int64 | int64 | ... ]        item TAG_INT, TAG_FLOAT
    List[bool]                items -> [ byte | byte | ... ]          item TAG_BOOL
    any other                 items -> [ IValue | IValue | ... ]      item TAG_NONE: each item has its own tag

`container.pxd` describes the properties of all containers.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue, TAG_BOOL, TAG_NONE, Tag, assign, copy_value, retain


cdef enum:
    INLINE_ITEMS = 4


@cython.final
cdef class List:
    cdef void *items
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef Tag item                     # IValue tag of all items if the list stores numbers without tags, else TAG_NONE
    cdef readonly TypeSpec spec       # type of the list, such as List[int]


@cython.final
cdef class Tuple:
    cdef IValue *items
    cdef Py_ssize_t size
    cdef IValue inline_items[4]
    cdef readonly TypeSpec spec


# Base class of ScriptList and ScriptDict (`script_containers.pyx`), which wrap a container that Python code shares with
# scripts. It is defined here because most programs do not import that module.
cdef class SharedContainer:
    # Return the container. Unless `spec` is None, an empty container first gets the type `spec` if nothing
    # else refers to the container.
    cdef object core_of_type(self, TypeSpec spec)


# ---------------------------------------------------------------- construction (functions return new
# references)

# Create a list with memory for `capacity` items and size 0. The caller stores items 0 to n - 1 by `list_store`, then
# sets `size` to n.
cdef List list_new(TypeSpec spec, Py_ssize_t capacity)
# Create a tuple of None items, which the caller overwrites in place.
cdef Tuple tuple_new(TypeSpec spec, Py_ssize_t size)

cdef void release_items(IValue *items, Py_ssize_t n) noexcept nogil

# ---------------------------------------------------------------- errors: acquire the GIL and return -1

cdef int raise_list_index() except -1 nogil
cdef int raise_no_memory() except -1 nogil

# ---------------------------------------------------------------- lists

cdef int list_grow(PyObject *x, Py_ssize_t size) except -1 nogil
# Return a new list of the `n` items at start, start + step, and so on.
cdef List list_slice(List x, int64_t start, int64_t step, Py_ssize_t n)
cdef int list_remove_at(PyObject *x, Py_ssize_t i, IValue *out) except -1 nogil
# Copy the first `n` items of list `other` to the items start, start + 1, ... of `x`. The items that are
# overwritten in `x` are not released.
cdef void list_fill(PyObject *x, Py_ssize_t start, PyObject *other, Py_ssize_t n) noexcept
cdef void list_reverse(PyObject *x) noexcept nogil
# Remove all items. The list is empty before the first item is released, since finalizers may read the list.
cdef int list_clear_items(PyObject *x) except -1


cdef inline Py_ssize_t list_size(PyObject *x) noexcept nogil:
    return (<List>x).size


cdef inline Py_ssize_t item_bytes(Tag item) noexcept nogil:
    """Return the size of one item in bytes."""
    return sizeof(IValue) if item == TAG_NONE else 1 if item == TAG_BOOL else sizeof(int64_t)


cdef inline Py_ssize_t list_index(PyObject *x, int64_t i) noexcept nogil:
    """Return index `i`, which may count from the end, as a non-negative index, or -1 if out of range."""
    if i < 0:
        i += (<List>x).size
    return i if <size_t>i < <size_t>(<List>x).size else -1


# ---- access by a valid, non-negative index

cdef inline IValue list_item(PyObject *x, Py_ssize_t i) noexcept nogil:
    """Return x[i] as a borrowed reference."""
    cdef IValue value
    if (<List>x).item == TAG_NONE:
        return (<IValue *>(<List>x).items)[i]
    value.v.i = list_number(x, i)
    value.tag = (<List>x).item
    return value


cdef inline void list_store(PyObject *x, Py_ssize_t i, IValue *value) noexcept nogil:
    """Store `value` at x[i], stealing its reference. The old item is not released."""
    if (<List>x).item == TAG_NONE:
        assign(&(<IValue *>(<List>x).items)[i], value)
    else:
        list_store_number(x, i, value.v.i)


cdef inline void list_replace(PyObject *x, Py_ssize_t i, IValue *value) noexcept nogil:
    """Set x[i] to `value` with a new reference, and release the old item."""
    if (<List>x).item == TAG_NONE:
        copy_value(&(<IValue *>(<List>x).items)[i], value)
    else:
        list_store_number(x, i, value.v.i)


cdef inline int64_t list_number(PyObject *x, Py_ssize_t i) noexcept nogil:
    """Return the payload of x[i] in a list of numbers."""
    if (<List>x).item == TAG_BOOL:
        return (<char *>(<List>x).items)[i]
    return (<int64_t *>(<List>x).items)[i]


cdef inline void list_store_number(PyObject *x, Py_ssize_t i, int64_t value) noexcept nogil:
    if (<List>x).item == TAG_BOOL:
        (<char *>(<List>x).items)[i] = <char>value
    else:
        (<int64_t *>(<List>x).items)[i] = value


cdef inline IValue *list_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    """Return the address of x[i]. The list must store IValues, not unboxed numbers."""
    return &(<IValue *>(<List>x).items)[i]


# ---- access by any index

cdef inline int list_get_item(PyObject *x, int64_t i, IValue *out) except -1 nogil:
    """Set `out` to x[i], and release the old value of `out`. Raise IndexError for an index out of range."""
    cdef Py_ssize_t index = list_index(x, i)
    cdef IValue value
    if index < 0:
        return raise_list_index()
    value = list_item(x, index)
    copy_value(out, &value)
    return 0


cdef inline int list_set_item(PyObject *x, int64_t i, IValue *value) except -1 nogil:
    """Set x[i] to `value`. Raise IndexError for an index out of range."""
    cdef Py_ssize_t index = list_index(x, i)
    if index < 0:
        return raise_list_index()
    list_replace(x, index, value)
    return 0


cdef inline int list_append(PyObject *x, IValue *value) except -1 nogil:
    cdef Py_ssize_t n = (<List>x).size
    if n == (<List>x).capacity:
        list_grow(x, n + 1)
    retain(value)
    list_store(x, n, value)
    (<List>x).size = n + 1
    return 0


# ---------------------------------------------------------------- tuples

cdef inline IValue *tuple_at(PyObject *x, Py_ssize_t i) noexcept nogil:
    """Return the address of item `i`. The type of the tuple guarantees that `i` is in range."""
    return &(<Tuple>x).items[i]
