"""Registry of the C kernels of the CPU, by the names used in operator records."""

from ts._core.dispatch.operator cimport Kernel
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

# The inner loop of a fused operator, with its parameters. `function` is called for each tile (a range of
# elements). Its `data` argument is a pointer to this struct.
ctypedef struct Tile:
    Loop function
    int what                           # variant of the loop
    double by[3]                       # numeric parameters of the loop
    npy_intp at                        # index of the tile's first element in the tensor
    npy_intp inner                     # for per-channel loops: number of consecutive elements of one channel
    npy_intp channels
    const void *vectors  # for per-channel loops: vectors of `channels` elements that the loop reads

# Type of functions that prepare the loop of an operator with scalar parameters in a fusion group
# (`OperatorRecord.tile`). The function sets the loop and the parameters of `tile`. `kind` is the dtype of the
# first argument, a tensor. `others` are the remaining arguments. The function returns False if no loop
# supports them.
ctypedef bint (*ReadTile)(int kind, IValue **others, Tile *tile) noexcept

# Like `ReadTile`, but for operators with per-channel vectors (`OperatorRecord.channels`). The function also
# writes one or two vectors of `tile.channels` elements to `memory`. The loop reads the vectors from there.
ctypedef bint (*ReadChannels)(int kind, IValue **others, Tile *tile, void *memory) noexcept

cdef int register_channels(str name, ReadChannels read) except -1
cdef ReadChannels find_channels(str name) except? NULL

cdef int register_tile(str name, ReadTile read) except -1
cdef ReadTile find_tile(str name) except? NULL

# Shape and strides of the view. They start as those of the view's base, and each view operator changes them.
ctypedef struct View:
    int nd
    npy_intp dims[MAX_DIMS]
    npy_intp strides[MAX_DIMS]
    npy_intp offset                    # byte offset of the first element
    npy_intp item                      # size of an element in bytes

# A function that applies a view operator (`OperatorRecord.view_input`) to the shape and strides in `view`.
# `others` are the arguments after the tensor. If the operator returns a list of `result_count` tensors,
# `view` becomes the tensor at `result_index`. The function returns False if there is no view for these
# arguments.
ctypedef bint (*ReadView)(View *view, IValue **others, int result_index, int result_count) noexcept

cdef enum:
    MAX_VIEW_ARGUMENTS = 4

cdef int register_view(str name, ReadView read) except -1
cdef ReadView find_view(str name) except? NULL

# Arguments of an epilogue in one run. An epilogue is an operator at the end of a fusion group that reads
# contiguous rows and writes `row_results` elements per row.
ctypedef struct EpilogueArgs:
    # function that computes the results of `rows` rows, which start at address `x`. `args` points to this
    # struct.
    void (*function)(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil
    # Functions of a sum operator, by which a row can be split into blocks. `sum_blocks` computes the sum of each
    # block of `reduce.BLOCK` of n elements. `finish` computes the result from the total. Both are NULL for other
    # operators.
    void (*sum_blocks)(const char *x, npy_intp n, double *totals) noexcept nogil
    void (*finish)(const void *args, double total, char *out) noexcept nogil
    int what
    int source                         # ScalarType of the rows
    int kind                           # ScalarType of the result
    npy_intp n                         # number of elements of a row
    npy_intp row_results               # number of result elements of one row
    int ndim                           # number of dimensions of the whole result
    npy_intp dims[64]
    double by
    const void *vectors[2]             # vectors with one element per element of a row (such as weight and bias), or NULL

# A function that sets `args` for an operator that can be an epilogue (`OperatorRecord.epilogue`). The tensor
# that it reads has dtype `kind` and shape `dims`. `others` are the other arguments. Returns False if the
# operator does not read whole rows along the last dimensions, or the arguments are unsupported.
ctypedef bint (*ReadEpilogue)(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept

cdef int register_epilogue(str name, ReadEpilogue read) except -1
cdef ReadEpilogue find_epilogue(str name) except? NULL

# Register an operator that selects elements of two arguments by a mask. `mask`, `first` and `second` are argument
# positions: of the mask, of the elements where it is True, and of the elements where it is False.
cdef int register_choice(str name, int mask, int first, int second) except -1
cdef tuple find_choice(str name)

# Register an operator that converts its first argument to another dtype. Its second argument is this dtype,
# or a tensor of this dtype.
cdef int register_conversion(str name) except -1
cdef bint is_conversion(str name) except -1

# Register the loops that an operator record names ("loops:relu"), or a ufunc that replaces NumPy's ufunc of the
# same name ("ufunc:exp").
cdef int register_loops(str name, object loops) except -1
cdef object find_loops(str name)

# Arguments that a kernel requires. For other arguments, the kernel returns UNSUPPORTED.
ctypedef enum Requirement:
    ANY_LAYOUT  # tensors of any layout. Without support for the arguments, the operator's Python kernel runs.
    CONTIGUOUS  # contiguous tensors. Others are copied (`contiguous_arguments`).
    # Contiguous tensors with a dtype other than float16 and bfloat16. For tensors of these two dtypes,
    # `upcast_half` calls the kernel with float32 copies. Only operators that PyTorch computes in float32 may
    # declare this requirement.
    FLOAT32_CONTIGUOUS

# Register a kernel and its requirement. `name` is the value of the field `loop` of operator records, or the name
# and overload of an operator.
cdef int register_kernel(str name, Kernel kernel, Requirement requirement=*) except -1
# Return the kernel of a name, or NULL if none is registered.
cdef Kernel find_kernel(str name) except? NULL
# Return the fallback of the kernel registered as `name`. The fallback runs for arguments that do not meet the
# kernel's requirement.
cdef Kernel fallback_of(str name) except NULL
# Register the fallback for kernels with a requirement. The module that calls this function is imported when
# the fallback is first needed.
cdef int register_fallback(Requirement requirement, Kernel fallback) except -1
