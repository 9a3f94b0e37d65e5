/* Microkernels (register blocking) of convolutions and matrix products with vectors of 128, 256 and 512 bits,
   used by `conv.pyx` and `gemm_tiles.pyx`. `microkernels.h` documents their arguments.

   `choose_kernels(widest)` sets `kernels_of_float` and `kernels_of_double` to the widest kernels that the
   processor supports. Loops over rows and vectors have constant counts, so that the compiler keeps `sum` in
   registers. */

#include "microkernels.h"
#include "simd_level.h"

/* Loop over the accumulators of a tile, unrolled completely. Otherwise, GCC keeps copies of them on the stack. */
#define FOR_TILE(ROWS, VECTORS) \
    _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) _Pragma("GCC unroll 3") for (int v = 0; v < VECTORS; v++)

/* Number of steps between the prefetch of an element of a packed weight and its use. A step takes about 12 cycles,
   so that the data of most prefetches arrive from main memory in time. */
#define PREFETCH_STEPS 128
#define PREFETCH_AHEAD __builtin_prefetch(ahead, 0, 2); ahead = (const char *)ahead + ahead_stride;
#define PREFETCH_WEIGHT(STEP) __builtin_prefetch(a + PREFETCH_STEPS * STEP);

/* Set the accumulators to the earlier sums, or to zero. */
#define FROM_SUMS(ID, T, ROWS, VECTORS) \
    if (add) { FOR_TILE(ROWS, VECTORS) sum[r][v] = *(const V_##ID *)(c + r * pitch + v * L_##ID); } \
    else { FOR_TILE(ROWS, VECTORS) sum[r][v] = (V_##ID){0}; }
/* Set the accumulators to the earlier sums, to the bias of their row, or to zero. */
#define FROM_BIAS(ID, T, ROWS, VECTORS) \
    if (!add && bias) { FOR_TILE(ROWS, VECTORS) sum[r][v] = (V_##ID){0} + ((const T *)bias)[r]; } \
    else FROM_SUMS(ID, T, ROWS, VECTORS)
#define TILE_LOOP(NAME, ID, TARGET, T, ROWS, VECTORS, MORE, START, A, STEP, PREFETCH, LAST) \
TARGET static void NAME##_##ID##_##ROWS##_##VECTORS( \
    ptrdiff_t depth, const void *pa, const void *pb, void *pc, ptrdiff_t pitch, int add MORE) { \
    const T *a = (const T *)pa; const V_##ID *b = (const V_##ID *)pb; T *c = (T *)pc; \
    V_##ID sum[ROWS][VECTORS]; \
    START(ID, T, ROWS, VECTORS) \
    for (; depth > 0; depth--, a += STEP, b += VECTORS) { \
        V_##ID x[VECTORS]; \
        PREFETCH \
        for (int v = 0; v < VECTORS; v++) x[v] = b[v]; \
        for (int r = 0; r < ROWS; r++) for (int v = 0; v < VECTORS; v++) sum[r][v] += x[v] * A; \
    } \
    FOR_TILE(ROWS, VECTORS) { \
        LAST \
        *(V_##ID *)(c + r * pitch + v * L_##ID) = sum[r][v]; \
    } \
}
#define BIAS , const void *bias
#define WHERE , ptrdiff_t a_row, ptrdiff_t a_stride, double alpha, const void *bias, const void *ahead, ptrdiff_t ahead_stride
#define REACH(ID, TARGET, T, ROWS, VECTORS, STEP) \
TARGET static void reach_##ID##_##ROWS##_##VECTORS( \
    ptrdiff_t depth, const void *pa, const void *from, const int64_t *offset, void *pc, ptrdiff_t pitch, int add, \
    const void *bias) { \
    const T *a = (const T *)pa; T *c = (T *)pc; \
    V_##ID sum[ROWS][VECTORS]; \
    FROM_BIAS(ID, T, ROWS, VECTORS) \
    for (; depth > 0; depth--, a += STEP) { \
        const T *b = (const T *)from + *offset++; \
        V_##ID x[VECTORS]; \
        for (int v = 0; v < VECTORS; v++) x[v] = *(const V_##ID *)(b + v * L_##ID); \
        for (int r = 0; r < ROWS; r++) for (int v = 0; v < VECTORS; v++) sum[r][v] += x[v] * a[r]; \
    } \
    FOR_TILE(ROWS, VECTORS) *(V_##ID *)(c + r * pitch + v * L_##ID) = sum[r][v]; \
}
/* Process TAPS taps at a time, with VECTORS accumulators for each tap. */
#define SUM_TAPS(ID, TARGET, T, TAPS, VECTORS) \
TARGET static inline void sum_##ID##_##TAPS(const void *from, const int64_t *offset, const void *with, ptrdiff_t count, T *out) { \
    const T *y = (const T *)with; \
    V_##ID sum[TAPS][VECTORS] = {{{0}}}; \
    ptrdiff_t i = 0; \
    for (; i + VECTORS * L_##ID <= count; i += VECTORS * L_##ID) for (int v = 0; v < VECTORS; v++) { \
        V_##ID x = *(const V_##ID *)(y + i + v * L_##ID); \
        for (int t = 0; t < TAPS; t++) sum[t][v] += *(const V_##ID *)((const T *)from + offset[t] + i + v * L_##ID) * x; \
    } \
    for (; i < count; i += L_##ID) \
        for (int t = 0; t < TAPS; t++) sum[t][0] += *(const V_##ID *)((const T *)from + offset[t] + i) * *(const V_##ID *)(y + i); \
    for (int t = 0; t < TAPS; t++) { \
        T total = 0; \
        for (int v = 1; v < VECTORS; v++) sum[t][0] += sum[t][v]; \
        for (int k = 0; k < L_##ID; k++) total += sum[t][0][k]; \
        out[t] = total; \
    } \
}
#define SUMS_OF_TAPS(ID, TARGET, T) \
SUM_TAPS(ID, TARGET, T, 3, 3) SUM_TAPS(ID, TARGET, T, 1, 6) \
TARGET static void tap_sums_##ID(ptrdiff_t taps, const void *from, const int64_t *offset, const void *with, ptrdiff_t count, \
                                 void *to) { \
    T *out = (T *)to; \
    for (; taps >= 3; taps -= 3, offset += 3, out += 3) sum_##ID##_3(from, offset, with, count, out); \
    for (; taps > 0; taps--, offset++, out++) sum_##ID##_1(from, offset, with, count, out); \
}
#define TILE(ID, TARGET, T, ROWS, VECTORS, STEP) \
REACH(ID, TARGET, T, ROWS, VECTORS, STEP) \
TILE_LOOP(tile, ID, TARGET, T, ROWS, VECTORS, BIAS, FROM_BIAS, a[r], STEP, PREFETCH_WEIGHT(STEP), ) \
TILE_LOOP(part, ID, TARGET, T, ROWS, VECTORS, WHERE, FROM_SUMS, a[r * a_row], a_stride, PREFETCH_AHEAD, \
    sum[r][v] *= (T)alpha; if (bias) sum[r][v] += *(const V_##ID *)((const T *)bias + v * L_##ID);)

#if defined(__clang__) /* clang requires constant arguments of shuffles */
#define SHUFFLE(a, b, indices) (a)
enum { CAN_SHUFFLE = 0 };
#else
#define SHUFFLE(a, b, indices) __builtin_shuffle(a, b, indices)
enum { CAN_SHUFFLE = 1 };
#endif
/* Transposition of a matrix of R rows of vectors by log2(R) perfect shuffles, with prefetch of the rows. Each
   shuffle moves the highest bit of the row index to the lowest bit of the index in the row. */
#define TRANSPOSE(NAME, ID, TARGET, T, R) \
TARGET static void NAME##_##ID(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count) { \
    const T *x = (const T *)from; T *y = (T *)to; \
    ptrdiff_t k = 0; \
    P_##ID low, high; \
    for (int i = 0; i < L_##ID; i++) { \
        low[i] = i / 2 + (i % 2) * L_##ID; \
        high[i] = low[i] + L_##ID / 2; \
    } \
    for (; CAN_SHUFFLE && k + L_##ID <= depth; k += L_##ID) { \
        V_##ID v[R], w[R]; \
        for (int r = 0; r < R; r++) { \
            v[r] = *(const V_##ID *)(x + r * pitch + k); \
            __builtin_prefetch(x + r * pitch + k + 8 * L_##ID); \
        } \
        for (int stage = 1; stage < R; stage *= 2) { \
            for (int r = 0; r < R / 2; r++) { \
                w[2 * r] = SHUFFLE(v[r], v[r + R / 2], low); \
                w[2 * r + 1] = SHUFFLE(v[r], v[r + R / 2], high); \
            } \
            for (int r = 0; r < R; r++) v[r] = w[r]; \
        } \
        for (int r = 0; r < R; r++)  /* r * L elements of the transposed matrix are before this vector */ \
            *(V_##ID *)(y + (k + r * L_##ID / R) * count + r * L_##ID % R) = v[r]; \
    } \
    for (; k < depth; k++) for (int r = 0; r < R; r++) y[k * count + r] = x[r * pitch + k]; \
}
#define COPY(ID, TARGET, T, R) \
TARGET static void copy_rows_##ID(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count) { \
    const T *x = (const T *)from; T *y = (T *)to; \
    for (; depth > 0; depth--, x += pitch, y += R) for (int r = 0; r < R; r++) y[r] = x[r]; \
} \
TARGET static void copy_vectors_##ID(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count) { \
    const T *x = (const T *)from; V_##ID *y = (V_##ID *)to; \
    for (; depth > 0; depth--, x += pitch) for (int v = 0; v < count; v++) *y++ = *(const V_##ID *)(x + v * L_##ID); \
}

#define KERNELS(ID, TARGET, T, BYTES, STEP) \
typedef T V_##ID __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \
enum { L_##ID = BYTES / sizeof(T) }; \
typedef INDEX_##T P_##ID __attribute__((vector_size(BYTES))); \
DEPTHWISE_BLOCK(ID, TARGET, T, 4) DEPTHWISE_BLOCK(ID, TARGET, T, 2) DEPTHWISE_BLOCK(ID, TARGET, T, 1) DEPTHWISE(ID, TARGET, T) \
TRANSPOSE(transpose_rows, ID, TARGET, T, STEP) TRANSPOSE(transpose_vector, ID, TARGET, T, L_##ID) COPY(ID, TARGET, T, STEP) \
TILE(ID, TARGET, T, 1, 1, STEP) TILE(ID, TARGET, T, 1, 2, STEP) TILE(ID, TARGET, T, 1, 3, STEP) \
TILE(ID, TARGET, T, 2, 1, STEP) TILE(ID, TARGET, T, 2, 2, STEP) TILE(ID, TARGET, T, 2, 3, STEP) \
TILE(ID, TARGET, T, 4, 1, STEP) TILE(ID, TARGET, T, 4, 2, STEP) TILE(ID, TARGET, T, 4, 3, STEP) \
SUMS_OF_TAPS(ID, TARGET, T) PACK_COPIES(ID, TARGET, T) PANEL_COLUMNS(ID, TARGET, T, STEP) \
TARGET static void taps_##ID(ptrdiff_t taps, const void *weight, const void *from, const int64_t *offset, \
                             void *out, ptrdiff_t count) { \
    const T *w = (const T *)weight; \
    ptrdiff_t i = 0; \
    for (; i + 4 * L_##ID <= count; i += 4 * L_##ID) { \
        V_##ID sum[4] = {{0}, {0}, {0}, {0}}; \
        for (ptrdiff_t k = 0; k < taps; k++) { \
            const T *x = (const T *)from + offset[k] + i; \
            for (int v = 0; v < 4; v++) sum[v] += *(const V_##ID *)(x + v * L_##ID) * w[k]; \
        } \
        for (int v = 0; v < 4; v++) *(V_##ID *)((T *)out + i + v * L_##ID) = sum[v]; \
    } \
    for (; i < count; i += L_##ID) { \
        V_##ID sum = {0}; \
        for (ptrdiff_t k = 0; k < taps; k++) \
            sum += *(const V_##ID *)((const T *)from + offset[k] + i) * w[k]; \
        *(V_##ID *)((T *)out + i) = sum; \
    } \
} \
TARGET static void pack_##ID(ptrdiff_t depth, const void *from, const int64_t *offset, void *to, int vectors) { \
    V_##ID *b = (V_##ID *)to; \
    if (vectors == 3) { \
        for (ptrdiff_t k = 0; k < depth; k++, b += 3) { \
            const T *x = (const T *)from + offset[k]; \
            b[0] = *(const V_##ID *)x; \
            b[1] = *(const V_##ID *)(x + L_##ID); \
            b[2] = *(const V_##ID *)(x + 2 * L_##ID); \
        } \
    } else { \
        for (ptrdiff_t k = 0; k < depth; k++) \
            for (int v = 0; v < vectors; v++) \
                *b++ = *(const V_##ID *)((const T *)from + offset[k] + v * L_##ID); \
    } \
}
#include "simd_rows.h"
#include "simd_depthwise.h"
#include "simd_conv_panels.h"

#define INDEX_float int32_t
#define INDEX_double int64_t
#define COPIES(ID) pack_copies_##ID, columns_##ID, depthwise_copy_##ID, depthwise_##ID, copy_rows_##ID, transpose_rows_##ID, copy_vectors_##ID, transpose_vector_##ID, along_##ID, across_##ID, packed_##ID
#define ROW(NAME, ID, ROWS) {NAME##_##ID##_##ROWS##_1, NAME##_##ID##_##ROWS##_2, NAME##_##ID##_##ROWS##_3}
#define THREE(NAME, ID) ROW(NAME, ID, 1), ROW(NAME, ID, 2), ROW(NAME, ID, 4)
#define FOUR(NAME, ID) THREE(NAME, ID), ROW(NAME, ID, 8)

KERNELS(f16, , float, 16, 4)
KERNELS(d16, , double, 16, 4)
FOLD(f16, , float) ROWS_OF_4(f16, , float) ACROSS_ALL(f16, , float, 8, 4, 3)
FOLD(d16, , double) ROWS_OF_2(d16, , double) ACROSS_ALL(d16, , double, 8, 4, 3)
static Kernels kernels_of_float = {4, 4, {THREE(tile, f16)}, {THREE(part, f16)}, {THREE(reach, f16)}, taps_f16, tap_sums_f16, pack_f16, COPIES(f16)};
static Kernels kernels_of_double = {2, 4, {THREE(tile, d16)}, {THREE(part, d16)}, {THREE(reach, d16)}, taps_d16, tap_sums_d16, pack_d16, COPIES(d16)};
static const char *instructions = "128 bit";

#if HAS_SIMD_LEVELS
#define AVX2 TARGET_AVX2
#define AVX512 TARGET_AVX512
KERNELS(f32, AVX2, float, 32, 4)
KERNELS(d32, AVX2, double, 32, 4)
KERNELS(f64, AVX512, float, 64, 8)
KERNELS(d64, AVX512, double, 64, 8)
TILE(f64, AVX512, float, 8, 1, 8) TILE(f64, AVX512, float, 8, 2, 8) TILE(f64, AVX512, float, 8, 3, 8)
TILE(d64, AVX512, double, 8, 1, 8) TILE(d64, AVX512, double, 8, 2, 8) TILE(d64, AVX512, double, 8, 3, 8)
FOLD(f32, AVX2, float) ROWS_OF_8(f32, AVX2, float) ACROSS_ALL(f32, AVX2, float, 8, 4, 3)
FOLD(d32, AVX2, double) ROWS_OF_4(d32, AVX2, double) ACROSS_ALL(d32, AVX2, double, 8, 4, 3)
FOLD(f64, AVX512, float) ROWS_OF_16(f64, AVX512, float) ACROSS_ALL(f64, AVX512, float, 8, 8, 4)
FOLD(d64, AVX512, double) ROWS_OF_8(d64, AVX512, double) ACROSS_ALL(d64, AVX512, double, 8, 8, 4)
static void choose_kernels(int widest) {
    static const Kernels f2 = {8, 4, {THREE(tile, f32)}, {THREE(part, f32)}, {THREE(reach, f32)}, taps_f32, tap_sums_f32, pack_f32, COPIES(f32)};
    static const Kernels d2 = {4, 4, {THREE(tile, d32)}, {THREE(part, d32)}, {THREE(reach, d32)}, taps_d32, tap_sums_d32, pack_d32, COPIES(d32)};
    static const Kernels f5 = {16, 8, {FOUR(tile, f64)}, {FOUR(part, f64)}, {FOUR(reach, f64)}, taps_f64, tap_sums_f64, pack_f64, COPIES(f64)};
    static const Kernels d5 = {8, 8, {FOUR(tile, d64)}, {FOUR(part, d64)}, {FOUR(reach, d64)}, taps_d64, tap_sums_d64, pack_d64, COPIES(d64)};
    static const Kernels f1 = {4, 4, {THREE(tile, f16)}, {THREE(part, f16)}, {THREE(reach, f16)}, taps_f16, tap_sums_f16, pack_f16, COPIES(f16)};
    static const Kernels d1 = {2, 4, {THREE(tile, d16)}, {THREE(part, d16)}, {THREE(reach, d16)}, taps_d16, tap_sums_d16, pack_d16, COPIES(d16)};
    if (widest >= 512 && simd_level == SIMD_AVX512) {
        kernels_of_float = f5; kernels_of_double = d5; instructions = "AVX-512";
    } else if (widest >= 256 && simd_level >= SIMD_AVX2) {
        kernels_of_float = f2; kernels_of_double = d2; instructions = "AVX2";
    } else {
        kernels_of_float = f1; kernels_of_double = d1; instructions = "128 bit";
    }
}
#else
static void choose_kernels(int widest) { (void)widest; }
#endif
