"""Layers: wrapped tensors of function transforms (batches of `vmap`, duals of `jvp`, fake tensors).

    Tensor -> history -> layer -> inner: the wrapped tensor
              array: has the shape of one batch element, or of the primal

Inside of function transforms, the array of a tensor has no elements (`hides_elements`), as in PyTorch.
Operators run on `inner`, and direct access to memory raises an error.

Each layer has a level. If the arguments of an operator have layers, the transform with the highest of their
levels executes the operator, by running operators on the inner tensors.
"""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    cdef readonly int level            # level number, at least 1
    cdef readonly Tensor inner
    cdef public str implementation     # PyTorch's name of the tensor implementation, for error messages
    cdef public bint hides_elements    # True if the elements are in `inner` and the tensor's array has none
    cdef public bint dispatches  # True if operators on the tensor call `__torch_dispatch__` of its class
