"""Layers: wrapped tensors of function transforms (batches of `vmap`, duals of `jvp`, fake tensors).

A tensor refers to its layer through its autograd history. The layer refers to the wrapped tensor (`inner`).
In function transforms, the outer tensor has the shape of one example or of the primal, but no elements
(`hides_elements`). Operators run on `inner`, and direct access to the outer tensor's memory raises an error.

Each layer has a level. If several arguments of an operator have layers, the transform with the highest level
executes the operator. It runs on the inner tensors.
"""

from ts._core.tensor.tensor cimport Tensor


cdef class Layer:
    cdef readonly int level            # level number, at least 1
    cdef readonly Tensor inner
    cdef public str implementation     # PyTorch's name of the tensor implementation, for error messages
    cdef public bint hides_elements    # True if the elements are in `inner` and the tensor's array has none
    cdef public bint dispatches  # True if operators on the tensor call `__torch_dispatch__` of its class
