"""Autograd history of views and bases after in-place operations."""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor

# Return the CopySlices node of `base` after an in-place write to `view`. `node` is the backward node of the
# write. Its result number `output` is the written view. Its edge number `edge` leads to the previous value of
# the view, or is -1 if there is none.
cdef Node written_view(Tensor view, Tensor base, Node node, int output, int edge)
# Return a new AsStridedBackward node for a view whose base was modified in place.
cdef Node view_node(Tensor view, Tensor base)
# Return the backward node of a tensor that is not a view, and write the tensor's number among the node's results to
# output[0]. The node of a leaf is its AccumulateGrad node.
cdef Node node_of_base(Tensor t, int *output)
