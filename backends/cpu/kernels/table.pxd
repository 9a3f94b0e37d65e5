"""The kernels in C of the CPU, by the names under which records know them."""

from ts._core.dispatch.operator cimport Kernel

# Under a record's `loop`, or an operator's name and overload.
cdef int register_kernel(str name, Kernel kernel) except -1
# NULL where there is none.
cdef Kernel kernel_named(str name) except? NULL
