"""Arithmetic of small matrices on one thread: Cholesky, LU and QR factorizations, and substitution with triangles.

All matrices are stored by columns without gaps: element (i, j) of a matrix with n rows is at index j * n + i.
The inner loops run along columns, so that the C compiler vectorizes them.
"""

from libc.string cimport memset
from numpy cimport npy_intp

ctypedef fused floating:
    float
    double

cdef enum:
    MAX_ORDER = 32                     # maximal number of rows and columns. LAPACK is faster for larger matrices.


cdef inline void read_matrix(
    const char *x, npy_intp *strides, npy_intp rows, npy_intp columns, floating *out
) noexcept nogil:
    """Copy a matrix with byte strides `strides` to `out`, by columns."""
    cdef npy_intp i, j
    for j in range(columns):
        for i in range(rows):
            out[j * rows + i] = (<const floating *>(x + i * strides[0] + j * strides[1]))[0]


cdef inline void set_identity(floating *out, npy_intp n) noexcept nogil:
    cdef npy_intp i
    memset(out, 0, n * n * sizeof(floating))
    for i in range(n):
        out[i * (n + 1)] = 1


cdef inline bint is_nonzero_number(floating x) noexcept nogil:
    """Return whether `x` is neither zero, infinite nor NaN."""
    return x != 0 and x - x == 0


cdef inline void clear_above_diagonal(floating *a, npy_intp n) noexcept nogil:
    cdef npy_intp j
    for j in range(1, n):
        memset(a + j * n, 0, j * sizeof(floating))


cdef inline void transpose_in_place(floating *a, npy_intp n) noexcept nogil:
    cdef npy_intp i, j
    for j in range(n):
        for i in range(j):
            a[j * n + i], a[i * n + j] = a[i * n + j], a[j * n + i]


cdef extern from "<math.h>" nogil:
    double sqrt(double)
    double fabs(double)


cdef inline bint factor_cholesky(floating *a, npy_intp n) noexcept nogil:
    """Replace the lower triangle of `a` by its Cholesky factor, and the elements above the diagonal by zeros.

    Return False if a pivot is not a positive number. The elements of `a` are then invalid.
    """
    cdef npy_intp i, j, k
    cdef floating pivot, factor
    cdef floating *column
    cdef floating *other
    for k in range(n):
        column = a + k * n
        pivot = column[k]
        if not (pivot > 0 and pivot - pivot == 0):
            return False
        pivot = <floating>sqrt(pivot)
        column[k] = pivot
        for i in range(k + 1, n):
            column[i] /= pivot
        for j in range(k + 1, n):
            other, factor = a + j * n, column[j]
            for i in range(j, n):
                other[i] -= factor * column[i]
    clear_above_diagonal(a, n)
    return True


cdef inline bint factor_lu(floating *a, npy_intp rows, npy_intp columns, int *pivots) noexcept nogil:
    """Replace `a` by its LU factors, with row swaps. `pivots` receives LAPACK's row numbers, which count from 1.

    Return False if a pivot is zero, infinite or NaN. The elements of `a` and `pivots` are then invalid.
    """
    cdef npy_intp i, j, k, best
    cdef floating pivot, factor
    cdef floating *column
    cdef floating *other
    for k in range(min(rows, columns)):
        column, best = a + k * rows, k
        for i in range(k + 1, rows):
            if fabs(column[i]) > fabs(column[best]):
                best = i
        pivot, pivots[k] = column[best], <int>best + 1
        if not is_nonzero_number(pivot):
            return False
        if best != k:
            for j in range(columns):
                a[j * rows + k], a[j * rows + best] = a[j * rows + best], a[j * rows + k]
        for i in range(k + 1, rows):
            column[i] /= pivot
        for j in range(k + 1, columns):
            other = a + j * rows
            factor = other[k]
            for i in range(k + 1, rows):
                other[i] -= factor * column[i]
    return True


cdef inline void swap_rows(floating *x, npy_intp n, npy_intp columns, const int *pivots) noexcept nogil:
    """Apply the row swaps of LU pivots to a matrix with `n` rows."""
    cdef npy_intp i, j, other
    for j in range(columns):
        for i in range(n):
            other = pivots[i] - 1
            x[j * n + i], x[j * n + other] = x[j * n + other], x[j * n + i]


