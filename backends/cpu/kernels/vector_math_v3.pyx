"""The row kernels of `vector_math.h` compiled for AVX2 and fused multiply-add (FMA).

The kernels must not run on processors without these instructions.
"""

from ts.backends.cpu.kernels.row_loops cimport RowLoops

cdef extern from *:
    """
    #define TIER 3
    """

cdef extern from "vector_math.h" nogil:
    void *math_row(const char *name, int of_doubles)
    const RowLoops *row_loops()


cdef void *row_v3(const char *name, int of_doubles) noexcept nogil:
    return math_row(name, of_doubles)


cdef const RowLoops *row_loops_v3() noexcept nogil:
    return row_loops()
