"""Half-precision support: kernels convert float16 and bfloat16 to float32 and compute in float32."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

cdef extern from "short_floats.h" nogil:
    # `widen` converts n elements (bfloat16 if `brain`, else float16), which are `stride` bytes apart, to
    # contiguous float32 elements. `shorten` is the reverse conversion.
    void widen(const char *x, npy_intp stride, npy_intp n, int brain, float *out)
    void shorten(const float *x, npy_intp n, int brain, char *out, npy_intp stride)

cdef enum:
    BFLOAT16 = 15                      # ScalarType of bfloat16


ctypedef struct Widened:               # `data` argument of `run_half_tiles`: the float32 loop that it calls
    Loop function
    void *data
    int arity
    bint brain
    bint returns_bools


# Inner loop for half precision. For each tile of elements, it converts the operands to float32, calls the
# float32 loop and rounds the results.
cdef void run_half_tiles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil

# Return whether the half-precision dtype `kind` represents `x` exactly. If so, `x` can be converted to this
# dtype before an operation without changing the result.
cdef bint is_exact_half(double x, int kind) noexcept nogil
# Return whether a NumPy type number stands for float16 or bfloat16.
cdef bint is_half_number(int type_number) noexcept
# Convert an array to float32 (`to_float32`), or a float32 array to the NumPy type `type_number`
# (`to_half_precision`). The memory order of the dimensions stays the same.
cdef object to_float32(PyArrayObject *a)
cdef object to_half_precision(PyArrayObject *a, int type_number)
