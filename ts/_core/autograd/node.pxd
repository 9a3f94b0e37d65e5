"""Nodes of the autograd graph: one for each operator call with an input that requires grad.

    Node    edges    -> nodes whose results its arguments were; they were created earlier, by `sequence`
            results  -> expected dtype and shape of the gradients of its results
            apply(gradients of the results) -> gradients of the arguments, one for each edge

A pass visits nodes by descending `sequence`: readers of a node's results are created after it, so the node's
gradients are complete when it runs, without counting dependencies.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor


cdef struct Edge:
    PyObject *node                     # a reference, or NULL: no gradient is wanted
    int output                         # which of its results


cdef struct Expected:
    int ndim
    int scalar_type
    int backend
    int device_index
    npy_intp *dims                     # NULL: it is no tensor; `few` where these are enough
    npy_intp few[4]


cdef class Node:
    cdef Edge *edges
    cdef int edge_count
    cdef Expected *results
    cdef int result_count
    cdef Edge few_edges[2]             # room for most nodes: `edges` and `results` point here then
    cdef Expected one_result
    cdef readonly int64_t sequence
    cdef NodeTask task                     # of the pass that it has been reached in
    cdef Hooks hooks                   # or None
    cdef dict notes                    # `metadata` of users, or None
    cdef object __weakref__

    # The gradients of the arguments, one for each edge or None; `gradients` has one for each result or None.
    cdef list apply(self, list gradients)
    # Let go of what it saved.
    cdef int release_saved(self) except -1
    cdef str title(self)
    cdef str forward_title(self)


cdef class Hooks:
    """Hook tables of a node, keyed by handle number."""
    cdef readonly dict tensors         # output -> table of hook(gradient): of tensors
    cdef readonly dict retained        # output -> weak reference of the tensor that retains its gradient
    cdef readonly object before        # hook(gradients of the results)
    cdef readonly object after         # hook(gradients of the arguments, gradients of the results)
    cdef readonly object accumulated   # of a leaf: hook(leaf), when its gradient has been added to


cdef class NodeTask:
    """A node in a pass: the gradients of its results so far."""
    cdef Node node
    cdef object run                    # the pass
    cdef list gradients
    cdef uint64_t owned                # which of the first 64 are unshared: gradients are added in place


# Room for edges and results, all empty; once.
cdef int make_room(Node node, int edges, int results) except -1
# Room for other results.
cdef int make_results(Node node, Py_ssize_t n) except -1
# Set the expected metadata of the gradients of result `i`.
cdef int expect(Node node, int i, Tensor result) except -1
# Return the next sequence number, after the edges are connected.
cdef int64_t next_sequence() noexcept
# Release a node's edges, and its result metadata.
cdef void drop_edges(Node node) noexcept
cdef void free_results(Node node) noexcept
# Edge `i` leads to result `output` of `to`, or nowhere.
cdef void connect(Node node, int i, Node to, int output) noexcept
# The hooks of a node, made on first use.
cdef Hooks hooks_of(Node node)
