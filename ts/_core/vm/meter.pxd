"""Interruption of running programs: signals and limits of `ts.limits`."""

from libc.stdint cimport int64_t

from ts._core.vm.frame cimport State

# Set the state's budget: the number of backward jumps and calls until `look_up`.
cdef void start_meter(State *state) noexcept nogil
# Charge the consumed budget to the step limit.
cdef void charge(State *state) noexcept nogil
# Handle signals and check limits when the budget is used up.  Returns 0 after setting a new budget, 1 if the program
# must be suspended, -1 with an exception set, the GIL held and state.thread NULL.  Call with the GIL, unless
# `state.thread` is set.
cdef int look_up(State *state, bint may_release) noexcept nogil

# Return the limits of this thread, for a program that another thread will run: a new reference, or NULL.
cdef void *hold_limits() noexcept
cdef void drop_limits(void *limits) noexcept
# Set the limits of this thread; return the previous ones.
cdef void *exchange_limits(void *limits) noexcept
# Return the message of StackExceeded for a call of function `name` that exceeds `depth` nested calls.
cdef str stack_message(int depth, str name)
# Raise the pending exception of a signal handler, or the error of an exceeded limit.
cdef int check() except -1
