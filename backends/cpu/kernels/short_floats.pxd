"""16-bit floats, which are computed with in 32 bits."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.walk cimport Loop

cdef extern from "short_floats.h" nogil:
    # n elements, `step` bytes apart, of bfloat16 (`brain`) or float16, as floats that lie in order; and back.
    void widen(const char *x, npy_intp step, npy_intp n, int brain, float *out)
    void shorten(const float *x, npy_intp n, int brain, char *out, npy_intp step)

cdef enum:
    BRAIN = 15                         # bfloat16's ScalarType


ctypedef struct Widened:               # a loop for 32 bits that `in_tiles`, whose `data` this is, runs for 16
    Loop function
    void *data
    int arity
    bint brain
    bint gives_bools


# The loop over tiles that are widened, and whose results are rounded once: as if the elements were float32.
cdef void in_tiles(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil

# Whether a number is one of the 16-bit dtype (a ScalarType): then it does not matter when it is rounded.
cdef bint is_exact(double x, int kind) noexcept nogil
# Whether that is NumPy's number of float16 or bfloat16.
cdef bint is_short(int number) noexcept
# The elements as float32, in the order of dimensions that they have; and back, as NumPy's dtype `number`.
cdef object widened(PyArrayObject *a)
cdef object shortened(PyArrayObject *a, int number)
