"""Pointwise operators on CPU tensors, by direct calls of the inner loops of NumPy's ufuncs.

The functions support operands of one dtype. They also support a tensor with a number of a lower category,
such as an int for a float tensor. They return a new reference to a Tensor. For unsupported operands, they
return NULL without an exception, and the caller runs the operator's Python kernel.
"""

cimport cython
from cpython.ref cimport PyObject

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, FLOAT, HALF, INT8, INT16, INT32, UINT8
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, Widened
from ts.backends.cpu.kernels.tensor_iterator cimport Loop, Plane

cdef enum:
    SCALAR_TYPES = 16                  # number of ScalarType values: bool, integers, floats, complex


cdef int scalar_type_of_character(str character) except -2  # NumPy type character -> ScalarType


@cython.final
cdef class Loops:
    cdef Loop function[SCALAR_TYPES]
    cdef void *data[SCALAR_TYPES]
    cdef Plane plane[SCALAR_TYPES]  # ScalarType -> loop over two dimensions (for binary arithmetic on floats), or NULL
    cdef int result_type[SCALAR_TYPES]
    cdef int arity
    cdef double cost                   # time per element in units of 0.5 ns, from which the number of threads follows
    cdef bint raises_for_integers      # True if a loop for integers may raise a Python exception
    cdef Widened half_data[2]  # `data` arguments of the loops for float16 and bfloat16, set by `add_half_loops`
    cdef bint mixes_complex            # True if a complex and a real operand are supported
    cdef bint to_float                 # True if integer and bool operands are promoted to the default dtype
    cdef readonly str name


# Add loops for float16 and bfloat16. They convert the operands to float32 and call the float32 loop.
cdef void add_half_loops(Loops loops) noexcept
# Write a Python number to `out` as an element of dtype `scalar_type`. Return False if the operator would
# promote a tensor of this dtype and the number to another dtype (1.5 with an int tensor).
cdef bint store_number(int scalar_type, IValue *scalar, char *out) noexcept nogil
# Write the element of a 0-dim tensor `x` to `out` as an element of dtype `scalar_type`. Return False if this
# conversion is unsupported, or if type promotion with a tensor of this dtype would change the dtype.
cdef bint store_element(int scalar_type, Tensor x, char *out) noexcept
# Return the size of an element in bytes.
cdef inline npy_intp item_size(int scalar_type) noexcept nogil:
    if scalar_type == FLOAT or scalar_type == INT32:
        return 4
    if scalar_type == UINT8 or scalar_type == INT8 or scalar_type == BOOL:
        return 1
    if scalar_type == INT16 or scalar_type == HALF or scalar_type == BFLOAT16:
        return 2
    return 16 if scalar_type == CDOUBLE else 8

cdef PyObject *unary(Loops loops, Tensor x) except? NULL
cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL
# Compute x = x op other in place, and return a new reference to `x`.
cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL
cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL
# Write `x op other`, or `op(x)` if `other` is NULL, to `out`. Return False if `out` has not the dtype and
# shape of the result, or if `out` overlaps an operand partially.
cdef bint write_result(Loops loops, Tensor x, IValue *other, Tensor out) except -1
