"""Half-precision support: conversion of float16 and bfloat16, which kernels compute with in float32."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.walk cimport Loop

cdef extern from "short_floats.h" nogil:
    # Convert n elements, `step` bytes apart, of bfloat16 (if `brain`) or float16 to contiguous float32; and
    # back.
    void widen(const char *x, npy_intp step, npy_intp n, int brain, float *out)
    void shorten(const float *x, npy_intp n, int brain, char *out, npy_intp step)

cdef enum:
    BFLOAT16 = 15                      # ScalarType of bfloat16


ctypedef struct Widened:               # float32 loop that `run_half_tiles` runs for half precision
    Loop function
    void *data
    int arity
    bint brain
    bint returns_bools


# Loop that converts operands tile by tile to float32, runs the float32 loop and rounds its results once.
cdef void run_half_tiles(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil

# Return whether a number is exactly representable in a half-precision ScalarType. Early rounding of such a
# number does not change results.
cdef bint is_exact_half(double x, int kind) noexcept nogil
# Return whether a NumPy type number is that of float16 or bfloat16.
cdef bint is_half_number(int number) noexcept
# Convert an array to float32 in the same dimension order; and back, to NumPy type `number`.
cdef object to_float32(PyArrayObject *a)
cdef object to_half_precision(PyArrayObject *a, int number)
