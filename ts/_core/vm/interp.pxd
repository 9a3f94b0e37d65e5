"""Interpreter loop. `exit_status.pxd` defines its exit statuses."""

from ts._core.vm.frame cimport State

# Execute instructions until one needs the caller, and return an `ExitStatus`. `state` contains the innermost frame,
# whose `pc` is the next instruction.
cdef int loop(State *state) noexcept nogil
