"""Backward pass over the autograd graph; base class of `PartialBackward`, which runs a pass in several steps."""

from libc.stdint cimport int64_t

from ts._core.autograd.node cimport Node, NodeTask


cdef class GraphTask:
    cdef list heap                     # tasks, highest sequence number first
    cdef dict others                   # node -> task, for nodes whose `task` field belongs to another pass
    cdef bint keep                     # do not release saved values: another pass may follow
    cdef dict captured                 # requested gradients: node -> {output: indices in `answer`}; None: all leaves
    cdef set needed                    # nodes on paths to the captured nodes; None: all
    cdef list answer
    cdef bint accumulate               # accumulate into captured leaves as well
    cdef int64_t number
    cdef list behind                   # callbacks for the end of the pass
    cdef Node current                  # the node that runs

    cdef int begin(self, list starts) except -1
    cdef NodeTask task_of(self, Node node)
    cdef int forget(self, NodeTask task) except -1
    cdef int give(self, Node node, int output, object gradient, bint owned) except -1
    cdef int work(self) except -1
    cdef int turn(self, NodeTask task) except -1
    cdef int pass_on(self, Node node, list found) except -1
    cdef int call_before(self, NodeTask task) except -1


# Return the node of a tensor or `GradientEdge`; write its output index to output[0].
cdef Node edge_from(object x, int *output)
# Return `node` as the start of a pass; raise IndexError if it has no result number `output`.
cdef Node checked_start(object node, Py_ssize_t output)
# All nodes reachable from `roots`, including the roots.
cdef set nodes_from(list roots)
# Return the unique number of a new pass.
cdef int64_t next_number() except -1
# Push a task onto the heap.
cdef int push(list heap, NodeTask task) except -1
