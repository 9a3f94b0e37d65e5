"""Anomaly detection: the source lines that created a backward node, and a check of its gradients for nan."""

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node

# Process-wide switches: `searching` enables anomaly detection; with `nan_is_error`, NaN gradients raise
# RuntimeError.
cdef bint searching
cdef bint nan_is_error

# Store the Python stack and the script line of `instruction` (may be NULL) in the metadata of a new node.
cdef int save_traceback(Node node, PyObject *code, const void *instruction) except -1
# Call `node.apply`; if it raises, issue a warning with the source lines that created the node.
cdef list apply_watched(Node node, list gradients)
