"""Cache (set-associative hash table with Fibonacci hashing) of packed operands of products and convolutions.

`packed_operand_cache.pyx` describes the invalidation.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Matrix


# Pack the operand of a new cache entry. Return None if memory allocation fails.
ctypedef Packed (*PackFunction)(const void *context, CacheEntry entry)

cdef class CacheEntry:
    cdef Matrix matrix
    cdef bint double_
    cdef int64_t packing_key           # number of columns of a panel, or the hash of `layout`
    cdef bytes layout                  # packed layout of the weight of a convolution or of bfloat16 columns, or None for a float matrix
    cdef PyObject *root  # array that owns the memory of the operand: a borrowed reference, valid until the callback of `watch`
    cdef PyObject *owner
    cdef int version
    cdef int uses
    cdef int uses_before_packing       # number of uses, including the use that packs the operand
    cdef int64_t used                  # value of `lookup_count` at the last use of this entry
    cdef int64_t hits
    cdef Packed packed
    cdef object watch  # weak reference to the array `root`. Its callback drops the panels when the array is deallocated.

    cdef bint is_evicted_before(self, CacheEntry other) noexcept
    cdef bint matches(self, PyObject *root, Tensor owner, bint double_, Matrix *b, int64_t packing_key, bytes layout)


# Return panels of `panel_columns` columns for `b`, a floating matrix in the memory of tensor `t`, or None if `b`
# is not packed. Each call counts as a use of the matrix. The matrix is packed from its second use on. It is not
# packed if it was written to since the previous use, or if the caller holds another reference to the tensor's
# array.
cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t panel_columns)
# Return an operand that `pack` packs, as `cached_panels` does for a float matrix. `b` describes the operand. For the
# weight of a convolution, `b` has the address and the number of elements of the weight of `t`, which is contiguous.
# Operands with equal `layout` are packed equally.
# `caller_references` is the number of references to the tensor's array that the operator holds.
cdef Packed cached_in_layout(
    Tensor t, bint double_, Matrix *b, bytes layout, PackFunction pack, const void *context,
    Py_ssize_t caller_references
)
