"""`GraphTask`, a backward pass over the autograd graph.

Its subclass `PartialBackward` runs a pass in several steps.
"""

from libc.stdint cimport int64_t

from ts._core.autograd.node cimport Node, NodeTask


cdef class GraphTask:
    # heap of the NodeTask objects that are ready to run. The first is the one whose node has the highest
    # sequence number.
    cdef list heap
    cdef dict others  # node -> its task, for nodes whose field `task` is in use by another backward pass
    cdef bint keep_graph                     # True if nodes keep their saved values, for another backward pass
    # For `autograd.grad`, a dict from a node to a dict {output number: indices in `answer`} of the requested
    # gradients. For `backward` into all leaves, None.
    cdef dict captured
    cdef set needed  # the nodes that run: those from which a node in `captured` can be reached, or None for all nodes
    cdef list answer
    cdef bint accumulate               # True if gradients are also accumulated into the leaves in `captured`
    cdef int64_t task_id
    cdef int depth  # number of nested passes of the thread, including this pass
    cdef list final_callbacks                   # functions to call at the end of the backward pass
    cdef Node current                  # the node that is running

    cdef int begin(self, list starts) except -1
    cdef NodeTask task_of(self, Node node)
    cdef int remove_task(self, NodeTask task) except -1
    cdef int add_gradient(self, Node node, int output, object gradient, bint owned) except -1
    cdef int work(self) except -1
    cdef int run_task(self, NodeTask task) except -1
    cdef int pass_on(self, Node node, list results) except -1
    cdef int call_before(self, NodeTask task) except -1


# Return the node of a tensor or `GradientEdge`, and write its output number to output[0].
cdef Node edge_from(object x, int *output)
# Return `node` as the start of a backward pass. Raise IndexError if the node has no output with number
# `output`.
cdef Node checked_start(object node, Py_ssize_t output)
# Return all nodes reachable from `roots`, including the roots.
cdef set nodes_from(list roots)
# Return the unique id of a new backward pass.
cdef int64_t next_task_id() except -1
# Push a task onto the heap.
cdef int push(list heap, NodeTask task) except -1
