"""Declarations of `conv_in_place.pyx`: convolutions whose microkernels read the source in place."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.conv_job cimport Job
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution, real

# Return whether `compute_in_place` computes the correlation, otherwise `compute_panels`.
cdef bint reads_source_in_place(Job *job, SubConvolution p) noexcept nogil
# Return the number of output rows of a block, or 0 if the whole input is laid out before the computation.
cdef int64_t rows_of_block(Job *job, SubConvolution p, InputLayout s, int64_t itemsize, int64_t partitions) noexcept nogil
# Number of rows of the layout `s` that the taps of `job.block_rows` rows of the output read, and number of elements of
# a channel of these rows.
cdef int64_t block_length(Job *job, InputLayout s) noexcept nogil
cdef int64_t block_plane_size(Job *job, InputLayout s) noexcept nogil
# Run the tasks of partition `partition` of `partition_count`. Return -1 if memory is exhausted.
cdef int compute_in_place(
    Job *job, SubConvolution p, InputLayout s, int64_t partition, int64_t partition_count, real *kind
) noexcept nogil
# Write the sums of positions [q, q + count) to the rows of the output, after adding the bias if `add_bias`.
cdef void write_sums(
    Job *job, SubConvolution p, int64_t image, int64_t first, int64_t filters, real *sums, int64_t pitch, int64_t q, int64_t count,
    bint add_bias
) noexcept nogil
