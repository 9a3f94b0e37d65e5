"""Cache of packed operands of matrix products and convolutions (weight packing), invalidated by version counters.

Input: an operand of a product, or the weight of a convolution. Output: the operand in packed form, from its
second use. Example:

    for x in batches: torch.nn.functional.linear(x, weight)    weight is packed at its second use and cached

A cached operand is valid while the version counter of its tensor is unchanged. Operators that write to the tensor
increment the counter, but other code could write to the memory without incrementing it. An operand is therefore
packed only under two conditions. The array that owns the memory is not a view of another array, or is a private
mapping of a file. No object refers to this array, except the tensor, its base tensor, the tensor that owns the
version counter, and the running operator.

If a program gets access to an array (`x.array`, storages, `x.data`), `drop_exposed_panels` drops the packed form of the
array. If the program gets the address of the memory (for example by NumPy or DLPack), the array is never packed
again.

The resident memory of an operand in a private mapping of a file is released when the operand is packed.

The cache is bounded in bytes and entries. All accesses hold the GIL.
"""

import weakref
from functools import partial

from ts._core.private_mapping import has_private_mapping

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor, counter_of, watch_memory
from ts._core.tensor.tensor_metadata cimport root_of
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, packed_columns
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)

cnp.import_array()

cdef enum:
    TABLE_SIZE = 1 << 10  # number of slots of the hash table. The address of an operand selects its first slot.
    WAYS = 4                           # number of consecutive slots that may have the entry of an operand
    # Maximum of `uses_before_packing`. The number doubles whenever the panels of the operand are dropped
    # before they are used.
    MAX_USES_BEFORE_PACKING = 64
    MAX_TOTAL_BYTES = 1 << 28          # maximal total size of the packed panels
    MIN_ARRAY_BYTES = 1 << 12          # minimal size in bytes of an array that is packed as an operand


@cython.final
cdef class CacheEntry:
    """Cache entry of an operand of earlier products.

    The entry also has the packed panels of the operand if the operand has been used often enough.
    """

    cdef bint matches(self, PyObject *root, Tensor owner, bint double_, Matrix *b, int64_t packing_key, bytes layout):
        return (
            self.matrix.data == b.data and self.matrix.rows == b.rows and self.matrix.columns == b.columns
            and self.matrix.pitch == b.pitch and self.matrix.flag == b.flag and self.double_ == double_
            and self.root == root and self.owner == <PyObject *>owner and self.version == owner.version
            and self.packing_key == packing_key and (self.layout is layout or self.layout == layout)
        )

    cdef bint is_evicted_before(self, CacheEntry other) noexcept:
        """Return whether a new operand takes the slot of this entry, not of `other`."""
        if (self.packed is None) != (other.packed is None):
            return self.packed is None
        return self.used < other.used

    def drop_on_deallocation(self, array):
        """Drop the panels, when the array is deallocated."""
        drop(self)


seal(CacheEntry)

cdef list entries = [None] * TABLE_SIZE
cdef list packed_entries = []          # cache entries that have panels
cdef dict exposed_arrays = {}          # arrays whose address was exposed to the program: id -> weak reference
cdef int64_t packed_bytes = 0
cdef int64_t lookup_count = 0


cdef int drop(CacheEntry entry) except -1:
    global packed_bytes
    if entry.packed is None:
        return 0
    packed_entries.remove(entry)
    packed_bytes -= entry.packed.bytes
    entry.uses_before_packing = 2 if entry.hits else min(2 * entry.uses_before_packing, <int>MAX_USES_BEFORE_PACKING)
    entry.packed = entry.watch = None
    entry.uses = 0
    return 0


cdef bint is_unshared(
    PyObject *root, Tensor t, Tensor owner, Py_ssize_t root_references, Py_ssize_t caller_references
) except -1:
    """Return whether only `t`, its base and the owner of its version counter refer to `root`, the memory of `t`.

    The base is another tensor than the owner if it was created by `detach`, as every Parameter is. The base and
    the owner may have other memory than `t`, because `.data = x` replaces the array of one tensor. Then a write
    to `x` does not increment the version counter of `t`, and the reference count shows that `x` exists.

    `root_references` is the number of references to `root` that the caller of this function holds.
    `caller_references` is the number of references to the array of `t` that the operator holds, besides the
    reference of `t`.
    """
    cdef tuple holders = (t,) if t is owner else (t, owner) if t.base is None or t.base is owner else (t, owner, t.base)
    cdef PyObject *array
    for tensor in holders:
        array = <PyObject *>(<Tensor>tensor).array
        if root_of(<object>array) is not <object>root:
            continue
        if array != root and Py_REFCNT(array) > (1 + caller_references if tensor is t else 1):
            return False
        root_references += 1 + caller_references if array == root and tensor is t else 1
    return Py_REFCNT(root) <= root_references


cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t panel_columns):
    return cached_operand(t, double_, b, panel_columns, None, pack_matrix, NULL, 0)


cdef Packed cached_in_layout(
    Tensor t, bint double_, Matrix *b, bytes layout, PackFunction pack, const void *context,
    Py_ssize_t caller_references
):
    return cached_operand(t, double_, b, <int64_t>hash(layout), layout, pack, context, caller_references)


