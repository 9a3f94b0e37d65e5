"""Interpreter loop; its exit statuses are in `exit_status.pxd`."""

from ts._core.vm.frame cimport State

# Execute instructions and return an `ExitStatus`; `state` has the frame and its next instruction.
cdef int loop(State *state) noexcept nogil
