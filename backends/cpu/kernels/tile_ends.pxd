"""Operators at the end of a group: they read whole rows of what its steps compute, while these are in the cache.

    softmax(x * scale + mask, -1)      piece by piece of some rows: the steps' tiles, then `softmax` of these rows
    ((x - y) ** 2).mean()              piece by piece of a row: sums of its blocks, which are added in order at last

Each computes with the loops of its own kernel, on the same rows, so the bits are the same.  One that does not read rows along
the last dimensions of what lies in order runs by itself, when the steps have run.
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.tile_places cimport Run
from ts.backends.cpu.kernels.tile_plans cimport Group, Plan

# None is in the run yet.
cdef void no_ends(Group g, Plan plan, Run *run) noexcept
# Take an end into the run of a stage, if there is a way: its slot has that shape and lies in order.  `held` keeps its result.
cdef int place_end(
    Group g, Plan plan, Run *run, int e, IValue *r, const int32_t *at, int ndim, const npy_intp *dims, list held
) except -1
# Whether all ends that read a slot are in the run: then it needs no array of its own.
cdef bint in_tiles(Group g, Plan plan, Run *run, int slot) noexcept
# Where the rows are that they read: in arrays that are there by now, or in a thread's memory.
cdef void place_rows(Plan plan, Run *run) noexcept
# How many pieces the stage has, and where one begins and ends.
cdef npy_intp pieces_of(Plan plan, Run *run) noexcept nogil
cdef void begin_piece(Plan plan, Run *run, npy_intp piece, char *memory, npy_intp *start, npy_intp *end) noexcept nogil
cdef void end_piece(Plan plan, Run *run, npy_intp start, npy_intp end) noexcept nogil
# When all pieces have run.
cdef void add_blocks(Run *run, npy_intp size) noexcept nogil
# Those that run by themselves, on the array of the slot that they read.
cdef int run_others(Group g, Plan plan, Run *run, IValue *r, const int32_t *at, list held) except -1
