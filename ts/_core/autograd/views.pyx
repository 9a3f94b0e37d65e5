"""Autograd history of views and bases (view tracking), with a rebase of the history by in-place operations.

An in-place write to a view or to its base changes the `grad_fn` of both. For a view v = b[0] of the base b,
the nodes are:

    v.mul_(w)    b.grad_fn is CopySlices, with edges to the previous b and to the other inputs of the write
    b.mul_(w)    v.grad_fn is AsStridedBackward0, with an edge to the current b

CopySlices passes the gradient of the base to the previous value of the base, except for the view's elements.
The gradient of the view's elements is passed to the write.
"""

cimport cython

from ts._core.autograd.leaf cimport accumulator_of
from ts._core.autograd.node cimport Node, connect, expect, make_room, next_sequence
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport Tensor
from ts._core.tensor.tensor_metadata cimport memory_of
from ts._core.thread.context cimport GRAD_DISABLED, LAYERED, context_flags
from ts._core.value.no_python_construction cimport seal


cdef enum BaseViewRelation:
    """How a view reads the elements of its base: as numbers of the same dtype, as pairs, or as complex
    numbers.
    """
    AS_IT_IS = 0
    AS_PAIRS = 1                       # real view of a complex base
    AS_COMPLEX = 2                     # complex view of a real base


cdef class ViewNode(Node):
    """Base class of backward nodes that map the elements of a view to its base by strides."""

    # Offsets count elements from the first element of the base or of the view, whichever is first in memory.
    # The view can begin before its base, because `as_strided_` can change the base.
    cdef list base_size, base_stride, size, stride
    cdef Py_ssize_t base_offset, offset
    cdef BaseViewRelation reading

    cdef int set_geometry(self, Tensor view, Tensor base) except -1:
        self.reading = AS_IT_IS
        if view.scalar_type != base.scalar_type:
            self.reading = AS_PAIRS if base.dtype.is_complex else AS_COMPLEX
        self.base_size, self.base_stride = list(base.array.shape), list(base.stride())
        self.size, self.stride = list(view.array.shape), list(view.stride())
        self.offset = view.storage_offset()
        if self.reading == AS_PAIRS:
            self.offset -= 2 * base.storage_offset()
        elif self.reading == AS_COMPLEX:
            self.offset -= base.storage_offset() // 2
        else:
            self.offset -= base.storage_offset()
        self.base_offset = 0
        if self.offset < 0:
            self.base_offset = (1 - self.offset) // 2 if self.reading == AS_PAIRS else -self.offset
            self.offset += 2 * self.base_offset if self.reading == AS_PAIRS else self.base_offset
            if self.reading == AS_COMPLEX:
                self.base_offset *= 2
        return 0

    cdef object for_view(self, flat):
        """Return `flat`, the base's elements in memory order, reinterpreted in the view's dtype."""
        if self.reading == AS_IT_IS:
            return flat
        if self.reading == AS_PAIRS:
            return operator_function("reshape")(operator_function("view_as_real")(flat), [-1])
        return operator_function("view_as_complex")(operator_function("reshape")(flat, [-1, 2]))

    cdef object for_base(self, flat):
        """Return `flat`, elements of the view's dtype in memory order, reinterpreted in the base's dtype."""
        if self.reading == AS_IT_IS:
            return flat
        if self.reading == AS_COMPLEX:
            return operator_function("reshape")(operator_function("view_as_real")(flat), [-1])
        return operator_function("view_as_complex")(operator_function("reshape")(flat, [-1, 2]))

    cdef object element_indices(self, list size, list stride, Py_ssize_t offset, gradient):
        """Return the memory offsets of the elements of a strided tensor, as a 1-d tensor."""
        numbers = operator_function("arange")(2 * self.length(), device=gradient.device)
        return operator_function("reshape")(operator_function("as_strided")(numbers, size, stride, offset), [-1])

    cdef Py_ssize_t length(self) except -1:
        """Return the number of base elements in the memory of base and view, rounded up to an even number."""
        cdef Py_ssize_t of_base = span(self.base_offset, self.base_size, self.base_stride)
        cdef Py_ssize_t of_view = span(self.offset, self.size, self.stride)
        if self.reading == AS_PAIRS:
            of_view = (of_view + 1) // 2
        elif self.reading == AS_COMPLEX:
            of_view *= 2
        of_base = max(of_base, of_view)
        return of_base + of_base % 2   # AS_COMPLEX needs pairs of elements

    cdef bint is_inside_base(self) except -1:
        """Return whether the memory of the base contains the memory of the view."""
        return self.base_offset == 0 and self.length() <= span(0, self.base_size, self.base_stride) + 1

    cdef object in_memory(self, base_like):
        """Return the elements of `base_like` in the base's memory order, reinterpreted in the view's dtype.

        `base_like` is a tensor with the base's shape.
        """
        run = operator_function
        flat = run("zeros")([self.length()], dtype=base_like.dtype, device=base_like.device)
        indices = self.element_indices(self.base_size, self.base_stride, self.base_offset, base_like)
        return self.for_view(run("scatter")(flat, 0, indices, run("reshape")(base_like, [-1])))

    cdef object gather_view_from(self, flat):
        """Return the elements of the view from the flat memory of the base."""
        indices = self.element_indices(self.size, self.stride, self.offset, flat)
        return operator_function("reshape")(operator_function("index_select")(flat, 0, indices), self.size)

    cdef object scatter_view_into(self, flat, view_values):
        """Return `flat` in the base's shape, after a write of `view_values` to the elements of the view."""
        run = operator_function
        indices = self.element_indices(self.size, self.stride, self.offset, flat)
        flat = self.for_base(run("scatter")(flat, 0, indices, run("reshape")(view_values, [-1])))
        indices = self.element_indices(self.base_size, self.base_stride, self.base_offset, flat)
        return run("reshape")(run("index_select")(flat, 0, indices), self.base_size)

    cdef object empty_base_like(self, object gradient):
        """Return an uninitialized gradient with the sizes and strides of the base."""
        return operator_function("empty_strided")(
            self.base_size, self.base_stride, dtype=gradient.dtype, device=gradient.device
        )


