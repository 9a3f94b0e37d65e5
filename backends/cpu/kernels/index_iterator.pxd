"""Iteration over index tensors with bounds checking, which reads each index once (no double fetch).

Each index is read from memory once, then checked and used. Therefore, a concurrent write to the indices
cannot cause an access outside of the array. Indices may have any strides. Examples of operations that use the
iteration:

    out[j] = x[i, index[j]]       x[index[i, j], j] += y[i, j]       x[index] = 0
"""

from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

cdef extern from "simd.h" nogil:
    int64_t once_wide(const int64_t *x)
    int64_t once_narrow(const int32_t *x)


cdef inline int64_t wrap_index(const char *index, bint narrow, npy_intp i, npy_intp wrap) noexcept nogil:
    """Return index number `i` of the index tensor.

    If the index is negative, add `wrap` (the dimension's length, or 0).
    """
    cdef int64_t j = once_narrow(<const int32_t *>index + i) if narrow else once_wide(<const int64_t *>index + i)
    return j + (wrap & (j >> 63))


cdef enum IndexOp:                         # the operation at each index
    TEST                               # only check that the indices are valid
    TAKE                               # other = array
    PUT                                # array = other
    ADD  # array += other. The operations below update `array` in the same way.
    MULTIPLY
    MAXIMUM
    MINIMUM


ctypedef struct IndexIterator:
    int nd
    npy_intp dims[MAX_DIMS]            # shape of the index tensor
    # Byte strides of `array` along the dimensions of the index tensor. In the indexed dimension, this stride
    # is 0, because the index selects the position there (see `stride`).
    npy_intp array[MAX_DIMS]
    npy_intp index[MAX_DIMS]
    npy_intp other[MAX_DIMS]
    npy_intp stride                      # byte stride of the indexed dimension
    npy_intp n                         # length of the indexed dimension
    npy_intp width                     # size of an element in bytes: 1, 2, 4 or 8
    bint narrow                        # True for int32 indices, False for int64


cdef inline void begin_iteration(IndexIterator *walk, npy_intp width, npy_intp stride, npy_intp n, bint narrow) noexcept nogil:
    walk.nd, walk.width, walk.stride, walk.n, walk.narrow = 0, width, stride, n, narrow


cdef inline void add_dimension(IndexIterator *walk, npy_intp n, npy_intp array, npy_intp index, npy_intp other) noexcept nogil:
    """Append a dimension as the new innermost dimension. The last three arguments are byte strides."""
    if n != 1:
        walk.dims[walk.nd], walk.array[walk.nd], walk.index[walk.nd], walk.other[walk.nd] = n, array, index, other
        walk.nd += 1


# Run the operation for all indices, in order. Stop and return False at the first index outside of [0, n). The
# operation has then run for the indices before it. `kind` is the ScalarType of the elements. ADD, MULTIPLY,
# MAXIMUM and MINIMUM require `supports_arithmetic(kind)`.
cdef bint iterate_indices(IndexIterator *walk, IndexOp index_op, int kind, char *array, const char *index, char *other) noexcept nogil
# Return whether ADD, MULTIPLY, MAXIMUM and MINIMUM support a ScalarType.
cdef bint supports_arithmetic(int kind) noexcept nogil
# Return the array of an aligned int32 or int64 CPU tensor, with any strides, or NULL for other values.
cdef PyArrayObject *read_indices(IValue *x) noexcept
# Return the sums of steps[k] * (index k) for x[i, j, ...], with the broadcast shape of the index tensors. The list has
# the index tensors from position `first` on, one for each of the leading dimensions of `nd` dimensions, or one mask of
# some leading dimensions. `lengths` are the sizes of the dimensions. `covered` becomes the number of indexed
# dimensions. Return None for other indices, if an index is out of range or if the shapes do not broadcast. The result
# is a new array, so other threads cannot change it after the check.
cdef object index_offsets(List indices, int first, int nd, const npy_intp *lengths, const npy_intp *steps, int *covered)
