"""A fusion group as its kernel reads it, and its execution plan for inputs of given dtypes: `Group` and `Plan`.

    slots      inputs, then the result of each row, then scalars and conversions in the dtype of their users
    steps      one for each row or conversion: its loop, the slots that it reads, the slot that it writes
    stages     steps whose results have the same shape, smaller shapes first: `x * sigmoid(row)` computes the row once
    buffers    tiles of memory for results that are read only within their stage
    ends       epilogues: operators that read whole rows of such results, after all steps

A row is one operator of the group's program. `tiles.pyx` executes a plan; `tile_places` computes the
addresses of its slots.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.table cimport MOST_VIEW_ARGUMENTS, ReadChannels, ReadEnd, ReadTile, ReadView
from ts.backends.cpu.kernels.walk cimport Loop

cdef enum:
    BUFFER = 8192                      # bytes of a tile: 2,048 float32 elements
    MOST_BUFFERS = 12                  # that fit the L1 cache together
    MOST_PLANS = 6                     # cached plans of a group
    MOST_SLOTS = 128                   # inputs, results and scalars of a group
    MOST_INPUTS = 32
    MOST_STAGES = 8
    MOST_OPERANDS = 3
    MOST_ARGUMENTS = 4                 # of a row: operands and scalar parameters
    MOST_ENDS = 4                      # epilogues
    MOST_END_ARGUMENTS = 9             # of an epilogue, and of a row with per-channel vectors
    MOST_HEADS = 16                    # inputs that are views of the group's inputs
    MOST_TILES = 24                    # rows with scalar parameters
    NOWHERE = -1

cdef enum Word:                        # guard of one input of a plan, in one word
    NOTHING = 0                        # unsupported value
    A_NUMBER = 1 << 8                  # and its tag
    A_TENSOR = 1 << 9                  # and its ScalarType
    AN_ELEMENT = 1 << 10               # 0-dim tensor, and its ScalarType
    ANOTHER = 1 << 11                  # None, a bool, a string, or an argument of an epilogue: read when the group runs
    A_DTYPE = 1 << 12                  # and its ScalarType: a number that stands for a dtype

ctypedef struct Step:
    Loop function
    void *data
    int arity
    int operands[MOST_OPERANDS]        # slots
    int out
    int tile                           # index of the run's tile that has the loop; NOWHERE: `function` is the loop
    ReadTile read
    ReadChannels by_channels           # for loops with per-channel vectors, else NULL

ctypedef struct Head:                  # an input that is a view of another input
    int input
    ReadView read
    int arity
    int operands[MOST_VIEW_ARGUMENTS]  # inputs
    int part
    int parts

ctypedef struct Schedule:              # order of execution of the steps, and their buffers
    int stages
    int end[MOST_STAGES]               # of each stage: index in `steps` after its last step
    int steps[MOST_SLOTS]
    int buffer[MOST_SLOTS]             # of a slot: its buffer; NOWHERE: it is written to an array, since others read it
    int buffers                        # maximum over the stages


@cython.final
cdef class Plan:
    cdef uint32_t words[MOST_INPUTS]
    cdef readonly str refused          # reason why the plan cannot run; "" if it can
    cdef bint runnable
    cdef readonly int64_t runs
    cdef list loops                    # owners of the memory that the steps' data points to
    cdef int slots
    cdef int kind[MOST_SLOTS]          # ScalarType of a slot
    cdef int at[MOST_SLOTS]            # of an input or a row: the slot that holds its elements
    cdef int source[MOST_SLOTS]        # of a scalar or conversion: the slot that it converts
    cdef int made_by[MOST_SLOTS]       # of a slot: the step that writes it, or NOWHERE
    cdef bint given[MOST_SLOTS]        # whether a slot is a result of the group
    cdef bint kept[MOST_SLOTS]         # whether it is a result or the input of an epilogue
    cdef int keeps                     # number of kept slots, and their indices
    cdef int keep_at[MOST_SLOTS]
    cdef int out_at[MOST_SLOTS]        # slots of the results; NOWHERE: result of an epilogue
    cdef int end_slot[MOST_ENDS]       # input slot of each epilogue
    cdef int count                     # number of steps
    cdef int default                   # the default dtype that the kinds depend on, or NOWHERE
    cdef int tiles                     # number of rows with scalar parameters
    cdef npy_intp tile                 # elements of a tile
    cdef bint has_elements             # a row computes a single element: it needs a stage of its own
    cdef bint is_element[MOST_SLOTS]   # whether a slot has one element, whatever the tile size
    cdef bint in_rows[MOST_SLOTS]      # whether a loop reads the slot as a contiguous row, without strides
    cdef Step steps[MOST_SLOTS]
    cdef Schedule whole                # schedule for results of one common shape
    cdef bint holds(self, const uint32_t *words, int count) noexcept


@cython.final
cdef class Group:
    cdef readonly object program
    cdef list operators                # of the rows
    cdef readonly list plans
    cdef readonly int64_t left_to_limits     # runs that were refused: `ts.limits` are active
    cdef readonly int64_t left_for_inputs    # ... because of a device, dtype or number
    cdef readonly int64_t left_for_shapes    # ... because of shapes or strides
    cdef int inputs
    cdef int rows
    cdef int outputs
    cdef int out_at[MOST_SLOTS]        # slots of the outputs, numbered as inputs, then rows
    cdef bint is_dtype[MOST_INPUTS]    # whether an input is a number that names a conversion's dtype
    cdef int arity[MOST_SLOTS]
    cdef int operands[MOST_SLOTS][MOST_END_ARGUMENTS]
    cdef bint is_plain[MOST_SLOTS]     # whether a row's result is always C-contiguous
    cdef bint in_any_order             # there is no such row
    cdef bint by_channels              # there is a row with per-channel vectors
    cdef bint is_argument[MOST_INPUTS] # whether an input is only a parameter of a view or an epilogue
    cdef int heads
    cdef Head head[MOST_HEADS]
    cdef int ends
    cdef list end_operators
    cdef ReadEnd end_read[MOST_ENDS]
    cdef int end_arity[MOST_ENDS]
    cdef int end_operands[MOST_ENDS][MOST_END_ARGUMENTS]
    cdef Plan last
    cdef int read(self, program) except -1
    cdef int read_heads(self, tuple heads) except -1
    # Return the plan for these inputs, creating it if necessary; None if an input is unsupported.
    cdef Plan plan_for(self, IValue *r, const int32_t *at)
    cdef Plan planned(self, uint32_t *words)
    cdef str choose_loops(self, Plan plan)
    cdef str choose_loop(self, Plan plan, int row, Loops loops)
    cdef str choose_tile(self, Plan plan, int row, ReadTile read)
    cdef str choose_channels(self, Plan plan, int row, ReadChannels read)
    cdef str choose_choice(self, Plan plan, int row, tuple order)
    cdef str choose_conversion(self, Plan plan, int row)
    cdef str choose_results(self, Plan plan)
    # Sort steps by their stage and assign buffers to their results; False if there are too few buffers.
    cdef bint arrange(self, Plan plan, const int *stage, int stages, Schedule *schedule) noexcept
    cdef void free_buffers(self, Plan plan, Schedule *schedule, int at, int *last, bint *taken, bint before) noexcept


# Create the group of a program; ValueError if it exceeds the limits above.
cdef Group read_group(program)
