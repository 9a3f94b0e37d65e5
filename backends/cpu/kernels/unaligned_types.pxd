"""Integer types for unaligned access to elements of any dtype, without strict aliasing.

An element of 8 bytes may have a smaller alignment. For example, complex64 is aligned like a float. The
following line copies 8 bytes from `x` to `out`:

    (<eight_bytes *>out)[0] = (<const eight_bytes *>x)[0]
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t

cdef extern from "unaligned_types.h" nogil:
    ctypedef int16_t two_bytes
    ctypedef int32_t four_bytes
    ctypedef int64_t eight_bytes

ctypedef fused element:
    int8_t
    two_bytes
    four_bytes
    eight_bytes
