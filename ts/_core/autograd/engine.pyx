"""Autograd engine (backpropagation), which runs nodes in reverse topological order from a priority queue.

Input: tensors and their gradients. Output: gradients, accumulated in the leaves or returned for the requested
tensors. The algorithm is:

    for each node in a heap, highest sequence number first:
        call the hooks of the node's result tensors, then the hooks of the node
        apply: compute the gradients of the operator's arguments
        convert each gradient to the argument's dtype and shape, and add it to the argument's gradient

A node runs after all nodes that were created later, so its gradients are complete. The engine does not
recurse, so a graph may have any depth.
"""

import threading
from functools import partial

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from numpy cimport npy_intp

from ts._core.autograd.anomaly cimport apply_watched, searching
from ts._core.autograd.history cimport edge_of
from ts._core.autograd.leaf cimport AccumulateGrad
from ts._core.autograd.node cimport Edge, Expected, Hooks, Node, NodeTask
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport BACKEND_CPU, BACKEND_META, BACKEND_SPARSE, Tensor, backend_registry, history_of, is_layered
from ts._core.thread.context cimport GRAD_DISABLED, LAYERED, context_flags, set_flag

from ts import devices, dtypes
from ts._core.vm.run_on_new_thread import run_on_new_thread

cnp.import_array()

cdef enum:
    SIGNALS_EVERY = 64                 # number of nodes that run between two checks for pending signals
    # Maximal number of backward passes that are nested on the stack of one thread. A pass nested more deeply
    # runs on a new thread.
    MAX_NESTED = 60


