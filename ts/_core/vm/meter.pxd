"""Interruption (cooperative cancellation) of running programs: signals and limits of `ts.limits`."""

from libc.stdint cimport int64_t

from ts._core.vm.frame cimport State

# Set `state.budget` to the number of backward jumps and calls that the loop may execute before it returns, so
# that its caller runs `check_signals_and_limits`.
cdef void start_meter(State *state) noexcept nogil
# Subtract the steps since `start_meter` from the step limits of the thread and from `state.slice`.
cdef void charge(State *state) noexcept nogil
# Run signal handlers and check limits when the budget is used up. The caller must hold the GIL unless
# `state.thread` is set. Return 0 after setting a new budget, 1 if the program must be suspended, or -1 if an
# exception is set. After 0, the program continues without the GIL if `may_release`. After -1, the GIL is held
# and `state.thread` is NULL.
cdef int check_signals_and_limits(State *state, bint may_release) noexcept nogil

# Return a new reference to the limits of this thread, for a program that another thread will run. Return NULL if there
# are no limits.
cdef void *retain_limits() noexcept
cdef void release_limits(void *limits) noexcept
# Set the limits of this thread, and return the previous limits.
cdef void *exchange_limits(void *limits) noexcept
# Return the message of the StackExceeded error for a call of function `name`. `depth` is the maximal nesting
# depth of calls, which this call would exceed.
cdef str stack_message(int depth, str name)
# Run the pending signal handlers, which may raise an exception. Raise the error of a limit that is exceeded.
cdef int check_limits() except -1
