"""Backward passes that start while the gradients of some roots are still missing.

Input: the gradients of the roots, one by one. Output: calls of `add(leaf, gradient, owned)`, one per leaf.
Example with two roots:

    run = PartialBackward([[edge of root 0], [edge of root 1]], keep, add)
    run.resume(0, [gradient])           runs the nodes that are unreachable from root 1
    run.resume(1, [gradient])           runs the remaining nodes

A node runs once, after each of its incoming edges has delivered a gradient or None.
"""

from ts._core.autograd.engine cimport GraphTask, checked_start, edge_from, next_task_id, nodes_from, push
from ts._core.autograd.leaf cimport AccumulateGrad
from ts._core.autograd.node cimport Node, NodeTask

from ts._core.autograd.engine import current_pass, get_sequence_number, run_graph_task


cdef class PartialBackward(GraphTask):
    """Backward pass that is divided into steps. Each call of `resume` continues from one root.

    A root is a list of edges.
    """

    cdef list roots                    # the roots: each is a list of edges (node, output number)
    cdef dict missing  # node -> number of edges to it along which no gradient has arrived yet
    cdef dict tasks                    # node -> NodeTask, for nodes whose gradients have not all arrived
    cdef object add  # function add(leaf, gradient, owned) that is called for each leaf. `owned` is True for an unshared gradient.

    def __cinit__(self, list roots not None, bint keep, add):
        cdef int i
        cdef Node node
        self.keep_graph, self.add, self.tasks = keep, add, {}
        self.task_id = next_task_id()
        self.roots = [as_edges(edges) for edges in roots]
        starts = [node for edges in self.roots for node, _ in edges]
        self.missing = dict.fromkeys(nodes_from(starts), 0)
        for node in starts:
            self.missing[node] += 1
        for node in self.missing:
            for i in range(node.edge_count):
                if node.edges[i].node != NULL:
                    self.missing[<Node>node.edges[i].node] += 1

    def resume(self, Py_ssize_t root, list gradients not None):
        """Continue the pass with the gradients of root number `root`. Call this once for each root.

        A gradient may be None.
        """
        if not 0 <= root < len(self.roots):
            raise IndexError(f"root index {root} is out of range: there are {len(self.roots)} roots")
        edges = self.roots[root]
        if edges is None:
            raise RuntimeError(f"the gradients of root {root} were computed already")
        self.roots[root] = None
        starts = [(node, i, g) for (node, i), g in zip(edges, gradients, strict=True)]
        run_graph_task(self, starts, False, current_pass())
        self.final_callbacks = []

    cdef int begin(self, list starts) except -1:
        cdef Node to
        for node, output, gradient in starts:
            to = checked_start(node, output)
            if gradient is not None:
                self.add_gradient(to, output, gradient, False)
            self.count_edge(to)
        del starts[:]
        return 0

    cdef NodeTask task_of(self, Node node):
        cdef NodeTask task = self.tasks.get(node)
        if task is None:
            task = NodeTask.__new__(NodeTask)
            task.node, task.run = node, self
            task.gradients = [None] * node.result_count
            self.tasks[node] = task
        return task

    cdef int count_edge(self, Node node) except -1:
        """Record the delivery of one edge to `node`. If all edges to `node` are delivered, make it ready to run."""
        cdef Py_ssize_t left = self.missing[node] - 1
        self.missing[node] = left
        if left == 0:
            push(self.heap, self.task_of(node))
            del self.tasks[node]
        return 0

    cdef int run_task(self, NodeTask task) except -1:
        cdef Node node = task.node
        if task.gradients.count(None) == len(task.gradients):
            return self.pass_on(node, [None] * node.edge_count)
        if type(node) is not AccumulateGrad:
            return GraphTask.run_task(self, task)
        if node.hooks is not None:
            self.call_before(task)
        if task.gradients[0] is not None:
            self.add((<AccumulateGrad>node).variable, task.gradients[0], task.owned & 1)
        return 0

    cdef int pass_on(self, Node node, list results) except -1:
        cdef int i
        GraphTask.pass_on(self, node, results)
        for i in range(node.edge_count):
            if node.edges[i].node != NULL:
                self.count_edge(<Node>node.edges[i].node)
        return 0


cdef list as_edges(list edges):
    cdef int output = 0
    cdef list result = []
    for edge in edges:
        node = edge_from(edge, &output)
        if node is None:
            raise RuntimeError("backward can only start at tensors that require grad")
        result.append((node, output))
    return result


def reach(list roots not None, type kind not None):
    """Return a dictionary from each reachable node of class `kind` to a bit mask of roots.

    Bit `i` is set if the node is reachable from root number `i`.
    """
    cdef dict bits = {}, masks = {}
    cdef Node node, to
    cdef int i
    for root, edges in enumerate(roots):
        for node, _ in as_edges(edges):
            bits[node] = bits.get(node, 0) | 1 << root
    for node in sorted(nodes_from(list(bits)), key=get_sequence_number, reverse=True):
        mask = bits.pop(node)
        if isinstance(node, kind):
            masks[node] = mask
        for i in range(node.edge_count):
            if node.edges[i].node != NULL:
                to = <Node>node.edges[i].node
                bits[to] = bits.get(to, 0) | mask
    return masks
