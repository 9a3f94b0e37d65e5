"""State of one correlation, which the loops of `conv.pyx` and `conv_panels.pyx` read."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.conv_weight_packing cimport ConvWeight
from ts.backends.cpu.kernels.microkernels cimport Kernels

cdef struct Job:
    # Strides and offsets count elements.
    Kernels *kernels
    char *input
    int64_t input_strides[5]           # strides of image, channel and 3 spatial dimensions
    char *source
    int64_t source_image
    int64_t source_channel
    int64_t source_end  # number of elements of the source, which bounds the reads of whole vectors
    ConvWeight weight
    char *packed                       # weight as packed by `pack_weight`
    int64_t packed_group               # number of elements of a group of `packed`
    char *bias
    int64_t bias_stride
    char *out
    int64_t out_plane
    int64_t images
    int64_t groups
    int64_t channels                   # number of channels of a group
    int64_t filters                    # number of filters of a group
    int64_t depth                      # number of channels of a group times number of taps
    int64_t *offset                    # `depth` offsets in the source, one for each pair of channel and tap
    int64_t furthest                   # maximum of `offset`
    int64_t panels                     # number of panels that a task computes
    int64_t filter_parts               # number of parts of the filters, which are computed by different tasks
    int64_t block_rows                 # number of output rows whose input is laid out at a time, 0 for all
    int64_t output_rows                # number of rows of the output
    char *tile_bias                    # the bias in tiles of the microkernels' rows for each group, or NULL
    bint double_
    bint direct                        # True if microkernels may write to the output instead of a buffer


cdef inline int64_t tile_count(Job *job) noexcept nogil:
    """Return the number of tiles of the filters of a group. A tile has as many filters as a microkernel has rows."""
    return (job.filters + job.kernels.rows - 1) // job.kernels.rows


cdef inline int64_t kernel_index(Job *job, int64_t filters) noexcept nogil:
    """Return the index of the smallest microkernel whose rows suffice for a tile of at most `filters` filters."""
    cdef int64_t index = 0
    while (1 << index) < min(filters, <int64_t>job.kernels.rows):
        index += 1
    return index


cdef inline char *bias_of_tile(Job *job, int64_t group, int64_t tile) noexcept nogil:
    """Return the bias of the filters of a tile, padded to the rows of a microkernel, or NULL."""
    if job.tile_bias == NULL:
        return NULL
    return job.tile_bias + (group * tile_count(job) + tile) * job.kernels.rows * (8 if job.double_ else 4)