cdef inline void substitute_lower(
    const floating *a, npy_intp n, floating *x, npy_intp columns, bint unit
) noexcept nogil:
    """Replace each column of `x` by the solution y of T y = column. T is the lower triangle of `a`.

    With `unit`, the diagonal elements of T are 1.
    """
    cdef npy_intp i, j, k
    cdef floating factor
    cdef const floating *column
    for j in range(columns):
        for k in range(n):
            column = a + k * n
            if not unit:
                x[k] /= column[k]
            factor = x[k]
            for i in range(k + 1, n):
                x[i] -= factor * column[i]
        x += n


cdef inline void substitute_upper(
    const floating *a, npy_intp n, floating *x, npy_intp columns, bint unit
) noexcept nogil:
    """Replace each column of `x` by the solution y of T y = column. T is the upper triangle of `a`."""
    cdef npy_intp i, j, k
    cdef floating factor
    cdef const floating *column
    for j in range(columns):
        for k in range(n - 1, -1, -1):
            column = a + k * n
            if not unit:
                x[k] /= column[k]
            factor = x[k]
            for i in range(k):
                x[i] -= factor * column[i]
        x += n


cdef inline void solve_lu(
    const floating *lu, npy_intp n, const int *pivots, floating *x, npy_intp columns
) noexcept nogil:
    """Replace each column of `x` by the solution of A y = column, where `lu` has the LU factors of A."""
    swap_rows(x, n, columns, pivots)
    substitute_lower(lu, n, x, columns, True)
    substitute_upper(lu, n, x, columns, False)


# ---------------------------------------------------------------- QR factorization by Householder reflections

cdef inline void reflect(const floating *v, floating factor, floating *x, npy_intp n) noexcept nogil:
    """Apply a Householder reflection to `x`: x -= factor * w * (w . x), where w is `v` with first element 1."""
    cdef npy_intp i
    cdef floating product = x[0]
    for i in range(1, n):
        product += v[i] * x[i]
    product *= factor
    x[0] -= product
    for i in range(1, n):
        x[i] -= product * v[i]


cdef inline bint factor_qr(floating *a, npy_intp rows, npy_intp columns, floating *factors) noexcept nogil:
    """Replace `a` by R in the upper triangle and the vectors of the Householder reflections below.

    `factors` receives the factor of each reflection, and the signs are LAPACK's. Return False if the squares of
    elements may overflow or underflow. The elements of `a` are then invalid.
    """
    cdef npy_intp i, j, k
    cdef double below, norm, scale
    cdef floating *column
    for k in range(min(rows, columns)):
        column, below = a + k * rows, 0
        for i in range(k + 1, rows):
            below += <double>column[i] * <double>column[i]
        norm = below + <double>column[k] * <double>column[k]
        if norm != 0 and not 1e-200 < norm < 1e200:
            return False
        factors[k] = 0
        if below == 0:
            for i in range(k + 1, rows):
                if column[i] != 0:     # the square of the element is zero
                    return False
            continue
        norm = -sqrt(norm) if column[k] >= 0 else sqrt(norm)
        factors[k] = <floating>((norm - column[k]) / norm)
        scale = 1 / (column[k] - norm)
        for i in range(k + 1, rows):
            column[i] = <floating>(column[i] * scale)
        column[k] = <floating>norm
        for j in range(k + 1, columns):
            reflect(column + k, factors[k], a + j * rows + k, rows - k)
    return True


cdef inline void form_q(
    const floating *a, npy_intp rows, npy_intp reflections, const floating *factors, floating *q, npy_intp columns
) noexcept nogil:
    """Write the first `columns` columns of the product of the reflections of `factor_qr` to `q`."""
    cdef npy_intp j, k
    memset(q, 0, rows * columns * sizeof(floating))
    for j in range(columns):
        q[j * rows + j] = 1
    for k in range(reflections - 1, -1, -1):
        for j in range(k, columns):
            reflect(a + k * rows + k, factors[k], q + j * rows + k, rows - k)