cdef class GraphTask:
    """A backward pass: its priority queue of ready nodes, its options and the gradients to return."""

    def __cinit__(self, *args, **kwargs):
        self.heap, self.others, self.final_callbacks = [], {}, []
        self.task_id = -1

    cdef int begin(self, list starts) except -1:
        """Add the initial gradients in `starts` to the pass, then clear the list.

        Each item is (node, output number, gradient).
        """
        for node, output, gradient in starts:
            self.add_gradient(checked_start(node, output), output, gradient, False)
        del starts[:]
        return 0

    cdef NodeTask task_of(self, Node node):
        """Return the task of `node` in this pass. The first call for a node creates the task."""
        cdef NodeTask task = node.task
        if task is not None and task.run is self:
            return task
        if task is not None:
            task = self.others.get(node)
            if task is not None:
                return task
        task = NodeTask.__new__(NodeTask)
        task.node, task.run = node, self
        task.gradients = [None] * node.result_count
        if node.task is None:
            node.task = task
        else:
            self.others[node] = task
        push(self.heap, task)
        return task

    cdef int remove_task(self, NodeTask task) except -1:
        task.run = None
        if task.node.task is task:
            task.node.task = None
        else:
            self.others.pop(task.node, None)
        return 0

    cdef int add_gradient(self, Node node, int output, object gradient, bint owned) except -1:
        """Add `gradient` to the gradient of result number `output` of `node`.

        If `owned`, the engine has the only reference to `gradient` and may reuse its memory.
        """
        cdef NodeTask task
        cdef uint64_t bit = <uint64_t>1 << output if output < 64 else 0
        if self.needed is not None and node not in self.needed:
            return 0
        task = self.task_of(node)
        before = task.gradients[output]
        if before is None:
            task.gradients[output] = gradient
            if owned:
                task.owned |= bit
        elif (<Tensor>before).backend == BACKEND_SPARSE:  # `add` supports a sparse tensor only as second operand
            task.gradients[output] = operator_function("add")(gradient, before)
            task.owned |= bit
        elif task.owned & bit and context_flags() & (GRAD_DISABLED | LAYERED) == GRAD_DISABLED:
            operator_function("add_")(before, gradient)
        else:
            task.gradients[output] = operator_function("add")(before, gradient)
            task.owned |= bit
        return 0

    cdef int work(self) except -1:
        cdef NodeTask task
        cdef int task_count = 0
        try:
            while self.heap:
                task_count += 1
                if task_count % SIGNALS_EVERY == 0:
                    PyErr_CheckSignals()
                task = pop(self.heap)
                self.remove_task(task)
                self.current = task.node
                self.run_task(task)
        finally:
            for task in self.heap:
                self.remove_task(task)
        return 0

    cdef int run_task(self, NodeTask task) except -1:
        cdef Node node = task.node
        cdef list results, gradients = task.gradients
        cdef bint is_leaf = type(node) is AccumulateGrad
        if node.hooks is not None:
            self.call_before(task)
        if self.captured is not None:
            captured_outputs = self.captured.get(node)
            if captured_outputs is not None:
                for output, indices in (<dict>captured_outputs).items():
                    for i in indices:
                        self.answer[i] = gradients[output]
        if is_leaf:
            if self.accumulate and gradients[0] is not None:
                gradient = gradients[0]
                gradients[0] = None
                (<AccumulateGrad>node).add(<Tensor?>gradient, task.owned & 1 or can_write_in_place(<Tensor?>gradient))
            return 0
        if self.needed is not None and not has_edge_into(node, self.needed):
            return 0
        results = apply_watched(node, gradients) if searching else node.apply(gradients)
        if node.hooks is not None:
            results = call_after(node.hooks, results, gradients)
        if not self.keep_graph:
            node.release_saved()
        task.gradients = gradients = None
        self.pass_on(node, results)
        return 0

    cdef int pass_on(self, Node node, list results) except -1:
        cdef Edge *edge
        cdef Tensor gradient
        cdef Node to
        cdef int i
        cdef bint owned
        if len(results) != node.edge_count:
            raise RuntimeError(
                f"function {node.title()} returned an incorrect number of gradients (expected {node.edge_count}, got {len(results)})"
            )
        for i in range(node.edge_count):
            edge = &node.edges[i]
            if edge.node == NULL or results[i] is None:
                continue
            to = <Node>edge.node
            if not isinstance(results[i], Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(results[i]).__name__})")
            gradient = <Tensor>results[i]
            results[i] = None
            gradient = convert_gradient(node, i, &to.results[edge.output], gradient)
            owned = can_write_in_place(gradient)
            self.add_gradient(to, edge.output, gradient, owned)
        return 0

    cdef int call_before(self, NodeTask task) except -1:
        """Call the tensor hooks of the node's results, then the prehooks of the node.

        Then, for each result with `retain_grad()`, add the gradient of the result to its attribute `grad`.
        """
        cdef Hooks hooks = task.node.hooks
        cdef list gradients = task.gradients
        for output, table in list(hooks.tensors.items()):
            for hook in list(table.values()):
                replacement = hook(gradients[output])
                task.owned = 0
                if replacement is not None:
                    gradients[output] = checked_gradient(replacement, gradients[output], name_of(hook))
        for hook in list(hooks.before.values()):
            replacement = hook(tuple(gradients))
            task.owned = 0
            if replacement is not None:
                gradients[:] = checked_gradients(replacement, gradients, name_of(hook))
        for output, reference in hooks.retained.items():
            x = reference()
            if x is not None and gradients[output] is not None:
                task.owned = 0
                retain_gradient(<Tensor?>x, gradients[output])
        return 0


cdef Node checked_start(object node, Py_ssize_t output):
    """Return `node` after a check that a backward pass can start at result number `output` of `node`.

    Raise IndexError if `node` is not a backward node or has no such result.
    """
    if not isinstance(node, Node) or not 0 <= output < (<Node>node).result_count:
        raise IndexError(f"backward cannot start at {node!r}: expected a backward node with a result {output}")
    return <Node>node


cdef object name_of(object hook):
    return getattr(hook, "__name__", type(hook).__name__)


