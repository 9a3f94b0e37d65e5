"""Iteration of inner loops over strided and broadcast operands, with dimension coalescing.

An operation makes these calls in order:

    broadcast_into(shape, ndim, a)                       add `a` to the common shape of all operands
    set_operand_strides(&operands[0], a, ndim, shape)    set the strides of `a` for that shape
    new_result(operands, 2, ndim, shape, kind)           create the result, which is operands[2]
    iterate_operands(loop, data, operands, 3, ndim, shape)

A result is dense and has the dimension order of the first operand (`ts._core.tensor.strides.of_result`).
"""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

# Inner loop with NumPy's signature. Arguments: addresses of the operands, number of elements, byte strides,
# data of the loop.
ctypedef void (*Loop)(char **args, const npy_intp *count, const npy_intp *steps, void *data) noexcept nogil

# Loop over two dimensions. Arguments: addresses of the operands, lengths of both dimensions, byte strides of
# the outer and of the inner dimension. Returns False if the strides are unsupported.
ctypedef bint (*Plane)(char **args, const npy_intp *lengths, const npy_intp *outer, const npy_intp *inner) noexcept nogil

cdef enum:
    MAX_OPERANDS = 4


ctypedef struct Operand:
    PyArrayObject *array               # NULL for a scalar
    char *data
    npy_intp strides[MAX_DIMS]


# Set `shape` to the broadcast shape of `shape` and the shape of `a`. Return False if the shapes do not
# broadcast. The caller then runs the operator's Python kernel, which raises the error.
cdef bint broadcast_into(npy_intp *shape, int ndim, PyArrayObject *a) noexcept nogil
# Set the array of an operand and its strides for the broadcast shape. Along dimensions in which the array is
# repeated, the stride is 0.
cdef void set_operand_strides(Operand *operand, PyArrayObject *a, int ndim, npy_intp *shape) noexcept nogil
# Set up a scalar operand. All its strides are 0.
cdef void set_scalar_operand(Operand *operand, char *scalar_bytes, int ndim) noexcept nogil
# Sort the dimensions of `shape` and of the operands' strides from outermost to innermost in memory. Return
# whether this changed the order.
cdef bint sort_dims_by_stride(Operand *operands, int count, int ndim, npy_intp *shape, int *order) noexcept nogil
# Allocate the result and store it in operands[count]. The result has the dimension order of the operands in memory.
# `shape` and the strides of all operands are sorted by this order.
cdef object new_result(Operand *operands, int count, int ndim, npy_intp *shape, int kind)
# Call an inner loop on `n` elements of `operand_count` operands, without access to Python objects. `cost` is the
# time per element in units of 0.5 ns, from which the number of threads follows. If it is 0, the loop runs on this
# thread.
cdef void run_loop(Loop function, void *data, char **args, int operand_count, npy_intp n, const npy_intp *strides, double cost) noexcept nogil
# Run an inner loop on `count` >= 2 operands with `ndim` dimensions. Each call of `function` iterates over the
# innermost dimension. If `plane` is given and supports the strides, each call of `plane` iterates over the
# two innermost dimensions instead. The last operand is the result, and may be the same array as the first.
# The result of a unary loop must be contiguous, because `negative` and `isfinite` of NumPy 2.4 compute wrong
# elements for strided results. `iterate_operands` may release the GIL. It holds references to the arrays of
# the first two operands, and the caller must hold references to the others. `cost` has the meaning of `run_loop`'s.
# It must be 0 for loops that may raise a Python exception.
cdef int iterate_operands(
    Loop function, void *data, Operand *operands, int count, int ndim, npy_intp *shape, Plane plane=*, double cost=*
) except -1
# Return a C-contiguous copy of the array.
cdef object contiguous_copy(PyArrayObject *a)
