"""Vectorized math (elementary functions) by range reduction (Cody-Waite) and polynomial approximation.

Input: the arguments of NumPy's inner loops, which are pointers, a count, and strides in bytes. Output: the
results. They do not depend on the stride or position of an element.

The loops call the row kernels of `vector_math.h` for the SIMD level. For functions without a row kernel,
NumPy's loops run.
"""

from numpy cimport npy_intp

from ts.backends.cpu.kernels.vector_math_v3 cimport row_loops_v3, row_v3
from ts.backends.cpu.kernels.vector_math_v4 cimport row_loops_v4, row_v4

cdef extern from "simd_level.h" nogil:
    """
    #define TIER 0
    """
    int simd_level
    int SIMD_AVX2
    int SIMD_AVX512

cdef extern from "vector_math.h" nogil:
    void *math_row(const char *name, int of_doubles)
    const RowLoops *row_loops()

cdef enum:
    TILE = 512                         # number of elements of the buffer for strided operands

ctypedef fused floating:
    float
    double

cdef void *find_row_kernel(str name, bint of_doubles) except? NULL:
    cdef bytes encoded_name = name.encode()
    if simd_level == SIMD_AVX512:
        return row_v4(encoded_name, of_doubles)
    return row_v3(encoded_name, of_doubles) if simd_level == SIMD_AVX2 else math_row(encoded_name, of_doubles)


cdef FloatRow float_row(str name) except? NULL:
    return <FloatRow>find_row_kernel(name, False)


cdef DoubleRow double_row(str name) except? NULL:
    return <DoubleRow>find_row_kernel(name, True)


cdef const RowLoops *row_loops_here() noexcept:
    if simd_level == SIMD_AVX512:
        return row_loops_v4()
    return row_loops_v3() if simd_level == SIMD_AVX2 else row_loops()


cdef inline void by_row(char **args, npy_intp left, npy_intp from_stride, npy_intp to_stride, void *row, floating kind) noexcept nogil:
    cdef floating scratch[TILE]
    cdef char *source = args[0]
    cdef char *target = args[1]
    cdef npy_intp i, count
    if from_stride == sizeof(floating) and to_stride == sizeof(floating):
        if floating is float:
            (<FloatRow>row)(<const float *>source, left, <float *>target)
        else:
            (<DoubleRow>row)(<const double *>source, left, <double *>target)
        return
    while left > 0:
        count = min(left, <npy_intp>TILE)
        for i in range(count):
            scratch[i] = (<floating *>(source + i * from_stride))[0]
        if floating is float:
            (<FloatRow>row)(scratch, count, scratch)
        else:
            (<DoubleRow>row)(scratch, count, scratch)
        for i in range(count):
            (<floating *>(target + i * to_stride))[0] = scratch[i]
        source += count * from_stride
        target += count * to_stride
        left -= count


cdef void floats_by_row(char **args, const npy_intp *n, const npy_intp *strides, void *row) noexcept nogil:
    by_row[float](args, n[0], strides[0], strides[1], row, 0)


cdef void doubles_by_row(char **args, const npy_intp *n, const npy_intp *strides, void *row) noexcept nogil:
    by_row[double](args, n[0], strides[0], strides[1], row, 0)
