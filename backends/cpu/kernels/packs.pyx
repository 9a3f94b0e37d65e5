"""Factors that do not change from one product to the next, packed once.

In: the tensor of a factor, as its products come.  Out: its panels, once it came a second time.

    for x in batches: torch.nn.functional.linear(x, weight)         weight is packed in the second round, and then never

A pack is good as long as nobody can have written to the memory.  That is known of memory which only one tensor has, with its
views: they count writes together.  So what is packed must have

    an array that owns its memory, which nothing holds but that tensor and the view at hand: by its reference count
    the tensor's count of writes, as it was

and whoever hands the array out (`x.array`, storages, `x.data`) has its pack dropped, in `let_go`.  Addresses are out of
anybody's sight: a tensor whose own was given away, as NumPy and DLPack do too, is not packed any more.

Who takes an array over for another result has to count that as a write (`wrote`) of the tensor that had it; nothing does so yet.

The packs are bounded, by memory and in number, and go with their tensors.  All of this happens under the GIL.
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
    PLACES = 1 << 10                   # where a factor is looked for: one, by its address
    MOST_PATIENCE = 64                 # products before one is packed, where packs were of no use
    MOST_BYTES = 1 << 28               # of all packs
    LEAST_BYTES = 1 << 12              # of an array


@cython.final
cdef class Place:
    """A factor that was seen, with its panels if it was seen again."""

    cdef Matrix matrix
    cdef bint double_
    cdef int64_t wide                  # columns of a panel
    cdef PyObject *root                # the array that owns the memory, and the tensor that counts: not held, `watch` does
    cdef PyObject *owner
    cdef int version
    cdef int seen
    cdef int patience                  # how often it has to be seen
    cdef int64_t used                  # when it was, last
    cdef int64_t hits
    cdef Packed packed
    cdef object watch                  # drops the pack when the array goes

    cdef bint is_of(self, PyObject *root, Tensor owner, bint double_, Matrix *b, int64_t wide) noexcept:
        return (
            self.matrix.data == b.data and self.matrix.rows == b.rows and self.matrix.columns == b.columns
            and self.matrix.pitch == b.pitch and self.matrix.flag == b.flag and self.double_ == double_
            and self.root == root and self.owner == <PyObject *>owner and self.version == owner.version
            and self.wide == wide
        )

    def gone(self, array):
        """The array is no more."""
        drop(self)


seal(Place)

cdef list places = [None] * PLACES
cdef list in_use = []                  # those with a pack
cdef dict addressed = {}               # arrays whose address was given away, by id: weak references
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
    """Whether an array, which is held so often by who asks, is known to nobody but a tensor and the one that counts for it."""
    cdef PyObject *mine = <PyObject *>t.array
    cdef PyObject *counting = <PyObject *>owner.array
    held += 1
    if t is not owner:
        if mine != root and Py_REFCNT(mine) > 1:
            return False
        if counting == <PyObject *>None:  # it has no part in the memory
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
    number = (number * <uint64_t>0x9E3779B97F4A7C15) >> 54  # Fibonacci's: large arrays lie at like places of pages
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
    """Pack a factor; those that were not used for longest make room."""
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
    """When a pack was used."""
    return place.used


cdef void let_go(PyObject *array, bint by_address) noexcept:
    """Somebody gets an array, or the address of its memory: what was packed of it may be written to unseen."""
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
    """An array whose address was given away is gone."""
    addressed.pop(number, None)


watch_memory(let_go)


def kept():
    """How many packs there are, and their bytes."""
    return len(in_use), bytes_kept


def forget():
    """Drop all packs, and what was seen."""
    while in_use:
        drop(<Place>in_use[len(in_use) - 1])
    places[:] = [None] * PLACES
