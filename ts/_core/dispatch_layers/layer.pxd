"""Layers: wrapped tensors of function transforms (batches of `vmap`, duals of `jvp`, fake tensors).

    Tensor -> history -> layer -> inner: the tensor below
              array: the shape of one element of a batch, or of the tensor without its tangent

The arrays of tensors inside of function transforms have no elements (`hides_elements`), as in PyTorch: operators run on
`inner`, and direct access to memory raises an error.

Layers have levels.  An operator works on those of the highest level that it meets, and goes on with the tensors below.
"""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    cdef readonly int level            # from 1
    cdef readonly Tensor inner
    cdef public str implementation     # PyTorch's name of the implementation, for errors
    cdef public bint hides_elements    # whether the array of the tensor has no elements (those are in `inner`)
    cdef public bint dispatches        # whether operators on the tensor call `__torch_dispatch__` of its class
