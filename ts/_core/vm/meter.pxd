"""Interruption of running programs: signals and limits of `ts.limits`."""

from libc.stdint cimport int64_t

from ts._core.vm.frame cimport State

# Set the state's budget: the number of backward jumps and calls until `look_up`.
cdef void start_meter(State *state) noexcept nogil
# Charge the consumed budget to the step limit.
cdef void charge(State *state) noexcept nogil
# Called without the GIL when `state.thread` is set, else with it.  0, or -1 with an exception set
# and the GIL held (state.thread is NULL then); otherwise a new budget is set.
# 1 when the program is to be suspended.
cdef int look_up(State *state, bint may_release) noexcept nogil

# The limits of this thread, for a program that another thread will run: a new reference, or NULL.
cdef void *hold_limits() noexcept
cdef void drop_limits(void *limits) noexcept
# Set the limits of this thread; return the previous ones.
cdef void *exchange_limits(void *limits) noexcept
# The message of StackExceeded where a call of the function `name` would be nested more than `depth` deep.
cdef str stack_message(int depth, str name)
# Raise the pending exception of a signal handler, or the error of an exceeded limit.
cdef int check() except -1
