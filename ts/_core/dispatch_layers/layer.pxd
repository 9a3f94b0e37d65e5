"""Layers: wrapped tensors of function transforms (batches of `vmap`, duals of `jvp`, fake tensors).

    Tensor -> history -> layer -> inner: the wrapped tensor
              array: has the shape of one batch element, or of the primal

The arrays of tensors inside of function transforms have no elements (`hides_elements`), as in PyTorch: operators run on
`inner`, and direct access to memory raises an error.

Layers have levels.  An operator is run by the highest level among its arguments, which runs operators on the inner tensors.
"""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    cdef readonly int level            # level number, from 1
    cdef readonly Tensor inner
    cdef public str implementation     # PyTorch's name of the implementation, for errors
    cdef public bint hides_elements    # the tensor's own array has no elements; they are in `inner`
    cdef public bint dispatches        # operators on the tensor call `__torch_dispatch__` of its class
