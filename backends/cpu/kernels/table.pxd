"""The kernels in C of the CPU, by the names under which records know them."""

from ts._core.dispatch.operator cimport Kernel
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS
from ts.backends.cpu.kernels.walk cimport Loop

# A loop with the numbers that it reads: its data.
ctypedef struct Tile:
    Loop function
    int what
    double by[3]
    npy_intp at                        # the first element of the tile, counted from the tensor's
    npy_intp inner                     # of one by channels: how many elements lie side by side in one
    npy_intp channels
    const void *vectors                # ... and what it has read for them

# Of an operator in groups, `Record.tile`: the loop over its first argument, a tensor of that dtype, by the others; false
# where there is none.
ctypedef bint (*ReadTile)(int kind, IValue **others, Tile *tile) noexcept

# Of one that has vectors for the channels, `Record.channels`: the same, by vectors of that many elements; `memory` has room for
# two such, which the loop reads.
ctypedef bint (*ReadChannels)(int kind, IValue **others, Tile *tile, void *memory) noexcept

cdef int register_channels(str name, ReadChannels read) except -1
cdef ReadChannels channels_named(str name) except? NULL

cdef int register_tile(str name, ReadTile read) except -1
cdef ReadTile tile_named(str name) except? NULL

# How a view lies, at first as the array does that it is of.
ctypedef struct View:
    int nd
    npy_intp dims[MOST_DIMS]
    npy_intp strides[MOST_DIMS]
    npy_intp offset                    # bytes, to its first element
    npy_intp item                      # bytes of an element

# Of an operator whose views groups read by themselves, `Record.head`: how they lie, by what stands behind the tensor among its
# arguments, and of a list of `parts` views, which; false where it has no such view.
ctypedef bint (*ReadView)(View *view, IValue **others, int part, int parts) noexcept

cdef enum:
    MOST_VIEW_ARGUMENTS = 4

cdef int register_view(str name, ReadView read) except -1
cdef ReadView view_named(str name) except? NULL

# An operator that ends a group, as it was read for a run: what it makes of rows whose elements lie side by side.
ctypedef struct End:
    # The end itself, rows, how many, and where their results go.
    void (*function)(const void *end, const char *x, npy_intp rows, char *out) noexcept nogil
    # Of a sum: the part of at most `reduce.BLOCK` elements, and what becomes of the sum of these; or NULL.
    double (*block)(const char *x, npy_intp n) noexcept nogil
    void (*finish)(const void *end, double total, char *out) noexcept nogil
    int what
    int source                         # ScalarType of the rows
    int kind                           # ... of the result
    npy_intp n                         # elements of a row
    npy_intp given                     # elements of the result of a row
    int ndim                           # of the whole result
    npy_intp dims[64]
    double by
    const void *vectors[2]             # of as many elements as a row; or NULL

# Of an operator that may end groups, `Record.ends`: for rows of a dtype, in a tensor of that shape, by its other arguments;
# false where it does not read whole rows along the last dimensions, or has no way for these arguments.
ctypedef bint (*ReadEnd)(int kind, int ndim, const npy_intp *dims, IValue **others, End *end) noexcept

cdef int register_end(str name, ReadEnd read) except -1
cdef ReadEnd end_named(str name) except? NULL

# Of one that chooses by a mask: where mask, first and second choice stand among its arguments.
cdef int register_choice(str name, int mask, int first, int second) except -1
cdef tuple choice_named(str name)

# Of one that converts its first argument to the dtype that the second one is, or has.
cdef int register_conversion(str name) except -1
cdef bint conversion_named(str name) except -1

# Loops of our own for a ufunc that a record names ("loops:relu"), and ufuncs of our own ("ufunc:exp").
cdef int register_loops(str name, object loops) except -1
cdef object loops_named(str name)

# Under a record's `loop`, or an operator's name and overload.
cdef int register_kernel(str name, Kernel kernel) except -1
# NULL where there is none.
cdef Kernel kernel_named(str name) except? NULL
