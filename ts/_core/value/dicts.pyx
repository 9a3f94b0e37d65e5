"""Dict, an insertion-ordered hash table with open addressing, probing of slot groups and tombstones.

Entries are stored in insertion order, and an index contains their numbers. Removed entries are dropped when
the table is resized. The layout is:

    index   -> [ hash_bits entry | hash_bits entry | ... 8 slots: a group ] [ ... ]   a group: one cache line
    entries -> [ check key value | check key value | ... ]

A search probes all slots of a group before the next group. It reads an entry only if the slot's 32 hash bits
(`hash_bits`) equal those of the key. For an ASCII string of up to 7 characters, the checksum `check` contains
the whole string. The search then does not read the string object.

Keys are int, float, bool, str or complex, compared by value, or tensors, compared by identity.
"""

cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ts._core.thread.allowance cimport credit_bytes, limited, take_bytes
from ts._core.value.ivalue cimport box_shallow, unbox_shallow
from ts._core.value.lists cimport raise_no_memory, release_items
from ts._core.value.no_python_construction cimport seal
from ts._core.value.spec cimport KIND_STR
from ts._core.value.tagged cimport Py_INCREF, Py_XDECREF
from ts._core.value.texts cimport text_equal
from ts._core.value.values cimport core_equal, core_text, value_text


cdef extern from *:
    """
    static CYTHON_INLINE Py_hash_t ts_str_hash(PyObject *s) {
        Py_hash_t h = ((PyASCIIObject *)s)->hash;   /* cached in the string, or -1 if not computed yet */
        return h != -1 ? h : PyObject_Hash(s);
    }
    /* Checksum of a string key: characters and length of an ASCII string of up to 7 characters, else
       hash | INT64_MIN. */
    static CYTHON_INLINE int64_t ts_text_check(PyObject *s, Py_hash_t hash) {
        Py_ssize_t n = PyUnicode_GET_LENGTH(s);
        uint64_t word = 0;
        if (n > 7 || !PyUnicode_IS_COMPACT_ASCII(s)) return hash | INT64_MIN;
    #if PY_LITTLE_ENDIAN && !defined(__SANITIZE_ADDRESS__)
        memcpy(&word, (PyASCIIObject *)s + 1, 8);   /* may read past the string: see `texts.pxd` */
        word &= ((uint64_t)1 << 8 * n) - 1;
    #else
        memcpy(&word, (PyASCIIObject *)s + 1, n);
        #if !PY_LITTLE_ENDIAN
        word >>= 8;
        #endif
    #endif
        return (int64_t)(word | (uint64_t)n << 56);
    }
    static CYTHON_INLINE Py_hash_t ts_bits_hash(double x) {
        union { double f; uint64_t i; } u;
        u.f = x == 0.0 ? 0.0 : x;                   /* 0.0 and -0.0 are one key */
        u.i *= 0x9E3779B97F4A7C15ULL;               /* the low bits of doubles are mostly zero */
        return (Py_hash_t)(u.i ^ (u.i >> 32));
    }
    """
    Py_hash_t ts_str_hash(PyObject *s) noexcept nogil
    int64_t ts_text_check(PyObject *s, Py_hash_t hash) noexcept nogil
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
        cdef IValue *slot
        unbox_shallow(key, &k)
        try:
            slot = dict_find(<PyObject *>self, &k)
            if slot == NULL:
                raise KeyError(key)
            return box_shallow(slot)
        finally:
            release(&k)

    def __iter__(self):
        cdef Py_ssize_t i = 0
        while i < self.used:
            if self.entries[i].key.tag != TAG_DELETED:
                yield box_shallow(&self.entries[i].key)
            i += 1

    def items(self):
        """Yield (key, value) tuples, including those with NaN keys, which a lookup cannot find."""
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
        x.of_texts = (<TypeSpec>spec.children[0]).kind == KIND_STR
        if (<TypeSpec>spec.children[0]).acyclic and (<TypeSpec>spec.children[1]).acyclic:
            PyObject_GC_UnTrack(<PyObject *>x)
    if expected > 0:
        while capacity_of(slots) < expected:
            slots *= 2
        resize(x, slots)
    return x


cdef inline Py_ssize_t capacity_of(Py_ssize_t slots) noexcept nogil:
    """Return the maximal number of entries for an index of `slots` slots.

    At most two thirds of the slots are used, so that probe sequences stay short.
    """
    return slots * 2 // 3


cdef inline bint is_text(IValue *key) noexcept nogil:
    return key.tag == TAG_OBJECT and PyUnicode_CheckExact(key.v.o)


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
    """Return whether two keys with equal checksums are equal."""
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


cdef enum:
    # Number of index slots in a group. A search probes all slots of a group before it probes another group.
    # This number is also the minimal size of an index.
    GROUP = 8


cdef struct Mark:             # hash bits and checksum of a key, which are compared before the keys
    uint32_t hash_bits
    int64_t check


