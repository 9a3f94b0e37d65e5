"""Sparse tensors in the core: the number of their backend, and a check for strided tensors.

The array of a sparse tensor is a `ts.backends.sparse.SparseArray` on the CPU, which has no strides.
"""

from ts._core.tensor.tensor cimport Tensor

cdef enum:
    BACKEND_SPARSE = 3                 # number of the backend "sparse" (its index in `ts.backends._order`)


cdef inline int check_strided(Tensor x, str message) except -1:
    """Raise RuntimeError with the given message if the tensor is sparse."""
    if x.backend == BACKEND_SPARSE:
        raise RuntimeError(message)
    return 0
