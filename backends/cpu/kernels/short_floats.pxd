"""Half-precision support: kernels convert float16 and bfloat16 to float32 and compute in float32."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

cdef extern from "short_floats.h" nogil:
    # Convert n elements that are `stride` bytes apart, bfloat16 if `brain` else float16, to contiguous float32
    # (`widen`) and back (`shorten`).
    void widen(const char *x, npy_intp stride, npy_intp n, int brain, float *out)
    void shorten(const float *x, npy_intp n, int brain, char *out, npy_intp stride)

cdef enum:
    BFLOAT16 = 15                      # ScalarType of bfloat16


ctypedef struct Widened:               # the float32 loop that `run_half_tiles` calls for half precision
    Loop function
    void *data
    int arity
    bint brain
    bint returns_bools


# Loop that converts operands to float32 tile by tile, runs the float32 loop, and rounds the results once.
cdef void run_half_tiles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil

# Return whether a half-precision ScalarType represents a number exactly. Rounding such a number early does
# not change results.
cdef bint is_exact_half(double x, int kind) noexcept nogil
# Return whether a NumPy type number stands for float16 or bfloat16.
cdef bint is_half_number(int type_number) noexcept
# Convert an array to float32 with the same dimension order, and from float32 to NumPy type `type_number`.
cdef object to_float32(PyArrayObject *a)
cdef object to_half_precision(PyArrayObject *a, int type_number)
