"""Interpreter loop. `exit_status.pxd` defines its exit statuses."""

from ts._core.vm.frame cimport State

# Execute instructions and return an `ExitStatus`. `state` contains the frame and its next instruction.
cdef int loop(State *state) noexcept nogil
