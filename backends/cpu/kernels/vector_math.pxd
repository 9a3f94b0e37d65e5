"""Row kernels of elementary functions (polynomials by Horner's rule or Estrin's scheme, double-double sums).

The kernels are those of `vector_math.h`. NumPy lacks these functions or computes them more slowly.
"""

from numpy cimport npy_intp

from ts.backends.cpu.kernels.row_loops cimport RowLoops

ctypedef void (*FloatRow)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*DoubleRow)(const double *, npy_intp, double *) noexcept nogil

# Inner loops with NumPy's signature, which call the row kernel `row`. Strided elements are copied to a contiguous
# buffer, tile by tile, before the call.
cdef void floats_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
cdef void doubles_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
# Return the row kernel of the function with this name in NumPy or SciPy. Return NULL if callers should use
# NumPy's loop instead.
cdef FloatRow float_row(str name) except? NULL
cdef DoubleRow double_row(str name) except? NULL
# Return the row kernels for the SIMD level of this process.
cdef const RowLoops *row_loops_here() noexcept
