"""What a group is to the kernel that runs it, and how it runs on inputs of given dtypes: `Group` and `Plan`.

    slots      inputs, then the result of each row, then numbers in the dtype of what they meet
    steps      a row each: its loop, the slots that it reads, the one that it gives
    buffers    tiles of memory for results that nobody outside reads

`tiles.pyx` runs a plan; `tile_places` says where the elements of its slots are.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.table cimport ReadTile
from ts.backends.cpu.kernels.walk cimport Loop

cdef enum:
    TILE = 1024                        # elements
    BUFFER = TILE * 8                  # bytes of one
    MOST_BUFFERS = 12                  # in the cache together
    MOST_PLANS = 6                     # of a group
    MOST_SLOTS = 128                   # inputs, results and numbers of a group
    MOST_INPUTS = 32
    MOST_OPERANDS = 3
    MOST_ARGUMENTS = 4                 # of a row, operands and what it reads beside them
    MOST_TILES = 24                    # rows that read numbers beside their tensor
    NOWHERE = -1

cdef enum Word:                        # what a plan asks of an input: one word
    NOTHING = 0                        # no way here
    A_NUMBER = 1 << 8                  # and its tag
    A_TENSOR = 1 << 9                  # and its ScalarType
    AN_ELEMENT = 1 << 10               # the same, without dimensions
    ANOTHER = 1 << 11                  # None, a bool, a text: rows read it when they run

ctypedef struct Step:                  # a row
    Loop function
    void *data
    int arity
    int operands[MOST_OPERANDS]        # slots
    int out
    int tile                           # which of the run's tiles has the loop; NOWHERE: the loop is here
    ReadTile read


@cython.final
cdef class Plan:
    cdef uint32_t words[MOST_INPUTS]
    cdef readonly str refused          # "" where it runs
    cdef bint runnable
    cdef readonly int64_t runs
    cdef list loops                    # what the steps' data is part of
    cdef int slots
    cdef int kind[MOST_SLOTS]          # ScalarType of what is in a slot
    cdef int buffer[MOST_SLOTS]        # the tile's buffer of a slot, or NOWHERE
    cdef int number_of[MOST_SLOTS]     # of a slot behind the results: the input whose number it holds
    cdef int buffers
    cdef int tiles                     # rows that have one
    cdef bint is_element[MOST_SLOTS]   # a slot of one element, however long the tile is
    cdef Step steps[MOST_SLOTS]
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
    cdef int out_at[MOST_SLOTS]
    cdef int arity[MOST_SLOTS]
    cdef int operands[MOST_SLOTS][MOST_ARGUMENTS]
    cdef bint in_any_order             # whether results lie as the operands do, in whatever order that is
    cdef int64_t sources[MOST_SLOTS]   # by slot: a bit for each input that its elements come from
    cdef Plan last
    cdef int read(self, program) except -1
    # The plan for these inputs, made now if there is none; None where there cannot be one.
    cdef Plan plan_for(self, IValue *r, const int32_t *at)
    cdef Plan planned(self, uint32_t *words)
    cdef str choose_loops(self, Plan plan)
    cdef str choose_loop(self, Plan plan, int row, Loops loops)
    cdef str choose_tile(self, Plan plan, int row, ReadTile read)
    cdef str choose_choice(self, Plan plan, int row, tuple order)
    cdef int in_kind(self, Plan plan, int slot, int kind, bint alone) noexcept
    cdef int number_slot(self, Plan plan, int input, int kind) noexcept
    cdef str choose_buffers(self, Plan plan)
    cdef void free_buffers(self, Plan plan, int row, int *last, bint *taken, bint before) noexcept


# A program's group; ValueError where it has too many rows.
cdef Group read_group(program)
