"""Sparse tensors in the core: the index of their backend, and a check for strided tensors.

Their array is a `ts.backends.sparse.SparseArray`, on the CPU; it has no strides.
"""

from ts._core.tensor.tensor cimport Tensor

cdef enum:
    BACKEND_SPARSE = 3                 # index in `ts.backends._order`


cdef inline int check_strided(Tensor x, str message) except -1:
    """Raise a RuntimeError with the message if the tensor is sparse."""
    if x.backend == BACKEND_SPARSE:
        raise RuntimeError(message)
    return 0
