"""Autograd history of tensors and views: backward node and output index."""

from ts._core.autograd.node cimport Node, connect
from ts._core.tensor.tensor cimport AutogradMeta, Tensor, history_of

# The node whose result number output[0] a tensor is: of a leaf, the one that adds to its gradient; None: no gradient is wanted.
cdef Node edge_of(Tensor t, int *output)
# Edge `i` of `node` leads there.
cdef inline int connect_to(Node node, int i, Tensor t) except -1:
    cdef int output = 0
    if t.base is None and t.wants_grad and t.history is not None and t.history.node is not None:
        connect(node, i, <Node>t.history.node, t.history.output)
    else:
        to = edge_of(t, &output)
        connect(node, i, to, output)
    return 0

# From now on `t` is result `output` of `node`: it was made by that, or written in place.
cdef inline int set_history(Tensor t, Node node, int output) except -1:
    cdef AutogradMeta history = history_of(t)
    history.node, history.output = node, output
    t.wants_grad = True
    return 0

# ... after an in-place write; `edge` of the node is the previous value, or -1.
cdef int rebase_history(Tensor t, Node node, int output, int edge) except -1
# Raise RuntimeError for in-place writes to a leaf that requires grad, or to a view that forbids them.
cdef int check_write_to(Tensor t) except -1
# The same for a write by a custom Python function with `results` result tensors.
cdef int check_write_by_function(Tensor t, int results) except -1
# Whether tensors of its dtype have gradients: floating point, complex.
cdef inline bint is_differentiable(Tensor t) noexcept:
    return 5 <= t.scalar_type <= 10 or t.scalar_type == 15 or 23 <= t.scalar_type <= 26 or t.scalar_type == 44
