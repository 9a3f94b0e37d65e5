"""Convolutions of bfloat16 arrays by AVX512_BF16 (`conv_bfloat16.pyx`)."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.conv_layout cimport InputLayout

# Write the sum of the correlations of all phases plus the bias to the C-contiguous `out`, as `correlate_fitting` of
# `conv.pyx` does for float32 arrays. Return False without a result if the processor has no AVX512_BF16, or if the
# convolution is faster in float32, because its groups have few filters.
cdef bint correlate_bfloat16(
    object input, object weight, object bias, object out, InputLayout source, list phases, int64_t groups, bint transposed
) except -1
