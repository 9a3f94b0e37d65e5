"""Nodes of the autograd graph: one for each operator call with an input that requires grad.

    Node    edges    -> (node, output index) that computed each argument; these nodes have a lower `sequence`
            results  -> expected dtype and shape of each result's gradient
            apply(gradients of the results) -> gradients of the arguments, one for each edge

A pass visits nodes by descending `sequence`.  Operators that read a node's results are recorded after the node, so
its gradients are complete when it runs, without counting dependencies.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor


cdef struct Edge:
    PyObject *node                     # an owned reference, or NULL: the argument does not require grad
    int output                         # index of the result of that node


cdef struct Expected:
    int ndim
    int scalar_type
    int backend
    int device_index
    npy_intp *dims                     # NULL: the result is not a tensor; points to `few` for up to 4 dimensions
    npy_intp few[4]


cdef class Node:
    cdef Edge *edges
    cdef int edge_count
    cdef Expected *results
    cdef int result_count
    cdef Edge few_edges[2]             # inline storage that `edges` and `results` of most nodes point to
    cdef Expected one_result
    cdef readonly int64_t sequence
    cdef NodeTask task                     # task of the last pass that reached the node
    cdef Hooks hooks                   # or None
    cdef dict notes                    # the `metadata` dictionary for users, or None
    cdef object __weakref__

    # Return the gradients of the arguments, one per edge (or None), from those of the results (tensors or None).
    cdef list apply(self, list gradients)
    # Release the saved values.
    cdef int release_saved(self) except -1
    cdef str title(self)
    cdef str forward_title(self)


cdef class Hooks:
    """Hook tables of a node, keyed by handle number."""
    cdef readonly dict tensors         # output -> table of tensor hooks, hook(gradient)
    cdef readonly dict retained        # output -> weak reference to the tensor that retains its gradient
    cdef readonly object before        # hook(gradients of the results)
    cdef readonly object after         # hook(gradients of the arguments, gradients of the results)
    cdef readonly object accumulated   # hook(leaf), after its gradient was accumulated; leaves only


cdef class NodeTask:
    """A node in a pass: the gradients of its results so far."""
    cdef Node node
    cdef object run                    # the pass
    cdef list gradients
    cdef uint64_t owned                # bits of the first 64 gradients: set if unshared, so that the engine may add in place


# Allocate empty edges and results; call once per node.
cdef int make_room(Node node, int edges, int results) except -1
# Replace the expected result metadata by `n` empty entries.
cdef int make_results(Node node, Py_ssize_t n) except -1
# Set the expected metadata of the gradients of result `i`.
cdef int expect(Node node, int i, Tensor result) except -1
# Return the next sequence number, after the edges are connected.
cdef int64_t next_sequence() noexcept
# Release a node's edges, and its result metadata.
cdef void drop_edges(Node node) noexcept
cdef void free_results(Node node) noexcept
# Connect edge `i` to result `output` of `to`; None: no edge.
cdef void connect(Node node, int i, Node to, int output) noexcept
# Return the hooks of a node, created on first use.
cdef Hooks hooks_of(Node node)
