"""Elements that indices name: a walk over indices of any layout, which reads or writes what each of them says.

    out[j] = x[i, index[j]]       x[index[i, j], j] += y[i, j]       x[index] = 0

An index is read once, tested, and used: a thread that writes to the indices meanwhile leads to another element of the same
array, or ends the walk.
"""

from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS

cdef extern from "simd.h" nogil:
    int64_t once_wide(const int64_t *x)
    int64_t once_narrow(const int32_t *x)


cdef inline int64_t place_at(const char *index, bint narrow, npy_intp i, npy_intp wrap) noexcept nogil:
    """The place that index `i` means, where `wrap` is added to negative ones."""
    cdef int64_t j = once_narrow(<const int32_t *>index + i) if narrow else once_wide(<const int64_t *>index + i)
    return j + (wrap & (j >> 63))


cdef enum Way:                         # what is done at each place
    TEST                               # nothing: whether all of them are there
    TAKE                               # other = array
    PUT                                # array = other
    ADD                                # array += other, and so on
    MULTIPLY
    LARGEST
    LEAST


ctypedef struct Walk:
    int nd
    npy_intp dims[MOST_DIMS]           # of the indices
    npy_intp array[MOST_DIMS]          # steps in bytes, beside that by index
    npy_intp index[MOST_DIMS]
    npy_intp other[MOST_DIMS]
    npy_intp step                      # from one place in the array to the next
    npy_intp n                         # how many places there are
    npy_intp width                     # of an element, in bytes: 1, 2, 4 or 8
    bint narrow                        # indices are of 32 bits


cdef inline void begin_walk(Walk *walk, npy_intp width, npy_intp step, npy_intp n, bint narrow) noexcept nogil:
    walk.nd, walk.width, walk.step, walk.n, walk.narrow = 0, width, step, n, narrow


cdef inline void add_dim(Walk *walk, npy_intp n, npy_intp array, npy_intp index, npy_intp other) noexcept nogil:
    """A dimension inside of those that the walk has."""
    if n != 1:
        walk.dims[walk.nd], walk.array[walk.nd], walk.index[walk.nd], walk.other[walk.nd] = n, array, index, other
        walk.nd += 1


# Whether all indices were in [0, n); where one is not, the walk has ended before it.  `kind` is the ScalarType of the elements;
# there is no arithmetic but for those that `counts`.
cdef bint walk_places(Walk *walk, Way way, int kind, char *array, const char *index, char *other) noexcept nogil
# Whether elements of a ScalarType are added and compared.
cdef bint counts(int kind) noexcept nogil
# The indices of a tensor on the CPU, of any layout; NULL for anything else.
cdef PyArrayObject *indices_at(IValue *x) noexcept
# For the first dimensions, of these lengths, an index each: the places that they name together, counted through those
# dimensions, in an array of the shape that they are together.  None where one is not there, or they do not fit.
cdef object places_together(List indices, npy_intp *lengths)
