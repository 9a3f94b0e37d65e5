"""Operands that broadcast, have gaps, or lie in another order than they are written down: how a loop walks over them.

    broadcast_into(shape, ndim, a)             the shape of what a and others give
    lay_out(&operands[0], a, ndim, shape)      the strides of a over that shape
    new_result(operands, 2, ndim, shape, kind) the array of the result, which is operands[2]
    walk(loop, data, operands, 3, ndim, shape)

A result without gaps has the first operand's order of dimensions, then the next one's, as `ts._core.tensor.strides.of_result`
says it.
"""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS

# NumPy's signature of inner loops: operands, count, steps in bytes, the loop's own data.
ctypedef void (*Loop)(char **args, const npy_intp *count, const npy_intp *steps, void *data) noexcept nogil

# The same over two dimensions: operands, two lengths, steps of the outer and of the inner one; false where it does not know such steps.
ctypedef bint (*Plane)(char **args, const npy_intp *lengths, const npy_intp *outer, const npy_intp *inner) noexcept nogil

cdef enum:
    MOST_OPERANDS = 4


ctypedef struct Operand:
    PyArrayObject *array               # NULL where it is a number
    char *data
    npy_intp strides[MOST_DIMS]


# Widen `shape` by `a`'s; false where they do not fit (the general way raises).
cdef bint broadcast_into(npy_intp *shape, int ndim, PyArrayObject *a) noexcept nogil
# The operand's strides over the broadcast shape: 0 where it repeats.
cdef void lay_out(Operand *operand, PyArrayObject *a, int ndim, npy_intp *shape) noexcept nogil
# A number, for all elements.
cdef void lay_out_number(Operand *operand, char *number, int ndim) noexcept nogil
# Dimensions of `shape`, and of the strides over it, from the outermost in memory to the innermost; true where that changes them.
cdef bint bring_in_order(Operand *operands, int count, int ndim, npy_intp *shape, int *order) noexcept nogil
# An array of the ScalarType for the result, which becomes operands[count]; shape and strides are brought in its order.
cdef object new_result(Operand *operands, int count, int ndim, npy_intp *shape, int kind)
# Run over an n-dimensional index space: the loop takes the innermost dimension, an odometer the rest.  Where there is a `plane`,
# and it knows the steps, it takes the two innermost ones.
# There are two operands at least, and the last is the result, or one of them.  The first two are held while the GIL is away:
# who has more holds them.
#
# A loop of one operand is given results without gaps: of NumPy 2.4's, `negative` and `isfinite` read the wrong elements where
# the result has some.
cdef int walk(Loop function, void *data, Operand *operands, int count, int ndim, npy_intp *shape, Plane plane=*) except -1
# A copy of the elements in the order in which they are written down.
cdef object in_order(PyArrayObject *a)