cdef list checked_gradients(object hook_result, list before, object name):
    """Return the tuple of gradients that a node's hook returned as a list.

    Raise an error if the tuple is invalid.
    """
    if not isinstance(hook_result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(hook_result).__name__}'")
    if len(hook_result) != len(before):
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(hook_result)}, but expected {len(before)})"
        )
    return [None if x is None else checked_gradient(x, y, name) for x, y in zip(hook_result, before)]


cdef object checked_gradient(object hook_result, object before, object name):
    """Return the gradient that a hook returned. Raise RuntimeError if its dtype or shape differs from `before`."""
    if not isinstance(hook_result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(hook_result).__name__}'")
    if not isinstance(before, Tensor):  # the hook received None, so there is nothing to compare
        return hook_result
    if hook_result.dtype is not before.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {before.type()} got {hook_result.type()})")
    if hook_result.shape != before.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    return hook_result


cdef object retaining = threading.RLock()  # held while `grad` of a tensor with `retain_grad()` changes


cdef int retain_gradient(Tensor x, object gradient) except -1:
    history = history_of(x)
    with retaining:
        if history.grad is None:
            history.grad = gradient
        else:
            history.grad = operator_function("add")(history.grad, gradient)
    return 0


cdef list call_after(Hooks hooks, list results, list gradients):
    for hook in list(hooks.after.values()):
        replacement = hook(tuple(results), tuple(gradients))
        if replacement is not None:
            results = checked_gradients(replacement, results, name_of(hook))
    return results


cdef bint has_edge_into(Node node, set needed) except -1:
    cdef int i
    for i in range(node.edge_count):
        if node.edges[i].node != NULL and <Node>node.edges[i].node in needed:
            return True
    return False


# ---------------------------------------------------------------- conversion of gradients to shape and dtype

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *x) noexcept


cdef bint can_write_in_place(Tensor gradient) except -1:
    """Return whether the engine may write to `gradient` in place.

    The gradient must be a CPU tensor with writable memory to which nothing else refers.
    """
    return (
        gradient.backend == BACKEND_CPU
        and not is_layered(gradient)
        and Py_REFCNT(<PyObject *>gradient) <= 1
        and Py_REFCNT(<PyObject *>gradient.array) == 1
        and cnp.PyArray_BASE(<cnp.ndarray>gradient.array) == NULL
        and cnp.PyArray_CHKFLAGS(<cnp.ndarray>gradient.array, cnp.NPY_ARRAY_WRITEABLE)
    )


cdef Tensor convert_gradient(Node node, int i, Expected *like, Tensor gradient):
    """Return `gradient` converted to the shape, dtype and device in `like`."""
    cdef PyArrayObject *a = <PyArrayObject *>gradient.array
    cdef int d, ndim
    cdef npy_intp *dims
    if gradient.scalar_type != like.scalar_type:
        gradient = cast_gradient(gradient, like.scalar_type)
        a = <PyArrayObject *>gradient.array
    if gradient.backend != like.backend or gradient.device_index != like.device_index:
        gradient = move_gradient(gradient, like)
        a = <PyArrayObject *>gradient.array
    if gradient.backend == BACKEND_CPU:
        ndim, dims = ndim_of(a), dims_of(a)
        if ndim == like.ndim:
            for d in range(ndim):
                if dims[d] != like.dims[d]:
                    break
            else:
                return gradient
    elif tuple(gradient.array.shape) == tuple([like.dims[d] for d in range(like.ndim)]):
        return gradient
    return sum_to_shape(node, i, like, gradient)


cdef Tensor move_gradient(Tensor gradient, Expected *like):
    """Return `gradient` on the device in `like`. The layout of sparse gradients, and meta tensors, do not change."""
    cdef set unmoved = {BACKEND_META, BACKEND_SPARSE}
    if gradient.backend in unmoved or like.backend in unmoved:
        return gradient
    backend = backend_registry().at(like.backend)
    return gradient.to(devices.device(backend.name, like.device_index if backend.numbered else None))


