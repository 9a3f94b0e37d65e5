"""A pass back through the graph, which another class may run otherwise: in parts, as `staged` does."""

from libc.stdint cimport int64_t

from ts._core.autograd.node cimport Node, NodeTask


cdef class GraphTask:
    cdef list heap                     # of tasks: the one with the highest sequence first
    cdef dict others                   # node -> task, of nodes that another pass has reached meanwhile
    cdef bint keep                     # what is saved, for another pass
    cdef dict captured                 # node -> {output: places in the answer}; None: all leaves
    cdef set needed                    # the nodes on a way to these; None: all
    cdef list answer
    cdef bint accumulate               # into leaves, also those that are captured
    cdef int64_t number
    cdef list behind                   # what is to be called when it is through
    cdef Node current                  # whose turn it is

    cdef int begin(self, list starts) except -1
    cdef NodeTask task_of(self, Node node)
    cdef int forget(self, NodeTask task) except -1
    cdef int give(self, Node node, int output, object gradient, bint owned) except -1
    cdef int work(self) except -1
    cdef int turn(self, NodeTask task) except -1
    cdef int pass_on(self, Node node, list found) except -1
    cdef int call_before(self, NodeTask task) except -1


# The node of a tensor, or of an edge of the graph, and which of its results.
cdef Node edge_from(object x, int *output)
# A node that a pass begins at, if it has such a result.
cdef Node checked_start(object node, Py_ssize_t output)
# All nodes reachable from `roots`, including the roots.
cdef set nodes_from(list roots)
# The number of a new pass.
cdef int64_t next_number() except -1
# Into the heap.
cdef int push(list heap, NodeTask task) except -1
