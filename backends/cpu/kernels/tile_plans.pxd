"""What a group is to the kernel that runs it, and how it runs on inputs of given dtypes: `Group` and `Plan`.

    slots      inputs, then the result of each row, then numbers and conversions in the dtype of what they meet
    steps      a row each, or a conversion: its loop, the slots that it reads, the one that it gives
    stages     steps whose results have the same lengths, the smaller ones first: `x * sigmoid(row)` computes the row once
    buffers    tiles of memory for results that nobody outside of their stage reads
    ends       operators that read whole rows of such results, behind all steps (`tile_ends`)

`tiles.pyx` runs a plan; `tile_places` says where the elements of its slots are.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.table cimport MOST_VIEW_ARGUMENTS, ReadChannels, ReadEnd, ReadTile, ReadView
from ts.backends.cpu.kernels.walk cimport Loop

cdef enum:
    BUFFER = 8192                      # bytes of a tile: of floats, 2,048
    MOST_BUFFERS = 12                  # in the cache together
    MOST_PLANS = 6                     # of a group
    MOST_SLOTS = 128                   # inputs, results and numbers of a group
    MOST_INPUTS = 32
    MOST_STAGES = 8
    MOST_OPERANDS = 3
    MOST_ARGUMENTS = 4                 # of a row, operands and what it reads beside them
    MOST_ENDS = 4                      # operators at the end
    MOST_END_ARGUMENTS = 9             # of such an operator, and of a row by channels
    MOST_HEADS = 16                    # inputs that are views of what is given
    MOST_TILES = 24                    # rows that read numbers beside their tensor
    NOWHERE = -1

cdef enum Word:                        # what a plan asks of an input: one word
    NOTHING = 0                        # no way here
    A_NUMBER = 1 << 8                  # and its tag
    A_TENSOR = 1 << 9                  # and its ScalarType
    AN_ELEMENT = 1 << 10               # the same, without dimensions
    ANOTHER = 1 << 11                  # None, a bool, a text, what an end takes: read when the group runs
    A_DTYPE = 1 << 12                  # and its ScalarType, a number

ctypedef struct Step:
    Loop function
    void *data
    int arity
    int operands[MOST_OPERANDS]        # slots
    int out
    int tile                           # which of the run's tiles has the loop; NOWHERE: the loop is here
    ReadTile read
    ReadChannels by_channels           # the loop has vectors; or NULL

ctypedef struct Head:                  # an input that is a view
    int input
    ReadView read
    int arity
    int operands[MOST_VIEW_ARGUMENTS]  # inputs
    int part
    int parts

ctypedef struct Schedule:              # which steps run together
    int stages
    int end[MOST_STAGES]               # of each stage: behind its last step in `steps`
    int steps[MOST_SLOTS]
    int buffer[MOST_SLOTS]             # of a slot: its tile; NOWHERE: whole, since others read it
    int buffers                        # most of a stage


@cython.final
cdef class Plan:
    cdef uint32_t words[MOST_INPUTS]
    cdef readonly str refused          # "" where it runs
    cdef bint runnable
    cdef readonly int64_t runs
    cdef list loops                    # what the steps' data is part of
    cdef int slots
    cdef int kind[MOST_SLOTS]          # ScalarType of what is in a slot
    cdef int at[MOST_SLOTS]            # of an input or a row: the slot that has its elements
    cdef int source[MOST_SLOTS]        # of a slot behind the results: what it has in another dtype
    cdef int made_by[MOST_SLOTS]       # of a slot: its step, or NOWHERE
    cdef bint given[MOST_SLOTS]        # a slot that is a result of the group
    cdef bint kept[MOST_SLOTS]         # ... or that an end reads
    cdef int keeps                     # how many, and which
    cdef int keep_at[MOST_SLOTS]
    cdef int out_at[MOST_SLOTS]        # slots of the results; NOWHERE: an end's
    cdef int end_slot[MOST_ENDS]       # what each end reads
    cdef int count                     # of steps
    cdef int default                   # the default dtype that the kinds follow from, or NOWHERE
    cdef int tiles                     # rows that have one
    cdef npy_intp tile                 # its elements
    cdef bint has_elements             # a row of single elements: it has a stage of its own
    cdef bint is_element[MOST_SLOTS]   # a slot of one element, however long the tile is
    cdef bint in_rows[MOST_SLOTS]      # a slot that some loop reads as a row without steps
    cdef Step steps[MOST_SLOTS]
    cdef Schedule whole                # where all results have the same lengths
    cdef bint holds(self, const uint32_t *words, int count) noexcept


@cython.final
cdef class Group:
    cdef readonly object program
    cdef list operators                # of the rows
    cdef readonly list plans
    cdef readonly int64_t left_to_limits     # how often it did not run: because `ts.limits` hold
    cdef readonly int64_t left_for_inputs    # ... because of a device, a dtype, a number
    cdef readonly int64_t left_for_shapes    # ... because of shapes, or how elements lie
    cdef int inputs
    cdef int rows
    cdef int outputs
    cdef int out_at[MOST_SLOTS]        # rows and inputs, by their numbers
    cdef bint is_dtype[MOST_INPUTS]    # a number that says what a row converts to
    cdef int arity[MOST_SLOTS]
    cdef int operands[MOST_SLOTS][MOST_END_ARGUMENTS]
    cdef bint is_plain[MOST_SLOTS]     # a row whose result lies in the order in which it is written down
    cdef bint in_any_order             # there is no such row
    cdef bint by_channels              # there is a row that has vectors for the channels
    cdef bint is_argument[MOST_INPUTS] # what a head or an end takes beside its tensor
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
    # The plan for these inputs, made now if there is none; None where there cannot be one.
    cdef Plan plan_for(self, IValue *r, const int32_t *at)
    cdef Plan planned(self, uint32_t *words)
    cdef str choose_loops(self, Plan plan)
    cdef str choose_loop(self, Plan plan, int row, Loops loops)
    cdef str choose_tile(self, Plan plan, int row, ReadTile read)
    cdef str choose_channels(self, Plan plan, int row, ReadChannels read)
    cdef str choose_choice(self, Plan plan, int row, tuple order)
    cdef str choose_conversion(self, Plan plan, int row)
    cdef str choose_results(self, Plan plan)
    # Steps by the stage that each is of, and buffers for their results; false where there are too many of these.
    cdef bint arrange(self, Plan plan, const int *stage, int stages, Schedule *schedule) noexcept
    cdef void free_buffers(self, Plan plan, Schedule *schedule, int at, int *last, bint *taken, bint before) noexcept


# A program's group; ValueError where it has too many rows.
cdef Group read_group(program)
