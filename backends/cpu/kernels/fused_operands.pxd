"""Addresses of a fusion group's slots during a run.

    BorrowedArray    an input that is a view: an array header without a Python object
    OperandAddress   address of a slot, with the strides between elements and between tiles
    Gather           a strided input: each tile is copied before it is read
    StageEpilogues   epilogues that read whole rows of a stage's results, chunk by chunk
    Run              all of the above, with the scalars and loops of this run
    Layout           shapes and strides of all slots, if the inputs differ in shape or strides

The functions return False if the group does not support the shapes or strides.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel_registry cimport EpilogueArgs, Tile
from ts.backends.cpu.kernels.fused_plans cimport MAX_BUFFERS, MAX_EPILOGUES, MAX_INPUTS, MAX_SCALAR_LOOPS, MAX_SLOTS, MAX_VIEWS
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan, Schedule

cdef enum:
    MAX_RANK = 8                       # maximal number of dimensions of non-contiguous inputs

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


ctypedef struct OperandAddress:        # address of a slot
    char *data
    npy_intp stride                      # byte distance between elements, or 0 for a single element
    npy_intp advance  # bytes by which the address advances per element of a tile, or 0 for buffers


ctypedef struct Gather:                # an input that is copied tile by tile
    int slot
    int ndim
    npy_intp item
    npy_intp shape[MAX_RANK]
    npy_intp strides[MAX_RANK]
    const char *data
    char *tile


ctypedef struct StageEpilogue:         # an epilogue of a stage
    EpilogueArgs args
    int slot                           # slot whose rows the epilogue reads
    # offset of the rows in a thread's memory, after the buffers, or NO_INDEX if the rows are in an array
    npy_intp memory
    char *out                          # result of the epilogue
    double *totals                     # partial sums of blocks if a row is split into chunks, else NULL


ctypedef struct StageEpilogues:
    int count
    int placed                         # bit set of the epilogues of the group that are in `each`
    npy_intp row                       # number of elements of a row
    npy_intp chunk  # number of elements of a chunk, which is several rows or some blocks of one row
    npy_intp chunks_of_row             # number of chunks of a row, 1 unless rows are split
    npy_intp bytes                     # bytes of the buffers for the rows that epilogues read
    StageEpilogue each[MAX_EPILOGUES]
    PyObject *result[MAX_EPILOGUES]    # epilogue -> its array, its tensor (if it ran separately), or NULL


ctypedef struct Run:                   # state of a run of one stage
    npy_intp size
    Schedule *schedule
    int first                          # index of the first step of the stage in the schedule
    int last                           # index after the last step of the stage
    int gathers
    OperandAddress address[MAX_SLOTS]
    Gather gather[MAX_BUFFERS]
    double numbers[MAX_SLOTS]
    Tile tile[MAX_SCALAR_LOOPS]
    PyObject *array[MAX_SLOTS]         # arrays of results and of materialized epilogue inputs
    StageEpilogues epilogues
    PyArrayObject *input[MAX_INPUTS]   # arrays of inputs that are tensors
    BorrowedArray viewed[MAX_VIEWS]


ctypedef struct Layout:
    int ndim
    npy_intp shape[MAX_RANK]           # common shape to which all slots broadcast
    npy_intp size
    bint in_c_order                    # True if all inputs, and therefore results, are in C order
    int rank[MAX_SLOTS]
    uint32_t longs[MAX_SLOTS]          # bit set of the dimensions whose size is not 1
    bint is_contiguous[MAX_SLOTS]
    char *data[MAX_SLOTS]              # addresses of inputs and materialized results
    npy_intp strides[MAX_SLOTS][MAX_RANK]


# Set the arrays of the inputs, or the array headers of view inputs.
cdef bint set_inputs(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept
# Copy the elements [start, start + count), counted in row-major order, to the buffer of the tile.
cdef void gather(Gather *g, npy_intp start, npy_intp count) noexcept nogil
cdef bint address_scalars(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept
# Set the addresses of tensors with one shape and equal, dense strides. `first` is set to one of these
# tensors.
cdef bint address_dense(FusedGroup g, FusedPlan plan, Run *run, PyArrayObject **first) noexcept
# Prepare the per-channel vectors of operations on tensors with the layout of `like`. Add the vectors to
# `owners`, which keeps them alive.
cdef bint address_channels(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject *like, list owners) except -1
# Set the shapes and strides of the results, and of inputs that broadcast, have gaps or differ in dimension
# order.
cdef bint set_slot_strides(FusedGroup g, FusedPlan plan, Run *run, Layout *layout) noexcept
# Divide the steps into stages by the shapes of their results.
cdef bint schedule_by_lengths(FusedGroup g, FusedPlan plan, Layout *layout, Schedule *schedule) noexcept
# Set the addresses of the inputs of a stage. `order` lists the dimensions of its results from outermost to
# innermost.
cdef bint address_stage(FusedGroup g, FusedPlan plan, Run *run, Layout *layout, int *order) noexcept
# Set the address of a materialized result of a stage, so that later stages can read it.
cdef void address_materialized(Layout *layout, int slot, char *data, int *order, npy_intp item) noexcept
