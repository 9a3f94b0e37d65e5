"""Interpreter loop. `exit_status.pxd` defines its exit statuses."""

from ts._core.vm.frame cimport State

# Execute instructions until the caller must act, and return the reason as an `ExitStatus`. `state` contains
# the innermost frame. The `pc` of this frame is the next instruction.
cdef int loop(State *state) noexcept nogil
