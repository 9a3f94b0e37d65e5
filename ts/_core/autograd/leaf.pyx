"""Leaf tensors, and gradient accumulation by their AccumulateGrad nodes.

Input: a gradient. Output: `leaf.grad`, set to the gradient or increased by it.

The AccumulateGrad node owns a reference to its leaf, but the leaf does not own the node. The last backward
node with an edge to the AccumulateGrad node releases it.
"""

from threading import RLock

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject

from ts._core.autograd.node cimport Expected, Hooks, Node, connect, expect, make_room, next_sequence
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, same_shape, strides_of
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport (
    BACKEND_CPU,
    BACKEND_SPARSE,
    AutogradMeta,
    Tensor,
    history_of,
    is_dispatched,
    wrap_cpu,
)
from ts._core.tensor.tensor_metadata cimport detached_from
from ts._core.thread.context cimport GRAD_DISABLED, context_flags
from ts._core.value.no_python_construction cimport seal

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *x) noexcept


@cython.no_gc_clear  # tp_clear must not clear `variable`, because `__dealloc__` removes the pointer of the leaf to this node
@cython.trashcan(True)
cdef class AccumulateGrad(Node):
    def __dealloc__(self):
        if self.variable is not None and self.variable.history is not None:
            self.variable.history.accumulator = NULL

    cdef str title(self):
        return "AccumulateGrad"

    cdef list apply(self, list gradients):
        if gradients[0] is not None:
            self.add(<Tensor?>gradients[0], False)
        return []

    cdef int add(self, Tensor gradient, bint owned) except -1:
        """Accumulate `gradient` into the gradient of the leaf.

        The addition holds a lock, because kernels release the GIL. The first gradient is set without the lock if the
        leaf has no hooks and the gradient needs no copy.
        """
        cdef AutogradMeta history = history_of(self.variable)
        if self.lock is None:
            if owned and history.grad is None and history.hooks is None and not is_dispatched(gradient) and fits(self.variable, gradient):
                history.grad = gradient
                return 0
            self.lock = RLock()  # reentrant, because a hook may start a backward pass that accumulates into this leaf
        with self.lock:
            accumulate(self.variable, gradient, owned)
        return 0


cdef int accumulate(Tensor leaf, Tensor gradient, bint owned) except -1:
    """Add `gradient` to the gradient of a leaf and call the leaf's post-accumulate hooks."""
    cdef AutogradMeta history = history_of(leaf)
    cdef bint recorded = not context_flags() & GRAD_DISABLED
    if history.grad is None:
        if is_dispatched(gradient) and not recorded:
            history.grad = detach_subclass_gradient(leaf, gradient)
        elif owned and fits(leaf, gradient):
            history.grad = gradient
        elif not recorded and is_unshared_view_of_base(gradient) and has_equal_layout(leaf, gradient):
            history.grad = wrap_cpu(gradient.array, gradient.scalar_type)
        else:
            history.grad = copy_gradient(leaf, gradient, recorded)
    elif (
        recorded
        # a sparse gradient cannot be added to in place, because adding a dense gradient gives a dense result
        or history.grad.backend == BACKEND_SPARSE
        or is_dispatched(gradient) and not is_dispatched(history.grad)
    ):
        history.grad = total(history.grad, gradient)
    else:
        operator_function("add_")(history.grad, gradient)
    hooks = history.hooks
    if hooks is not None:
        for hook in list((<Hooks>hooks).accumulated.values()):
            hook(leaf)
    return 0


cdef Tensor detach_subclass_gradient(Tensor leaf, Tensor gradient):
    """Return a detached version of a gradient whose class defines `__torch_dispatch__`.

    If the sizes or strides differ from those of the leaf, the result is a copy with the layout of the leaf.
    """
    cdef Tensor result
    if tuple(gradient.array.shape) == tuple(leaf.array.shape) and gradient.stride() == leaf.stride():
        return detached_from(gradient)
    result = operator_function("new_empty_strided")(
        gradient, list(leaf.array.shape), list(leaf.stride()), dtype=gradient.dtype, layout=gradient.layout, device=gradient.device
    )
    operator_function("copy_")(result, gradient)
    return result


