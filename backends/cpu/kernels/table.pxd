"""The kernels in C of the CPU, by the names under which records know them."""

from ts._core.dispatch.operator cimport Kernel
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.walk cimport Loop

# A loop with the numbers that it reads: its data.
ctypedef struct Tile:
    Loop function
    int what
    double by[3]

# Of an operator in groups, `Record.tile`: the loop over its first argument, a tensor of that dtype, by the others; false
# where there is none.
ctypedef bint (*ReadTile)(int kind, IValue **others, Tile *tile) noexcept

cdef int register_tile(str name, ReadTile read) except -1
cdef ReadTile tile_named(str name) except? NULL

# Of one that chooses by a mask: where mask, first and second choice stand among its arguments.
cdef int register_choice(str name, int mask, int first, int second) except -1
cdef tuple choice_named(str name)

# Of one that converts its first argument to the dtype that the second one is, or has.
cdef int register_conversion(str name) except -1
cdef bint conversion_named(str name) except -1

# Under a record's `loop`, or an operator's name and overload.
cdef int register_kernel(str name, Kernel kernel) except -1
# NULL where there is none.
cdef Kernel kernel_named(str name) except? NULL
