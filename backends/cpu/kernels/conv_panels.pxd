"""Declarations of `conv_panels.pyx`: convolutions by packed panels of output positions."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.conv_layout cimport real
from ts.backends.cpu.kernels.conv_job cimport Job
from ts.backends.cpu.kernels.conv_layout cimport SubConvolution

cdef enum:
    MAX_PANELS_PER_TASK = 6  # number of panels that a task multiplies by a part of a large weight before it reads the next part

# Run the tasks of partition `partition` of `partition_count`. Return -1 if memory is exhausted.
cdef int compute_panels(Job *job, SubConvolution p, int64_t partition, int64_t partition_count, real *kind) noexcept nogil
# Return the number of output positions of all images.
cdef int64_t position_count(Job *job, SubConvolution p) noexcept nogil
