"""Running programs."""

from ts._core.frame cimport State

# Run the frames of `state` to their end; state.result holds the result.
cdef int execute(State *state) except -1
