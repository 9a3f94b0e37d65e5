"""Pointwise operators on CPU tensors, straight through the inner loops of NumPy's ufuncs.

    Loops: by ScalarType of the operands -> (loop function, its data, ScalarType of the result)

The functions return a new reference to a Tensor, or NULL without an exception where the operands are
not of the simple kind (one dtype, or a lower-category number beside it): then the caller takes the
general way.
"""

cimport cython
from cpython.ref cimport PyObject

from ts._core.value.ivalue cimport IValue
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.walk cimport Loop

cdef enum:
    SCALAR_TYPES = 16                  # bool, integers, floats, complex; bfloat16 has no loops


cdef int scalar_type_of_character(str character) except -2  # of NumPy's type characters


@cython.final
cdef class Loops:
    cdef Loop function[SCALAR_TYPES]
    cdef void *data[SCALAR_TYPES]
    cdef int result_type[SCALAR_TYPES]
    cdef int arity
    cdef bint of_shorts                # 16-bit floats are computed with in 32 bits
    cdef bint to_float                 # integers and bools are promoted to the default dtype
    cdef readonly str name


cdef PyObject *unary(Loops loops, Tensor x) except? NULL
cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL
# x := x op other; a new reference to x.
cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL
cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL
