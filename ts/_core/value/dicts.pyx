"""The body of Dict; `dicts.pxd` holds the fast accessors, `container.pxd` the picture.

Dict is the compact hash table that CPython has: entries in insertion order, and an index of entry
numbers with open addressing.  A removed entry is marked, and the marks are swept when the table grows.
Keys are int, float, bool, str or complex, compared by value, or tensors, compared by identity.
"""

cimport cython
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ts._core.thread.allowance cimport give_bytes, limited, take_bytes
from ts._core.value.ivalue cimport box_shallow, unbox_shallow
from ts._core.value.lists cimport raise_no_memory, release_items
from ts._core.value.sealed cimport seal
from ts._core.value.tagged cimport Py_INCREF, Py_XDECREF
from ts._core.value.texts cimport text_equal
from ts._core.value.values cimport core_equal, core_text, value_text


cdef extern from *:
    """
    static CYTHON_INLINE Py_hash_t ts_str_hash(PyObject *s) {
        Py_hash_t h = ((PyASCIIObject *)s)->hash;   /* cached in the string; -1 when not yet computed */
        return h != -1 ? h : PyObject_Hash(s);
    }
    static CYTHON_INLINE Py_hash_t ts_bits_hash(double x) {
        union { double f; uint64_t i; } u;
        u.f = x == 0.0 ? 0.0 : x;                   /* 0.0 and -0.0 are one key */
        u.i *= 0x9E3779B97F4A7C15ULL;               /* the low bits of doubles are mostly zero */
        return (Py_hash_t)(u.i ^ (u.i >> 32));
    }
    """
    Py_hash_t ts_str_hash(PyObject *s) noexcept nogil
    Py_hash_t ts_bits_hash(double x) noexcept nogil


cdef extern from "Python.h":
    bint PyUnicode_CheckExact(PyObject *o) noexcept nogil
    bint PyComplex_CheckExact(PyObject *o) noexcept nogil
    void PyObject_GC_UnTrack(void *o) noexcept
    ctypedef struct Py_complex:
        double real
        double imag
    ctypedef struct PyComplexObject:
        Py_complex cval


cdef int raise_key_error(IValue *key) except -1 nogil:
    with gil:
        raise RuntimeError(f"KeyError: {value_text(key)}")


@cython.final
@cython.freelist(16)
cdef class Dict:
    def __cinit__(self):
        self.mask = -1

    def __dealloc__(self):
        dict_clear(<PyObject *>self)

    def __len__(self):
        return self.size

    def __contains__(self, key):
        cdef IValue k
        unbox_shallow(key, &k)
        try:
            return dict_find(<PyObject *>self, &k) != NULL
        finally:
            release(&k)

    def __getitem__(self, key):
        cdef IValue k
        cdef IValue *place
        unbox_shallow(key, &k)
        try:
            place = dict_find(<PyObject *>self, &k)
            if place == NULL:
                raise KeyError(key)
            return box_shallow(place)
        finally:
            release(&k)

    def __iter__(self):
        cdef Py_ssize_t i = 0
        while i < self.used:
            if self.entries[i].key.tag != TAG_DELETED:
                yield box_shallow(&self.entries[i].key)
            i += 1

    def items(self):
        """Pairs of keys and values; a key that is not equal to itself (NaN) cannot be looked up."""
        cdef Py_ssize_t i = 0
        while i < self.used:
            if self.entries[i].key.tag != TAG_DELETED:
                key = box_shallow(&self.entries[i].key)
                yield key, box_shallow(&self.entries[i].value)
            i += 1

    def __eq__(self, other):
        return core_equal(self, other)

    __hash__ = None

    def __repr__(self):
        return core_text(self)


seal(Dict)


cdef Dict dict_new(TypeSpec spec, Py_ssize_t expected):
    cdef Dict x = Dict.__new__(Dict)
    cdef Py_ssize_t slots = 8
    if spec is not None:
        x.spec = spec
        if (<TypeSpec>spec.children[0]).acyclic and (<TypeSpec>spec.children[1]).acyclic:
            PyObject_GC_UnTrack(<PyObject *>x)
    if expected > 0:
        while capacity_of(slots) < expected:
            slots *= 2
        resize(x, slots)
    return x


