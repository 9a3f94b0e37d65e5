"""List, Dict, Tuple and Object: the containers of scripted programs, over C arrays of IValue.

    List    items -> [ IValue | IValue | IValue | spare ... ]            size, capacity
    Tuple   items -> [ IValue | IValue ]  inside the object up to four   size
    Dict    index -> [ -1 | 0 | -1 | 2 | -2 | 1 ... ]    open addressing, entry numbers
            entries -> [ key value hash | key value hash | ... ]         in insertion order
    Object  slots -> [ IValue | IValue ]                                 attributes of a scripted class

A container owns its IValues.  Inline accessors take a borrowed `PyObject *`, so that the loop passes
a register's payload as it is; the caller has made sure of the class (types are static) and holds the
GIL.  Accessors that return `IValue *` return a borrowed place, valid until the container is next
changed, or NULL when there is no such element; the caller then raises through the `raise_` functions.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memmove

from ts._core.ivalue cimport TypeSpec
from ts._core.tagged cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    copy_value,
    release,
    retain,
)

cdef enum:
    TAG_DELETED = -1          # the key of an entry that was removed
    INDEX_EMPTY = -1
    INDEX_DELETED = -2
    INLINE_ITEMS = 4


cdef struct DictEntry:
    Py_hash_t hash            # beside the key: a search reads both
    IValue key
    IValue value


@cython.final
cdef class List:
    cdef IValue *items
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef readonly TypeSpec spec       # of the list, List[int]


@cython.final
cdef class Dict:
    cdef DictEntry *entries
    cdef int32_t *index               # in the same block of memory as entries
    cdef Py_ssize_t size              # keys
    cdef Py_ssize_t used              # entries written, with the deleted ones
    cdef Py_ssize_t mask              # slots in index - 1; -1 before the first insertion
    cdef PyObject *asked              # owned: the string asked for last and found, or NULL
    cdef Py_ssize_t last              # its entry
    cdef readonly TypeSpec spec


@cython.final
cdef class Tuple:
    cdef IValue *items
    cdef Py_ssize_t size
    cdef IValue inline_items[4]
    cdef readonly TypeSpec spec


@cython.final
cdef class Object:
    cdef IValue *slots
    cdef Py_ssize_t size
    cdef readonly object cls          # describes the scripted class: attribute names, methods


# ---------------------------------------------------------------- construction: new references

# With room for `capacity` items, all unset: write items[0 .. n) and then size.
cdef List list_new(TypeSpec spec, Py_ssize_t capacity)
# All items None: overwrite them in place.
cdef Tuple tuple_new(TypeSpec spec, Py_ssize_t size)
cdef Dict dict_new(TypeSpec spec, Py_ssize_t expected)
cdef Object object_new(object cls, Py_ssize_t size)

# ---------------------------------------------------------------- failure: take the GIL, return -1

cdef int raise_list_index() except -1 nogil
cdef int raise_key_error(IValue *key) except -1 nogil

# ---------------------------------------------------------------- lists

cdef int list_grow(PyObject *x, Py_ssize_t size) except -1 nogil
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


# ---------------------------------------------------------------- tuples and objects

cdef inline IValue *tuple_at(PyObject *x, Py_ssize_t i) noexcept nogil:
    """The place of item `i`, in range by the tuple's type."""
    return &(<Tuple>x).items[i]


cdef inline IValue *object_slot(PyObject *x, Py_ssize_t i) noexcept nogil:
    return &(<Object>x).slots[i]


# ---------------------------------------------------------------- dicts

# The value's place, or NULL when the key is not there.  The key has the dict's key type.
cdef IValue *dict_search(PyObject *x, IValue *key) noexcept nogil


cdef inline IValue *dict_recent(PyObject *x, IValue *key) noexcept nogil:
    """The value's place if `key` is the string that was found last, as in `if k in d: d[k] += 1`; else NULL."""
    if key.tag == TAG_OBJECT and key.v.o == (<Dict>x).asked:
        return &(<Dict>x).entries[(<Dict>x).last].value
    return NULL


cdef inline IValue *dict_find(PyObject *x, IValue *key) noexcept nogil:
    cdef IValue *place = dict_recent(x, key)
    return place if place != NULL else dict_search(x, key)


cdef int dict_set(PyObject *x, IValue *key, IValue *value) except -1 nogil
# Place of the value of a key that may be new: then it holds None, to be overwritten.
cdef IValue *dict_place(PyObject *x, IValue *key, bint *is_new) except NULL nogil
# Moves the value to `out`, without releasing what `out` held; False when the key is not there.
cdef bint dict_pop(PyObject *x, IValue *key, IValue *out) noexcept nogil
cdef void dict_clear(PyObject *x) noexcept nogil


cdef inline Py_ssize_t dict_size(PyObject *x) noexcept nogil:
    return (<Dict>x).size


cdef inline bint dict_contains(PyObject *x, IValue *key) noexcept nogil:
    return dict_find(x, key) != NULL


cdef inline int dict_get_item(PyObject *x, IValue *key, IValue *out) except -1 nogil:
    """out := x[key], releasing what `out` held; KeyError as PyTorch words it."""
    cdef IValue *place = dict_find(x, key)
    if place == NULL:
        return raise_key_error(key)
    copy_value(out, place)
    return 0


# ---------------------------------------------------------------- all values

# Equality of two values of one type, as `==` of scripts has it: deep, by value; tensors by identity.
cdef bint values_equal(IValue *a, IValue *b) except -1
# -1, 0, 1; numbers, strings and tuples of them.  nan is above all numbers, so that sorting is total.
cdef int compare_values(IValue *a, IValue *b) except? -2
# The text that `print`, `str()` and `"{}".format` give in a script.
cdef str value_text(IValue *x)
cdef str float_text(double x)
