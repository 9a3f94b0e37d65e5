"""Cache of packed operands that repeat in matrix products.

In: the tensor of an operand, at each product.  Out: its panels, from its second use.

    for x in batches: torch.nn.functional.linear(x, weight)         weight is packed at its second use and reused

Panels are valid as long as the memory has not been written to. This is known for memory that only one tensor
and its views refer to, since they share a version counter. Therefore a packed operand must have

    an array that owns its memory and is referenced only by that tensor and the view at hand (checked by reference count)
    an unchanged version counter

`let_go` drops the panels of an array that is handed out (`x.array`, storages, `x.data`). Writes through
addresses are not visible: a tensor whose address was handed out, as NumPy and DLPack do too, is no longer
packed.

Code that reuses a tensor's array for another result must count that as a write (`wrote`); there is no such
code yet.

The cache is bounded in bytes and entries; an entry ends with its tensor. All accesses hold the GIL.
"""

import weakref
from functools import partial

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor, counter_of, root_of, watch_memory
from ts._core.value.sealed cimport seal
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, packed_columns
from ts.backends.cpu.kernels.matrix cimport Matrix

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)

cnp.import_array()

cdef enum:
    PLACES = 1 << 10                   # hash table size; each operand has one slot, by its address
    MOST_PATIENCE = 64                 # maximum number of uses before an operand is packed, if its packs were not reused
    MOST_BYTES = 1 << 28               # total size of the packed panels
    LEAST_BYTES = 1 << 12              # minimum size of a packed array


@cython.final
cdef class Place:
    """An operand that was used, with its panels from the second use."""

    cdef Matrix matrix
    cdef bint double_
    cdef int64_t wide                  # columns of a panel
    cdef PyObject *root                # owner of the memory, and of the version counter; borrowed, see `watch`
    cdef PyObject *owner
    cdef int version
    cdef int seen
    cdef int patience                  # number of uses before it is packed
    cdef int64_t used                  # time of its last use, in lookups
    cdef int64_t hits
    cdef Packed packed
    cdef object watch                  # weak reference that drops the panels with the array

    cdef bint is_of(self, PyObject *root, Tensor owner, bint double_, Matrix *b, int64_t wide) noexcept:
        return (
            self.matrix.data == b.data and self.matrix.rows == b.rows and self.matrix.columns == b.columns
            and self.matrix.pitch == b.pitch and self.matrix.flag == b.flag and self.double_ == double_
            and self.root == root and self.owner == <PyObject *>owner and self.version == owner.version
            and self.wide == wide
        )

    def gone(self, array):
        """Drop the panels; called when the array is deallocated."""
        drop(self)


seal(Place)

cdef list places = [None] * PLACES
cdef list in_use = []                  # entries with panels
cdef dict addressed = {}               # arrays whose address was handed out: id -> weak reference
cdef int64_t bytes_kept = 0
cdef int64_t now = 0


cdef int drop(Place place) except -1:
    global bytes_kept
    if place.packed is None:
        return 0
    in_use.remove(place)
    bytes_kept -= place.packed.bytes
    place.patience = 2 if place.hits else min(2 * place.patience, <int>MOST_PATIENCE)
    place.packed = place.watch = None
    place.seen = 0
    return 0


cdef bint unshared(PyObject *root, Tensor t, Tensor owner, Py_ssize_t held) except -1:
    """Whether an array, with `held` references by the caller, belongs to `t` and the owner of its version counter alone."""
    cdef PyObject *mine = <PyObject *>t.array
    cdef PyObject *counting = <PyObject *>owner.array
    held += 1
    if t is not owner:
        if mine != root and Py_REFCNT(mine) > 1:
            return False
        if counting == <PyObject *>None:  # the owner does not refer to the memory
            return Py_REFCNT(root) <= held
        held += 1
    if counting != root and Py_REFCNT(counting) > 1:
        return False
    return Py_REFCNT(root) <= held


cdef Packed kept_panels(Tensor t, bint double_, Matrix *b, int64_t wide):
    global now
    cdef Tensor owner = <Tensor>counter_of(<PyObject *>t)
    cdef object root = root_of(t.array)
    cdef uint64_t number = <uint64_t><size_t>b.data // 16 + <uint64_t>wide
    cdef Place place
    if not cnp.PyArray_CheckExact(root) or cnp.PyArray_BASE(<cnp.ndarray>root) != NULL:
        return None
    if cnp.PyArray_NBYTES(<cnp.ndarray>root) < LEAST_BYTES:
        return None
    number = (number * <uint64_t>0x9E3779B97F4A7C15) >> 54  # Fibonacci hashing: large arrays have equal low address bits
    now += 1
    if places[number] is None:
        place = Place.__new__(Place)
        place.patience = 2
        places[number] = place
    else:
        place = <Place>places[number]
    if place.is_of(<PyObject *>root, owner, double_, b, wide):
        place.used = now
        if place.packed is not None:
            place.hits += 1
            return place.packed
        place.seen += 1
        if place.seen < place.patience or root_id(root) in addressed or not unshared(<PyObject *>root, t, owner, 1):
            return None
        return packed_into(place, root)
    if place.packed is not None:
        if place.root != <PyObject *>root and now - place.used < PLACES:
            return None
        drop(place)
    place.matrix, place.double_, place.wide = b[0], double_, wide
    place.root, place.owner, place.version = <PyObject *>root, <PyObject *>owner, owner.version
    place.seen, place.hits = 1, 0
    return None


cdef inline object root_id(object root):
    return <size_t><PyObject *>root


cdef Packed packed_into(Place place, object root):
    """Pack an operand, evicting the least recently used entries if the cache is full."""
    global bytes_kept
    cdef Packed made = packed_columns(place.double_, &place.matrix, place.wide)
    if made is None or made.bytes > MOST_BYTES:
        return None
    while bytes_kept + made.bytes > MOST_BYTES:
        drop(<Place>min(in_use, key=last_use))
    place.packed, place.watch, place.hits = made, weakref.ref(root, place.gone), 0
    bytes_kept += made.bytes
    in_use.append(place)
    return made


def last_use(Place place not None):
    """Return the time of an entry's last use."""
    return place.used


cdef void let_go(PyObject *array, bint by_address) noexcept:
    """Drop the panels of an array when it, or the address of its memory, is handed out: writes may go unnoticed."""
    cdef Py_ssize_t i
    cdef PyObject *owning
    if not in_use and not by_address:
        return
    root = root_of(<object>array)
    owning = <PyObject *>root
    for i in range(len(in_use) - 1, -1, -1):
        if (<Place>in_use[i]).root == owning:
            drop(<Place>in_use[i])
    if by_address and cnp.PyArray_CheckExact(root) and root_id(root) not in addressed:
        if cnp.PyArray_NBYTES(<cnp.ndarray>root) >= LEAST_BYTES:
            addressed[root_id(root)] = weakref.ref(root, partial(no_more, root_id(root)))


def no_more(size_t number, array):
    """Forget an array whose address was handed out when it is deallocated."""
    addressed.pop(number, None)


watch_memory(let_go)


def kept():
    """Return the number of packed operands and their total bytes."""
    return len(in_use), bytes_kept


def forget():
    """Clear the cache."""
    while in_use:
        drop(<Place>in_use[len(in_use) - 1])
    places[:] = [None] * PLACES
