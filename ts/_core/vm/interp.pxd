"""The interpreter's loop; why it is left is in `leave.pxd`."""

from ts._core.vm.frame cimport State

# Run until something else than an instruction is to be done; which frame and where is in `state`.
cdef int loop(State *state) noexcept nogil
