"""Which functions have rows of our own (`vector_math.h`), and how elements that do not lie in order come to them.

In: operands as NumPy's inner loops take them (pointers, count, steps in bytes).  Out: the results, the same for an element however
it lies.  What is not here is NumPy's, which has vectors for it that are as fast (measured with AVX-512).
"""

from numpy cimport npy_intp

cdef extern from "vector_math.h" nogil:
    void float_exp_row(const float *, npy_intp, float *)
    void float_erf_row(const float *, npy_intp, float *)
    void float_erfc_row(const float *, npy_intp, float *)
    void float_erfinv_row(const float *, npy_intp, float *)
    void double_sin_row(const double *, npy_intp, double *)
    void double_cos_row(const double *, npy_intp, double *)
    void double_erf_row(const double *, npy_intp, double *)
    void double_erfc_row(const double *, npy_intp, double *)
    void double_sigmoid_row(const double *, npy_intp, double *)

cdef enum:
    TILE = 512                         # elements of scratch

ctypedef fused floating:
    float
    double

cdef dict OF_FLOATS = {
    "exp": <size_t>&float_exp_row, "erf": <size_t>&float_erf_row, "erfc": <size_t>&float_erfc_row,
    "erfinv": <size_t>&float_erfinv_row,
}
cdef dict OF_DOUBLES = {
    "sin": <size_t>&double_sin_row, "cos": <size_t>&double_cos_row, "erf": <size_t>&double_erf_row,
    "erfc": <size_t>&double_erfc_row, "sigmoid": <size_t>&double_sigmoid_row,
}


cdef FloatRow float_row(str name) except? NULL:
    return <FloatRow><size_t>OF_FLOATS.get(name, 0)


cdef DoubleRow double_row(str name) except? NULL:
    return <DoubleRow><size_t>OF_DOUBLES.get(name, 0)


cdef inline void by_row(char **args, npy_intp left, npy_intp from_step, npy_intp to_step, void *row, floating kind) noexcept nogil:
    cdef floating scratch[TILE]
    cdef char *source = args[0]
    cdef char *target = args[1]
    cdef npy_intp i, count
    if from_step == sizeof(floating) and to_step == sizeof(floating):
        if floating is float:
            (<FloatRow>row)(<const float *>source, left, <float *>target)
        else:
            (<DoubleRow>row)(<const double *>source, left, <double *>target)
        return
    while left > 0:
        count = min(left, <npy_intp>TILE)
        for i in range(count):
            scratch[i] = (<floating *>(source + i * from_step))[0]
        if floating is float:
            (<FloatRow>row)(scratch, count, scratch)
        else:
            (<DoubleRow>row)(scratch, count, scratch)
        for i in range(count):
            (<floating *>(target + i * to_step))[0] = scratch[i]
        source += count * from_step
        target += count * to_step
        left -= count


cdef void floats_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil:
    by_row[float](args, n[0], steps[0], steps[1], row, 0)


cdef void doubles_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil:
    by_row[double](args, n[0], steps[0], steps[1], row, 0)
