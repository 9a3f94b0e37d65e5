"""Pointwise operators on CPU tensors, by direct calls of the inner loops of NumPy's ufuncs.

    Loops: by ScalarType of the operands -> (loop function, its data, ScalarType of the result)

The functions return a new reference to a Tensor, or NULL without an exception if the operands are
unsupported: they must have one dtype, or be a tensor and a number of a lower category. The caller then runs
the record's own kernel.
"""

cimport cython
from cpython.ref cimport PyObject

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.short_floats cimport Widened
from ts.backends.cpu.kernels.walk cimport Loop, Plane

cdef enum:
    SCALAR_TYPES = 16                  # bool, integers, floats, complex


cdef int scalar_type_of_character(str character) except -2  # NumPy type character -> ScalarType


@cython.final
cdef class Loops:
    cdef Loop function[SCALAR_TYPES]
    cdef void *data[SCALAR_TYPES]
    cdef Plane plane[SCALAR_TYPES]     # two-dimensional loops of binary float arithmetic, else NULL
    cdef int result_type[SCALAR_TYPES]
    cdef int arity
    cdef Widened half_data[2]          # data of the float16 and bfloat16 loops, set by `add_half_loops`
    cdef bint to_float                 # integers and bools are promoted to the default dtype
    cdef readonly str name


# Add loops for half precision that use the loop for float32.
cdef void add_half_loops(Loops loops) noexcept
# Write a Python number in the tensor's dtype; False if type promotion would change the dtype of the result.
cdef bint store_number(int scalar_type, IValue *number, char *out) noexcept nogil
# Write the element of a 0-dim tensor of another dtype, which is promoted like a number; False if that is
# unsupported.
cdef bint store_element(int scalar_type, Tensor x, char *out) noexcept
# Return the bytes of an element.
cdef npy_intp item_size(int scalar_type) noexcept nogil
cdef PyObject *unary(Loops loops, Tensor x) except? NULL
cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL
# Compute x = x op other in place; return a new reference to x.
cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL
cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL
# Compute out = x op other, or op(x) if `other` is NULL; False if `out` has another dtype or shape or overlaps
# an operand.
cdef bint write_result(Loops loops, Tensor x, IValue *other, Tensor out) except -1