cdef Packed pack_matrix(const void *context, CacheEntry entry):
    return packed_columns(entry.double_, &entry.matrix, entry.packing_key)


cdef Packed cached_operand(
    Tensor t, bint double_, Matrix *b, int64_t packing_key, bytes layout, PackFunction pack, const void *context,
    Py_ssize_t caller_references
):
    global lookup_count
    cdef Tensor owner = <Tensor>counter_of(<PyObject *>t)
    cdef object root = root_of(t.array)
    cdef uint64_t slot = <uint64_t><size_t>b.data // 16 + <uint64_t>packing_key, position
    cdef CacheEntry entry, candidate = None
    cdef int i
    if not cnp.PyArray_CheckExact(root):
        return None
    if cnp.PyArray_BASE(<cnp.ndarray>root) != NULL and not has_private_mapping(<object>cnp.PyArray_BASE(<cnp.ndarray>root)):
        return None
    if cnp.PyArray_NBYTES(<cnp.ndarray>root) < MIN_ARRAY_BYTES:
        return None
    # Use the high bits of the product (Fibonacci hashing), because the low bits of the addresses of large
    # arrays are equal.
    slot = (slot * <uint64_t>0x9E3779B97F4A7C15) >> 54
    lookup_count += 1
    for i in range(WAYS):
        position = (slot + i) % TABLE_SIZE
        if entries[position] is None:
            if candidate is None:
                candidate = CacheEntry.__new__(CacheEntry)
                candidate.uses_before_packing = 2
                entries[position] = candidate
            break
        entry = <CacheEntry>entries[position]
        if entry.matches(<PyObject *>root, owner, double_, b, packing_key, layout):
            entry.used = lookup_count
            if entry.packed is not None:
                entry.hits += 1
                return entry.packed
            entry.uses += 1
            if entry.uses < entry.uses_before_packing or root_id(root) in exposed_arrays:
                return None
            if not is_unshared(<PyObject *>root, t, owner, 1, caller_references):
                return None
            return pack_operand(entry, root, pack, context)
        if entry.matrix.data == b.data and entry.packing_key == packing_key and entry.layout == layout:
            candidate = entry  # an earlier version of the operand
            break
        if candidate is None or entry.is_evicted_before(candidate):
            candidate = entry
    entry = candidate
    if entry.packed is not None:
        if entry.root != <PyObject *>root and lookup_count - entry.used < TABLE_SIZE:
            return None
        drop(entry)
    entry.matrix, entry.double_, entry.packing_key, entry.layout = b[0], double_, packing_key, layout
    entry.root, entry.owner, entry.version = <PyObject *>root, <PyObject *>owner, owner.version
    entry.uses, entry.hits, entry.used = 1, 0, lookup_count
    return None


cdef inline object root_id(object root):
    return <size_t><PyObject *>root


cdef Packed pack_operand(CacheEntry entry, object root, PackFunction pack, const void *context):
    """Pack an operand and return the panels. Evict the least recently used panels if the cache is full."""
    global packed_bytes
    cdef Packed result = pack(context, entry)
    if result is None or result.bytes > MAX_TOTAL_BYTES:
        return None
    while packed_bytes + result.bytes > MAX_TOTAL_BYTES:
        drop(<CacheEntry>min(packed_entries, key=last_use))
    entry.packed, entry.watch, entry.hits = result, weakref.ref(root, entry.drop_on_deallocation), 0
    packed_bytes += result.bytes
    packed_entries.append(entry)
    # If the weight is mapped from a file, release its pages: later calls read the panels.
    if cnp.PyArray_BASE(<cnp.ndarray>root) != NULL:
        from ts._core.tensor.mapped_pages import release_clean_pages  # imported at the first use of a mapped weight

        release_clean_pages(root)
    return result


def last_use(CacheEntry entry not None):
    """Return the time of an entry's last use, measured in lookups of the cache."""
    return entry.used


cdef void drop_exposed_panels(PyObject *array, bint by_address) noexcept:
    """Drop the panels of an array when the program gets access to the array's memory.

    The cache does not detect writes through this access. If `by_address`, the program got the address of the
    memory, and the array is never packed again.
    """
    cdef Py_ssize_t i
    cdef PyObject *owning
    if not packed_entries and not by_address:
        return
    root = root_of(<object>array)
    owning = <PyObject *>root
    for i in range(len(packed_entries) - 1, -1, -1):
        if (<CacheEntry>packed_entries[i]).root == owning:
            drop(<CacheEntry>packed_entries[i])
    if by_address and cnp.PyArray_CheckExact(root) and root_id(root) not in exposed_arrays:
        if cnp.PyArray_NBYTES(<cnp.ndarray>root) >= MIN_ARRAY_BYTES:
            exposed_arrays[root_id(root)] = weakref.ref(root, partial(forget_address, root_id(root)))


def forget_address(size_t address, array):
    """Remove a deallocated array from the arrays whose address was exposed."""
    exposed_arrays.pop(address, None)


watch_memory(drop_exposed_panels)


def cache_size():
    """Return the number of packed operands and the total bytes of their panels."""
    return len(packed_entries), packed_bytes


def clear():
    """Remove all entries from the cache."""
    while packed_entries:
        drop(<CacheEntry>packed_entries[len(packed_entries) - 1])
    entries[:] = [None] * TABLE_SIZE
