"""Anomaly detection: the source lines that created a backward node, and a check of its gradients for nan."""

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node

# Process-wide switches: anomaly detection is enabled; NaN gradients raise RuntimeError.
cdef bint searching
cdef bint nan_is_error

# Store the Python stack at the creation of a node, and the script line of `instruction` (may be NULL), in its metadata.
cdef int note_lines(Node node, PyObject *code, const void *instruction) except -1
# Run `node.apply`; on an exception, warn with the source lines that created the node.
cdef list apply_watched(Node node, list gradients)
