"""Base class of layers. Its subclasses are in `batched_tensor`, `dual_tensor` and `tensor_subclasses`."""

from ts._core.tensor.tensor cimport Tensor

from ts.dtypes import strided


cdef class Layer:
    """State that a function transform adds to a tensor at one level."""

    def __init__(self, int level, Tensor inner not None):
        if self.inner is not None:
            raise TypeError("a layer cannot be initialized twice")
        self.level, self.inner, self.implementation = level, inner, "TensorWrapper"

    def check_elements(self):
        """Raise RuntimeError if the elements of the tensor cannot be read as numbers."""

    def check_copy_to_host(self):
        """Raise RuntimeError if the elements of the tensor cannot be read as an array or a list."""

    def check_detach_in_place(self):
        """Raise RuntimeError if the tensor is a view that cannot be detached in place."""

    def check_condition(self):
        """Raise RuntimeError if control flow must not depend on an element of the tensor."""

    def check_open(self):
        """Raise RuntimeError if the tensor's level is closed."""

    def check_memory(self):
        """Raise RuntimeError if the tensor has no address of its elements."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def check_data(self):
        """Raise RuntimeError if the tensor has no attribute `data`."""

    def data(self, x):
        """Return the value of `x.data` for the tensor `x` with this layer, or None for `x` without history."""

    @property
    def layout(self):
        """Return the layout that the tensor reports."""
        return strided

    @property
    def device(self):
        """Return the device that the tensor reports."""
        return self.inner.device

    def element(self, Tensor x):
        """Return the only element of `x` as a Python number.

        Raise RuntimeError if the subclass does not override this method.
        """
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
