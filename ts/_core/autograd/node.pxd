"""Nodes of the autograd graph: one for each operator call with an input that requires grad.

The attributes of a node and its method `apply` are:

    sequence    number of the node, in the order of creation
    edges       for each argument, the (node, output number) that computed the argument
    results     expected dtype and shape of each result's gradient
    apply       computes the gradients of the arguments from the gradients of the results

A backward pass visits nodes by descending `sequence`. Operators that read the results of a node were recorded
after the node. Therefore, the gradients of its results are complete when the node runs.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor


cdef struct Edge:
    PyObject *node                     # owned reference, or NULL if the argument does not require grad
    int output                         # the argument's number among the results of `node`


cdef struct Expected:
    int ndim
    int scalar_type
    int backend
    int device_index
    npy_intp *dims  # sizes of the result (in `few` for up to 4 dimensions), or NULL for other values than tensors
    npy_intp few[4]


cdef class Node:
    cdef Edge *edges
    cdef int edge_count
    cdef Expected *results
    cdef int result_count
    # Storage to which `edges` and `results` point in nodes with at most two edges and one result, so that
    # these need no allocation.
    cdef Edge few_edges[2]
    cdef Expected one_result
    cdef readonly int64_t sequence
    cdef NodeTask task                     # task of this node in a running backward pass, or None if there is none
    cdef Hooks hooks                   # None if the node has no hooks
    cdef dict notes                    # the `metadata` dictionary, or None before its first access
    cdef object __weakref__

    # Compute the gradients of the arguments from the gradients of the results. `gradients` has one tensor or
    # None per result. The returned list has one tensor or None per edge.
    cdef list apply(self, list gradients)
    # Release the saved values.
    cdef int release_saved(self) except -1
    cdef str title(self)
    cdef str forward_title(self)


cdef class Hooks:
    """Hook tables of a node. Each table maps handle numbers to hooks."""
    # output number -> table of the tensor hooks of this result, which are called as hook(gradient)
    cdef readonly dict tensors
    cdef readonly dict retained  # output number -> weak reference to the tensor that retains its gradient
    cdef readonly object before        # table of the hooks that are called before the node runs, as hook(gradients of the results)
    # table of the hooks that are called after the node has run, as hook(gradients of the arguments, gradients
    # of the results)
    cdef readonly object after
    # in an AccumulateGrad node: table of the hooks that are called after gradient accumulation, as hook(leaf)
    cdef readonly object accumulated


cdef class NodeTask:
    """State of a node in one pass: the gradients of its results that have arrived so far."""
    cdef Node node
    cdef object run                    # the backward pass (GraphTask) to which the task belongs
    cdef list gradients
    # Bit mask for the first 64 gradients. A bit is set if nothing but the engine refers to the gradient, so
    # that a node may add to the gradient in place.
    cdef uint64_t owned


# Allocate `edges` empty edges and `results` empty result entries. Callers call this function once per node.
cdef int make_room(Node node, int edges, int results) except -1
# Replace the expected metadata of the results by `n` empty entries.
cdef int make_results(Node node, Py_ssize_t n) except -1
# Set the expected dtype, shape and device of the gradient of result `i`.
cdef int expect(Node node, int i, Tensor result) except -1
# Return the next sequence number. Callers first connect the edges of a node, and then assign the number to
# the node. It is thus higher than the numbers of the nodes to which the edges lead.
cdef int64_t next_sequence() noexcept
# Release the edges of a node (`drop_edges`), or the expected metadata of its results (`free_results`).
cdef void drop_edges(Node node) noexcept
cdef void free_results(Node node) noexcept
# Connect edge `i` to result number `output` of `to`, or leave the edge empty if `to` is None.
cdef void connect(Node node, int i, Node to, int output) noexcept
# Return the hooks of a node, which are created at the first call.
cdef Hooks hooks_of(Node node)
