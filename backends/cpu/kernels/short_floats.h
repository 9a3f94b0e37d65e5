/* 16-bit floats and what they are in 32 bits: exact the one way, rounded to the nearest, ties to even, the other. */

#ifndef TS_SHORT_FLOATS_H
#define TS_SHORT_FLOATS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float from_bfloat16(uint16_t x) { return float_of_bits((uint32_t)x << 16); }

static inline uint16_t to_bfloat16(float x) {
    uint32_t bits = bits_of_float(x);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return (uint16_t)(((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded) >> 16);
}

static inline float from_half(uint16_t x) {
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = x & 0x7fff;
    if (rest >= 0x7c00) return float_of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x400) return float_of_bits(sign | ((rest << 13) + 0x38000000));
    return float_of_bits(sign | bits_of_float((float)rest * 0x1p-24f)); /* subnormal */
}

static inline uint16_t to_half(float x) {
    uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (rest >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* subnormal: 0.5 has the places that are left as its last ones */
        return (uint16_t)(sign | (bits_of_float(float_of_bits(rest) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | (rest - 0x38000000 + 0xfff + ((rest >> 13) & 1)) >> 13);
}

/* n elements, `step` bytes apart, to floats that lie in order, and back. */

static inline void widen(const char *x, ptrdiff_t step, ptrdiff_t n, int brain, float *out) {
    ptrdiff_t i;
    if (brain && step == 2) {
        for (i = 0; i < n; i++) out[i] = from_bfloat16(((const uint16_t *)x)[i]);
    } else if (brain) {
        for (i = 0; i < n; i++) out[i] = from_bfloat16(*(const uint16_t *)(x + i * step));
    } else {
        for (i = 0; i < n; i++) out[i] = from_half(*(const uint16_t *)(x + i * step));
    }
}

static inline void shorten(const float *x, ptrdiff_t n, int brain, char *out, ptrdiff_t step) {
    ptrdiff_t i;
    if (brain && step == 2) {
        for (i = 0; i < n; i++) ((uint16_t *)out)[i] = to_bfloat16(x[i]);
    } else if (brain) {
        for (i = 0; i < n; i++) *(uint16_t *)(out + i * step) = to_bfloat16(x[i]);
    } else {
        for (i = 0; i < n; i++) *(uint16_t *)(out + i * step) = to_half(x[i]);
    }
}

#endif
