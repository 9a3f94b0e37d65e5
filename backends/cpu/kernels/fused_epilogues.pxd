"""Epilogue fusion of row operators (reduction epilogues), which read whole rows of a group's results.

Results are bit-identical to those of separate operators. An epilogue must read contiguous rows along the last
dimensions. Otherwise, its operator runs separately after the group. The table shows two groups and their
execution:

    softmax(x * scale + mask, -1)      for each chunk of rows: pointwise operators by tiles, then softmax
    ((x - y) ** 2).mean()              for each chunk of a row: partial sums of blocks, added at the end
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.fused_operands cimport Run
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan

cdef enum:
    MAX_ROW_BYTES = 1 << 17            # maximal size in bytes of a row that stays in the L2 cache until its epilogue reads it

# Before a run, clear the list of epilogues that run within a stage, and the results of all epilogues.
cdef void reset_epilogues(FusedGroup g, FusedPlan plan, Run *run) noexcept
# Add epilogue `e` to the current stage if its input has the shape `dims` and is contiguous, and if its operator
# supports the arguments. The epilogue's result is added to `owners`, which keeps it alive.
cdef int add_epilogue(
    FusedGroup g, FusedPlan plan, Run *run, int e, IValue *r, const int32_t *at, int ndim, const npy_intp *dims, list owners
) except -1
# Return whether the current stage, which computes `slot`, also runs all epilogues that read `slot`. If so,
# the values of the slot need no array.
cdef bint is_fully_fused(FusedGroup g, FusedPlan plan, Run *run, int slot) noexcept
# Allocate memory for the rows that each epilogue reads, unless they are in an existing array.
cdef void assign_row_memory(FusedPlan plan, Run *run) noexcept
# Allocate memory for a slot in the memory that each thread has for the rows of a chunk. If `of_rows`, the slot has
# one element per row. `epilogue` is the index of the epilogue that writes the memory, or NO_INDEX. Return False
# if there are too many allocations.
cdef bint allocate_row_memory(FusedPlan plan, Run *run, int slot, bint of_rows, int epilogue) noexcept
# Return the number of chunks of a stage.
cdef npy_intp chunk_count(FusedPlan plan, Run *run) noexcept nogil
# Set `start` and `end` to the range of elements of a chunk, and the addresses of its rows in `memory`.
cdef void begin_chunk(FusedPlan plan, Run *run, npy_intp chunk_index, char *memory, npy_intp *start, npy_intp *end) noexcept nogil
# Run the epilogues of a stage on the rows of a chunk. If the chunk is only a part of one row, compute the partial sums
# of the epilogues for this part instead.
cdef void end_chunk(FusedPlan plan, Run *run, int stage, npy_intp start, npy_intp end) noexcept nogil
# Compute the results of the epilogues from the partial sums, after all chunks have run.
cdef void combine_partial_sums(Run *run, npy_intp size) noexcept nogil
# Run the epilogues that did not run within a stage, each on the array of its input slot.
cdef int run_separate_epilogues(FusedGroup g, FusedPlan plan, Run *run, IValue *r, const int32_t *at, list owners) except -1
