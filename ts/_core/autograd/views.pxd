"""In-place writes to views and their bases: updates of the autograd history."""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor

# Return the CopySlices node of `base` after an in-place write to `view`: `node` is the backward node of the write, the view
# its result number `output`, and the previous value of the view its edge number `edge` (or -1).
cdef Node written_view(Tensor view, Tensor base, Node node, int output, int edge)
# Return a new AsStridedBackward node for a view whose base was modified in place.
cdef Node view_node(Tensor view, Tensor base)
# Return the node of a tensor that is not a view (leaf: AccumulateGrad); write its output index to output[0].
cdef Node node_of_whole(Tensor t, int *output)
