"""Autograd history of tensors and views: backward node and output index."""

from ts._core.autograd.node cimport Node, connect
from ts._core.tensor.tensor cimport AutogradMeta, Tensor, history_of

# Return the backward node of a tensor and write its output index to output[0]: for a leaf, the AccumulateGrad node; None
# if the tensor does not require grad.
cdef Node edge_of(Tensor t, int *output)
# Connect edge `i` of `node` to the backward node of `t`.
cdef inline int connect_to(Node node, int i, Tensor t) except -1:
    cdef int output = 0
    if t.base is None and t.wants_grad and t.history is not None and t.history.node is not None:
        connect(node, i, <Node>t.history.node, t.history.output)
    else:
        to = edge_of(t, &output)
        connect(node, i, to, output)
    return 0

# Set the history of `t`, created or modified in place by the operator of `node`: it is result `output` of `node`.
cdef inline int set_history(Tensor t, Node node, int output) except -1:
    cdef AutogradMeta history = history_of(t)
    history.node, history.output = node, output
    t.wants_grad = True
    return 0

# Set the history of `t` after an in-place write; `edge` of the node belongs to the previous value, or is -1.
cdef int rebase_history(Tensor t, Node node, int output, int edge) except -1
# Raise RuntimeError for in-place writes to a leaf that requires grad, or to a view that forbids them.
cdef int check_write_to(Tensor t) except -1
# Like `check_write_to`, for a write by a custom Python function with `results` result tensors.
cdef int check_write_by_function(Tensor t, int results) except -1
# Return whether the dtype of `t` is differentiable: floating point or complex.
cdef inline bint is_differentiable(Tensor t) noexcept:
    return 5 <= t.scalar_type <= 10 or t.scalar_type == 15 or 23 <= t.scalar_type <= 26 or t.scalar_type == 44
