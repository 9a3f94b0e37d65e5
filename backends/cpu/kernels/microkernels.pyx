"""Microkernels of products and convolutions (`simd_tiles.h`) for the SIMD level (function multiversioning).

`simd_level.h` chooses the level. Examples:

    microkernels(True).tile[3][2]      the microkernel for 8 rows by 3 vectors of doubles
    instruction_set()                  "AVX-512"
    instruction_set(128)               "128 bit" (also limits later products to 128-bit vectors)
"""

cdef extern from "simd_tiles.h":
    Kernels kernels_of_float
    Kernels kernels_of_double
    const char *instructions
    void choose_kernels(int widest) nogil

choose_kernels(512)


cdef Kernels *microkernels(bint double_) noexcept nogil:
    return &kernels_of_double if double_ else &kernels_of_float


def instruction_set(int widest=0):
    """Return the name of the instruction set in use.

    If `widest` is not 0, first limit vectors to `widest` bits.
    """
    if widest:
        choose_kernels(widest)
    return instructions.decode()
