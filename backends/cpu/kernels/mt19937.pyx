"""Pseudorandom number generator (Mersenne Twister) and rejection sampling (Marsaglia-Tsang, PTRS, BTRS).

Input: a seed, or a state of 5056 bytes. Output: words, uniform numbers, and samples of distributions. All are
equal to PyTorch's:

    >>> MersenneTwister(0).words(2)
    array([2357136044, 2546248239], dtype=uint32)

The state has PyTorch's layout. The table shows the offset in bytes, the name and the type of each field:

    0     seed             uint64
    8     left             int32     words until the next twist, plus one
    12    seeded           int32
    16    next             uint64    index in `words` of the next word
    24    words            624 times uint64
    5016  x, y, rho        double    y: the unused second normal number of a pair
    5040  y is valid       int32, then four unused bytes
    5048  float sample     float, a valid flag, three unused bytes
"""

from libc.math cimport NAN, ceil, cos, exp, floor, fma, isnan, lgamma, log, log1p, pow, sin, sqrt
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

DEF N = 624

cdef extern from "mt19937_block.h" nogil:
    void twist_words(uint64_t *w)
    void floats_of_words(const uint64_t *w, Py_ssize_t n, float low, float span, float *out)
    void doubles_of_words(const uint64_t *w, Py_ssize_t n, double low, double span, double *out)


assert sizeof(State) == 5056

STATE_BYTES = sizeof(State)

cdef double TWO_PI = 6.283185307179586476925286766559