cdef struct Probe:            # state of a probe sequence
    size_t slot
    size_t first              # slot at which the probing of the current group started
    uint32_t rest             # hash bits that the probe sequence has not used yet


cdef inline uint32_t fold_hash(Py_hash_t hash) noexcept nogil:
    """Return the xor of the upper and the lower half of a hash.

    The lower half alone is insufficient, because hashes of numbers may differ in the upper half only.
    """
    return <uint32_t>hash ^ <uint32_t>(<uint64_t>hash >> 32)


cdef inline Mark mark_of(Dict x, IValue *key) noexcept nogil:
    cdef Py_hash_t hash = key_hash(key)
    cdef Mark mark
    mark.hash_bits = fold_hash(hash)
    mark.check = ts_text_check(key.v.o, hash) if x.of_texts and is_text(key) else hash
    return mark


cdef inline Probe first_probe(size_t mask, uint32_t hash_bits) noexcept nogil:
    cdef Probe probe
    probe.slot = probe.first = hash_bits & mask
    probe.rest = hash_bits
    return probe


cdef inline void advance_probe(Probe *probe, size_t mask) noexcept nogil:
    """Advance the probe to the next slot of its group. After the last slot, continue with another group."""
    probe.slot = probe.slot & ~<size_t>(GROUP - 1) | (probe.slot + 1) & (GROUP - 1)
    if probe.slot == probe.first:
        probe.rest >>= 5
        probe.slot = probe.first = (probe.first * 5 + probe.rest + 1) & mask


cdef inline DictSlot slot_of(uint32_t hash_bits, Py_ssize_t entry) noexcept nogil:
    cdef DictSlot slot
    slot.hash_bits = hash_bits
    slot.entry = <int32_t>entry
    return slot


cdef inline Py_ssize_t find_slot(Dict x, IValue *key, Mark mark) noexcept nogil:
    """Return the index slot of `key`, or -1 if it is missing. The dict must not be empty."""
    cdef Probe probe = first_probe(x.mask, mark.hash_bits)
    cdef DictSlot slot
    cdef DictEntry *entry
    while True:
        slot = x.index[probe.slot]
        if slot.hash_bits == mark.hash_bits and slot.entry >= 0:
            entry = &x.entries[slot.entry]
            if entry.check == mark.check and keys_equal(&entry.key, key):
                return probe.slot
        elif slot.entry == INDEX_EMPTY:
            return -1
        advance_probe(&probe, x.mask)


cdef inline void remember(Dict x, PyObject *key, IValue *value) noexcept nogil:
    """Cache the last lookup of a string key. A repeated lookup needs no hash, probe or comparison."""
    cdef PyObject *before = x.recent_key
    Py_INCREF(key)
    x.recent_key = key
    x.recent_value = value
    Py_XDECREF(before)


cdef inline void forget(Dict x) noexcept nogil:
    """Clear the cached result of the last lookup. Call this function before entries are deleted or moved."""
    Py_XDECREF(x.recent_key)
    x.recent_key = NULL


cdef IValue *dict_search(PyObject *x, IValue *key) noexcept nogil:
    cdef Py_ssize_t slot
    if (<Dict>x).size == 0:
        return NULL
    if (<Dict>x).of_texts and is_text(key):
        return search_text(<Dict>x, key.v.o)
    slot = find_slot(<Dict>x, key, mark_of(<Dict>x, key))
    return NULL if slot < 0 else &(<Dict>x).entries[(<Dict>x).index[slot].entry].value


cdef IValue *search_text(Dict x, PyObject *key) noexcept nogil:
    """Return the address of the value of a string key, or NULL if the key is missing. Cache the lookup.

    Specialization of `find_slot`.
    """
    cdef Py_hash_t hash = ts_str_hash(key)
    cdef int64_t check = ts_text_check(key, hash)
    cdef uint32_t hash_bits = fold_hash(hash)
    cdef Probe probe = first_probe(x.mask, hash_bits)
    cdef DictSlot slot
    cdef DictEntry *entry
    while True:
        slot = x.index[probe.slot]
        if slot.hash_bits == hash_bits and slot.entry >= 0:
            entry = &x.entries[slot.entry]
            if entry.check == check and (check >= 0 or text_equal(entry.key.v.o, key)):
                remember(x, key, &entry.value)
                return &entry.value
        elif slot.entry == INDEX_EMPTY:
            return NULL
        advance_probe(&probe, x.mask)


cdef inline Py_ssize_t table_bytes(Py_ssize_t slots) noexcept nogil:
    """Return the size in bytes of a table with `slots` index slots, for the memory limit."""
    return capacity_of(slots) * sizeof(DictEntry) + slots * sizeof(DictSlot) if slots > 0 else 0


