"""Aligned allocation of buffers for vector kernels, at multiples of a cache line (64 bytes).

`malloc` aligns to 16 bytes only. Vector loads and stores take up to twice as long if they cross a cache line.
"""

cdef extern from *:
    """
    #include <stdlib.h>

    /* Return the address of `size` bytes, a multiple of 64, or NULL if memory is exhausted. `free` releases it. */
    static inline void *malloc_aligned(size_t size) {
        void *memory;
        return posix_memalign(&memory, 64, size ? size : 1) == 0 ? memory : NULL;
    }
    """
    void *malloc_aligned(size_t size) noexcept nogil
