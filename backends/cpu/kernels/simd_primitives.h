/* SIMD intrinsics: primitives of the vectorized mathematics, for the processor selected by TIER: 4 has AVX-512, 3 has
   AVX2 and FMA, 0 uses the compiler's generic vectors.

   In: vectors of floats (`lanes`) and doubles (`wides`) of one width. Masks have the type of the tier's
   comparisons. A table has coefficients for each of 32 (floats) or 16 (doubles) intervals of an argument.
   With AVX-512, a row of the table has one coefficient of all intervals, and a permutation selects the
   coefficient for each element. With AVX2, a row has all coefficients of one interval. The rows are loaded
   and transposed, in a third of the time of a gather. */

#ifndef TS_VECTOR_WORDS_H
#define TS_VECTOR_WORDS_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !(defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__))
#undef TIER
#define TIER 0
#endif

#define INLINE static inline __attribute__((always_inline))

#if TIER == 4
enum { BYTES = 64 };
#elif TIER == 3
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { LANES = BYTES / 4, WIDES = BYTES / 8 };
#if TIER == 3
enum { FLOAT_CELLS = 12, DOUBLE_CELLS = 16 }; /* number of coefficients in a row: those of one interval, padded */
#else
enum { FLOAT_CELLS = 32, DOUBLE_CELLS = 16 }; /* number of coefficients in a row: one per interval */
#endif
typedef const float (*float_table)[FLOAT_CELLS];
typedef const double (*double_table)[DOUBLE_CELLS];

typedef float lanes __attribute__((vector_size(BYTES), may_alias));
typedef int32_t int_lanes __attribute__((vector_size(BYTES), may_alias));
typedef uint32_t bit_lanes __attribute__((vector_size(BYTES), may_alias));
typedef double wides __attribute__((vector_size(BYTES), may_alias));
typedef int64_t wide_ints __attribute__((vector_size(BYTES), may_alias));
typedef uint64_t wide_bits __attribute__((vector_size(BYTES), may_alias));
typedef float narrows __attribute__((vector_size(BYTES / 2), may_alias)); /* a vector with as many floats as `wides` has doubles */

/* Broadcast a number to a vector. A vector argument is returned unchanged. */
#define LANE(x) ((x) - (lanes){0})
#define WIDE(x) ((x) - (wides){0})