cdef int resize(Dict x, Py_ssize_t slots) except -1 nogil:
    """Move the entries that are not deleted to a new table with `slots` index slots, a power of two."""
    cdef Py_ssize_t capacity = capacity_of(slots), i, n = 0
    cdef DictEntry *entries
    cdef DictSlot *index
    cdef DictSlot slot
    cdef Probe probe
    if slots > (<Py_ssize_t>1 << 31):
        return raise_no_memory()
    if limited:
        take_bytes(table_bytes(slots))
        credit_bytes(table_bytes(x.mask + 1))
    entries = <DictEntry *>malloc(capacity * sizeof(DictEntry) + slots * sizeof(DictSlot))
    if entries == NULL:
        return raise_no_memory()
    index = <DictSlot *>(entries + capacity)
    memset(index, 0xff, slots * sizeof(DictSlot))  # all slots are INDEX_EMPTY (-1)
    for i in range(x.used):
        if x.entries[i].key.tag != TAG_DELETED:
            entries[n] = x.entries[i]
            # The field `check` of the old entry is no longer needed. The loop below reads the new number of
            # the entry from it.
            x.entries[i].check = n
            n += 1
    for i in range(x.mask + 1):
        slot = x.index[i]
        if slot.entry >= 0:
            probe = first_probe(slots - 1, slot.hash_bits)
            while index[probe.slot].entry != INDEX_EMPTY:
                advance_probe(&probe, slots - 1)
            index[probe.slot] = slot_of(slot.hash_bits, x.entries[slot.entry].check)
    forget(x)
    free(x.entries)
    x.entries = entries
    x.index = index
    x.used = n
    x.mask = slots - 1
    return 0


cdef IValue *dict_slot(PyObject *x, IValue *key, bint *is_new) except NULL nogil:
    return find_or_insert(<Dict>x, key, is_new)


cdef IValue *find_or_insert(Dict x, IValue *key, bint *is_new) except NULL nogil:
    cdef Mark mark = mark_of(x, key)
    cdef Py_ssize_t slot
    cdef Probe probe
    cdef DictEntry *entry
    if x.size:
        slot = find_slot(x, key, mark)
        if slot >= 0:
            is_new[0] = False
            return &x.entries[x.index[slot].entry].value
    # If the table is full, grow it. If many of its entries are deleted, only drop these entries instead.
    if x.used >= capacity_of(x.mask + 1):
        slot = 8
        while capacity_of(slot) <= x.size + (x.size >> 1):
            slot *= 2
        resize(x, slot)
    probe = first_probe(x.mask, mark.hash_bits)
    while x.index[probe.slot].entry >= 0:
        advance_probe(&probe, x.mask)
    entry = &x.entries[x.used]
    x.index[probe.slot] = slot_of(mark.hash_bits, x.used)
    x.used += 1
    x.size += 1
    retain(key)
    entry.key = key[0]
    entry.check = mark.check
    entry.value.v.i = 0
    entry.value.tag = TAG_NONE
    is_new[0] = True
    if is_text(key):
        remember(x, key.v.o, &entry.value)
    return &entry.value


cdef int dict_set(PyObject *x, IValue *key, IValue *value) except -1 nogil:
    cdef bint is_new
    copy_value(dict_slot(x, key, &is_new), value)
    return 0


cdef bint dict_pop(PyObject *x, IValue *key, IValue *out) noexcept nogil:
    return pop(<Dict>x, key, out)


cdef bint pop(Dict x, IValue *key, IValue *out) noexcept nogil:
    """Delete the entry of `key` and move its value to `out`, without releasing the old value of `out`.

    Return False if the key is missing.
    """
    cdef Py_ssize_t slot
    cdef DictEntry *entry
    cdef IValue old_key
    if x.size == 0:
        return False
    slot = find_slot(x, key, mark_of(x, key))
    if slot < 0:
        return False
    forget(x)
    entry = &x.entries[x.index[slot].entry]
    x.index[slot].entry = INDEX_DELETED
    x.size -= 1
    old_key = entry.key
    out[0] = entry.value
    entry.key.tag = TAG_DELETED
    if x.size == 0:  # the dict is now empty: make the memory of deleted entries usable again
        x.used = 0
        memset(x.index, 0xff, (x.mask + 1) * sizeof(DictSlot))
    release(&old_key)
    return True


cdef void dict_clear(PyObject *x) noexcept nogil:
    clear(<Dict>x)


cdef void clear(Dict x) noexcept nogil:
    cdef DictEntry *entries = x.entries
    cdef Py_ssize_t i, used = x.used
    if limited:
        credit_bytes(table_bytes(x.mask + 1))
    forget(x)
    x.entries = NULL
    x.index = NULL
    x.size = 0
    x.used = 0
    x.mask = -1
    for i in range(used):
        if entries[i].key.tag != TAG_DELETED:
            release(&entries[i].key)
            if entries[i].value.tag == TAG_OBJECT:
                release_items(&entries[i].value, 1)
    free(entries)