cdef inline Py_ssize_t capacity_of(Py_ssize_t slots) noexcept nogil:
    """Entries that an index of so many slots takes: at most two thirds are full, so probes stay short."""
    return slots * 2 // 3


cdef inline Py_hash_t key_hash(IValue *key) noexcept nogil:
    if key.tag == TAG_OBJECT:
        if PyUnicode_CheckExact(key.v.o):
            return ts_str_hash(key.v.o)
        if PyComplex_CheckExact(key.v.o):
            return ts_bits_hash((<PyComplexObject *>key.v.o).cval.real) ^ (
                3 * ts_bits_hash((<PyComplexObject *>key.v.o).cval.imag)
            )
        return <Py_hash_t>(<size_t>key.v.o >> 4)
    if key.tag == TAG_FLOAT:
        return ts_bits_hash(key.v.f)
    return key.v.i


cdef inline bint keys_equal(IValue *a, IValue *b) noexcept nogil:
    """Equality of keys whose hashes are equal."""
    if a.tag == TAG_OBJECT:
        if a.v.o == b.v.o:
            return True
        if PyUnicode_CheckExact(a.v.o) and PyUnicode_CheckExact(b.v.o):
            return text_equal(a.v.o, b.v.o)
        if PyComplex_CheckExact(a.v.o) and PyComplex_CheckExact(b.v.o):
            return (<PyComplexObject *>a.v.o).cval.real == (<PyComplexObject *>b.v.o).cval.real and (
                <PyComplexObject *>a.v.o
            ).cval.imag == (<PyComplexObject *>b.v.o).cval.imag
        return False
    if a.tag == TAG_FLOAT:
        return a.v.f == b.v.f
    return a.v.i == b.v.i


cdef inline Py_ssize_t find_slot(Dict x, IValue *key, Py_hash_t hash) noexcept nogil:
    """The index slot of `key`, or -1.  The dict is not empty."""
    cdef size_t mask = <size_t>x.mask, perturb = <size_t>hash, i = <size_t>hash & mask
    cdef int32_t entry
    while True:
        entry = x.index[i]
        if entry >= 0:
            if x.entries[entry].hash == hash and keys_equal(&x.entries[entry].key, key):
                return i
        elif entry == INDEX_EMPTY:
            return -1
        perturb >>= 5
        i = (i * 5 + perturb + 1) & mask


cdef inline void remember(Dict x, IValue *key, Py_ssize_t entry) noexcept nogil:
    """The string is likely to be asked for again: next time it costs no hash, no probe and no comparison."""
    if key.tag == TAG_OBJECT and PyUnicode_CheckExact(key.v.o):
        Py_INCREF(key.v.o)
        forget(x)
        x.asked = key.v.o
        x.last = entry


cdef inline void forget(Dict x) noexcept nogil:
    """Before an entry goes."""
    Py_XDECREF(x.asked)
    x.asked = NULL


cdef IValue *dict_search(PyObject *x, IValue *key) noexcept nogil:
    cdef Py_ssize_t slot
    if (<Dict>x).size == 0:
        return NULL
    slot = find_slot(<Dict>x, key, key_hash(key))
    if slot < 0:
        return NULL
    remember(<Dict>x, key, (<Dict>x).index[slot])
    return &(<Dict>x).entries[(<Dict>x).index[slot]].value


cdef inline Py_ssize_t table_bytes(Py_ssize_t slots) noexcept nogil:
    """As limits count it."""
    return capacity_of(slots) * sizeof(DictEntry) + slots * sizeof(int32_t) if slots > 0 else 0


