"""Anomaly detection: stores the source lines that create backward nodes, and checks gradients for NaN."""

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node

# Process-wide flags. `searching` enables anomaly detection. `nan_is_error` makes anomaly detection raise
# RuntimeError for gradients that contain NaN.
cdef bint searching
cdef bint nan_is_error

# Store the Python stack in the metadata of a new node. If `code` is not NULL, also store the script lines of
# its instruction number `instruction` after the stack.
cdef int save_traceback(Node node, PyObject *code, const void *instruction) except -1
# Return `node.apply(gradients)`. If `nan_is_error` is set, raise RuntimeError for a result that contains NaN.
# Before any exception propagates, issue a warning with the source lines that created the node.
cdef list apply_watched(Node node, list gradients)
