/* Sums and maxima of rows of an embedding table (bags), for float, double, float16 and bfloat16 tables, used by
   `embedding_bag.pyx`.

   Vectors run along the columns of a row, and each column has one accumulator, so the order of additions does not
   depend on the vector width. Products are rounded before they are added (no FMA), so results have the same bits at all
   SIMD levels. 16-bit floats are converted to float32 when they are loaded. If the width is not a
   multiple of the vector length, the last vector overlaps the vector before it. */

#ifndef TS_SIMD_EMBEDDING_BAG_H
#define TS_SIMD_EMBEDDING_BAG_H

#ifdef __clang__
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "short_floats.h"

/* out[c] = sum over r of rows[r][c] * scales[r], divided by `divisor`. `out` and `scales` have elements of type double
   for double tables, else float. `scales` may be NULL. With `prefetches`, `rows` continues with PREFETCH_DISTANCE rows that
   are prefetched, but not read. */
enum { PREFETCH_DISTANCE = 16, CACHE_LINE_BYTES = 64 };
typedef void (*BagSumKernel)(const void *const *rows, ptrdiff_t count, ptrdiff_t width, const void *scales, double divisor, void *out,
                             int prefetches);
/* out[c] = maximum over r of rows[r][c], and at[c] = the first r with the maximum. NaN is the maximum only in rows[0].
   Indices have the size of the elements of `out`. */
typedef void (*BagMaxKernel)(const void *const *rows, ptrdiff_t count, ptrdiff_t width, void *out, void *at, int prefetches);

typedef struct {
    BagSumKernel sum;
    BagMaxKernel max;
} BagKernels;

#define BAG_INLINE static inline __attribute__((always_inline))

BAG_INLINE void prefetch_columns(const void *columns, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += CACHE_LINE_BYTES) __builtin_prefetch((const char *)columns + i);
}

