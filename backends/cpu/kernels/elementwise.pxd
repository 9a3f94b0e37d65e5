"""Pointwise operators on CPU tensors, straight through the inner loops of NumPy's ufuncs.

    Loops: by ScalarType of the operands -> (loop function, its data, ScalarType of the result)

The functions return a new reference to a Tensor, or NULL without an exception where the operands are
not of the simple kind (one dtype, or a lower-category number beside it): then the caller takes the
general way.
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


cdef int scalar_type_of_character(str character) except -2  # of NumPy's type characters


@cython.final
cdef class Loops:
    cdef Loop function[SCALAR_TYPES]
    cdef void *data[SCALAR_TYPES]
    cdef Plane plane[SCALAR_TYPES]     # NULL but for arithmetic of floats
    cdef int result_type[SCALAR_TYPES]
    cdef int arity
    cdef Widened of_shorts[2]          # the data of the loops for float16 and bfloat16, where `serve_shorts` has set them
    cdef bint to_float                 # integers and bools are promoted to the default dtype
    cdef readonly str name


# 16-bit floats by the loop for float32.
cdef void serve_shorts(Loops loops) noexcept
# Write a Python number in the tensor's dtype; false where promotion would change the result's.
cdef bint store_number(int scalar_type, IValue *number, char *out) noexcept nogil
# Write the element of a 0-dim tensor of another dtype: it promotes as a number does.
cdef bint store_element(int scalar_type, Tensor x, char *out) noexcept
# Bytes of an element.
cdef npy_intp item_size(int scalar_type) noexcept nogil
cdef PyObject *unary(Loops loops, Tensor x) except? NULL
cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL
# x := x op other; a new reference to x.
cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL
cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL
# out := x op other, or op(x) where `other` is NULL; false where out is not of the result's dtype and shape, or meets an operand.
cdef bint write_result(Loops loops, Tensor x, IValue *other, Tensor out) except -1
