"""Custom autograd functions: execution of `forward` and the backward node of the call.

Input: an empty node, the function's `forward` and its arguments. Output: the return value of `forward`,
attached to the node. A call has these steps:

    create the node, which is the argument `ctx` of `forward`
    call forward(node, *arguments), without recording its operators
    make the returned tensors and the modified arguments results of the node
    save the tensors given to `save_for_backward`, with their version counters
"""

cimport cython
from ts._core.autograd.anomaly cimport save_traceback, searching
from ts._core.autograd.history cimport check_write_by_function, edge_of, is_differentiable, rebase_history, set_history
from ts._core.autograd.node cimport connect, expect, make_results, make_room, next_sequence
from ts._core.autograd.operator_node cimport zeros_like
from ts._core.autograd.saved cimport NO_RESULT, SavingNode, drop_saved, make_room_to_save, raise_released, save_tensor, saved_at, saved_tensor
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport BY_FUNCTION, ONE_OF_SEVERAL, Tensor, history_of, version_of, needs_grad, wrote
from ts._core.thread.context cimport GRAD_DISABLED, context_flags, set_flag

import warnings


@cython.trashcan(True)
cdef class FunctionNode(SavingNode):
    def __cinit__(self, *args, **kwargs):
        self.materialize_grads = True
        self.needs_input_grad = self.edge_at = ()

    cdef int release_saved(self) except -1:
        self.is_released = True
        drop_saved(self)
        return 0

    cdef list apply(self, list gradients):
        cdef int i
        # Undefined gradients are replaced by zeros in a copy of the list, because hooks later receive the
        # list without these zeros.
        gradients = list(gradients)
        if self.materialize_grads:
            for i in range(self.result_count):
                if gradients[i] is None and self.results[i].dims != NULL:
                    gradients[i] = zeros_like(&self.results[i])
        output = getattr(self, "apply")(*gradients)
        return gradients_by_edge(self, output if isinstance(output, tuple) else (output,))

    @property
    def saved_tensors(self):
        """Return the tensors given to `save_for_backward`.

        Raise RuntimeError if one of them was modified in place, or if they were released.
        """
        cdef int i
        if self.is_released:
            raise_released()
        return tuple([saved_or_none(self, i) for i in range(self.saved_count)])

    @property
    def saved_variables(self):
        """Deprecated alias of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        if self.is_released:
            raise_released()
        return tuple([saved_at(self, i) for i in range(self.saved_count)])


cdef object saved_or_none(FunctionNode node, int i):
    return saved_tensor(&node.saved[i], node) if node.saved[i].value.tag else None


cdef list gradients_by_edge(FunctionNode node, tuple gradients_by_argument):
    """Convert the gradients that `backward` returned, one per argument, to a list with one gradient per edge."""
    cdef list results = [None] * node.edge_count
    cdef int i, edge, n = len(node.edge_at), count = len(gradients_by_argument)
    while count > n and gradients_by_argument[count - 1] is None:
        count -= 1
    if count != n:
        raise RuntimeError(
            f"function {node.title()} returned an incorrect number of gradients (expected {n}, "
            f"got {len(gradients_by_argument)})"
        )
    for i in range(n):
        edge = node.edge_at[i]
        if edge >= 0:
            results[edge] = gradients_by_argument[i]
        elif gradients_by_argument[i] is not None:
            raise RuntimeError(
                f"function {node.title()} returned a gradient different than None at position {i + 1}, but the corresponding "
                "forward input was not a Variable"
            )
    return results


# ---------------------------------------------------------------- forward

def run_function(FunctionNode node not None, forward, setup_context, tuple args not None):
    """Run `forward` and the optional `setup_context`, and return the results.

    The result tensors are attached to `node`.
    """
    cdef bint before, recorded
    cdef list results
    if node.edges != NULL:
        raise RuntimeError("the backward node already belongs to another call")
    node.needs_input_grad = tuple([isinstance(x, Tensor) and needs_grad(<Tensor>x) for x in args])
    recorded = not context_flags() & GRAD_DISABLED and any(node.needs_input_grad)
    connect_arguments(node, args, recorded)
    if searching and recorded:
        save_traceback(node, NULL, NULL)
    before = set_flag(GRAD_DISABLED, True)
    try:
        if setup_context is None:
            output = forward(node, *args)
        else:
            output = forward(*args)
            setup_context(node, args, output)
        results = list(output) if isinstance(output, tuple) else [output]
        adopt_all(node, args, results, recorded)
        if recorded:
            save_all(node)
    finally:
        set_flag(GRAD_DISABLED, before)
    node.to_save = node.dirty_tensors = node.non_differentiable = None
    return tuple(results) if isinstance(output, tuple) else results[0]


cdef int connect_arguments(FunctionNode node, tuple args, bint recorded) except -1:
    """Create one edge of `node` for each tensor argument. If not `recorded`, the edges stay unconnected."""
    cdef list edge_at = []
    cdef int output = 0, count = 0
    for x in args:
        edge_at.append(count if isinstance(x, Tensor) else -1)
        count += isinstance(x, Tensor)
    make_room(node, count, 0)
    node.edge_at = tuple(edge_at)
    if recorded:
        for x, edge in zip(args, edge_at):
            if edge >= 0:
                to = edge_of(<Tensor>x, &output)
                connect(node, edge, to, output)
    node.sequence = next_sequence()
    return 0


cdef int adopt_all(FunctionNode node, tuple args, list results, bint recorded) except -1:
    """Attach the results to `node` if `recorded`.

    Apply the marks set by `mark_dirty` and `mark_non_differentiable`.
    """
    cdef int i, n = len(results), tensors = 0, edge
    cdef set arguments = {id(x) for x in args}
    cdef dict edges = {id(x): edge for x, edge in zip(args, node.edge_at) if edge >= 0}
    cdef set left = identities(node.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got")
    cdef set written = identities(node.dirty_tensors, "mark_dirty can only accept variables, but argument 0 is of type")
    make_results(node, n)
    if not written <= {id(x) for x in results}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
            "inplace must all be outputs of the Function."
        )
    for x in node.dirty_tensors or ():
        wrote(<Tensor>x)
    for x in results:
        tensors += isinstance(x, Tensor)
    for i in range(n):
        if isinstance(results[i], Tensor):
            t = <Tensor>results[i]
            edge = edges.get(id(t), -1)
            if recorded:
                expect(node, i, t)
            if not recorded or id(t) in left or not is_differentiable(t):
                results[i] = left_alone(t, id(t) in arguments, id(t) in written)
            elif id(t) in written:
                adopt_written(node, t, i, edge, tensors)
            else:
                results[i] = attach_result(node, t, i, edge, tensors)
    return 0


cdef set identities(object tensors, str message):
    """Return the ids of marked tensors. Raise RuntimeError(`message`) for values that are not tensors."""
    cdef set ids = set()
    for t in tensors or ():
        if not isinstance(t, Tensor):
            raise RuntimeError(f"{message} {type(t).__name__}")
        ids.add(id(t))
    return ids


cdef Tensor left_alone(Tensor t, bint is_argument, bint is_written):
    """Return result `t`, which is marked as non-differentiable, or a detached tensor if it requires grad.

    A result that is a view and not an argument is not detached. For an argument that the function returned
    unchanged, the result is a view of the argument.
    """
    cdef bint before
    if needs_grad(t) and (is_argument or t.base is None):
        return operator_function("detach")(t)
    if is_argument and not is_written:
        before = set_flag(GRAD_DISABLED, True)
        try:
            t = operator_function("view_as")(t, t)
        finally:
            set_flag(GRAD_DISABLED, before)
    if t.base is not None and not is_written:
        t.creation = BY_FUNCTION
    return t


cdef Tensor attach_result(FunctionNode node, Tensor t, int i, int edge, int tensors):
    cdef Tensor result = t
    # If the function returned an argument unchanged, the result is a new view of this argument. The view gets
    # the new history, and the argument keeps its own.
    if edge >= 0:
        result = operator_function("view_as")(t, t)
    set_history(result, node, i)
    if result.base is not None:
        result.version = version_of(result)
        result.creation = ONE_OF_SEVERAL if tensors > 1 else BY_FUNCTION
    return result


cdef int adopt_written(FunctionNode node, Tensor t, int i, int edge, int tensors) except -1:
    if edge < 0:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
            "ctx.mark_dirty().",
            stacklevel=3,
        )
    check_write_by_function(t, tensors)
    return rebase_history(t, node, i, edge)


cdef int save_all(FunctionNode node) except -1:
    cdef int i
    cdef Tensor t
    if node.to_save is None:
        return 0
    if not isinstance(node.to_save, tuple):
        raise TypeError(f"saved tensors attribute is expected to be a tuple but is {type(node.to_save).__name__}")
    for i, x in enumerate(node.to_save):
        if x is not None and not isinstance(x, Tensor):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(x).__name__}")
    make_room_to_save(node, len(node.to_save))
    for i, x in enumerate(node.to_save):
        if x is not None:
            t = <Tensor>x
            save_tensor(&node.saved[i], t, t.history.output if is_result(node, t) else NO_RESULT)
    return 0


cdef bint is_result(FunctionNode node, Tensor t) noexcept:
    return t.history is not None and t.history.node is node
