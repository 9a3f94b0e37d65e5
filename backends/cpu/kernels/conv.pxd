"""Declarations of `conv.pyx`: functions that arrange the input and compute correlations."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution

ctypedef fused real:
    float
    double


cdef inline void copy_row(const real *line, int64_t n, real *to) noexcept nogil:
    """Copy `n` elements. Short rows are copied without a call of memcpy."""
    if n > 64:
        memcpy(to, line, n * sizeof(real))
        return
    while n >= 8:
        memcpy(to, line, 8 * sizeof(real))
        line, to, n = line + 8, to + 8, n - 8
    if n & 4:
        memcpy(to, line, 4 * sizeof(real))
        line, to = line + 4, to + 4
    if n & 2:
        memcpy(to, line, 2 * sizeof(real))
        line, to = line + 2, to + 2
    if n & 1:
        to[0] = line[0]


# Copy one channel of one image to the layout `s`, with zeros as padding. Elements whose indices are equal
# modulo the stride become adjacent. `strides` has the strides of images, channels and the three spatial
# dimensions, in elements.
cdef void arrange_channel(
    const real *input, const int64_t *strides, InputLayout s, int64_t image, int64_t channel, real *to
) noexcept nogil
# Raise an exception unless dtypes and layouts match and all offsets are inside of the operands. The loops do
# not check offsets.
cdef int require_fitting(x, w, bias, y, InputLayout source, list phases, Py_ssize_t groups, bint transposed) except -1

# Write the sum of the correlations of all phases to `out`, as `correlate` does. The caller has checked the
# operands with `require_fitting`. The packed weight comes from the cache if `owner` is the tensor of the weight
# and `layouts` has the key of the packed layout for each phase. Both may be None.
cdef int correlate_fitting(
    object input, object weight, object bias, object out, InputLayout source, list phases, int64_t groups, bint transposed,
    Tensor owner, list layouts
) except -1
