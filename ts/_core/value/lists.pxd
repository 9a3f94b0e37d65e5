"""List and Tuple: see `container.pxd` for what holds of every container."""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memmove

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue, copy_value, release, retain


cdef enum:
    INLINE_ITEMS = 4


@cython.final
cdef class List:
    cdef IValue *items
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef readonly TypeSpec spec       # of the list, List[int]


@cython.final
cdef class Tuple:
    cdef IValue *items
    cdef Py_ssize_t size
    cdef IValue inline_items[4]
    cdef readonly TypeSpec spec


# ---------------------------------------------------------------- construction: new references

# With room for `capacity` items, all unset: write items[0 .. n) and then size.
cdef List list_new(TypeSpec spec, Py_ssize_t capacity)
# All items None: overwrite them in place.
cdef Tuple tuple_new(TypeSpec spec, Py_ssize_t size)

cdef void release_items(IValue *items, Py_ssize_t n) noexcept nogil

# ---------------------------------------------------------------- failure: take the GIL, return -1

cdef int raise_list_index() except -1 nogil
cdef int raise_no_memory() except -1 nogil

# ---------------------------------------------------------------- lists

cdef int list_grow(PyObject *x, Py_ssize_t size) except -1 nogil
# The `n` items from `start` on, every `step`-th, as a new list.
cdef List list_slice(List x, int64_t start, int64_t step, Py_ssize_t n)
cdef int list_remove_at(PyObject *x, Py_ssize_t i, IValue *out) except -1 nogil


cdef inline Py_ssize_t list_size(PyObject *x) noexcept nogil:
    return (<List>x).size


cdef inline IValue *list_at(PyObject *x, int64_t i) noexcept nogil:
    """The place of item `i`, which may count from the end; NULL when out of range."""
    if i < 0:
        i += (<List>x).size
    return &(<List>x).items[i] if <size_t>i < <size_t>(<List>x).size else NULL


cdef inline int list_get_item(PyObject *x, int64_t i, IValue *out) except -1 nogil:
    """out := x[i], releasing what `out` held."""
    cdef IValue *place = list_at(x, i)
    if place == NULL:
        return raise_list_index()
    copy_value(out, place)
    return 0


cdef inline int list_set_item(PyObject *x, int64_t i, IValue *value) except -1 nogil:
    """x[i] := value."""
    cdef IValue *place = list_at(x, i)
    if place == NULL:
        return raise_list_index()
    copy_value(place, value)
    return 0


cdef inline int list_append(PyObject *x, IValue *value) except -1 nogil:
    cdef Py_ssize_t n = (<List>x).size
    if n == (<List>x).capacity:
        list_grow(x, n + 1)
    retain(value)
    (<List>x).items[n] = value[0]
    (<List>x).size = n + 1
    return 0


# ---------------------------------------------------------------- tuples

cdef inline IValue *tuple_at(PyObject *x, Py_ssize_t i) noexcept nogil:
    """The place of item `i`, in range by the tuple's type."""
    return &(<Tuple>x).items[i]
