"""What Python asks of a tensor's history: its node, its hooks, that it keeps its gradient, that it be forgotten."""

import weakref

from ts._core.autograd.leaf cimport AccumulateGrad
from ts._core.autograd.node cimport Hooks, Node, hooks_of
from ts._core.autograd.tape cimport edge_of
from ts._core.tensor.tensor cimport History, Tensor, history_of


cdef int require(Node node) except -1:
    if node is None:
        raise RuntimeError("the tensor wants no gradient")
    return 0


def node_of(Tensor x not None):
    """The node whose result `x` is, and which result: of a leaf, the one that adds to its gradient."""
    cdef int output = 0
    node = edge_of(x, &output)
    return node, output


def hooks_of_tensor(Tensor x not None):
    """The hooks of the node whose result `x` is, and which result; those of a leaf stay with it."""
    cdef int output = 0
    cdef Node node = edge_of(x, &output)
    cdef History history
    require(node)
    if type(node) is not AccumulateGrad:
        return hooks_of(node), output
    history = history_of(x)
    if history.hooks is None:
        history.hooks = node.hooks = Hooks()
    return history.hooks, 0


def retain(Tensor x not None):
    """Let a tensor that is no leaf keep its gradient."""
    cdef int output = 0
    cdef Node node = edge_of(x, &output)
    require(node)
    history_of(x).retained = True
    hooks_of(node).retained[output] = weakref.ref(x)


def is_retained(Tensor x not None):
    """Whether it does."""
    return bool(x.history is not None and x.history.retained)


def forget(Tensor x not None):
    """Make a leaf of `x` that wants no gradient."""
    cdef History history = x.history
    x.wants_grad = False
    if history is not None:
        history.node, history.output, history.rebased, history.retained = None, 0, False, False