cdef int resize(Dict x, Py_ssize_t slots) except -1 nogil:
    """Move the live entries to a fresh table of `slots` (a power of two) index slots."""
    cdef Py_ssize_t capacity = capacity_of(slots), i, n = 0
    cdef DictEntry *entries
    cdef int32_t *index
    cdef size_t mask = slots - 1, perturb, at
    if slots > (<Py_ssize_t>1 << 31):
        return raise_no_memory()
    if limited:
        take_bytes(table_bytes(slots))
        give_bytes(table_bytes(x.mask + 1))
    entries = <DictEntry *>malloc(capacity * sizeof(DictEntry) + slots * sizeof(int32_t))
    if entries == NULL:
        return raise_no_memory()
    index = <int32_t *>(entries + capacity)
    memset(index, 0xff, slots * sizeof(int32_t))  # INDEX_EMPTY
    for i in range(x.used):
        if x.entries[i].key.tag == TAG_DELETED:
            continue
        entries[n] = x.entries[i]
        perturb = <size_t>entries[n].hash
        at = perturb & mask
        while index[at] != INDEX_EMPTY:
            perturb >>= 5
            at = (at * 5 + perturb + 1) & mask
        index[at] = <int32_t>n
        n += 1
    free(x.entries)
    x.entries = entries
    x.index = index
    x.used = n
    x.mask = mask
    return 0


cdef IValue *dict_place(PyObject *x, IValue *key, bint *is_new) except NULL nogil:
    return place(<Dict>x, key, is_new)


cdef IValue *place(Dict x, IValue *key, bint *is_new) except NULL nogil:
    cdef Py_hash_t hash = key_hash(key)
    cdef Py_ssize_t slot
    cdef size_t mask, perturb, at
    cdef DictEntry *entry
    if x.size:
        slot = find_slot(x, key, hash)
        if slot >= 0:
            remember(x, key, x.index[slot])
            is_new[0] = False
            return &x.entries[x.index[slot]].value
    if x.used >= capacity_of(x.mask + 1):  # full: grow, or only sweep when many entries are deleted
        slot = 8
        while capacity_of(slot) <= x.size + (x.size >> 1):
            slot *= 2
        resize(x, slot)
    mask = <size_t>x.mask
    perturb = <size_t>hash
    at = perturb & mask
    while x.index[at] >= 0:
        perturb >>= 5
        at = (at * 5 + perturb + 1) & mask
    entry = &x.entries[x.used]
    x.index[at] = <int32_t>x.used
    remember(x, key, x.used)
    x.used += 1
    x.size += 1
    retain(key)
    entry.key = key[0]
    entry.hash = hash
    entry.value.v.i = 0
    entry.value.tag = TAG_NONE
    is_new[0] = True
    return &entry.value


cdef int dict_set(PyObject *x, IValue *key, IValue *value) except -1 nogil:
    cdef bint is_new
    copy_value(dict_place(x, key, &is_new), value)
    return 0


cdef bint dict_pop(PyObject *x, IValue *key, IValue *out) noexcept nogil:
    return pop(<Dict>x, key, out)


cdef bint pop(Dict x, IValue *key, IValue *out) noexcept nogil:
    """Move the value of `key` to `out` (whose old value is not released) and drop the entry."""
    cdef Py_ssize_t slot
    cdef DictEntry *entry
    cdef IValue old_key
    if x.size == 0:
        return False
    slot = find_slot(x, key, key_hash(key))
    if slot < 0:
        return False
    forget(x)
    entry = &x.entries[x.index[slot]]
    x.index[slot] = INDEX_DELETED
    x.size -= 1
    old_key = entry.key
    out[0] = entry.value
    entry.key.tag = TAG_DELETED
    if x.size == 0:  # nothing left: start afresh instead of sweeping later
        x.used = 0
        memset(x.index, 0xff, (x.mask + 1) * sizeof(int32_t))
    release(&old_key)
    return True


cdef void dict_clear(PyObject *x) noexcept nogil:
    clear(<Dict>x)


cdef void clear(Dict x) noexcept nogil:
    cdef DictEntry *entries = x.entries
    cdef Py_ssize_t i, used = x.used
    if limited:
        give_bytes(table_bytes(x.mask + 1))
    forget(x)
    x.entries = NULL
    x.index = NULL
    x.size = 0
    x.used = 0
    x.mask = -1
    for i in range(used):
        if entries[i].key.tag != TAG_DELETED:
            release(&entries[i].key)
            release_items(&entries[i].value, 1)
    free(entries)