cdef bint fits(Tensor leaf, Tensor gradient) except -1:
    """Return whether a gradient is unshared and has the memory layout of the leaf."""
    if gradient.backend != BACKEND_CPU or Py_REFCNT(<PyObject *>gradient.array) > 1:
        return False
    return cnp.PyArray_BASE(<cnp.ndarray>gradient.array) == NULL and has_equal_layout(leaf, gradient)


cdef bint is_unshared_view_of_base(Tensor gradient) except -1:
    """Return whether a gradient is an unshared view of all elements of its base, such as `(g.t() @
    x).t()`.
    """
    cdef Tensor base_tensor = gradient.base
    cdef PyObject *memory
    if base_tensor is None or gradient.backend != BACKEND_CPU or gradient.history is not None:
        return False
    # The memory is not shared with other objects if there are exactly these references: one to the view (from
    # the caller), one to the view's array, and three to the base (two from the view, one from `base_tensor`).
    if Py_REFCNT(<PyObject *>gradient) > 1 or Py_REFCNT(<PyObject *>gradient.array) > 1 or Py_REFCNT(<PyObject *>base_tensor) > 3:
        return False
    memory = <PyObject *>base_tensor.array
    return (
        cnp.PyArray_BASE(<cnp.ndarray>gradient.array) == memory
        and Py_REFCNT(memory) == 2
        and cnp.PyArray_CHKFLAGS(<cnp.ndarray>base_tensor.array, cnp.NPY_ARRAY_OWNDATA | cnp.NPY_ARRAY_WRITEABLE)
        and cnp.PyArray_SIZE(<cnp.ndarray>gradient.array) == cnp.PyArray_SIZE(<cnp.ndarray>base_tensor.array)
        and gradient.scalar_type == base_tensor.scalar_type
    )


cdef bint has_equal_layout(Tensor leaf, Tensor gradient) except -1:
    """Return whether both tensors are on the CPU, with equal sizes and strides."""
    cdef PyArrayObject *a = <PyArrayObject *>leaf.array
    cdef PyArrayObject *g = <PyArrayObject *>gradient.array
    cdef int i
    if leaf.backend != BACKEND_CPU or gradient.backend != BACKEND_CPU or not same_shape(a, g):
        return False
    for i in range(ndim_of(a)):
        if strides_of(a)[i] != strides_of(g)[i]:
            return False
    return True


cdef Tensor total(Tensor gradient, Tensor other):
    """Return the sum of two gradients. sparse + dense is computed as dense + sparse."""
    if gradient.backend == BACKEND_SPARSE and other.backend != BACKEND_SPARSE:
        return operator_function("add")(other, gradient)
    return operator_function("add")(gradient, other)


cdef Tensor copy_gradient(Tensor leaf, Tensor gradient, bint recorded):
    """Copy a gradient to the memory layout of the leaf."""
    cdef Tensor result
    if recorded or gradient.backend == BACKEND_SPARSE or leaf.backend == BACKEND_SPARSE:
        return operator_function("clone")(gradient)
    result = operator_function("empty_like")(leaf, dtype=gradient.dtype)
    operator_function("copy_")(result, gradient)
    return result


cdef AccumulateGrad accumulator_of(Tensor leaf):
    cdef AutogradMeta history = history_of(leaf)
    cdef AccumulateGrad accumulator
    if history.accumulator != NULL:
        accumulator = <AccumulateGrad>history.accumulator
        if not is_expected(&accumulator.results[0], leaf):
            expect(accumulator, 0, leaf)      # the array of the leaf was replaced (`x.data = ...`) after the node was created
        return accumulator
    accumulator = AccumulateGrad.__new__(AccumulateGrad)
    accumulator.variable = leaf
    make_room(accumulator, 0, 1)
    expect(accumulator, 0, leaf)
    accumulator.sequence = next_sequence()
    accumulator.hooks = history.hooks
    history.accumulator = <PyObject *>accumulator
    return accumulator


cdef bint is_expected(Expected *like, Tensor leaf) except -1:
    """Return whether the dtype, backend and shape of the leaf still match `like`."""
    cdef PyArrayObject *a = <PyArrayObject *>leaf.array
    cdef int i
    if like.scalar_type != leaf.scalar_type or like.backend != leaf.backend or leaf.backend != BACKEND_CPU:
        return False
    if like.ndim != ndim_of(a):
        return False
    for i in range(like.ndim):
        if like.dims[i] != dims_of(a)[i]:
            return False
    return True


seal(AccumulateGrad)