#define BAG_BLOCK(ID, TARGET, T, INDEX, S, N) \
TARGET BAG_INLINE void bag_sum_##ID##_##N(const S *const *rows, ptrdiff_t count, ptrdiff_t c, const T *scales, T divisor, T *out, const int prefetches) { \
    V_##ID sum[N] = {{0}}; \
    for (ptrdiff_t r = 0; r < count; r++) { \
        if (prefetches) prefetch_columns(rows[r + PREFETCH_DISTANCE] + c, N * L_##ID * sizeof(S)); \
        if (scales) \
            for (int v = 0; v < N; v++) sum[v] += load_##ID(rows[r] + c + v * L_##ID) * scales[r]; \
        else \
            for (int v = 0; v < N; v++) sum[v] += load_##ID(rows[r] + c + v * L_##ID); \
    } \
    for (int v = 0; v < N; v++) *(V_##ID *)(out + c + v * L_##ID) = sum[v] / divisor; \
} \
TARGET BAG_INLINE void bag_max_##ID##_##N(const S *const *rows, ptrdiff_t count, ptrdiff_t c, T *out, INDEX *at, const int prefetches) { \
    V_##ID best[N]; \
    I_##ID best_at[N] = {{0}}; \
    for (int v = 0; v < N; v++) best[v] = load_##ID(rows[0] + c + v * L_##ID); \
    for (ptrdiff_t r = 1; r < count; r++) { \
        if (prefetches) prefetch_columns(rows[r + PREFETCH_DISTANCE] + c, N * L_##ID * sizeof(S)); \
        for (int v = 0; v < N; v++) { \
            V_##ID x = load_##ID(rows[r] + c + v * L_##ID); \
            I_##ID mask = (I_##ID)(x > best[v]); \
            best[v] = (V_##ID)((mask & (I_##ID)x) | (~mask & (I_##ID)best[v])); \
            best_at[v] = (mask & ((I_##ID){0} + (INDEX)r)) | (~mask & best_at[v]); \
        } \
    } \
    for (int v = 0; v < N; v++) { \
        *(V_##ID *)(out + c + v * L_##ID) = best[v]; \
        *(I_##ID *)(at + c + v * L_##ID) = best_at[v]; \
    } \
}

#define BAG_TYPES(ID, T, INDEX, BYTES) \
typedef T V_##ID __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \
typedef INDEX I_##ID __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \
enum { L_##ID = BYTES / sizeof(T) };
#define LOAD_WIDE(ID, TARGET, T) \
TARGET BAG_INLINE V_##ID load_##ID(const T *x) { return *(const V_##ID *)x; } \
TARGET BAG_INLINE T load_one_##ID(const T *x) { return *x; }
#define LOAD_SHORT(ID, TARGET, CONVERT, VECTOR) \
TARGET BAG_INLINE V_##ID load_##ID(const two_bytes *x) { return VECTOR; } \
TARGET BAG_INLINE float load_one_##ID(const two_bytes *x) { return CONVERT(*x); }

#define BAGS(ID, TARGET, T, INDEX, S) \
BAG_BLOCK(ID, TARGET, T, INDEX, S, 8) BAG_BLOCK(ID, TARGET, T, INDEX, S, 4) BAG_BLOCK(ID, TARGET, T, INDEX, S, 1) \
TARGET static void bag_sum_##ID(const void *const *rows, ptrdiff_t count, ptrdiff_t width, const void *factors, double by, void *to, int prefetches) { \
    const S *const *x = (const S *const *)rows; \
    const T *scales = (const T *)factors; \
    T *out = (T *)to, divisor = (T)by; \
    ptrdiff_t c = 0; \
    for (; c + 8 * L_##ID <= width; c += 8 * L_##ID) bag_sum_##ID##_8(x, count, c, scales, divisor, out, prefetches); \
    for (; c + 4 * L_##ID <= width; c += 4 * L_##ID) bag_sum_##ID##_4(x, count, c, scales, divisor, out, prefetches); \
    for (; c + L_##ID <= width; c += L_##ID) bag_sum_##ID##_1(x, count, c, scales, divisor, out, prefetches); \
    if (c < width && width >= L_##ID) { \
        bag_sum_##ID##_1(x, count, width - L_##ID, scales, divisor, out, prefetches); \
        return; \
    } \
    for (; c < width; c++) { \
        T sum = 0; \
        for (ptrdiff_t r = 0; r < count; r++) sum += scales ? load_one_##ID(x[r] + c) * scales[r] : load_one_##ID(x[r] + c); \
        out[c] = sum / divisor; \
    } \
} \
TARGET static void bag_max_##ID(const void *const *rows, ptrdiff_t count, ptrdiff_t width, void *to, void *to_at, int prefetches) { \
    const S *const *x = (const S *const *)rows; \
    T *out = (T *)to; \
    INDEX *at = (INDEX *)to_at; \
    ptrdiff_t c = 0; \
    for (; c + 4 * L_##ID <= width; c += 4 * L_##ID) bag_max_##ID##_4(x, count, c, out, at, prefetches); \
    for (; c + L_##ID <= width; c += L_##ID) bag_max_##ID##_1(x, count, c, out, at, prefetches); \
    if (c < width && width >= L_##ID) { \
        bag_max_##ID##_1(x, count, width - L_##ID, out, at, prefetches); \
        return; \
    } \
    for (; c < width; c++) { \
        out[c] = load_one_##ID(x[0] + c); \
        at[c] = 0; \
        for (ptrdiff_t r = 1; r < count; r++) { \
            T v = load_one_##ID(x[r] + c); \
            if (v > out[c]) { out[c] = v; at[c] = (INDEX)r; } \
        } \
    } \
} \
static const BagKernels bags_##ID = {bag_sum_##ID, bag_max_##ID};

#define ALL_BAGS(BYTES, TARGET, HALVES, BRAINS) \
BAG_TYPES(float##BYTES, float, int32_t, BYTES) LOAD_WIDE(float##BYTES, TARGET, float) BAGS(float##BYTES, TARGET, float, int32_t, float) \
BAG_TYPES(double##BYTES, double, int64_t, BYTES) LOAD_WIDE(double##BYTES, TARGET, double) BAGS(double##BYTES, TARGET, double, int64_t, double) \
BAG_TYPES(half##BYTES, float, int32_t, BYTES) LOAD_SHORT(half##BYTES, TARGET, from_half, HALVES) BAGS(half##BYTES, TARGET, float, int32_t, two_bytes) \
BAG_TYPES(brain##BYTES, float, int32_t, BYTES) LOAD_SHORT(brain##BYTES, TARGET, from_bfloat16, BRAINS) BAGS(brain##BYTES, TARGET, float, int32_t, two_bytes)

typedef float four_floats __attribute__((vector_size(16)));
#define WIDEN_FOUR(CONVERT) \
BAG_INLINE four_floats four_##CONVERT(const two_bytes *x) { \
    return (four_floats){CONVERT(x[0]), CONVERT(x[1]), CONVERT(x[2]), CONVERT(x[3])}; \
}
WIDEN_FOUR(from_half)
WIDEN_FOUR(from_bfloat16)
ALL_BAGS(16, , (V_half16)four_from_half(x), (V_brain16)four_from_bfloat16(x))
#if HAS_SIMD_LEVELS
ALL_BAGS(32, TARGET_AVX2, (V_half32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)x)),
         (V_brain32)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)x)), 16))
ALL_BAGS(64, TARGET_AVX512, (V_half64)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)x)),
         (V_brain64)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)x)), 16))
#define BAG_LEVEL(NAME) (simd_level == SIMD_AVX512 ? &bags_##NAME##64 : simd_level == SIMD_AVX2 ? &bags_##NAME##32 : &bags_##NAME##16)
#else
#define BAG_LEVEL(NAME) (&bags_##NAME##16)
#endif

static inline const BagKernels *float_bags(void) { return BAG_LEVEL(float); }
static inline const BagKernels *double_bags(void) { return BAG_LEVEL(double); }
static inline const BagKernels *half_bags(void) { return BAG_LEVEL(half); }
static inline const BagKernels *bfloat16_bags(void) { return BAG_LEVEL(brain); }

#endif
