"""Metadata of tensors: device and layout, autograd attributes, views with version counters, and dispatch layers.

Python programs use the metadata as attributes. Python modules of `ts` also read and set C fields by
functions. Examples of both:

    x.device, x.grad, x.requires_grad        attributes, added to the type by `add_members`
    written(x)                               increments the version counter of the memory of `x`
    layer_of(x)                              the dispatch layer of `x`, or None
"""

import warnings

cimport numpy as cnp
from libc.stdint cimport int64_t
from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport (
    AutogradMeta,
    BACKEND_CPU,
    BACKEND_CUDA,
    BACKEND_META,
    BACKEND_SPARSE,
    Tensor,
    alias_detached,
    backend_registry,
    calls_handler,
    counter_apart,
    counter_of,
    follow,
    hides_elements,
    history_of,
    is_dispatched,
    is_layered,
    let_go,
    needs_grad,
    rebind,
    shape_of,
    version_of,
    view_on,
    wrote,
)
from ts._core.tensor.tensor_type cimport add_members
from ts._core.thread.context cimport (
    GRADIENTS_REQUIRED, INFERENCE, attention, context_flags, current_transform, set_gradients_required
)

from ts import devices, dtypes
from ts._core.late_binding import resolve

cnp.import_array()


# ---------------------------------------------------------------- device and layout

cdef class DeviceAttributes(Tensor):
    """Attributes of Tensor that depend on its backend: device, layout and element sizes."""

    @property
    def device(self):
        if self.backend == BACKEND_CPU or self.backend == BACKEND_SPARSE:
            return devices.CPU
        if self.backend == BACKEND_META and is_layered(self):
            return self.history.layer.device
        backend = backend_registry().at(self.backend)
        return devices.device(backend.name, self.device_index if backend.numbered else None)

    @property
    def layout(self):
        if self.backend == BACKEND_META and is_layered(self):
            return self.history.layer.layout
        return self.array.layout if self.backend == BACKEND_SPARSE else dtypes.strided

    @property
    def is_sparse(self):
        """True if the layout is COO (`torch.sparse_coo`)."""
        return self.backend == BACKEND_SPARSE and self.array.layout is dtypes.sparse_coo

    @property
    def is_sparse_csr(self):
        """True if the layout is CSR (`torch.sparse_csr`)."""
        return self.backend == BACKEND_SPARSE and self.array.layout is dtypes.sparse_csr

    @property
    def itemsize(self):
        return self.array.dtype.itemsize

    @property
    def nbytes(self):
        return self.array.nbytes

    @property
    def is_cuda(self):
        return self.backend == BACKEND_CUDA or self.backend == BACKEND_META and self.device.type == "cuda"

    @property
    def is_cpu(self):
        return (
            self.backend == BACKEND_CPU
            or self.backend == BACKEND_SPARSE
            or self.backend == BACKEND_META and self.device.type == "cpu"
        )

    @property
    def is_meta(self):
        if self.backend != BACKEND_META:
            return False
        if is_dispatched(self):
            return self.history.layer.device.type == "meta"
        return self.history.layer.inner.is_meta if hides_elements(self) else True


# ---------------------------------------------------------------- autograd

