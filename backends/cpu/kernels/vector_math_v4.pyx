"""The row kernels of `vector_math.h` (SIMD intrinsics) compiled for AVX-512.

The kernels must not run on processors without these instructions.
"""

from ts.backends.cpu.kernels.row_loops cimport RowLoops

cdef extern from *:
    """
    #define TIER 4
    """

cdef extern from "vector_math.h" nogil:
    void *math_row(const char *name, int of_doubles)
    const RowLoops *row_loops()


cdef void *row_v4(const char *name, int of_doubles) noexcept nogil:
    return math_row(name, of_doubles)


cdef const RowLoops *row_loops_v4() noexcept nogil:
    return row_loops()