#if TIER == 4
typedef __mmask16 lane_mask;
typedef __mmask8 wide_mask;
INLINE lane_mask lane_less(lanes a, lanes b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
INLINE wide_mask wide_less(wides a, wides b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ); }
INLINE lane_mask lane_odd(int_lanes i) { return _mm512_test_epi32_mask((__m512i)i, _mm512_set1_epi32(1)); }
INLINE wide_mask wide_odd(wide_ints i) { return _mm512_test_epi64_mask((__m512i)i, _mm512_set1_epi64(1)); }
INLINE lanes lane_choose(lane_mask m, lanes a, lanes b) { return (lanes)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a); }
INLINE wides wide_choose(wide_mask m, wides a, wides b) { return (wides)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a); }
INLINE int lane_all(lane_mask m) { return m == 0xFFFF; }
INLINE int wide_all(wide_mask m) { return m == 0xFF; }
/* Fused multiply-add: a * b + c. */
INLINE lanes lane_fused(lanes a, lanes b, lanes c) { return (lanes)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
INLINE wides wide_fused(wides a, wides b, wides c) { return (wides)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
/* Minimum and maximum. If an operand is NaN, the result is the second operand. */
INLINE lanes lane_min(lanes a, lanes b) { return (lanes)_mm512_min_ps((__m512)a, (__m512)b); }
INLINE lanes lane_max(lanes a, lanes b) { return (lanes)_mm512_max_ps((__m512)a, (__m512)b); }
INLINE wides wide_min(wides a, wides b) { return (wides)_mm512_min_pd((__m512d)a, (__m512d)b); }
INLINE wides wide_max(wides a, wides b) { return (wides)_mm512_max_pd((__m512d)a, (__m512d)b); }
/* The elements of a lookup table at the indices i. */
INLINE lanes lane_lookup(const float *table, int_lanes i) {
    return (lanes)_mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)i, _mm512_loadu_ps(table + 16));
}
INLINE wides wide_lookup(const double *table, wide_ints i) {
    return (wides)_mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)i, _mm512_loadu_pd(table + 8));
}
/* 1 / sqrt(x), accurate to 14 bits, for x that are not subnormal. */
INLINE lanes lane_root_guess(lanes x) { return (lanes)_mm512_rsqrt14_ps((__m512)x); }
INLINE wides wide_root_guess(wides x) { return (wides)_mm512_rsqrt14_pd((__m512d)x); }
/* 1 / x, accurate to a few units in the last place, for x that are neither subnormal nor very large. */
INLINE lanes lane_inverse(lanes x) {
    lanes y = (lanes)_mm512_rcp14_ps((__m512)x);
    return lane_fused(lane_fused(-x, y, 1.0f - (lanes){0}), y, y);
}
INLINE lanes lane_sqrt(lanes x) { return (lanes)_mm512_sqrt_ps((__m512)x); }
INLINE wides wide_sqrt(wides x) { return (wides)_mm512_sqrt_pd((__m512d)x); }
INLINE wides wide_of(narrows x) { return (wides)_mm512_cvtps_pd((__m256)x); }
INLINE narrows narrow_of(wides x) { return (narrows)_mm512_cvtpd_ps((__m512d)x); }
#else
INLINE lanes lane_inverse(lanes x) { return 1.0f / x; }
typedef int_lanes lane_mask;
typedef wide_ints wide_mask;
INLINE lane_mask lane_less(lanes a, lanes b) { return a < b; }
INLINE wide_mask wide_less(wides a, wides b) { return a < b; }
INLINE lane_mask lane_odd(int_lanes i) { return -(i & 1); }
INLINE wide_mask wide_odd(wide_ints i) { return -(i & 1); }
#if TIER == 3
INLINE lanes lane_choose(lane_mask m, lanes a, lanes b) { return (lanes)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
INLINE wides wide_choose(wide_mask m, wides a, wides b) { return (wides)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
INLINE int lane_all(lane_mask m) { return _mm256_movemask_ps((__m256)m) == 0xFF; }
INLINE int wide_all(wide_mask m) { return _mm256_movemask_pd((__m256d)m) == 0xF; }
INLINE lanes lane_fused(lanes a, lanes b, lanes c) { return (lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
INLINE wides wide_fused(wides a, wides b, wides c) { return (wides)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
INLINE lanes lane_min(lanes a, lanes b) { return (lanes)_mm256_min_ps((__m256)a, (__m256)b); }
INLINE lanes lane_max(lanes a, lanes b) { return (lanes)_mm256_max_ps((__m256)a, (__m256)b); }
INLINE wides wide_min(wides a, wides b) { return (wides)_mm256_min_pd((__m256d)a, (__m256d)b); }
INLINE wides wide_max(wides a, wides b) { return (wides)_mm256_max_pd((__m256d)a, (__m256d)b); }
/* Load the coefficients from index `first` on, four or two at a time. Those of elements 0 and 4 are loaded
   into one vector, those of elements 1 and 5 into the next, and so on. */
INLINE __m256 lane_quads(float_table table, int first, int low, int high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(table[low] + first)), _mm_load_ps(table[high] + first), 1);
}
INLINE void lane_cells(float_table table, int first, int count, int_lanes i, lanes *c) {
    int_lanes at = i & 31;
    __m256 a = lane_quads(table, first, at[0], at[4]), b = lane_quads(table, first, at[1], at[5]);
    __m256 d = lane_quads(table, first, at[2], at[6]), e = lane_quads(table, first, at[3], at[7]);
    __m256d ab = (__m256d)_mm256_unpacklo_ps(a, b), de = (__m256d)_mm256_unpacklo_ps(d, e);
    __m256d after_ab = (__m256d)_mm256_unpackhi_ps(a, b), after_de = (__m256d)_mm256_unpackhi_ps(d, e);
    c[0] = (lanes)_mm256_unpacklo_pd(ab, de);
    if (count > 1) c[1] = (lanes)_mm256_unpackhi_pd(ab, de);
    if (count > 2) c[2] = (lanes)_mm256_unpacklo_pd(after_ab, after_de);
    if (count > 3) c[3] = (lanes)_mm256_unpackhi_pd(after_ab, after_de);
}
INLINE __m256d wide_pairs(double_table table, int first, int64_t low, int64_t high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(table[low] + first)), _mm_load_pd(table[high] + first), 1);
}
INLINE void wide_cells(double_table table, int first, int count, wide_ints i, wides *c) {
    wide_ints at = i & 15;
    __m256d a = wide_pairs(table, first, at[0], at[2]), b = wide_pairs(table, first, at[1], at[3]);
    c[0] = (wides)_mm256_unpacklo_pd(a, b);
    if (count > 1) c[1] = (wides)_mm256_unpackhi_pd(a, b);
}
INLINE lanes lane_sqrt(lanes x) { return (lanes)_mm256_sqrt_ps((__m256)x); }
INLINE wides wide_sqrt(wides x) { return (wides)_mm256_sqrt_pd((__m256d)x); }
INLINE wides wide_of(narrows x) { return (wides)_mm256_cvtps_pd((__m128)x); }
INLINE narrows narrow_of(wides x) { return (narrows)_mm256_cvtpd_ps((__m256d)x); }
#else
INLINE lanes lane_choose(lane_mask m, lanes a, lanes b) { return (lanes)((m & (int_lanes)a) | (~m & (int_lanes)b)); }
INLINE wides wide_choose(wide_mask m, wides a, wides b) { return (wides)((m & (wide_ints)a) | (~m & (wide_ints)b)); }
INLINE int lane_all(lane_mask m) {
    wide_ints both = (wide_ints)m;
    return (both[0] & both[1]) == -1;
}
INLINE int wide_all(wide_mask m) { return (m[0] & m[1]) == -1; }
#ifdef __FP_FAST_FMA
INLINE lanes lane_fused(lanes a, lanes b, lanes c) {
    for (int i = 0; i < LANES; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
INLINE wides wide_fused(wides a, wides b, wides c) {
    for (int i = 0; i < WIDES; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#else /* exact products in two parts by Dekker's splitting, or the rounded product if the splitting overflows */
INLINE lanes lane_fused(lanes a, lanes b, lanes c) {
    for (int i = 0; i < LANES; i++) c[i] = (float)((double)a[i] * b[i] + c[i]);
    return c;
}
INLINE wides wide_half(wides x) {
    wides much = x * 134217729.0;
    return much - (much - x);
}
INLINE wides wide_fused(wides a, wides b, wides c) {
    wides p = a * b, ah = wide_half(a), al = a - ah, bh = wide_half(b), bl = b - bh, s = p + c, back = s - p;
    wides fused = s + (((p - (s - back)) + (c - back)) + (((ah * bh - p) + ah * bl + al * bh) + al * bl));
    return wide_choose(fused == fused, fused, s);
}
#endif
INLINE lanes lane_min(lanes a, lanes b) { return lane_choose(a < b, a, b); }
INLINE lanes lane_max(lanes a, lanes b) { return lane_choose(a > b, a, b); }
INLINE wides wide_min(wides a, wides b) { return wide_choose(a < b, a, b); }
INLINE wides wide_max(wides a, wides b) { return wide_choose(a > b, a, b); }
INLINE lanes lane_lookup(const float *table, int_lanes i) {
    lanes v;
    for (int k = 0; k < LANES; k++) v[k] = table[i[k] & 31];
    return v;
}
INLINE wides wide_lookup(const double *table, wide_ints i) {
    wides v;
    for (int k = 0; k < WIDES; k++) v[k] = table[i[k] & 15];
    return v;
}
INLINE lanes lane_sqrt(lanes x) {
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
}
INLINE wides wide_sqrt(wides x) {
    for (int i = 0; i < WIDES; i++) x[i] = sqrt(x[i]);
    return x;
}
INLINE wides wide_of(narrows x) { return __builtin_convertvector(x, wides); }
INLINE narrows narrow_of(wides x) { return __builtin_convertvector(x, narrows); }
#endif
INLINE lanes lane_root_guess(lanes x) { return 1.0f / lane_sqrt(x); }
INLINE wides wide_root_guess(wides x) { return 1.0 / wide_sqrt(x); }
#endif

#define LANE_FUSED(a, b, c) lane_fused(LANE(a), LANE(b), LANE(c))
#define WIDE_FUSED(a, b, c) wide_fused(WIDE(a), WIDE(b), WIDE(c))

#if TIER != 3
/* Select the coefficients from index `first` on, for the interval of each element: at most four, two for
   doubles. */
INLINE void lane_cells(float_table table, int first, int count, int_lanes i, lanes *c) {
    for (int k = 0; k < count; k++) c[k] = lane_lookup(table[first + k], i);
}
INLINE void wide_cells(double_table table, int first, int count, wide_ints i, wides *c) {
    for (int k = 0; k < count; k++) c[k] = wide_lookup(table[first + k], i);
}
#endif

/* Mask of the elements that are positive, normal and finite. */
#if TIER == 4
INLINE lane_mask lane_positive(lanes x) { return _mm512_cmplt_epu32_mask((__m512i)((int_lanes)x - 0x00800000), _mm512_set1_epi32(0x7F000000)); }
INLINE wide_mask wide_positive(wides x) {
    return _mm512_cmplt_epu64_mask((__m512i)((wide_ints)x - 0x0010000000000000), _mm512_set1_epi64(0x7FE0000000000000));
}
/* The exponent field of the bits of a number, as a double. */
INLINE wides wide_exponent(wide_ints bits) { return (wides)_mm512_cvtepi64_pd((__m512i)(bits >> 52)); }
#else
INLINE lane_mask lane_positive(lanes x) { return (x >= 1.17549435e-38f) & (x < INFINITY); }
INLINE wide_mask wide_positive(wides x) { return (x >= 2.2250738585072014e-308) & (x < INFINITY); }
INLINE wides wide_exponent(wide_ints bits) {
    return (wides)(((wide_bits)(bits + ((int64_t)1024 << 52)) >> 52) + 0x4330000000000000) - 4503599627371520.0;
}
#endif

/* Mask of the elements with 0 < |x| < limit. */
INLINE wide_mask wide_within(wides x, double limit) {
    return wide_less(WIDE(0.0), (wides)((wide_ints)x & INT64_MAX)) & wide_less((wides)((wide_ints)x & INT64_MAX), WIDE(limit));
}

/* Bit masks are stored in memory, because compilers would otherwise create them by instructions that compete
   with the arithmetic. */
static struct {
    int32_t abs, sign, one;
    int64_t wide_abs, wide_sign, wide_one;
} BITS __attribute__((used)) = {0x7FFFFFFF, INT32_MIN, 0x3F800000, INT64_MAX, INT64_MIN, 0x3FF0000000000000};

INLINE lanes lane_abs(lanes x) { return (lanes)((int_lanes)x & BITS.abs); }
INLINE wides wide_abs(wides x) { return (wides)((wide_ints)x & BITS.wide_abs); }
INLINE lanes lane_signed(lanes size, lanes sign) { return (lanes)((int_lanes)size | ((int_lanes)sign & BITS.sign)); }
INLINE wides wide_signed(wides size, wides sign) { return (wides)((wide_ints)size | ((wide_ints)sign & BITS.wide_sign)); }

/* Polynomial in x, whose coefficients start with the constant term. Even and odd terms are computed in
   parallel, which halves the dependency chain. */
INLINE lanes lane_sum(lanes x, int n, const float *c) {
    lanes xx = x * x, even = LANE(c[(n - 1) & ~1]), odd = LANE(c[(n & ~1) - 1]);
    for (int i = ((n - 1) & ~1) - 2; i >= 0; i -= 2) even = even * xx + c[i];
    for (int i = (n & ~1) - 3; i >= 1; i -= 2) odd = odd * xx + c[i];
    return odd * x + even;
}
INLINE wides wide_sum(wides x, int n, const double *c) {
    wides xx = x * x, even = WIDE(c[(n - 1) & ~1]), odd = WIDE(c[(n & ~1) - 1]);
    for (int i = ((n - 1) & ~1) - 2; i >= 0; i -= 2) even = even * xx + c[i];
    for (int i = (n & ~1) - 3; i >= 1; i -= 2) odd = odd * xx + c[i];
    return odd * x + even;
}
/* Horner's rule, for polynomials whose even and odd terms nearly cancel. */
INLINE lanes lane_horner(lanes x, int n, const float *c) {
    lanes y = LANE(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}
#define LANE_SUM(x, ...) lane_sum(x, sizeof((float[]){__VA_ARGS__}) / 4, (const float[]){__VA_ARGS__})
INLINE wides wide_horner(wides x, int n, const double *c) {
    wides y = WIDE(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}
#define WIDE_HORNER(x, ...) wide_horner(x, sizeof((double[]){__VA_ARGS__}) / 8, (const double[]){__VA_ARGS__})
#define LANE_HORNER(x, ...) lane_horner(x, sizeof((float[]){__VA_ARGS__}) / 4, (const float[]){__VA_ARGS__})
#define WIDE_SUM(x, ...) wide_sum(x, sizeof((double[]){__VA_ARGS__}) / 8, (const double[]){__VA_ARGS__})

#endif
