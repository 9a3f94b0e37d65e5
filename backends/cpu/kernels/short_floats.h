/* Conversion between half precision (float16, bfloat16) and float32: exact to float32, and to half
   precision by round half to even.

   Rows are converted by processor instructions at the SIMD levels AVX-512 and AVX2 (F16C). */

#ifndef TS_SHORT_FLOATS_H
#define TS_SHORT_FLOATS_H

#include "simd.h"

#if HAS_SIMD_LEVELS
#include <immintrin.h>
#endif

INLINE float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float from_bfloat16(uint16_t x) { return float_of_bits((uint32_t)x << 16); }

INLINE uint16_t to_bfloat16(float x) {
    uint32_t bits = bits_of_float(x);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return (uint16_t)(((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded) >> 16);
}

INLINE float from_half(uint16_t x) {
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = x & 0x7fff;
    if (rest > 0x7c00) return float_of_bits(sign | 0x7fc00000 | (rest & 0x3ff) << 13);
    if (rest == 0x7c00) return float_of_bits(sign | 0x7f800000);
    if (rest >= 0x400) return float_of_bits(sign | ((rest << 13) + 0x38000000));
    return float_of_bits(sign | bits_of_float((float)rest * 0x1p-24f)); /* subnormal number */
}

INLINE uint16_t to_half(float x) {
    uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x1ff)); /* as in F16C, the leading payload bits of a NaN are kept */
    if (rest >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* subnormal number: adding 0.5 rounds it to a multiple of 2**-24 */
        return (uint16_t)(sign | (bits_of_float(float_of_bits(rest) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | (rest - 0x38000000 + 0xfff + ((rest >> 13) & 1)) >> 13);
}

/* Conversion of contiguous rows. The elements after the last whole vector are converted one by one, with
   identical bits. */

#if HAS_SIMD_LEVELS
#define BY_16 TARGET_AVX512 static ptrdiff_t
#define BY_8 TARGET_AVX2 static ptrdiff_t

BY_16 widen_halves_by_16(const two_bytes *x, ptrdiff_t n, float *out) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(x + i))));
    return i;
}
BY_16 shorten_to_halves_by_16(const float *x, ptrdiff_t n, two_bytes *out) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(out + i), _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
BY_16 widen_brains_by_16(const two_bytes *x, ptrdiff_t n, float *out) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(x + i)));
        _mm512_storeu_si512(out + i, _mm512_slli_epi32(bits, 16));
    }
    return i;
}
BY_16 shorten_to_brains_by_16(const float *x, ptrdiff_t n, two_bytes *out) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i bits = _mm512_loadu_si512(x + i), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
        __mmask16 nan = _mm512_cmpgt_epi32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)), _mm512_set1_epi32(0x7f800000));
        rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
        _mm256_storeu_si256((__m256i *)(out + i), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
    }
    return i;
}
BY_8 widen_halves_by_8(const two_bytes *x, ptrdiff_t n, float *out) {
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
    return i;
}
BY_8 shorten_to_halves_by_8(const float *x, ptrdiff_t n, two_bytes *out) {
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
#define WITH_AVX2 TARGET_AVX2 static
WITH_AVX2 inline __m256i brains_of_8(const float *x) { /* each 32-bit element has a bfloat16 in its low half */
    __m256i bits = _mm256_loadu_si256((const __m256i *)x), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    __m256i nan = _mm256_cmpgt_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff)), _mm256_set1_epi32(0x7f800000));
    rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), nan);
    return _mm256_srli_epi32(rounded, 16);
}
WITH_AVX2 ptrdiff_t shorten_to_brains_by_8(const float *x, ptrdiff_t n, two_bytes *out) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i packed = _mm256_packus_epi32(brains_of_8(x + i), brains_of_8(x + i + 8)); /* the instruction packs within 128-bit halves */
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0)));
    }
    return i;
}
#define BY_VECTORS(NAME, NARROW) simd_level == SIMD_AVX512 ? NAME##_by_16(x, n, out) : simd_level == SIMD_AVX2 ? NARROW : 0
#else
#define BY_VECTORS(NAME, NARROW) 0
#endif

SIMD_BODY void widen_brains_each_body(const two_bytes *x, ptrdiff_t n, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = from_bfloat16(x[i]);
}
SIMD_VERSIONS(void, widen_brains_each, (const two_bytes *x, ptrdiff_t n, float *restrict out), (x, n, out))
SIMD_BODY void shorten_to_brains_each_body(const float *x, ptrdiff_t n, two_bytes *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = to_bfloat16(x[i]);
}
SIMD_VERSIONS(void, shorten_to_brains_each, (const float *x, ptrdiff_t n, two_bytes *restrict out), (x, n, out))

static inline void widen_brains_row(const two_bytes *x, ptrdiff_t n, float *out) {
    ptrdiff_t i = BY_VECTORS(widen_brains, 0);
    widen_brains_each(x + i, n - i, out + i);
}
static inline void shorten_to_brains_row(const float *x, ptrdiff_t n, two_bytes *out) {
    ptrdiff_t i = BY_VECTORS(shorten_to_brains, shorten_to_brains_by_8(x, n, out));
    shorten_to_brains_each(x + i, n - i, out + i);
}
static inline void widen_halves_row(const two_bytes *x, ptrdiff_t n, float *out) {
    for (ptrdiff_t i = BY_VECTORS(widen_halves, widen_halves_by_8(x, n, out)); i < n; i++) out[i] = from_half(x[i]);
}
static inline void shorten_to_halves_row(const float *x, ptrdiff_t n, two_bytes *out) {
    for (ptrdiff_t i = BY_VECTORS(shorten_to_halves, shorten_to_halves_by_8(x, n, out)); i < n; i++) out[i] = to_half(x[i]);
}

/* Convert n elements that are `step` bytes apart to contiguous float32, and back. */

static inline void widen(const char *x, ptrdiff_t step, ptrdiff_t n, int brain, float *out) {
    ptrdiff_t i;
    if (step != 2) {
        for (i = 0; i < n; i++) {
            uint16_t bits = *(const two_bytes *)(x + i * step);
            out[i] = brain ? from_bfloat16(bits) : from_half(bits);
        }
    } else if (brain)
        widen_brains_row((const two_bytes *)x, n, out);
    else
        widen_halves_row((const two_bytes *)x, n, out);
}

static inline void shorten(const float *x, ptrdiff_t n, int brain, char *out, ptrdiff_t step) {
    ptrdiff_t i;
    if (step != 2) {
        for (i = 0; i < n; i++) *(two_bytes *)(out + i * step) = brain ? to_bfloat16(x[i]) : to_half(x[i]);
    } else if (brain)
        shorten_to_brains_row(x, n, (two_bytes *)out);
    else
        shorten_to_halves_row(x, n, (two_bytes *)out);
}

/* Conversion between float64 and float32. */

SIMD_BODY void widen_floats_row_body(const float *x, ptrdiff_t n, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i];
}
SIMD_VERSIONS(void, widen_floats_row, (const float *x, ptrdiff_t n, double *restrict out), (x, n, out))

SIMD_BODY void shorten_doubles_row_body(const double *x, ptrdiff_t n, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = (float)x[i];
}
SIMD_VERSIONS(void, shorten_doubles_row, (const double *x, ptrdiff_t n, float *restrict out), (x, n, out))

#endif
