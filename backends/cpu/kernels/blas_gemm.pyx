"""Calls of the BLAS functions `cblas_?gemm`, for libraries with integers of 32 and of 64 bits.

Input: two matrices, and the addresses of the functions. Output: the product of the matrices.
"""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport Matrix

from ts.backends.cpu import blas

ctypedef void (*Gemm64Float)(
    int, int, int, int64_t, int64_t, int64_t, float, void *, int64_t, void *, int64_t, float, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm64Double)(
    int, int, int, int64_t, int64_t, int64_t, double, void *, int64_t, void *, int64_t, double, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm64Complex)(
    int, int, int, int64_t, int64_t, int64_t, void *, void *, int64_t, void *, int64_t, void *, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm32Float)(
    int, int, int, int, int, int, float, void *, int, void *, int, float, void *, int
) noexcept nogil
ctypedef void (*Gemm32Double)(
    int, int, int, int, int, int, double, void *, int, void *, int, double, void *, int
) noexcept nogil
ctypedef void (*Gemm32Complex)(
    int, int, int, int, int, int, void *, void *, int, void *, int, void *, void *, int
) noexcept nogil

cdef enum:
    ROW_MAJOR = 101                    # CblasRowMajor

cdef void *gemm_of[4]                  # addresses of the BLAS functions for float32, float64, complex64 and complex128
cdef int library_bits = 0              # integer width of the BLAS library in bits, or 0 if none was found


cdef int load_library() except -1:
    global library_bits
    detected = blas.library()
    if detected is not None:
        for i, letter in enumerate("sdcz"):
            gemm_of[i] = <void *><size_t>detected.gemm[letter]
        library_bits = detected.bits
    return library_bits


cdef void gemm(int kind, Matrix *a, Matrix *b, void *c, int64_t pitch, double alpha, double beta) noexcept nogil:
    """Compute c = alpha * a @ b + beta * c with BLAS. `kind` is the dtype's index in `gemm_of`."""
    cdef double alpha_z[2]
    cdef double beta_z[2]
    cdef float alpha_c[2]
    cdef float beta_c[2]
    cdef void *x
    cdef void *y
    alpha_z[0], alpha_z[1], beta_z[0], beta_z[1] = alpha, 0, beta, 0
    alpha_c[0], alpha_c[1], beta_c[0], beta_c[1] = <float>alpha, 0, <float>beta, 0
    x, y = (<void *>alpha_c, <void *>beta_c) if kind == 2 else (<void *>alpha_z, <void *>beta_z)
    if library_bits == 64:
        if kind == 0:
            (<Gemm64Float>gemm_of[0])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, <float>alpha, a.data, a.pitch, b.data, b.pitch,
                <float>beta, c, pitch,
            )
        elif kind == 1:
            (<Gemm64Double>gemm_of[1])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, alpha, a.data, a.pitch, b.data, b.pitch,
                beta, c, pitch,
            )
        else:
            (<Gemm64Complex>gemm_of[kind])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, x, a.data, a.pitch, b.data, b.pitch,
                y, c, pitch,
            )
    elif kind == 0:
        (<Gemm32Float>gemm_of[0])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, <float>alpha, a.data, <int>a.pitch,
            b.data, <int>b.pitch, <float>beta, c, <int>pitch,
        )
    elif kind == 1:
        (<Gemm32Double>gemm_of[1])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, alpha, a.data, <int>a.pitch,
            b.data, <int>b.pitch, beta, c, <int>pitch,
        )
    else:
        (<Gemm32Complex>gemm_of[kind])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, x, a.data, <int>a.pitch,
            b.data, <int>b.pitch, y, c, <int>pitch,
        )
