"""The search for what spoils gradients: which lines made a node, and whether it gives nan."""

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node

# Whether anomaly detection is on, for all threads; whether NaN gradients are errors.
cdef bint searching
cdef bint nan_is_error

# Note the lines that make a node: Python's, and that of the script's instruction or NULL.
cdef int note_lines(Node node, PyObject *code, const void *instruction) except -1
# The gradients of the arguments; where that fails, a warning has the lines that made the node.
cdef list apply_watched(Node node, list gradients)