cdef class AutogradAttributes(Tensor):
    """Attributes of Tensor that depend on its autograd metadata."""

    @property
    def is_leaf(self):
        """True if no recorded operator computed the tensor."""
        return not needs_grad(self) or node_behind(self) is None

    @property
    def grad_fn(self):
        """Backward node that computed the tensor, or None for a leaf."""
        return node_behind(self) if needs_grad(self) else None

    @property
    def grad(self):
        """Gradient that backward has accumulated in a leaf, or in a tensor with `retain_grad()`.

        It is None before.
        """
        cdef AutogradMeta history = self.history
        if history is None or history.grad is None:
            if needs_grad(self) and has_node(self) and not retains(self):
                warnings.warn(
                    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
                    "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
                    "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                    "mistake, make sure you access the leaf Tensor instead.",
                    stacklevel=2,
                )
            return None
        return history.grad

    @grad.setter
    def grad(self, value):
        if value is None:
            if self.history is not None:
                self.history.grad = None
            return
        check_gradient(self, value)
        history_of(self).grad = value

    @grad.deleter
    def grad(self):
        self.grad = None

    @property
    def _base(self):
        """Base tensor of a view, or None."""
        return self.base

    def _is_view(self):
        return self.base is not None

    @property
    def requires_grad(self):
        return bool(needs_grad(self))

    @requires_grad.setter
    def requires_grad(self, bint value):
        self._marked(bool(value))

    def _marked(self, requires_grad):
        """Set `requires_grad` on the tensor, even inside of function transforms."""
        if requires_grad is not True and requires_grad is not False:
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                f"not {type(requires_grad).__name__}"
            )
        if requires_grad and not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if needs_grad(self) and has_node(self):
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                    "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad and self.of_inference and not context_flags() & INFERENCE:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if requires_grad and not attention & GRADIENTS_REQUIRED:
            resolve("tape")  # The import registers the function that records operators for autograd.
            set_gradients_required()
        self.requires_grad_flag = requires_grad
        return self

    @property
    def data(self):
        if calls_handler(self):
            result = self.history.layer.detach(self)
            (<Tensor>result).owner = None  # Unlike `detach`, `data` has its own version counter.
            (<Tensor>result).version = 0
            return result
        if is_layered(self) and not needs_grad(self):
            self.history.layer.check_data()
        if let_go != NULL:
            let_go(<PyObject *>self.array, False)
        if is_layered(self) and (result := self.history.layer.data(self)) is not None:
            return result
        return detached_from(self) if is_layered(self) else alias_detached(self)

    @data.setter
    def data(self, Tensor other not None):
        for x in (self, other):
            if hides_elements(x):
                where = "under vmap" if implementation_of(x) == "BatchedTensorImpl" else "inside functorch"
                raise RuntimeError(f"mutating directly with `.data` {where} transform is not allowed.")
        if is_dispatched(other) and not is_dispatched(self):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
            )
        if needs_grad(self) and not (other.dtype.is_floating_point or other.dtype.is_complex):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        fake = other.backend == BACKEND_META and is_layered(other) and other.history.layer.level == 0
        if fake and self.backend != BACKEND_META:
            raise RuntimeError("a tensor with elements cannot become a tensor without elements")
        rebind(self, other.array)
        if fake:
            # `other` is a fake tensor. Its layer makes this tensor a fake tensor, too.
            history_of(self).layer = other.history.layer
        elif is_dispatched(self):
            resolve("tensor_subclasses").replace_data(self, other)


cdef object node_behind(Tensor x):
    """Return the backward node of `x`, or None without autograd history."""
    if x.base is not None and x.version != version_of(x):
        return node_of_view(x)
    return None if x.history is None else x.history.node


cdef inline bint has_node(Tensor x) noexcept:
    """Return whether `x` has a backward node, which may be invalid after a write to the base of `x`."""
    return x.history is not None and x.history.node is not None


cdef NodeOf node_of_view = NULL


cdef int set_node_of_view(NodeOf function) except -1:
    global node_of_view
    node_of_view = function
    return 0


cdef bint retains(Tensor x) except -1:
    return x.history is not None and x.history.retained