cdef Py_ssize_t span(Py_ssize_t offset, list size, list stride) except -1:
    """Return the storage size that a strided tensor needs, in elements. An empty tensor needs none."""
    cdef Py_ssize_t last = offset
    for n, step in zip(size, stride):
        if n == 0:
            return 0
        last += (n - 1) * step
    return last + 1


cdef bint maybe_overlapping_memory(list size, list stride):
    """Return whether elements of a strided tensor may overlap in memory, as its sizes and strides determine.

    They do not overlap if each stride is greater than the range of all dimensions with smaller strides. In contrast,
    `overlap.has_internal_overlap` only finds expanded dimensions, with stride 0.
    """
    if 0 in size:
        return False
    furthest = 0
    for step, n in sorted([(step, n) for n, step in zip(size, stride) if n != 1]):
        if step <= furthest:
            return True
        furthest += step * (n - 1)
    return False


@cython.final
@cython.trashcan(True)
cdef class AsStridedBackward(ViewNode):
    cdef str title(self):
        return "AsStridedBackward0"

    cdef list apply(self, list gradients):
        gradient = gradients[0]
        if gradient is None:
            return [None]
        base_overlaps = maybe_overlapping_memory(self.base_size, self.base_stride)
        overlaps = base_overlaps or maybe_overlapping_memory(self.size, self.stride)
        if self.reading == AS_IT_IS and not overlaps and self.is_inside_base():
            base_gradient = operator_function("zero_")(self.empty_base_like(gradient))
            return [operator_function("as_strided_scatter")(base_gradient, gradient, self.size, self.stride, self.offset)]
        run = operator_function
        count = self.length() * 2 if self.reading == AS_PAIRS else self.length()
        flat = run("zeros")([count], dtype=gradient.dtype, device=gradient.device)
        of_view = self.element_indices(self.size, self.stride, self.offset, gradient)
        flat = run("index_add")(flat, 0, of_view, run("reshape")(gradient, [-1]))
        flat = self.for_base(flat)
        of_base = self.element_indices(self.base_size, self.base_stride, self.base_offset, gradient)
        if base_overlaps:  # Base elements at one location get equal parts of the gradient of this location.
            counts = run("bincount")(of_base, minlength=self.length())
            flat = run("div")(flat, run("clamp")(counts, min=1))
        return [run("reshape")(run("index_select")(flat, 0, of_base), self.base_size)]