cdef Tensor cast_gradient(Tensor gradient, int scalar_type):
    if gradient.dtype.is_complex and not dtypes.BY_CODE[scalar_type].is_complex:
        gradient = operator_function("real")(gradient)
    return gradient if gradient.scalar_type == scalar_type else gradient.to(dtypes.BY_CODE[scalar_type])


cdef Tensor sum_to_shape(Node node, int i, Expected *like, Tensor gradient):
    """Sum a gradient to the shape in `like`, over the dimensions in which the operator broadcast its argument."""
    cdef list shape = [like.dims[d] for d in range(like.ndim)]
    cdef list have = list(gradient.array.shape)
    cdef int lead = len(have) - len(shape)
    dims = list(range(max(lead, 0)))
    for d in range(len(shape)):
        if lead >= 0 and shape[d] != have[lead + d]:
            if shape[d] != 1:
                lead = -1
                break
            dims.append(lead + d)
    if lead < 0:
        raise RuntimeError(
            f"Function {node.title()} returned an invalid gradient at index {i} - got {have} but expected shape compatible with "
            f"{shape}"
        )
    gradient = operator_function("sum")(gradient, dims, True)
    return operator_function("view")(gradient, shape) if lead else gradient


# ---------------------------------------------------------------- priority queue of node tasks

cdef int push(list heap, NodeTask task) except -1:
    cdef Py_ssize_t i = len(heap), parent
    heap.append(task)
    while i > 0:
        parent = (i - 1) // 2
        if (<NodeTask>heap[parent]).node.sequence >= task.node.sequence:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = task
    return 0


cdef NodeTask pop(list heap):
    cdef NodeTask top, last = <NodeTask>heap.pop()
    cdef Py_ssize_t i = 0, child, n = len(heap)
    if n == 0:
        return last
    top = <NodeTask>heap[0]
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and (<NodeTask>heap[child + 1]).node.sequence > (<NodeTask>heap[child]).node.sequence:
            child += 1
        if last.node.sequence >= (<NodeTask>heap[child]).node.sequence:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = last
    return top


# ---------------------------------------------------------------- running a backward pass

cdef set nodes_from(list roots):
    """Return all nodes reachable from `roots`, including the roots."""
    cdef set seen = set(roots)
    cdef list stack = list(roots)
    cdef Node node
    cdef int i
    while stack:
        node = <Node>stack.pop()
        for i in range(node.edge_count):
            if node.edges[i].node != NULL and <Node>node.edges[i].node not in seen:
                seen.add(<Node>node.edges[i].node)
                stack.append(<Node>node.edges[i].node)
    return seen


cdef set nodes_towards(list roots, dict targets):
    """Return the nodes on paths from `roots` to the nodes in `targets`."""
    cdef set needed = set()
    cdef Node node
    for node in sorted(nodes_from(roots), key=get_sequence_number):
        if node in targets or has_edge_into(node, needed):
            needed.add(node)
    return needed


cdef Node edge_from(object x, int *output):
    """Return the node of a tensor or `GradientEdge`, and write its output number to output[0]."""
    if isinstance(x, Tensor):
        return edge_of(<Tensor>x, output)
    if isinstance(x, tuple) and len(<tuple>x) >= 2 and isinstance((<tuple>x)[0], Node) and type((<tuple>x)[1]) is int:
        node = <Node>(<tuple>x)[0]
        if not 0 <= (<tuple>x)[1] < max(node.result_count, 1) or node.results == NULL:
            raise IndexError(f"{node.title()} has no result {(<tuple>x)[1]}")
        output[0] = (<tuple>x)[1]
        return node
    raise TypeError(f"expected a Tensor or a gradient edge, got {type(x).__name__}")


def get_sequence_number(Node node not None):
    """Return the sequence number of a node. Nodes created later have higher numbers."""
    return node.sequence