cdef int check_gradient(Tensor x, object value) except -1:
    """Raise an error if `value` is not a valid gradient of `x`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value)}")
    if value is x:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not x.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{value.dtype.type_name.lower()}' to a tensor with dtype "
            f"'{x.dtype.type_name.lower()}'. Please ensure that the gradient and the tensor have the same dtype"
        )
    if (<Tensor>value).backend != x.backend and value.device != x.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "
            f"'{x.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if shape_of(value) != shape_of(x):
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(shape_of(value))}' to a tensor of size '{list(shape_of(x))}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
    return 0


# ---------------------------------------------------------------- views and version counters

def view_of(Tensor x not None, array):
    """Wrap `array`, a view of the memory of `x`, in a tensor that shares the version counter of `x`."""
    return view_on(x, array)


def follow_view(Tensor view not None, Tensor x not None):
    """Make `view` a view of `x` for autograd: it gets the base and the version counter of `x`."""
    follow(view, x)


cdef Tensor count_together(Tensor t, Tensor x):
    """Make the new tensor `t`, which is not a view, share the version counter of `x`."""
    cdef Tensor counter = <Tensor>counter_of(<PyObject *>x)
    if is_layered(t):                  # The class of `t` defines `__torch_dispatch__`: keep its flags and layer.
        follow(t, x)
        if counter.requires_grad_flag or counter.history is not None:
            t.owner = counter_apart(x)
        t.base = None
        return t
    follow(t, x)
    if counter.requires_grad_flag or counter.history is not None:
        t.owner = counter_apart(x)
    t.base, t.requires_grad_flag = None, False
    if is_layered(x) and not is_dispatched(x):
        history_of(t).layer = x.history.layer
    return t


cdef Tensor detached_from(Tensor x):
    return count_together(x.history.layer.detach(x) if calls_handler(x) else alias_detached(x), x)


def detached(Tensor x not None):
    """Return a tensor that shares the memory and the version counter of `x` and does not require grad."""
    return detached_from(x)


def detached_array(Tensor x not None):
    """Return a tensor of class Tensor without autograd history that shares the array of `x`.

    `x` may have any class derived from Tensor.
    """
    return count_together(alias_detached(x), x)


def sunk(Tensor x not None, Tensor base):
    """Move the autograd history and the layer of `x` to a new tensor, and return the new tensor.

    The new tensor shares the memory of `x` and has the base `base`.
    """
    cdef Tensor t = alias_detached(x)
    follow(t, x)
    t.base, t.requires_grad_flag, t.history = base, x.requires_grad_flag, x.history
    x.requires_grad_flag, x.history = False, None
    if x.base is not None:
        x.version = -1                 # an invalid version, so that the next access creates a node for the view
    return t


def creation_context_of(Tensor x not None):
    """Return the number of the transform in whose function `x` was created, and whether `x` is an inference tensor."""
    return x.transform, x.of_inference


def set_creation_context(Tensor x not None, int64_t transform, bint of_inference):
    """Set the values that `creation_context_of` returns."""
    x.transform, x.of_inference = transform, of_inference


def mark_created(Tensor x not None):
    """Mark `x` as created in the innermost `grad`, `vjp` or `jvp` of this thread, and return `x`.

    Then in-place operators accept `x`. It is no inference tensor, unless inference mode is enabled.
    """
    x.transform = current_transform()
    x.of_inference = context_flags() & INFERENCE != 0
    return x


def share_version(Tensor t not None, Tensor x not None):
    """Make the new layered tensor `t` share the version counter of `x`.

    Do nothing if `t` already shares a version counter, or if `t` has a backward node.
    """
    if t.owner is None and t.history is not None and t.history.node is None:
        count_together(t, x)


def written(Tensor x not None):
    """Increment the version counter of the memory of `x`."""
    wrote(x)


def version(Tensor x not None):
    """Return the version counter of `x`: the number of writes to the memory of `x`.

    Raise RuntimeError for inference tensors.
    """
    if x.of_inference:
        raise RuntimeError("Inference tensors do not track version counter.")
    return version_of(x)


def is_inference(Tensor x not None):
    """Return whether a tensor, or the base of a view, was created in inference mode."""
    return bool(x.of_inference)


cdef object root_of(object array):
    cdef PyObject *base
    while isinstance(array, cnp.ndarray):
        base = cnp.PyArray_BASE(array)
        if base == NULL:
            return array
        if not isinstance(<object>base, cnp.ndarray):
            # The base may be the intermediate object that NumPy's `as_strided` creates between a view and the
            # array with the memory.
            inner = getattr(<object>base, "base", None)
            if not isinstance(inner, cnp.ndarray):
                return array
            array = inner
        else:
            array = <object>base
    base_array = getattr(array, "base", None)
    return array if base_array is None else base_array


cdef object memory_of(Tensor t):
    while hides_elements(t):
        t = t.history.layer.inner
    return root_of(t.array)


def report_untracked_write(array):
    """Call the function registered by `watch_memory` after a write that increments no version counter."""
    if let_go != NULL:
        let_go(<PyObject *>array, False)


def share_memory(Tensor x not None, Tensor y not None):
    """Return whether the memory of two tensors belongs to one array."""
    return memory_of(x) is memory_of(y)


# ---------------------------------------------------------------- dispatch layers

def layer_of(Tensor x not None):
    """Return the dispatch layer (`ts._core.dispatch_layers.layer.Layer`) of a tensor, or None without one."""
    return None if x.history is None else x.history.layer


def set_layer(Tensor x not None, layer):
    """Set the dispatch layer of a tensor."""
    history_of(x).layer = layer


def has_hidden_elements(Tensor x not None):
    """Return whether the array of `x` has no elements, because they are in the inner tensor of its layer."""
    return bool(hides_elements(x))


cdef object meta_array = None          # array class of the meta backend


cdef object array_without_elements(Tensor x, bint of_batch):
    """Return a meta array with the shape, dtype and strides of `x`.

    If `of_batch`, the array lacks the first dimension of `x`.
    """
    global meta_array
    cdef Py_ssize_t itemsize = x.array.dtype.itemsize
    if meta_array is None:
        meta_array = backend_registry().get("meta").array_type
    shape, steps = x.array.shape, [step * itemsize for step in x.stride()]
    if x.backend == BACKEND_META:
        offset = x.array.offset
    elif x.backend == BACKEND_CPU:
        owner = root_of(x.array)
        offset = 0
        if isinstance(owner, cnp.ndarray):
            offset = (<size_t>cnp.PyArray_DATA(x.array) - <size_t>cnp.PyArray_DATA(owner)) // itemsize
    else:
        offset = x.storage_offset()
    return meta_array(shape[1:], x.array.dtype, steps[1:], offset) if of_batch else meta_array(shape, x.array.dtype, steps, offset)


def hide_elements(Tensor x not None, Tensor inner not None, bint of_batch):
    """Replace the array of `x` by a meta array with the shape of `inner`.

    If `of_batch`, the array lacks the first dimension of `inner`.
    """
    array = array_without_elements(inner, of_batch)
    before = x.array  # Keep the old array until all fields of `x` are set, because its release may let other threads run.
    x.array, x.scalar_type, x.backend, x.device_index = array, inner.scalar_type, BACKEND_META, inner.device_index


cdef str implementation_of(Tensor x):
    """Return PyTorch's name of the implementation of `x`, a tensor of a function transform, such as "TensorWrapper"."""
    return "TensorWrapper" if needs_grad(x) else x.history.layer.implementation


def check_storage(Tensor x not None):
    """Raise NotImplementedError if `x` is a tensor of a function transform, because such a tensor has no storage."""
    if hides_elements(x):
        raise NotImplementedError(f"Cannot access storage of {implementation_of(x)}")


def tensor_with_memory(Tensor x not None):
    """Return the innermost tensor, which has storage, if function transforms have wrapped `x`, else `x`.

    Raise RuntimeError if a transform is active and forbids access to the memory.
    """
    while hides_elements(x):
        x.history.layer.check_memory()
        x = x.history.layer.inner
    return x



add_members(DeviceAttributes)
add_members(AutogradAttributes)
