"""Declarations of `conv.pyx`: functions that compute correlations."""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution

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
