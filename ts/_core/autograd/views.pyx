"""Views and their bases, where one of them is written in place.

    v = b[0]; v.mul_(w)      b is the result of CopySlices      edge 0 -> what b was; the others -> what the write read
    b.mul_(w); v             v is that of AsStridedBackward0    edge 0 -> what b is

CopySlices sends the gradient of the base on to what it was, but where the view is: there it goes through the write.
Both take a view for what it is in memory, whatever operators made it.
"""

cimport cython

from ts._core.autograd.leaf cimport accumulator_of
from ts._core.autograd.node cimport Node, connect, expect, make_room, next_sequence
from ts._core.tensor.tensor cimport Tensor, operator_function
from ts._core.thread.context cimport GRAD_DISABLED, context_flags
from ts._core.value.sealed cimport seal


cdef class ViewNode(Node):
    """Where the elements of a view are among those of its base."""

    cdef list base_size, base_stride, size, stride
    cdef Py_ssize_t offset

    cdef int place(self, Tensor view, Tensor base) except -1:
        if view.scalar_type != base.scalar_type:
            raise NotImplementedError(
                f"writing in place to a {base.dtype} tensor that has views of {view.dtype} is not differentiable: write to a copy"
            )
        self.base_size, self.base_stride = list(base.array.shape), list(base.stride())
        self.size, self.stride = list(view.array.shape), list(view.stride())
        self.offset = view.storage_offset() - base.storage_offset()
        return 0

    cdef object whole_like(self, object gradient):
        """Room for the gradient of the base."""
        return operator_function("empty_strided")(
            self.base_size, self.base_stride, dtype=gradient.dtype, device=gradient.device
        )


@cython.final
@cython.trashcan(True)
cdef class AsStridedBackward(ViewNode):
    cdef str title(self):
        return "AsStridedBackward0"

    cdef list apply(self, list gradients):
        gradient = gradients[0]
        if gradient is None:
            return [None]
        whole = operator_function("zero_")(self.whole_like(gradient))
        if not any([n > 1 and step == 0 for n, step in zip(self.size, self.stride)]):
            return [operator_function("as_strided_scatter")(whole, gradient, self.size, self.stride, self.offset)]
        flat = operator_function("zeros")([whole.untyped_storage().nbytes() // whole.itemsize], dtype=whole.dtype, device=whole.device)
        numbers = operator_function("arange")(flat.numel(), device=whole.device)
        places = operator_function("as_strided")(numbers, self.size, self.stride, self.offset)
        flat = operator_function("index_add")(
            flat, 0, operator_function("reshape")(places, [-1]), operator_function("reshape")(gradient, [-1])
        )
        return [operator_function("as_strided")(flat, self.base_size, self.base_stride, 0)]


@cython.final
@cython.trashcan(True)
cdef class CopySlices(ViewNode):
    cdef Node written                  # the way back through the write
    cdef int output                    # the view is this result of it
    cdef int edge                      # what the view was is this argument of it, or -1

    cdef str title(self):
        return "CopySlices"

    cdef int release_saved(self) except -1:
        return self.written.release_saved()

    cdef list apply(self, list gradients):
        cdef list given, found
        gradient = gradients[0]
        if gradient is None:
            return [None] * self.edge_count
        whole = operator_function("copy_")(self.whole_like(gradient), gradient)
        part = operator_function("as_strided")(whole, self.size, self.stride, self.offset)
        given = [None] * self.written.result_count
        given[self.output] = operator_function("clone")(part)
        found = self.written.apply(given)
        inner = found.pop(self.edge) if self.edge >= 0 else None
        if inner is None:
            inner = operator_function("zeros_like")(part)
        if context_flags() & GRAD_DISABLED:
            operator_function("copy_")(part, inner)
        else:
            whole = operator_function("as_strided_scatter")(whole, inner, self.size, self.stride, self.offset)
        return [whole, *found]


cdef Node node_of_whole(Tensor t, int *output):
    output[0] = 0
    if not t.wants_grad:
        return None
    if t.history is None or t.history.node is None:
        return accumulator_of(t)
    output[0] = t.history.output
    return <Node>t.history.node


cdef Node view_node(Tensor view, Tensor base):
    cdef AsStridedBackward made = AsStridedBackward.__new__(AsStridedBackward)
    cdef int output = 0
    made.place(view, base)
    make_room(made, 1, 1)
    expect(made, 0, view)
    connect(made, 0, node_of_whole(base, &output), output)
    made.sequence = next_sequence()
    return made


cdef Node written_view(Tensor view, Tensor base, Node node, int output, int edge):
    cdef CopySlices made = CopySlices.__new__(CopySlices)
    cdef int i, to_output = 0, k = 1
    made.place(view, base)
    made.written, made.output, made.edge = node, output, edge
    make_room(made, 1 + node.edge_count - (edge >= 0), 1)
    expect(made, 0, base)
    to = node_of_whole(base, &to_output)
    connect(made, 0, to, to_output)
    for i in range(node.edge_count):
        if i != edge:
            connect(made, k, None if node.edges[i].node == NULL else <Node>node.edges[i].node, node.edges[i].output)
            k += 1
    made.sequence = next_sequence()
    return made


seal(ViewNode)
seal(AsStridedBackward)
seal(CopySlices)
