"""Fusion groups in the format of the kernels (`FusedGroup`), and execution plans for dtypes (`FusedPlan`).

A stage is a group of steps that process one tile before the next tile. A tile is a range of elements. A plan
has these parts:

    slots      inputs, then the result of each operation, then numbers and values converted to another dtype
    steps      one loop per operation or conversion (`TileOp`), with the slots that it reads and writes
    stages     groups of steps whose results have equal shapes, where smaller shapes run first
    buffers    memory of one tile each, for results that are read only within their stage
    epilogues  operators that read whole rows of the steps' results
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.kernel_registry cimport MAX_VIEW_ARGUMENTS, ReadChannels, ReadEpilogue, ReadTile, ReadView
from ts.backends.cpu.kernels.row_loops cimport Chain
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

cdef enum:
    TILE_BYTES = 8192                  # size of a tile buffer in bytes: 2,048 float32 elements
    MAX_BUFFERS = 12                   # number of tile buffers that fit in the L1 cache together
    MAX_PLANS = 6                      # maximal number of cached plans of a group
    MAX_SLOTS = 128                    # maximal number of inputs, results and scalars of a group
    MAX_INPUTS = 32
    MAX_STAGES = 18
    MAX_OPERANDS = 6
    MAX_ARGUMENTS = 4                  # maximal number of operands and scalar parameters of an operation
    MAX_EPILOGUES = 8                  # maximal number of epilogues of a group
    MAX_EPILOGUE_ARGUMENTS = 9  # maximal number of arguments of an epilogue or a per-channel operation
    MAX_VIEWS = 16                     # maximal number of view inputs of a group
    MAX_SCALAR_LOOPS = 24              # maximal number of operations with scalar parameters or per-channel vectors
    NO_INDEX = -1

cdef enum GuardBits:                   # bits of a guard: the kind of value and dtype of one input that a plan supports
    UNSUPPORTED = 0                    # input with an unsupported value
    A_NUMBER = 1 << 8                  # Python number. The low bits are the tag of its IValue.
    A_TENSOR = 1 << 9                  # tensor. The low bits are its ScalarType.
    AN_ELEMENT = 1 << 10               # 0-dim tensor. The low bits are its ScalarType.
    OTHER_VALUE = 1 << 11  # None, bool, string or epilogue argument, which is read when the group runs: the plan does not depend on it
    A_DTYPE = 1 << 12                  # number that is the code of a dtype. The low bits are its ScalarType.

ctypedef struct TileOp:
    Loop function
    void *data
    int arity
    int operands[MAX_OPERANDS]         # slots that the step reads
    int out
    int arithmetic                     # operation in an arithmetic chain, or NOT_ARITHMETIC
    bint is_exp                        # True for the exponential, which can end a chain
    int chain                          # index of the chain in `FusedPlan.chains`, or NO_INDEX
    # Index in `Run.tile` of the loop and its parameters, which `read` sets when the group runs. NO_INDEX if
    # the loop has no parameters. In this case, the loop is `function`.
    int tile
    ReadTile read
    ReadChannels by_channels           # function that prepares the per-channel vectors of the loop, or NULL if the loop has none

ctypedef struct ViewInput:                  # an input that is a view of another input
    int input
    ReadView read
    int arity
    int operands[MAX_VIEW_ARGUMENTS]   # numbers of the inputs that are the view's arguments
    int result_index
    int result_count

ctypedef struct Schedule:              # execution order of the steps, and the buffers of their results
    int stages
    int end[MAX_STAGES]                # stage -> index after its last step in `order`
    int order[MAX_SLOTS]
    int buffer[MAX_SLOTS]  # slot -> index of its buffer, or NO_INDEX if the slot is stored in an array, which later stages read
    int buffers                        # number of buffers that the stage with the most buffers needs


@cython.final
cdef class FusedPlan:
    cdef uint32_t guards[MAX_INPUTS]
    cdef readonly str unsupported_reason          # reason why the group does not support these inputs, or "" if it does
    cdef bint runnable
    cdef readonly int64_t runs
    # the inputs of the call that created the plan: (dtype code, sizes, strides) for a tensor, None for other values
    cdef readonly tuple example_inputs
    cdef list loops                    # `Loops` objects, which own the memory that `TileOp.data` refers to
    cdef int slots
    cdef int kind[MAX_SLOTS]           # ScalarType of a slot
    cdef int at[MAX_SLOTS]             # number of an input or operation -> slot with its elements
    cdef int source[MAX_SLOTS]         # slot of a number or conversion -> slot whose elements it converts
    cdef int producer[MAX_SLOTS]       # slot -> step that writes it, or NO_INDEX
    cdef bint is_result[MAX_SLOTS]     # True for slots that are results of the group
    cdef bint is_required[MAX_SLOTS]   # True for results and inputs of epilogues
    cdef int required_count            # number of required slots, which `required_slots` lists
    cdef int required_slots[MAX_SLOTS]
    cdef int out_at[MAX_SLOTS]         # slots of the results, or NO_INDEX for the result of an epilogue
    cdef int epilogue_slot[MAX_EPILOGUES]   # input slot of each epilogue
    cdef int epilogue_position[MAX_EPILOGUES]   # number of steps before each epilogue, if the group continues after epilogues
    cdef int count                     # number of steps
    # the default dtype for which the plan was made, or NO_INDEX if the plan does not depend on it
    cdef int default
    cdef int tiles                     # number of steps whose loop and parameters are in `Run.tile`
    cdef npy_intp tile                 # number of elements of a tile
    cdef bint has_elements  # True if a step computes a single element from single elements. Such steps run in a stage before the others.
    cdef bint is_element[MAX_SLOTS]    # True if a slot has a single element (number or 0-dim tensor), which all tiles read
    cdef bint in_rows[MAX_SLOTS]       # True if a loop requires that the slot's elements are contiguous
    cdef TileOp tile_ops[MAX_SLOTS]
    cdef int chain_count
    cdef Chain chains[MAX_SLOTS]
    cdef Schedule uniform_schedule     # schedule for results that all have the same shape
    cdef bint matches(self, const uint32_t *guards, int count) noexcept


@cython.final
cdef class FusedGroup:
    cdef readonly object program
    cdef list operators                # Operator object of each operation
    cdef readonly list plans
    # The next three fields count the calls in which the group did not run, so that its operators ran one by
    # one. Each field counts one cause:
    cdef readonly int64_t left_to_limits     # limits of `ts.limits` are active
    cdef readonly int64_t left_for_inputs    # the device, dtype or value of an input is unsupported
    cdef readonly int64_t left_for_shapes    # the shapes or strides are unsupported
    cdef int inputs
    cdef int op_count
    cdef int outputs
    cdef bint continues                # True if an operation reads the result of an epilogue
    cdef int order[MAX_SLOTS]          # value numbers of operations and epilogues in execution order
    # Number of slots with a value number. They are followed by slots of numbers and converted values. Results of
    # epilogues have slots only if the group continues after epilogues.
    cdef int values
    cdef int out_at[MAX_SLOTS]         # output -> its value number in the program
    cdef bint is_dtype[MAX_INPUTS]  # True if an input is the code of the dtype of a conversion
    cdef int arity[MAX_SLOTS]
    cdef int operands[MAX_SLOTS][MAX_EPILOGUE_ARGUMENTS]
    cdef bint is_plain[MAX_SLOTS]      # True if the result of an operation is always C-contiguous
    cdef bint in_any_order             # True if `is_plain` is False for all operations
    cdef bint by_channels              # True if an operation has per-channel vectors
    cdef bint is_argument[MAX_INPUTS] # True if tiles do not read an input: it is a parameter of a view or an epilogue
    cdef int view_count
    cdef ViewInput views[MAX_VIEWS]
    cdef int epilogue_count
    cdef list epilogue_operators
    cdef bint is_read[MAX_EPILOGUES]   # True if an operation reads the result of an epilogue
    cdef bint reduces[MAX_EPILOGUES]   # True if an epilogue has the argument `keepdim`: it computes one element per row
    cdef ReadEpilogue epilogue_read[MAX_EPILOGUES]
    cdef int epilogue_arity[MAX_EPILOGUES]
    cdef int epilogue_operands[MAX_EPILOGUES][MAX_EPILOGUE_ARGUMENTS]
    cdef readonly FusedPlan last
    cdef int read(self, program) except -1
    cdef int read_views(self, tuple view_inputs) except -1
    # Return the cached or a new plan for the guards of these inputs, or None if an input is unsupported.
    cdef FusedPlan plan_for(self, IValue *r, const int32_t *at)
    cdef FusedPlan make_plan(self, uint32_t *guards)
    cdef str choose_loops(self, FusedPlan plan)
    cdef void place_epilogue(self, FusedPlan plan, int e) noexcept
    cdef str choose_loop(self, FusedPlan plan, int op_index, Loops loops)
    cdef str choose_tile(self, FusedPlan plan, int op_index, ReadTile read)
    cdef str choose_channels(self, FusedPlan plan, int op_index, ReadChannels read)
    cdef str choose_choice(self, FusedPlan plan, int op_index, tuple order)
    cdef str choose_conversion(self, FusedPlan plan, int op_index)
    cdef str choose_results(self, FusedPlan plan)
    # Set the schedule: the steps in the order of their stages, and the buffers of their results. Return False
    # if a stage needs more than MAX_BUFFERS buffers.
    cdef bint assign_buffers(self, FusedPlan plan, const int *stage, int stages, Schedule *schedule) noexcept
    cdef void free_buffers(self, FusedPlan plan, Schedule *schedule, int at, int *last, bint *in_use, bint before) noexcept


# Create the group of a program. Raise ValueError if the program exceeds the limits above.
cdef FusedGroup read_group(program)
