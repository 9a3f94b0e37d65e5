"""Factors that do not change from one product to the next, packed once: `packs.pyx` says how that is known."""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.matrix cimport Matrix

# The panels, of `wide` columns, of a tensor's matrix of floats or doubles: those that are kept, or new ones if it was seen before and nobody can
# have written to it; None otherwise.  To be asked before anything else holds the tensor's array for a moment.
cdef Packed kept_panels(Tensor t, bint double_, Matrix *b, int64_t wide)
