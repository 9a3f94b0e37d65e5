"""Autograd history of tensors and views: backward nodes, and indices of tensors among the nodes' results."""

from ts._core.autograd.node cimport Node, connect
from ts._core.tensor.tensor cimport AutogradMeta, Tensor, history_of

# Return the backward node of a tensor, and write the tensor's number among the node's results to output[0]. The
# node of a leaf is its AccumulateGrad node. Return None if the tensor does not require grad.
cdef Node edge_of(Tensor t, int *output)
# Connect edge `i` of `node` to the backward node of `t`.
cdef inline int connect_to(Node node, int i, Tensor t) except -1:
    cdef int output = 0
    if t.base is None and t.requires_grad_flag and t.history is not None and t.history.node is not None:
        connect(node, i, <Node>t.history.node, t.history.output)
    else:
        to = edge_of(t, &output)
        connect(node, i, to, output)
    return 0

# Set the history of `t`: it is result number `output` of `node`, whose operator created it or modified it in place.
cdef inline int set_history(Tensor t, Node node, int output) except -1:
    cdef AutogradMeta history = history_of(t)
    history.node, history.output = node, output
    t.requires_grad_flag = True
    return 0

# Set the history of `t` after an in-place write: it becomes result number `output` of `node`. `edge` is the number
# of the node's edge for the previous value of `t`, or -1 if there is none.
cdef int set_history_of_reshaped(Tensor t, Node node, int output) except -1
cdef int rebase_history(Tensor t, Node node, int output, int edge) except -1
# Raise RuntimeError for in-place writes to a leaf that requires grad, or to a view that forbids in-place
# writes.
cdef int check_write_to(Tensor t) except -1
# Raise RuntimeError if a custom `autograd.Function` with `results` results must not write to `t` in place.
cdef int check_write_by_function(Tensor t, int results) except -1
# Return whether the dtype of `t` is differentiable: floating point or complex.
cdef inline bint is_differentiable(Tensor t) noexcept:
    return 5 <= t.scalar_type <= 10 or t.scalar_type == 15 or 23 <= t.scalar_type <= 26 or t.scalar_type == 44
