"""Where in the script a program failed, and the exception that leaves it."""

from ts._core.frame cimport State

# (function, range) of the running frames and of the calls inlined in them, outermost first.
cdef list script_stack(State *state)
# The exception to leave with: the class that PyTorch raises, with the script's stack in its text.
cdef object located(object error, list stack)
