"""Mersenne Twister (MT19937) of PyTorch's CPU generator, for kernels that draw numbers or fill arrays."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef struct State:
    uint64_t seed
    int32_t left
    int32_t seeded
    uint64_t next
    uint64_t words[624]
    double x
    double y
    double rho
    int32_t y_valid
    int32_t unused
    float sample
    uint8_t sample_valid
    uint8_t unused2[3]


cdef class MersenneTwister:
    cdef State s

    cdef void twist(self) noexcept
    cdef Py_ssize_t available_words(self) noexcept
    cdef void skip_words(self, Py_ssize_t count) noexcept
    cdef uint32_t word(self) noexcept
    cdef uint64_t two_words(self) noexcept
    cdef double uniform_double(self) noexcept  # returns a number in [0, 1) made of two words
    cdef float uniform_float(self) noexcept  # returns a number in [0, 1) made of one word
    cdef double normal(self) noexcept
    cdef double sample_poisson(self, double rate) noexcept
    cdef double sample_binomial(self, double count, double prob) noexcept
    cdef double binomial_by_gaps(self, double count, double prob) noexcept
    cdef double binomial_by_rejection(self, double count, double prob) noexcept
    cdef double sample_gamma(self, double alpha) noexcept
    cdef void fill_floats(self, float *out, Py_ssize_t n, float low, float high) noexcept
    cdef void fill_doubles(self, double *out, Py_ssize_t n, double low, double high) noexcept


# Return the default generator, or None before `set_default` is called.
cdef MersenneTwister default_stream()
