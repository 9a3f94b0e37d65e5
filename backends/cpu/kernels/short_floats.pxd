"""16-bit floats, which are computed with in 32 bits."""

from ts._core.tensor.ndarray cimport PyArrayObject

cdef enum:
    BRAIN = 15                         # bfloat16's ScalarType

# Whether a number is one of the 16-bit dtype (a ScalarType): then it does not matter when it is rounded.
cdef bint is_exact(double x, int kind) noexcept
# Whether that is NumPy's number of float16 or bfloat16.
cdef bint is_short(int number) noexcept
# The elements as float32, in the order of dimensions that they have; and back, as NumPy's dtype `number`.
cdef object widened(PyArrayObject *a)
cdef object shortened(PyArrayObject *a, int number)
