"""Layers: what a tensor stands for, where that is more than its array shows.

    Tensor -> history -> layer -> inner: the tensor below
              array: what one element of a batch, or the tensor without its tangent, looks like

Layers have levels.  An operator works on those of the highest level that it meets, and goes on with the tensors below.
"""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    cdef readonly int level            # from 1
    cdef readonly Tensor inner