cdef class MersenneTwister:
    """The generator MT19937, with the cached second number of a pair of normal numbers."""

    def __cinit__(self, seed):
        self.seed(seed)

    def seed(self, seed):
        """Restart the sequence of random numbers from `seed`.

        The words depend only on the low 32 bits of `seed`.
        """
        cdef uint32_t word
        cdef int i
        cdef uint64_t seed_bits = seed & 0xFFFFFFFFFFFFFFFF
        memset(&self.s, 0, sizeof(State))
        self.s.seed = seed_bits
        self.s.left = 1
        self.s.seeded = 1
        word = <uint32_t>seed_bits
        for i in range(N):
            self.s.words[i] = word
            word = 1812433253U * (word ^ (word >> 30)) + <uint32_t>(i + 1)

    @property
    def initial_seed(self):
        """Return the seed with which the sequence was started."""
        return self.s.seed

    def get_state(self):
        """Return the state as an array of bytes."""
        state = np.empty(sizeof(State), dtype=np.uint8)
        cdef uint8_t[::1] view = state
        memcpy(&view[0], &self.s, sizeof(State))
        return state

    def set_state(self, const uint8_t[::1] state not None):
        """Restore a state returned by `get_state` of this class or of PyTorch.

        Raise RuntimeError if the state is invalid.
        """
        cdef State new
        if state.shape[0] != sizeof(State):
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {sizeof(State)} but found the input RNG state size to be "
                f"{state.shape[0]}"
            )
        memcpy(&new, &state[0], sizeof(State))
        if new.seeded != 1 or not 1 <= new.left <= N or new.next > N or (new.left > 1 and new.next + new.left != N + 1):
            raise RuntimeError("Invalid mt19937 state")
        self.s = new

    # ---------------------------------------------------------------- words

    cdef void twist(self) noexcept:
        twist_words(self.s.words)
        self.s.left = N
        self.s.next = 0

    cdef Py_ssize_t available_words(self) noexcept:
        """Return the number of unread words, which start at index `next`.

        If none is left, generate a new block. The result is thus at least 1."""
        if self.s.left == 1:
            self.twist()
            self.s.left = N + 1
        return self.s.left - 1

    cdef void skip_words(self, Py_ssize_t count) noexcept:
        self.s.left -= <int32_t>count
        self.s.next += count

    cdef uint32_t word(self) noexcept:
        cdef uint32_t y
        self.s.left -= 1
        if self.s.left == 0:
            self.twist()
        y = <uint32_t>self.s.words[self.s.next]
        self.s.next += 1
        y ^= y >> 11
        y ^= (y << 7) & 0x9D2C5680U
        y ^= (y << 15) & 0xEFC60000U
        return y ^ (y >> 18)

    cdef uint64_t two_words(self) noexcept:
        cdef uint64_t high = self.word()
        return (high << 32) | self.word()

    def words(self, Py_ssize_t n):
        """Return the next `n` words as a uint32 array."""
        result = np.empty(n, dtype=np.uint32)
        cdef uint32_t[::1] out = result
        cdef Py_ssize_t i
        for i in range(n):
            out[i] = self.word()
        return result

    def double_words(self, Py_ssize_t n):
        """Return the next `n` pairs of words as uint64. The first word of a pair is the high half."""
        result = np.empty(n, dtype=np.uint64)
        cdef uint64_t[::1] out = result
        cdef Py_ssize_t i
        for i in range(n):
            out[i] = self.two_words()
        return result

    # ---------------------------------------------------------------- uniform and normal numbers

    cdef double uniform_double(self) noexcept:
        """Return a number in [0, 1) made of 53 bits of two words."""
        return <double>(self.two_words() & 0x1FFFFFFFFFFFFFULL) * (1.0 / 9007199254740992.0)

    def doubles(self, Py_ssize_t n, double low=0, double high=1):
        """Return `n` float64 numbers in [low, high). Each uses 53 bits of two words and is rounded once."""
        result = np.empty(n, dtype=np.float64)
        cdef double[::1] out = result
        if n:
            self.fill_doubles(&out[0], n, low, high)
        return result

    cdef void fill_doubles(self, double *out, Py_ssize_t n, double low, double high) noexcept:
        cdef double span = high - low
        cdef Py_ssize_t count
        while n:
            count = min(n, self.available_words() // 2)
            if count == 0:             # The current block has only the first of the two words of a number.
                out[0] = fma(self.uniform_double(), span, low)
                count = 1
            else:
                doubles_of_words(self.s.words + self.s.next, count, low, span, out)
                self.skip_words(2 * count)
            out += count
            n -= count

    def floats(self, Py_ssize_t n, float low=0, float high=1):
        """Return `n` float32 numbers in [low, high). Each uses 24 bits of one word and is rounded once."""
        result = np.empty(n, dtype=np.float32)
        cdef float[::1] out = result
        if n:
            self.fill_floats(&out[0], n, low, high)
        return result

    cdef void fill_floats(self, float *out, Py_ssize_t n, float low, float high) noexcept:
        cdef float span = high - low
        cdef Py_ssize_t count
        while n:
            count = min(n, self.available_words())
            floats_of_words(self.s.words + self.s.next, count, low, span, out)
            self.skip_words(count)
            out += count
            n -= count

    cdef float uniform_float(self) noexcept:
        """Return a number in [0, 1) made of 24 bits of one word."""
        return <float>(self.word() & 0xFFFFFFU) * <float>(1.0 / 16777216.0)

    cdef double normal(self) noexcept:
        """Return a standard normal number (Box-Muller).

        Numbers come in pairs. The second is cached for the next call.
        """
        cdef double u1, u2, radius
        if self.s.y_valid:
            self.s.y_valid = 0
            u1 = self.s.y
            self.s.y = 0
            return u1
        u1 = self.uniform_double()
        u2 = self.uniform_double()
        radius = sqrt(-2 * log1p(-u2))
        self.s.y = radius * sin(TWO_PI * u1)
        self.s.y_valid = 1
        return radius * cos(TWO_PI * u1)

    def normals(self, Py_ssize_t n):
        """Return `n` standard normal float64 numbers, drawn one after the other."""
        result = np.empty(n, dtype=np.float64)
        cdef double[::1] out = result
        cdef Py_ssize_t i
        for i in range(n):
            out[i] = self.normal()
        return result

    def permutation(self, Py_ssize_t n):
        """Return a random permutation of range(n), by the Fisher-Yates shuffle from the front."""
        result = np.arange(n, dtype=np.int64)
        cdef int64_t[::1] out = result
        cdef int64_t swapped
        cdef Py_ssize_t i, j
        for i in range(n - 1):
            j = i + <Py_ssize_t>(self.word() % <uint64_t>(n - i))
            swapped = out[i]
            out[i] = out[j]
            out[j] = swapped
        return result

    # ---------------------------------------------------------------- samples with parameters per element

    def slopes(self, const double[::1] x, double low, double high):
        """Return the slopes of rrelu for the elements `x`: uniform in [low, high) if x <= 0, else 1."""
        result = np.ones(x.shape[0], dtype=np.float64)
        cdef double[::1] out = result
        cdef Py_ssize_t i
        for i in range(x.shape[0]):
            if x[i] <= 0:
                out[i] = fma(self.uniform_double(), high - low, low)
        return result

    def poisson(self, const double[::1] rate):
        """Return an array of Poisson samples, one for each rate."""
        result = np.empty(rate.shape[0], dtype=np.float64)
        cdef double[::1] out = result
        cdef Py_ssize_t i
        for i in range(rate.shape[0]):
            out[i] = self.sample_poisson(rate[i])
        return result

    cdef double sample_poisson(self, double rate) noexcept:
        """Draw a Poisson sample: by Knuth's product for rates below 10, else by Hörmann's rejection (PTRS, 1993)."""
        cdef double product, bound, a, b, inverse_alpha, v_r, u, v, us, k
        if rate == 0:
            return 0
        if rate < 10:
            bound = exp(-rate)
            product = 1
            k = 0
            while True:
                product *= self.uniform_double()
                if not product > bound:        # the negation also ends the loop for a NaN rate
                    return k
                k += 1
        b = 0.931 + 2.53 * sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        v_r = 0.9277 - 3.6224 / (b - 2)
        while True:
            u = self.uniform_double() - 0.5
            v = self.uniform_double()
            us = 0.5 - (u if u >= 0 else -u)
            k = floor((2 * a / us + b) * u + rate + 0.43)
            if us >= 0.07 and v <= v_r:
                return k
            if k < 0 or (us < 0.013 and v > us):
                continue
            if log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1):
                return k

    def binomial(self, const double[::1] count, const double[::1] prob):
        """Return an array of binomial samples, one for each pair of a count and a probability."""
        result = np.empty(count.shape[0], dtype=np.float64)
        cdef double[::1] out = result
        cdef Py_ssize_t i
        for i in range(count.shape[0]):
            out[i] = self.sample_binomial(count[i], prob[i])
        return result

    cdef double sample_binomial(self, double count, double prob) noexcept:
        cdef double p
        if count <= 0 or prob <= 0:
            return 0
        if prob >= 1:
            return count
        if isnan(prob) or isnan(count):
            return NAN
        p = prob if prob <= 0.5 else 1 - prob
        p = self.binomial_by_rejection(count, p) if count * p >= 10 else self.binomial_by_gaps(count, p)
        return p if prob <= 0.5 else count - p

    cdef double binomial_by_gaps(self, double count, double prob) noexcept:
        """Draw a binomial sample by adding geometric gaps between successes."""
        cdef double sum = 0, draws = 0, scale = log1p(-prob)
        while True:
            sum += ceil(log(self.uniform_double()) / scale)
            if sum > count:
                return draws
            draws += 1

    cdef double binomial_by_rejection(self, double count, double prob) noexcept:
        """Draw a binomial sample by Hörmann's transformed rejection (BTRS, 1993)."""
        cdef double spread = sqrt(count * prob * (1 - prob))
        cdef double b = 1.15 + 2.53 * spread
        cdef double a = -0.0873 + 0.0248 * b + 0.01 * prob
        cdef double c = count * prob + 0.5
        cdef double v_r = 0.92 - 4.2 / b
        cdef double odds = prob / (1 - prob)
        cdef double alpha = (2.83 + 5.1 / b) * spread
        cdef double m = floor((count + 1) * prob)
        cdef double u, v, us, k, bound
        while True:
            u = self.uniform_double() - 0.5
            v = self.uniform_double()
            us = 0.5 - (u if u >= 0 else -u)
            k = floor((2 * a / us + b) * u + c)
            if us >= 0.07 and v <= v_r:
                return k
            if k < 0 or k > count:
                continue
            v = log(v * alpha / (a / (us * us) + b))
            bound = (
                (m + 0.5) * log((m + 1) / (odds * (count - m + 1)))
                + (count + 1) * log((count - m + 1) / (count - k + 1))
                + (k + 0.5) * log(odds * (count - k + 1) / (k + 1))
                + stirling_tail(m) + stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k)
            )
            if v <= bound:
                return k

    def gamma(self, const double[::1] shape):
        """Return an array of gamma samples with scale 1, one for each shape parameter."""
        result = np.empty(shape.shape[0], dtype=np.float64)
        cdef double[::1] out = result
        cdef Py_ssize_t i
        for i in range(shape.shape[0]):
            out[i] = self.sample_gamma(shape[i])
        return result

    cdef double sample_gamma(self, double alpha) noexcept:
        """Draw a gamma sample (Marsaglia and Tsang, 2000).

        For a shape parameter `alpha` below 1, the sample for `alpha` + 1 is multiplied by a power of a uniform
        number. Constants are float32, as in PyTorch.
        """
        cdef double scale = 1, c, d, x, y, u, v
        if alpha == 0 or isnan(alpha):
            return alpha
        if alpha < 1:
            scale = pow(1 - self.uniform_double(), 1 / alpha)
            alpha += 1
        d = alpha - <double>(<float>1.0 / <float>3.0)
        c = 1 / sqrt(9 * d)
        while True:
            while True:
                x = self.normal()
                y = 1 + c * x
                if not y <= 0:                 # the negation is also true for a NaN shape parameter
                    break
            v = y * y * y
            u = 1 - self.uniform_double()
            if u < 1 - <double><float>0.0331 * x * x * x * x:
                return scale * d * v
            if log(u) < 0.5 * x * x + d * (1 - v + log(v)):
                return scale * d * v


cdef MersenneTwister _default = None


cdef MersenneTwister default_stream():
    return _default


def set_default(MersenneTwister stream not None):
    """Set the default generator, from which operators draw."""
    global _default
    _default = stream


# Errors of Stirling's approximation: STIRLING_TAILS[k] is log(k!) minus the approximation
# (k + 1/2) * log(k + 1) - (k + 1) + log(2 * pi) / 2, for k < 10.
cdef double[10] STIRLING_TAILS = [
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
]


cdef double stirling_tail(double k) noexcept:
    cdef double next = k + 1
    if k <= 9:
        return STIRLING_TAILS[<int>k]
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / (next * next)) / (next * next)) / next
