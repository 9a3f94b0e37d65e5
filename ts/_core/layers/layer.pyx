"""Layers; `ts._core.layers.batch` and `.dual` have those that there are."""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    """What a tensor stands for beside its array, at a level."""

    def __init__(self, int level, Tensor inner not None):
        if self.inner is not None:
            raise TypeError("a layer is made once")
        self.level, self.inner = level, inner

    def check_elements(self):
        """Raise where the elements of the array are not those of the tensor."""

    @property
    def device(self):
        """The device that the tensor shows."""
        return self.inner.device

    def element(self, Tensor x):
        """The only element of a tensor whose array has none."""
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
