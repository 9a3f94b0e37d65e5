"""Addresses of a fusion group's slots during a run.

The slots of a group are its inputs, results and numbers. The functions return False if the group does not
support the shapes or strides of its inputs. The structures are:

    BorrowedArray    array header of a view input, without a Python object
    OperandAddress   address of a slot, with the strides between elements and between tiles
    Gather           a strided input, of which each tile is copied to a buffer
    StageEpilogues   epilogues that read whole rows of a stage's results, chunk by chunk
    RowMemory        memory of a slot for the rows of a chunk
    RowStages        stages that run one after the other on each chunk, if a group continues after epilogues
    Run              all of the above, with the scalars and loops of this run
    Layout           shapes and strides of all slots, if the inputs differ in shape or strides
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel_registry cimport EpilogueArgs, Tile
from ts.backends.cpu.kernels.fused_plans cimport MAX_EPILOGUES, MAX_INPUTS, MAX_SCALAR_LOOPS, MAX_SLOTS, MAX_STAGES, MAX_VIEWS
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan, Schedule

cdef enum:
    MAX_RANK = 8                       # maximal number of dimensions if an input is not contiguous
    MAX_GATHERS = 32                   # maximal number of strided inputs that the stages of a run read
    MAX_ROW_READS = 64
    MAX_ROW_MEMORIES = 64

cdef extern from "numpy/arrayobject.h":
    ctypedef struct ArrayFields "PyArrayObject_fields":
        char *data
        int nd
        npy_intp *dimensions
        npy_intp *strides
        int flags


ctypedef struct BorrowedArray:
    ArrayFields fields
    npy_intp dims[MAX_RANK]
    npy_intp strides[MAX_RANK]


ctypedef struct OperandAddress:
    char *data
    npy_intp stride                      # distance between elements in bytes, or 0 if a single element is read for the whole tile
    npy_intp advance  # Bytes per element by which `data` moves from one tile to the next. It is 0 for buffers, which each tile reuses.


ctypedef struct Gather:                # a strided input, copied to a buffer for each tile
    int slot
    int ndim
    npy_intp item
    npy_intp shape[MAX_RANK]
    npy_intp strides[MAX_RANK]
    const char *data
    char *tile
    bint of_rows                       # True if `slot` has one element per row, which is repeated along the row


ctypedef struct StageEpilogue:         # an epilogue that runs within a stage
    EpilogueArgs args
    int slot                           # slot whose rows the epilogue reads
    int stage                          # stage after which the epilogue runs
    char *out                          # result of the epilogue
    # NULL unless the rows of the epilogue are split into chunks. For split rows, the partial sums of the blocks of
    # `reduce.BLOCK` elements of all rows.
    double *totals


ctypedef struct RowMemory:
    int slot
    npy_intp offset                    # offset in the memory that each thread has for rows
    bint of_rows                       # True if the slot has one element per row
    int epilogue                       # index in `StageEpilogues.each` of the epilogue that writes the memory, or NO_INDEX


ctypedef struct StageEpilogues:
    int count
    int placed                         # bit mask: bit i is set if epilogue i of the group is in `each`
    npy_intp row                       # number of elements of a row
    npy_intp chunk  # number of elements of a chunk, which consists of whole rows or is a part of one row
    npy_intp chunks_of_row             # number of chunks of a row, 1 unless rows are split
    npy_intp bytes                     # bytes per thread for all of `memory`
    int memories
    RowMemory memory[MAX_ROW_MEMORIES]
    StageEpilogue each[MAX_EPILOGUES]
    PyObject *result[MAX_EPILOGUES]  # epilogue -> NULL before it runs, then an array, or a tensor if the epilogue ran as a separate operator


cdef enum:                             # kinds of an operand of a step that computes whole rows, 0 for whole rows
    ROW_ELEMENT = 1                    # one element per row
    ROW_VECTOR = 2                     # a vector that all rows read


ctypedef struct RowStages:
    int count                          # number of stages, or 0 if the group does not continue after epilogues
    npy_intp tile                      # number of elements of a tile: whole rows, or a part of one row
    int gather_end[MAX_STAGES]         # stage -> index after its last strided input in `Run.gather`
    # Index of a step in `Schedule.order` -> kinds of its operands, two bits per operand, if it computes whole rows.
    int operand_kinds[MAX_SLOTS]
    # Stage that computes one element per row -> index after the last slot in `read` that it reads or computes
    int read_end[MAX_STAGES]
    int read[MAX_ROW_READS]
    # Slot with one element per row -> address of the element of row 0. The memory may hold only the elements of
    # the current chunk. For a vector that all rows read, the address of the vector.
    char *data[MAX_SLOTS]


ctypedef struct Run:                   # state of a run of one stage
    npy_intp size
    Schedule *schedule
    int first                          # index of the first step of the stage in the schedule
    int last                           # index after the last step of the stage
    int first_gather                   # index of the first strided input of the stage in `gather`
    int gathers                        # index after the last strided input of the stage
    OperandAddress address[MAX_SLOTS]
    Gather gather[MAX_GATHERS]
    double numbers[MAX_SLOTS]
    Tile tile[MAX_SCALAR_LOOPS]
    PyObject *array[MAX_SLOTS]         # slot -> array, for results and for epilogue inputs that are stored as a whole
    StageEpilogues epilogues
    RowStages rows
    PyArrayObject *input[MAX_INPUTS]   # arrays of inputs that are tensors
    BorrowedArray viewed[MAX_VIEWS]


ctypedef struct Layout:
    int ndim
    npy_intp shape[MAX_RANK]           # common shape to which all slots broadcast
    npy_intp size
    bint in_c_order                    # True if the dimensions of all inputs, and therefore of all results, are in C order
    int rank[MAX_SLOTS]
    uint32_t longs[MAX_SLOTS]          # slot -> bit set of the dimensions in which its size is not 1
    bint is_contiguous[MAX_SLOTS]
    char *data[MAX_SLOTS]              # slot -> address of an input or of a result that later stages read
    npy_intp strides[MAX_SLOTS][MAX_RANK]


# Set the arrays of the inputs. For inputs that are views, set the array headers in `Run.viewed`.
cdef bint set_inputs(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept
# Copy the elements [start, start + count) of a strided input, counted in row-major order, to its buffer.
cdef void gather(Gather *g, npy_intp start, npy_intp count) noexcept nogil
cdef bint address_scalars(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept
# If all tensor inputs have the same shape and equal, dense strides, set the addresses of the inputs, set
# `first` to one of these tensors and return True.
cdef bint address_dense(FusedGroup g, FusedPlan plan, Run *run, PyArrayObject **first) noexcept
# Compute the vectors that per-channel operations read, for tensors with the layout of `like`. `owners` holds
# references that keep the vectors alive.
cdef bint address_channels(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject *like, list owners) except -1
# Set the common shape, and the shapes and strides of the inputs.
cdef bint set_input_strides(FusedGroup g, FusedPlan plan, Run *run, Layout *layout) noexcept
# Set the strides of a slot to those of a C-contiguous array.
cdef void set_contiguous_strides(Layout *layout, int slot) noexcept nogil
# Set the address from which the steps of the current stage read an input. Return False if no buffer is free.
cdef bint address_input(FusedPlan plan, Run *run, Layout *layout, int slot, npy_intp *shape, int *order) noexcept nogil
# Store the shape of a slot in `shape` and return its rank.
cdef int shape_of(Layout *layout, int slot, npy_intp *shape) noexcept
# Allocate the array of a result with the strides that the separate operator would choose.
cdef object new_slot_array(Layout *layout, int slot, int kind)
# Set the shapes and strides of all slots, for inputs that broadcast, have gaps or differ in dimension order.
cdef bint set_slot_strides(FusedGroup g, FusedPlan plan, Run *run, Layout *layout) noexcept
# Divide the steps into stages by the shapes of their results.
cdef bint schedule_by_lengths(FusedGroup g, FusedPlan plan, Layout *layout, Schedule *schedule) noexcept
# Set the addresses of the slots that a stage reads. `order` lists the dimensions of the stage's results from
# outermost to innermost.
cdef bint address_stage(FusedGroup g, FusedPlan plan, Run *run, Layout *layout, int *order) noexcept
# Set the address of a result that a stage wrote to an array, so that later stages can read it.
cdef void address_materialized(Layout *layout, int slot, char *data, int *order, npy_intp item) noexcept
