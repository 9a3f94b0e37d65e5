/* Arithmetic of float and int64 rows with a scalar parameter. The compiler vectorizes the loops (`simd.h`).

   In: contiguous elements and parameters. Out: the same number of elements. */

#ifndef TS_ARITHMETIC_H
#define TS_ARITHMETIC_H

#include "branchless_select.h"
#include "simd.h"

#define ROW_OF(NAME, EXPRESSION) \
SIMD_BODY void simd_##NAME##_row_body(const float *x, const float *y, const float *z, ptrdiff_t n, float by, \
                                     float *restrict out) { \
    (void)y; (void)z; (void)by; \
    for (ptrdiff_t i = 0; i < n; i++) out[i] = EXPRESSION; \
} \
SIMD_VERSIONS(void, simd_##NAME##_row, (const float *x, const float *y, const float *z, ptrdiff_t n, float by, \
               float *restrict out), \
              (x, y, z, n, by, out))
ROW_OF(square, x[i] * x[i])
ROW_OF(rsub, by - x[i])
ROW_OF(add_scaled, x[i] + by * y[i])
ROW_OF(addcmul, x[i] + by * y[i] * z[i])
ROW_OF(addcdiv, x[i] + by * y[i] / z[i])
ROW_OF(lerp_low, x[i] + by * (y[i] - x[i]))
ROW_OF(lerp_high, y[i] - (y[i] - x[i]) * (1 - by))

/* lerp with a tensor of weights, one per element. */
#define LERP_BY(T) \
SIMD_BODY void T##_lerp_by_body(const T *x, const T *y, const T *z, ptrdiff_t n, T *restrict out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T w = z[i], apart = y[i] - x[i]; \
        out[i] = T##_pick((w > (T)-0.5) & (w < (T)0.5), x[i] + w * apart, y[i] - apart * (1 - w)); \
    } \
} \
SIMD_VERSIONS(void, T##_lerp_by, (const T *x, const T *y, const T *z, ptrdiff_t n, T *restrict out), \
              (x, y, z, n, out))
LERP_BY(float)
LERP_BY(double)

/* A NaN element stays NaN. If low > high, the result is high. */
SIMD_BODY void simd_clamp_row_body(const float *x, ptrdiff_t n, float low, float high, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        float value = x[i] < low ? low : x[i];
        out[i] = value > high ? high : value;
    }
}
SIMD_VERSIONS(void, simd_clamp_row, (const float *x, ptrdiff_t n, float low, float high, float *restrict out),
              (x, n, low, high, out))
SIMD_BODY void simd_clamp_min_row_body(const float *x, ptrdiff_t n, float low, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] < low ? low : x[i];
}
SIMD_VERSIONS(void, simd_clamp_min_row, (const float *x, ptrdiff_t n, float low, float *restrict out),
              (x, n, low, out))
SIMD_BODY void simd_clamp_max_row_body(const float *x, ptrdiff_t n, float high, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > high ? high : x[i];
}
SIMD_VERSIONS(void, simd_clamp_max_row, (const float *x, ptrdiff_t n, float high, float *restrict out),
              (x, n, high, out))

/* x // by for 2 ** (bits - 1) < by <= 2 ** bits, computed by multiplication with `inverse` = 2 ** (63 + bits)
   / by, rounded up. This is exact for 63-bit numbers. For negative x, x and the quotient are complemented,
   because the quotient rounds down. */
INLINE int64_t quotient_by(int64_t x, uint64_t inverse, int bits) {
    uint64_t sign = (uint64_t)(x >> 63), size = (uint64_t)x ^ sign;
#ifdef __SIZEOF_INT128__
    return (int64_t)(((uint64_t)((unsigned __int128)size * inverse >> 64) >> (bits - 1)) ^ sign);
#else
    uint64_t a = size >> 32, b = size & UINT32_MAX, c = inverse >> 32, d = inverse & UINT32_MAX, low = b * d;
    uint64_t middle = a * d + (low >> 32), other = b * c + (middle & UINT32_MAX);
    return (int64_t)(((a * c + (middle >> 32) + (other >> 32)) >> (bits - 1)) ^ sign);
#endif
}
INLINE int bits_of(int64_t by) {
    int bits = 1;
    while (bits < 63 && ((int64_t)1 << bits) < by) bits++;
    return bits;
}
/* Return 2 ** (63 + bits) / by, rounded up, by long division. */
INLINE uint64_t inverse_of(int64_t by, int bits) {
    uint64_t rest = (uint64_t)1 << (bits - 1), quotient = 0; /* loop invariant: rest < by */
    for (int i = 0; i < 64; i++) {
        rest <<= 1;
        quotient = quotient << 1 | (rest >= (uint64_t)by);
        rest -= rest >= (uint64_t)by ? (uint64_t)by : 0;
    }
    return quotient + (rest != 0);
}
/* Floor division with Python's rounding, for by > 1. */
SIMD_BODY void int_quotient_row_body(const int64_t *x, ptrdiff_t n, int64_t by, int64_t *restrict out) {
    int bits = bits_of(by);
    if ((uint64_t)by == (uint64_t)1 << bits) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] >> bits;
        return;
    }
    uint64_t inverse = inverse_of(by, bits);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = quotient_by(x[i], inverse, bits);
}
SIMD_VERSIONS(void, int_quotient_row, (const int64_t *x, ptrdiff_t n, int64_t by, int64_t *restrict out),
              (x, n, by, out))
SIMD_BODY void int_rest_row_body(const int64_t *x, ptrdiff_t n, int64_t by, int64_t *restrict out) {
    int bits = bits_of(by);
    if ((uint64_t)by == (uint64_t)1 << bits) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] & (by - 1);
        return;
    }
    uint64_t inverse = inverse_of(by, bits);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - quotient_by(x[i], inverse, bits) * by;
}
SIMD_VERSIONS(void, int_rest_row, (const int64_t *x, ptrdiff_t n, int64_t by, int64_t *restrict out),
              (x, n, by, out))

#endif