def run_backward(list roots not None, list gradients not None, bint keep, bint create, inputs, bint accumulate):
    """Run a backward pass from `roots` and return the gradients of `inputs`, as `ts.autograd` describes.

    keep        keep saved values, so that another pass can follow
    create      record the operators of the pass, for higher derivatives
    inputs      tensors whose gradients are returned (None for unreachable tensors), or None
    accumulate  accumulate into `grad` of the leaves: of all leaves, or of those among `inputs`
    """
    cdef GraphTask run = GraphTask.__new__(GraphTask)
    cdef int output = 0
    cdef list nodes = []
    run.keep_graph, run.accumulate = keep, accumulate
    starts = []
    for x, gradient in zip(roots, gradients, strict=True):
        if not isinstance(gradient, Tensor):
            raise TypeError(f"expected a Tensor as initial gradient, got {type(gradient).__name__}")
        node = edge_from(x, &output)
        if node is None:
            raise RuntimeError("backward can only start at tensors that require grad")
        starts.append((node, output, gradient))
        nodes.append(node)
    if inputs is not None:
        run.captured, run.answer = {}, [None] * len(inputs)
        for i, x in enumerate(inputs):
            node = edge_from(x, &output)
            run.captured.setdefault(node, {}).setdefault(output, []).append(i)
        run.needed = nodes_towards(nodes, run.captured)
    run.task_id = next_task_id()
    del nodes
    cdef GraphTask outer = current_pass()
    if outer is not None and outer.depth >= MAX_NESTED:
        run_on_new_thread(partial(run_graph_task, run, starts, create, None), "ts-nested-pass")
    else:
        run_graph_task(run, starts, create, outer)
    return run.answer


def run_graph_task(GraphTask run not None, list starts not None, bint create, GraphTask outer):
    """Run a backward pass, then its final callbacks. `outer` is the current pass of this thread, or None."""
    cdef bint before
    run.depth = 1 if outer is None else outer.depth + 1
    here.run = run
    before = set_flag(GRAD_DISABLED, not create)
    try:
        run.begin(starts)
        run.work()
        for callback in run.final_callbacks:
            callback()
    finally:
        set_flag(GRAD_DISABLED, before)
        here.run = outer


# ---------------------------------------------------------------- state of the current pass

# Thread-local attribute `run`: the innermost running backward pass of this thread, or None.
cdef object here = threading.local()
cdef int64_t passes = 0


cdef int64_t next_task_id() except -1:
    """Return the unique id of a new pass."""
    global passes
    passes += 1
    return passes


def current_pass():
    """Return the innermost backward pass of this thread, or None outside of a pass."""
    return getattr(here, "run", None)


def current_task_id():
    """Return the unique id of the innermost backward pass of this thread, or -1 outside of a pass."""
    run = current_pass()
    return -1 if run is None else (<GraphTask>run).task_id


def queue_callback(callback):
    """Register a callback that is called without arguments at the end of this thread's innermost pass."""
    run = current_pass()
    if run is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    (<GraphTask>run).final_callbacks.append(callback)


def reaches_all_leaves():
    """Return whether this thread's innermost pass accumulates into all leaves (`backward` without inputs)."""
    run = current_pass()
    return run is not None and (<GraphTask>run).captured is None


def find_remaining_nodes():
    """Return the running node of this thread's pass, and all nodes that still have to run."""
    cdef GraphTask run
    cdef Node node
    cdef int i
    if current_pass() is None:
        raise RuntimeError("no backward pass is running in this thread")
    run = <GraphTask>here.run
    cdef list stack = [run.current, *[(<NodeTask>task).node for task in run.heap]]
    cdef set seen = set(stack)
    while stack:
        node = <Node>stack.pop()
        for i in range(node.edge_count):
            if node.edges[i].node == NULL or <Node>node.edges[i].node in seen:
                continue
            if run.needed is None or <Node>node.edges[i].node in run.needed:
                seen.add(<Node>node.edges[i].node)
                stack.append(<Node>node.edges[i].node)
    return seen