@cython.final
@cython.trashcan(True)
cdef class CopySlices(ViewNode):
    cdef Node written                  # backward node of the write
    cdef int output                    # result number of the view in `written`
    # number of the edge from the node of `written` to the node of the view's previous value, or -1 if there
    # is no such edge
    cdef int edge

    cdef str title(self):
        return "CopySlices"

    cdef int release_saved(self) except -1:
        return self.written.release_saved()

    cdef list apply(self, list gradients):
        cdef list output_gradients, results
        gradient = gradients[0]
        if gradient is None:
            return [None] * self.edge_count
        if self.reading != AS_IT_IS or not self.is_inside_base() or context_flags() & (LAYERED | GRAD_DISABLED) != GRAD_DISABLED:
            return self.apply_elsewhere(gradient)
        base_gradient = operator_function("copy_")(self.empty_base_like(gradient), gradient)
        view_gradient = operator_function("as_strided")(base_gradient, self.size, self.stride, self.offset)
        output_gradients = [None] * self.written.result_count
        output_gradients[self.output] = operator_function("clone")(view_gradient)
        results = self.written.apply(output_gradients)
        inner = results.pop(self.edge) if self.edge >= 0 else None
        if inner is None:
            inner = operator_function("zeros_like")(view_gradient)
        operator_function("copy_")(view_gradient, inner)
        return [base_gradient, *results]


    cdef list apply_elsewhere(self, gradient):
        """Compute the gradients without in-place writes.

        `apply` calls this for `create_graph`, tensors with layers, views between real and complex dtypes, and
        views outside of the base.
        """
        cdef list output_gradients, results
        flat = self.in_memory(gradient)
        output_gradients = [None] * self.written.result_count
        output_gradients[self.output] = self.gather_view_from(flat)
        results = self.written.apply(output_gradients)
        inner = results.pop(self.edge) if self.edge >= 0 else None
        if inner is None:
            inner = operator_function("zeros_like")(output_gradients[self.output])
        return [self.scatter_view_into(flat, inner), *results]


cdef ViewNode view_geometry(Tensor view, Tensor base, Tensor base_like):
    cdef ViewNode where = ViewNode.__new__(ViewNode)
    if memory_of(view) is not memory_of(base) and view.array.size:
        raise ValueError("the tensor is not a view of the given base")
    if base_like.array.shape != base.array.shape:
        raise ValueError(f"a tensor of shape {base_like.array.shape} does not look like a base of shape {base.array.shape}")
    where.set_geometry(view, base)
    return where


def gather_view(Tensor view not None, Tensor base not None, Tensor base_like not None):
    """Return a copy of the elements of `base_like` at the positions that `view` selects from `base`.

    `base_like` is a tensor with the shape of `base`.
    """
    where = view_geometry(view, base, base_like)
    return where.gather_view_from(where.in_memory(base_like))


def scatter_view(Tensor view not None, Tensor base not None, Tensor base_like not None, Tensor view_values not None):
    """Return a copy of `base_like`, a tensor with the shape of `base`, with `view_values` at the positions of `view`."""
    where = view_geometry(view, base, base_like)
    return where.scatter_view_into(where.in_memory(base_like), view_values)


cdef Node node_of_base(Tensor t, int *output):
    output[0] = 0
    if not t.requires_grad_flag:
        return None
    if t.history is None or t.history.node is None:
        return accumulator_of(t)
    output[0] = t.history.output
    return <Node>t.history.node


cdef Node view_node(Tensor view, Tensor base):
    cdef AsStridedBackward result = AsStridedBackward.__new__(AsStridedBackward)
    cdef int output = 0
    result.set_geometry(view, base)
    make_room(result, 1, 1)
    expect(result, 0, view)
    connect(result, 0, node_of_base(base, &output), output)
    result.sequence = next_sequence()
    return result


cdef Node written_view(Tensor view, Tensor base, Node node, int output, int edge):
    cdef CopySlices result = CopySlices.__new__(CopySlices)
    cdef int i, to_output = 0, k = 1
    result.set_geometry(view, base)
    result.written, result.output, result.edge = node, output, edge
    make_room(result, 1 + node.edge_count - (edge >= 0), 1)
    expect(result, 0, base)
    to = node_of_base(base, &to_output)
    connect(result, 0, to, to_output)
    for i in range(node.edge_count):
        if i != edge:
            connect(result, k, None if node.edges[i].node == NULL else <Node>node.edges[i].node, node.edges[i].output)
            k += 1
    result.sequence = next_sequence()
    return result


seal(ViewNode)
seal(AsStridedBackward)
seal(CopySlices)
