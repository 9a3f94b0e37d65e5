"""In-place writes to views and their bases: updates of the autograd history."""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor

# The node whose result the base of `view` is, after `node` has written the view as its result number `output`; `edge` of that
# is what the view was before, or -1.
cdef Node written_view(Tensor view, Tensor base, Node node, int output, int edge)
# The node whose result a view is, after its base was written: as if it had been made now.
cdef Node view_node(Tensor view, Tensor base)
# The node whose result number output[0] a tensor is that is no view: of a leaf, the one that adds to its gradient.
cdef Node node_of_whole(Tensor t, int *output)
