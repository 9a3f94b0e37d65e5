"""Anomaly detection: stores the source lines that create each backward node, and checks computed gradients
for NaN.
"""

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node

# Process-wide switches. `searching` enables anomaly detection. If `nan_is_error` is set as well, NaN
# gradients raise RuntimeError.
cdef bint searching
cdef bint nan_is_error

# Store the Python stack in the metadata of a new node, followed by the script lines of `instruction` unless
# `code` is NULL.
cdef int save_traceback(Node node, PyObject *code, const void *instruction) except -1
# Return `node.apply(gradients)`. If `nan_is_error` is set, raise RuntimeError if a result contains NaN.
# Before an exception propagates, issue a warning with the source lines that created the node.
cdef list apply_watched(Node node, list gradients)
