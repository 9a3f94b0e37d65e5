"""Fusion groups as kernels read them (`FusedGroup`), and execution plans for given dtypes (`FusedPlan`).

    slots      inputs, then the result of each row, then scalars and conversions in the dtype of their users
    steps      one for each row or conversion: its loop, the slots that it reads, the slot that it writes
    stages     steps with results of one shape, smaller ones first: `x * sigmoid(row)` computes the row once
    buffers    tiles of memory for results that are read only within their stage
    ends       epilogues: operators that read whole rows of such results, after all steps

A row is one operator of the group's program. `fused_executor.pyx` executes a plan; `tile_places` computes the
addresses of its slots.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.table cimport MAX_VIEW_ARGUMENTS, ReadChannels, ReadEnd, ReadTile, ReadView
from ts.backends.cpu.kernels.walk cimport Loop

cdef enum:
    TILE_BYTES = 8192                  # bytes of a tile: 2,048 float32 elements
    MAX_BUFFERS = 12                   # tile buffers that fit the L1 cache together
    MAX_PLANS = 6                      # cached plans of a group
    MAX_SLOTS = 128                    # inputs, results and scalars of a group
    MAX_INPUTS = 32
    MAX_STAGES = 8
    MAX_OPERANDS = 3
    MAX_ARGUMENTS = 4                  # maximum number of arguments of a row: operands and scalar parameters
    MAX_EPILOGUES = 4                  # epilogues
    MAX_EPILOGUE_ARGUMENTS = 9         # maximum for an epilogue, or a row with per-channel vectors
    MAX_VIEWS = 16                     # inputs that are views of the group's inputs
    MAX_SCALAR_LOOPS = 24              # rows with scalar parameters
    NO_INDEX = -1

cdef enum GuardWord:                        # guard of one input of a plan, in one word
    UNSUPPORTED = 0                    # unsupported value
    A_NUMBER = 1 << 8                  # Python number; the low bits are its IValue tag
    A_TENSOR = 1 << 9                  # tensor; the low bits are its ScalarType
    AN_ELEMENT = 1 << 10               # 0-dim tensor; the low bits are its ScalarType
    OTHER_VALUE = 1 << 11              # None, bool, string or epilogue argument; read when the group runs
    A_DTYPE = 1 << 12                  # number that stands for a dtype; the low bits are its ScalarType

ctypedef struct Step:
    Loop function
    void *data
    int arity
    int operands[MAX_OPERANDS]         # slots
    int out
    int tile                           # index of the tile that has the loop; NO_INDEX: `function` is the loop
    ReadTile read
    ReadChannels by_channels           # for loops with per-channel vectors, else NULL

ctypedef struct ViewInput:                  # an input that is a view of another input
    int input
    ReadView read
    int arity
    int operands[MAX_VIEW_ARGUMENTS]   # inputs
    int part
    int parts

ctypedef struct Schedule:              # order of execution of the steps, and their buffers
    int stages
    int end[MAX_STAGES]                # stage -> index in `steps` after its last step
    int steps[MAX_SLOTS]
    int buffer[MAX_SLOTS]              # slot -> buffer; NO_INDEX: written to an array for later stages
    int buffers                        # maximum over the stages


@cython.final
cdef class FusedPlan:
    cdef uint32_t words[MAX_INPUTS]
    cdef readonly str refused          # reason why the plan cannot run; "" if it can
    cdef bint runnable
    cdef readonly int64_t runs
    cdef list loops                    # owners of the memory that the steps' data points to
    cdef int slots
    cdef int kind[MAX_SLOTS]           # ScalarType of a slot
    cdef int at[MAX_SLOTS]             # input or row -> slot with its elements
    cdef int source[MAX_SLOTS]         # scalar or conversion -> slot that it converts
    cdef int producer[MAX_SLOTS]       # slot -> step that writes it, or NO_INDEX
    cdef bint is_result[MAX_SLOTS]     # True for slots that are results of the group
    cdef bint is_required[MAX_SLOTS]   # True for results and inputs of epilogues
    cdef int required_count            # number of required slots; `required_slots` are their indices
    cdef int required_slots[MAX_SLOTS]
    cdef int out_at[MAX_SLOTS]         # slots of the results; NO_INDEX: result of an epilogue
    cdef int end_slot[MAX_EPILOGUES]   # input slot of each epilogue
    cdef int count                     # number of steps
    cdef int default                   # the default dtype that the kinds depend on, or NO_INDEX
    cdef int tiles                     # number of rows with scalar parameters
    cdef npy_intp tile                 # elements of a tile
    cdef bint has_elements             # a row computes a single element: it needs a stage of its own
    cdef bint is_element[MAX_SLOTS]    # whether a slot has one element, whatever the tile size
    cdef bint in_rows[MAX_SLOTS]       # whether a loop reads the slot as a contiguous row, without strides
    cdef Step steps[MAX_SLOTS]
    cdef Schedule whole                # schedule for results of one common shape
    cdef bint matches(self, const uint32_t *words, int count) noexcept


@cython.final
cdef class FusedGroup:
    cdef readonly object program
    cdef list operators                # operators of the rows
    cdef readonly list plans
    cdef readonly int64_t left_to_limits     # runs that were refused: `ts.limits` are active
    cdef readonly int64_t left_for_inputs    # ... because of a device, dtype or number
    cdef readonly int64_t left_for_shapes    # ... because of shapes or strides
    cdef int inputs
    cdef int rows
    cdef int outputs
    cdef int out_at[MAX_SLOTS]         # slots of the outputs, numbered as inputs, then rows
    cdef bint is_dtype[MAX_INPUTS]     # whether an input is a number that names a conversion's dtype
    cdef int arity[MAX_SLOTS]
    cdef int operands[MAX_SLOTS][MAX_EPILOGUE_ARGUMENTS]
    cdef bint is_plain[MAX_SLOTS]      # whether a row's result is always C-contiguous
    cdef bint in_any_order             # whether no row is plain
    cdef bint by_channels              # whether a row has per-channel vectors
    cdef bint is_argument[MAX_INPUTS] # whether an input is only a parameter of a view or an epilogue
    cdef int heads
    cdef ViewInput head[MAX_VIEWS]
    cdef int ends
    cdef list end_operators
    cdef ReadEnd end_read[MAX_EPILOGUES]
    cdef int end_arity[MAX_EPILOGUES]
    cdef int end_operands[MAX_EPILOGUES][MAX_EPILOGUE_ARGUMENTS]
    cdef FusedPlan last
    cdef int read(self, program) except -1
    cdef int read_views(self, tuple heads) except -1
    # Return the plan for these inputs, creating it if necessary; None if an input is unsupported.
    cdef FusedPlan plan_for(self, IValue *r, const int32_t *at)
    cdef FusedPlan make_plan(self, uint32_t *words)
    cdef str choose_loops(self, FusedPlan plan)
    cdef str choose_loop(self, FusedPlan plan, int row, Loops loops)
    cdef str choose_tile(self, FusedPlan plan, int row, ReadTile read)
    cdef str choose_channels(self, FusedPlan plan, int row, ReadChannels read)
    cdef str choose_choice(self, FusedPlan plan, int row, tuple order)
    cdef str choose_conversion(self, FusedPlan plan, int row)
    cdef str choose_results(self, FusedPlan plan)
    # Sort steps by their stage and assign buffers to their results; False if there are too few buffers.
    cdef bint assign_buffers(self, FusedPlan plan, const int *stage, int stages, Schedule *schedule) noexcept
    cdef void free_buffers(self, FusedPlan plan, Schedule *schedule, int at, int *last, bint *in_use, bint before) noexcept


# Create the group of a program; ValueError if it exceeds the limits above.
cdef FusedGroup read_group(program)
