"""What stops a running program: signals, and the limits that `ts.limits` sets."""

from libc.stdint cimport int64_t

from ts._core.vm.frame cimport State

# Set the state's budget: how many backward jumps and calls until `look_up`.
cdef void start_meter(State *state) noexcept nogil
# The budget is used up, or the program is done: account for it.
cdef void charge(State *state) noexcept nogil
# Called without the GIL when `state.thread` is set, else with it.  0, or -1 with an exception set
# and the GIL held (state.thread is NULL then); otherwise a new budget is set.
# 1 when the program is to be suspended.
cdef int look_up(State *state, bint may_release) noexcept nogil

# The limits of this thread, for a program that another thread will run: a new reference, or NULL.
cdef void *hold_limits() noexcept
cdef void drop_limits(void *limits) noexcept
# Make `limits` those of this thread; the result are those that it had.
cdef void *exchange_limits(void *limits) noexcept
# The message of StackExceeded where a call of the function `name` would be nested more than `depth` deep.
cdef str stack_message(int depth, str name)
# Raise what stops the program: a signal's handler did, or a limit is passed.
cdef int check() except -1
