"""Sampling of normal numbers from the default generator into new or contiguous CPU tensors.

Input: interpreter registers with sizes, a mean and a standard deviation. Output: the register of the tensor.

The kernels draw the same numbers in the same order as PyTorch. Fewer than 16 numbers are drawn one by one, in
double. Otherwise, the Box-Muller transform turns each block of 16 uniform numbers into normal numbers. For
other arguments, the operator's Python kernel runs. Examples:

    randn([2, 3])     randn_like(x)     x.normal_(0, 1)
"""

import numpy as np

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, size_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.random_sampling cimport sample_in_place, sample_like, sample_new
from ts.backends.cpu.kernels.elementwise cimport Loops
from ts.backends.cpu.kernels.mt19937 cimport MersenneTwister, default_stream
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

ctypedef fused floating:
    float
    double

cdef enum:
    BLOCK = 16
    HALF_TILE = 256                    # number of pairs (radius, angle) that are transformed at a time

cdef Loops logarithm = ufunc_loops("log")
cdef Loops cosine = ufunc_loops("cos")
cdef Loops sine = ufunc_loops("sin")


cdef inline void apply_loop(Loops loops, const floating *x, npy_intp n, floating *out) noexcept:
    cdef int kind = FLOAT if floating is float else DOUBLE
    cdef char *args[2]
    cdef npy_intp steps[2]
    args[0], args[1] = <char *>x, <char *>out
    steps[0] = steps[1] = sizeof(floating)
    loops.function[kind](args, &n, steps, loops.data[kind])


cdef void box_muller_blocks(floating *x, npy_intp blocks, floating mean, floating deviation) noexcept:
    """Transform blocks of 16 uniform numbers to normal numbers in place (Box-Muller)."""
    cdef floating radius[HALF_TILE]
    cdef floating angle[HALF_TILE]
    cdef floating wave[HALF_TILE]
    cdef floating two_pi = <floating>6.283185307179586476925286766559
    cdef npy_intp done = 0, count, i, j, k
    while done < blocks:
        count = min(blocks - done, <npy_intp>(HALF_TILE // 8))
        for i in range(count):
            for j in range(8):
                radius[8 * i + j] = 1 - x[BLOCK * i + j]
                angle[8 * i + j] = two_pi * x[BLOCK * i + 8 + j]
        k = 8 * count
        apply_loop(logarithm, radius, k, radius)
        for i in range(k):
            radius[i] = <floating>sqrt(-2 * radius[i])
        apply_loop(cosine, angle, k, wave)
        apply_loop(sine, angle, k, angle)
        for i in range(count):
            for j in range(8):
                x[BLOCK * i + j] = radius[8 * i + j] * wave[8 * i + j] * deviation + mean
                x[BLOCK * i + 8 + j] = radius[8 * i + j] * angle[8 * i + j] * deviation + mean
        x += BLOCK * count
        done += count


cdef void fill_uniform(MersenneTwister stream, floating *out, npy_intp n) noexcept:
    if floating is float:
        stream.fill_floats(out, n, 0, 1)
    else:
        stream.fill_doubles(out, n, 0, 1)


cdef void fill_blocks(MersenneTwister stream, floating *out, npy_intp n, bint narrow, floating mean, floating deviation) noexcept:
    """Fill `out` with `n` >= 16 normal numbers.

    If `n` is not a multiple of 16, the last 16 elements are computed from 16 new uniform numbers. Before
    that, one uniform number is drawn per element. If `narrow`, uniform numbers are drawn only for complete
    blocks of 16.
    """
    cdef npy_intp full_length = n - n % BLOCK
    fill_uniform(stream, out, full_length if narrow else n)
    box_muller_blocks(out, full_length // BLOCK, mean, deviation)
    if n % BLOCK:
        fill_uniform(stream, out + n - BLOCK, BLOCK)
        box_muller_blocks(out + n - BLOCK, 1, mean, deviation)


def block_normals(MersenneTwister stream not None, npy_intp n, bint double_, bint narrow):
    """Return `n` standard normal numbers in PyTorch's block order.

    Raise ValueError if `n` is less than 16.
    """
    if n < BLOCK:
        raise ValueError(f"expected at least 16 numbers, got {n}")
    result = np.empty(n, np.float64 if double_ else np.float32)
    if double_:
        fill_blocks(stream, <double *>cnp.PyArray_DATA(<cnp.ndarray>result), n, narrow, <double>0, <double>1)
    else:
        fill_blocks(stream, <float *>cnp.PyArray_DATA(<cnp.ndarray>result), n, narrow, <float>0, <float>1)
    return result


cdef void fill_normal(PyArrayObject *a, int kind, double mean, double deviation) noexcept:
    cdef MersenneTwister stream = default_stream()
    cdef npy_intp n = size_of(a), i
    if n >= BLOCK and kind == FLOAT:
        fill_blocks(stream, <float *>data_of(a), n, False, <float>mean, <float>deviation)
    elif n >= BLOCK:
        fill_blocks(stream, <double *>data_of(a), n, False, mean, deviation)
    elif kind == FLOAT:
        for i in range(n):
            (<float *>data_of(a))[i] = <float>(stream.normal() * deviation + mean)
    else:
        for i in range(n):
            (<double *>data_of(a))[i] = stream.normal() * deviation + mean


cdef int randn(Operator op, IValue *r, const int32_t *at) except -1:
    return sample_new(op, r, at, fill_normal, 0, 1)

cdef int randn_like(Operator op, IValue *r, const int32_t *at) except -1:
    return sample_like(op, r, at, fill_normal, 0, 1)

cdef int normal_(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double mean = r[at[1]].v.f, deviation = r[at[2]].v.f
    supported = fabs(mean) <= FLT_MAX and 0 <= deviation <= FLT_MAX
    return sample_in_place(op, r, at, &r[at[3]], supported, fill_normal, mean, deviation)


register_kernel("aten::randn", randn)
register_kernel("aten::randn_like", randn_like)
register_kernel("aten::normal_", normal_)
