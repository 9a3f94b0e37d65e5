"""The type Dict and its inline accessors.

`container.pxd` describes the properties of all containers.
"""

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue, TAG_FLOAT, TAG_NONE, TAG_OBJECT, copy_value, release, retain


cdef enum:
    TAG_DELETED = -1          # tag of the key of a removed entry
    INDEX_EMPTY = -1
    INDEX_DELETED = -2


cdef struct DictEntry:
    int64_t check             # checksum of the key. Equal keys have equal checksums.
    IValue key
    IValue value


cdef struct DictSlot:
    uint32_t hash_bits        # 32 bits of the key's hash. An entry with other bits is skipped without reading the key.
    int32_t entry


@cython.final
cdef class Dict:
    cdef DictEntry *entries
    cdef DictSlot *index              # hash index, in the same memory block as `entries`
    cdef Py_ssize_t size              # number of keys
    cdef Py_ssize_t used              # number of entries written, including deleted ones
    cdef Py_ssize_t mask              # number of index slots (a power of two) minus 1, or -1 before the first insertion
    cdef PyObject *recent_key         # the string key of the last successful lookup (owned reference), or NULL
    cdef IValue *recent_value                # address of the value of `recent_key`
    cdef bint of_texts                # True if all keys are strings
    cdef readonly TypeSpec spec


# Create an empty dict with memory for `expected` entries, and return a new reference to it.
cdef Dict dict_new(TypeSpec spec, Py_ssize_t expected)
# Raise KeyError for a missing key. The function acquires the GIL and returns -1.
cdef int raise_key_error(IValue *key) except -1 nogil

# Return the address of the value of `key`, or NULL if the key is missing. The key must have the dict's key
# type.
cdef IValue *dict_search(PyObject *x, IValue *key) noexcept nogil


cdef inline IValue *dict_recent(PyObject *x, IValue *key) noexcept nogil:
    """Return the address of the value of `key` if `key` is the string of the last lookup, else NULL.

    Code such as `if k in d: d[k] += 1` looks up the same string several times.
    """
    if key.tag == TAG_OBJECT and key.v.o == (<Dict>x).recent_key:
        return (<Dict>x).recent_value
    return NULL


cdef inline IValue *dict_find(PyObject *x, IValue *key) noexcept nogil:
    cdef IValue *slot = dict_recent(x, key)
    return slot if slot != NULL else dict_search(x, key)


cdef int dict_set(PyObject *x, IValue *key, IValue *value) except -1 nogil
# Return the address of the value of `key`. If the key is missing, set `is_new` and insert it with the value None, which
# the caller overwrites.
cdef IValue *dict_slot(PyObject *x, IValue *key, bint *is_new) except NULL nogil
# Remove the entry of `key` and move its value to `out`. The old value of `out` is overwritten without being
# released. Return False if the key is missing.
cdef bint dict_pop(PyObject *x, IValue *key, IValue *out) noexcept nogil
cdef void dict_clear(PyObject *x) noexcept nogil


cdef inline Py_ssize_t dict_size(PyObject *x) noexcept nogil:
    return (<Dict>x).size


cdef inline bint dict_contains(PyObject *x, IValue *key) noexcept nogil:
    return dict_find(x, key) != NULL


cdef inline int dict_get_item(PyObject *x, IValue *key, IValue *out) except -1 nogil:
    """Set `out` to x[key], and release the old value of `out`.

    Raise KeyError with PyTorch's message for a missing key.
    """
    cdef IValue *slot = dict_find(x, key)
    if slot == NULL:
        return raise_key_error(key)
    copy_value(out, slot)
    return 0
