"""Products of matrices on the CPU, straight through BLAS, our own tiles or the inner loop of np.matmul."""

from cpython.ref cimport PyObject

from ts._core.tensor.tensor cimport Tensor

# x @ y, or x @ y.T, of matrices of one floating dtype: a new reference to a Tensor, or NULL without an
# exception where they are not of that kind.
cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed) except? NULL

# c = alpha * a @ b + beta * c, for arrays of matrices or of stacks that broadcast to c's; false where that is for the general
# way: other dtypes, shapes that do not fit.  A `beta` of 0 hides what is in c.
cdef bint multiplied(object a, object b, object c, double alpha, double beta) except -1

# The place of an array's dtype among those of BLAS: float, double, complex64, complex128; -1 for another one.
cdef int kind_of(a) except -2
