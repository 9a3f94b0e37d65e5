"""Interruption (cooperative cancellation) of running programs: signals and limits of `ts.limits`."""

from libc.stdint cimport int64_t

from ts._core.vm.frame cimport State

# Set the budget of the state, the number of backward jumps and calls until `check_signals_and_limits` is called.
cdef void start_meter(State *state) noexcept nogil
# Subtract the steps since `start_meter` from the step limits of the thread and from `state.slice`.
cdef void charge(State *state) noexcept nogil
# Handle signals and check limits after the budget is used up. Return 0 after setting a new budget, 1 if the
# program must be suspended, or -1 if an exception is set. In the last case, the GIL is held and state.thread
# is NULL. The caller must hold the GIL unless `state.thread` is set.
cdef int check_signals_and_limits(State *state, bint may_release) noexcept nogil

# Return the limits of this thread, for a program that another thread will run: a new reference, or NULL without
# limits.
cdef void *retain_limits() noexcept
cdef void release_limits(void *limits) noexcept
# Set the limits of this thread, and return the previous limits.
cdef void *exchange_limits(void *limits) noexcept
# Return the message of StackExceeded for a call of function `name` that would exceed `depth` nested calls.
cdef str stack_message(int depth, str name)
# Raise the pending exception of a signal handler, or the error of an exceeded limit.
cdef int check_limits() except -1
