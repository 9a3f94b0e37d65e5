/* Matrix products of bfloat16 operands by the instructions of AVX512_BF16 (`vdpbf16ps`), used by
   `bfloat16_gemm.pyx`.

   `vdpbf16ps` multiplies pairs of bfloat16 numbers and adds both products to a float32 sum. Operands are packed
   as pairs of consecutive elements along the inner dimension k. A panel has up to MAX_PAIR_VECTORS vectors of 16
   columns:

       pair 0:   b[0][0] b[1][0]   b[0][1] b[1][1]   ...   b[0][63] b[1][63]
       pair 1:   b[2][0] b[3][0]   b[2][1] b[3][1]   ...   b[2][63] b[3][63]

   If k is odd, the second elements of the last pairs are zero. Columns after the last one are zero. The instruction
   replaces subnormal operands and sums by zero.

   Each sum stays in a register for all of k. It is scaled, increased by a summand and rounded once. Its bits depend
   neither on the division into tiles nor on the threads. */

#ifndef TS_SIMD_BFLOAT16_H
#define TS_SIMD_BFLOAT16_H

#include <stddef.h>
#include <stdint.h>

#include "simd_level.h"

enum { MAX_PAIR_ROWS = 6, MAX_PAIR_VECTORS = 4, MAX_UNPACKED_ROWS = 4 };

/* Scale, summand and destination of a tile: out = alpha * product + beta * summand. Pitches are in elements. */
typedef struct {
    float alpha, beta;
    const void *summand;               /* bfloat16 elements, or NULL. A pitch of 0 adds one row to all rows. */
    ptrdiff_t summand_pitch;
    const void *row_bias;              /* bfloat16 elements, which are added to the rows, or NULL */
    void *out;
    ptrdiff_t pitch;
    int wide;                          /* whether the elements of `out` are float32, not bfloat16 */
} PairStore;

/* Copies of 16 consecutive elements each: lane `lane` + i of a packed pair gets element `source` + i of two rows. */
typedef struct {
    int64_t source, lane;
} LaneCopy;

#if HAS_SIMD_LEVELS && (defined(__clang__) ? __clang_major__ >= 9 : __GNUC__ >= 11)
#include <immintrin.h>

#define TARGET_BF16 __attribute__((target("avx512bf16,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c" WHOLE_VECTORS), unused))

/* Return whether the kernels of this file run: the processor has AVX512_BF16, and the SIMD level is AVX-512. */
static int has_avx512_bf16(void) { return simd_level == SIMD_AVX512 && __builtin_cpu_supports("avx512bf16"); }

typedef uint16_t unaligned_bf16 __attribute__((aligned(1), may_alias));
typedef int32_t unaligned_pair __attribute__((aligned(1), may_alias));

TARGET_BF16 static inline __m512 widen_16(__mmask16 mask, const void *x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x)), 16));
}

TARGET_BF16 static inline void store_sums(const PairStore *to, ptrdiff_t row, ptrdiff_t column, __mmask16 mask, __m512 sum) {
    if (to->alpha != 1) sum = _mm512_mul_ps(sum, _mm512_set1_ps(to->alpha));
    if (to->summand) {
        __m512 summand = widen_16(mask, (const uint16_t *)to->summand + row * to->summand_pitch + column);
        sum = _mm512_fmadd_ps(summand, _mm512_set1_ps(to->beta), sum);
    }
    if (to->row_bias) sum = _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_set1_epi32((uint32_t)((const unaligned_bf16 *)to->row_bias)[row] << 16)));
    if (to->wide)
        _mm512_mask_storeu_ps((float *)to->out + row * to->pitch + column, mask, sum);
    else
        _mm256_mask_storeu_epi16((uint16_t *)to->out + row * to->pitch + column, mask, (__m256i)_mm512_cvtneps_pbh(sum));
}

/* ROWS rows of a @ panel. Pair k of row r of `a` is at a + r * row_bytes + k * pair_bytes. If `odd`, a single
   element follows the pairs. */
#define PAIR_TILE(ROWS, VECTORS) \
TARGET_BF16 static void pair_tile_##ROWS##_##VECTORS( \
    ptrdiff_t pairs, int odd, const char *a, ptrdiff_t row_bytes, ptrdiff_t pair_bytes, const char *b, ptrdiff_t columns, \
    const PairStore *store) { \
    /* local copy: stores through `out` cannot alias it, so the compiler keeps it in registers */ \
    const PairStore local = *store, *to = &local; \
    __m512 sum[ROWS][VECTORS]; \
    __m512bh y[VECTORS]; \
    _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) \
        _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_setzero_ps(); \
    for (; pairs > 0; pairs--, a += pair_bytes, b += 64 * VECTORS) { \
        _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) y[v] = (__m512bh)_mm512_load_si512(b + 64 * v); \
        _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) { \
            __m512bh x = (__m512bh)_mm512_set1_epi32(*(const unaligned_pair *)(a + r * row_bytes)); \
            _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, y[v]); \
        } \
    } \
    if (odd) { \
        _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) y[v] = (__m512bh)_mm512_load_si512(b + 64 * v); \
        _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) { \
            __m512bh x = (__m512bh)_mm512_set1_epi32(*(const unaligned_bf16 *)(a + r * row_bytes)); \
            _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, y[v]); \
        } \
    } \
    _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) { \
        ptrdiff_t rest = columns - 16 * v; \
        store_sums(to, r, 16 * v, (__mmask16)(rest >= 16 ? 0xffff : (1 << rest) - 1), sum[r][v]); \
    } \
}
#define PAIR_TILES(ROWS) PAIR_TILE(ROWS, 1) PAIR_TILE(ROWS, 2) PAIR_TILE(ROWS, 3) PAIR_TILE(ROWS, 4)
PAIR_TILES(1) PAIR_TILES(2) PAIR_TILES(3) PAIR_TILES(4) PAIR_TILES(5) PAIR_TILES(6)

typedef void (*PairTile)(ptrdiff_t, int, const char *, ptrdiff_t, ptrdiff_t, const char *, ptrdiff_t, const PairStore *);
#define PAIR_ROW(ROWS) {pair_tile_##ROWS##_1, pair_tile_##ROWS##_2, pair_tile_##ROWS##_3, pair_tile_##ROWS##_4}
static const PairTile pair_tiles[MAX_PAIR_ROWS][MAX_PAIR_VECTORS] = {PAIR_ROW(1), PAIR_ROW(2), PAIR_ROW(3), PAIR_ROW(4), PAIR_ROW(5), PAIR_ROW(6)};

/* Multiply `rows` rows of `a` by a panel of `columns` columns. `depth` is the number of elements of k in `a`. */
static void multiply_pair_panel(
    ptrdiff_t rows, ptrdiff_t depth, const char *a, ptrdiff_t row_bytes, ptrdiff_t pair_bytes, const char *b, ptrdiff_t columns,
    PairStore to) {
    ptrdiff_t vectors = (columns + 15) / 16, tiles = (rows + MAX_PAIR_ROWS - 1) / MAX_PAIR_ROWS;
    for (; tiles > 0; tiles--) { /* tiles with equal numbers of rows, or one row more */
        ptrdiff_t count = (rows + tiles - 1) / tiles;
        pair_tiles[count - 1][vectors - 1](depth / 2, depth % 2, a, row_bytes, pair_bytes, b, columns, &to);
        rows -= count;
        a += count * row_bytes;
        if (to.summand) to.summand = (const uint16_t *)to.summand + count * to.summand_pitch;
        if (to.row_bias) to.row_bias = (const uint16_t *)to.row_bias + count;
        to.out = (char *)to.out + count * to.pitch * (to.wide ? 4 : 2);
    }
}

TARGET_BF16 static inline __m512i pairs_of_rows(__mmask16 mask, const char *even, const char *odd) {
    __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, even));
    if (!odd) return low;
    return _mm512_or_si512(low, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, odd)), 16));
}

/* Pack `columns` <= 16 columns of a matrix with contiguous rows as one vector of each pair. Vectors of consecutive
   pairs are `step` bytes apart. */
TARGET_BF16 static void pack_row_pairs(ptrdiff_t depth, ptrdiff_t columns, const char *x, ptrdiff_t pitch_bytes, char *to, ptrdiff_t step) {
    __mmask16 mask = (__mmask16)(columns >= 16 ? 0xffff : (1 << columns) - 1);
    ptrdiff_t k = 0;
    for (; k + 2 <= depth; k += 2, x += 2 * pitch_bytes, to += step) _mm512_store_si512(to, pairs_of_rows(mask, x, x + pitch_bytes));
    if (k < depth) _mm512_store_si512(to, pairs_of_rows(mask, x, NULL));
}

/* Pack pairs of rows that begin at x + offset[0], x + offset[1] ... (in elements). Pairs are `step` bytes apart. A copy
   may write past the end of its pair, because a later copy overwrites these lanes. */
TARGET_BF16 static void pack_copied_pairs(
    ptrdiff_t depth, const void *from, const int64_t *offset, const LaneCopy *copies, ptrdiff_t count, char *to, ptrdiff_t step) {
    const char *x = (const char *)from;
    for (; depth >= 2; depth -= 2, offset += 2, to += step) {
        const char *even = x + 2 * offset[0], *odd = x + 2 * offset[1];
        for (ptrdiff_t i = 0; i < count; i++) {
            __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(even + 2 * copies[i].source)));
            __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(odd + 2 * copies[i].source)));
            _mm512_storeu_si512(to + 4 * copies[i].lane, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
        }
    }
    for (ptrdiff_t i = 0; depth && i < count; i++)
        _mm512_storeu_si512(
            to + 4 * copies[i].lane, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(x + 2 * offset[0] + 2 * copies[i].source))));
}

/* Pack `columns` <= 16 columns of a matrix with contiguous columns, by transposing 16 x 16 pairs at a time. */
TARGET_BF16 static void pack_column_pairs(ptrdiff_t depth, ptrdiff_t columns, const char *x, ptrdiff_t pitch_bytes, char *to, ptrdiff_t step) {
    for (; depth > 0; depth -= 32, x += 64, to += 16 * step) {
        __mmask32 mask = depth >= 32 ? 0xffffffffu : (1u << depth) - 1;
        ptrdiff_t pairs = depth >= 32 ? 16 : (depth + 1) / 2;
        __m512i v[16], w[16];
        _Pragma("GCC unroll 16") for (int c = 0; c < 16; c++)
            v[c] = c < columns ? _mm512_maskz_loadu_epi16(mask, x + c * pitch_bytes) : _mm512_setzero_si512();
        _Pragma("GCC unroll 8") for (int c = 0; c < 16; c += 2) {
            w[c] = _mm512_unpacklo_epi32(v[c], v[c + 1]);
            w[c + 1] = _mm512_unpackhi_epi32(v[c], v[c + 1]);
        }
        _Pragma("GCC unroll 4") for (int c = 0; c < 16; c += 4) { /* v[c + i]: pair i of each 128-bit lane, of 4 columns */
            v[c] = _mm512_unpacklo_epi64(w[c], w[c + 2]);
            v[c + 1] = _mm512_unpackhi_epi64(w[c], w[c + 2]);
            v[c + 2] = _mm512_unpacklo_epi64(w[c + 1], w[c + 3]);
            v[c + 3] = _mm512_unpackhi_epi64(w[c + 1], w[c + 3]);
        }
        _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) { /* transpose the 128-bit lanes of v[i], v[4 + i], v[8 + i], v[12 + i] */
            __m512i a = _mm512_shuffle_i32x4(v[i], v[4 + i], 0x88), b = _mm512_shuffle_i32x4(v[i], v[4 + i], 0xdd);
            __m512i c = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0x88), d = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0xdd);
            w[i] = _mm512_shuffle_i32x4(a, c, 0x88);
            w[4 + i] = _mm512_shuffle_i32x4(b, d, 0x88);
            w[8 + i] = _mm512_shuffle_i32x4(a, c, 0xdd);
            w[12 + i] = _mm512_shuffle_i32x4(b, d, 0xdd);
        }
        if (pairs == 16) {
            _Pragma("GCC unroll 16") for (int i = 0; i < 16; i++) _mm512_store_si512(to + i * step, w[i]);
        } else {
            for (ptrdiff_t i = 0; i < pairs; i++) _mm512_store_si512(to + i * step, w[i]);
        }
    }
}

/* The sums of the elements of 4 vectors. */
TARGET_BF16 static inline __m128 sums_of_4(__m512 a, __m512 b, __m512 c, __m512 d) {
    __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    __m512 all = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* ROWS rows of `a` with contiguous rows, times `columns` contiguous columns of `b`, as dot products without
   packing. */
#define DOT_ROWS(ROWS) \
TARGET_BF16 static void dot_rows_##ROWS( \
    ptrdiff_t depth, ptrdiff_t columns, const char *a, ptrdiff_t a_bytes, const char *b, ptrdiff_t b_bytes, const PairStore *to) { \
    for (ptrdiff_t column = 0; column < columns; column += 4, b += 4 * b_bytes) { \
        __m512 sum[ROWS][4]; \
        ptrdiff_t others = columns - column >= 4 ? b_bytes : 0, k = 0; /* columns after the last one repeat column 0 */ \
        const char *second = columns - column >= 2 ? b + b_bytes : b, *third = columns - column >= 3 ? b + 2 * b_bytes : b; \
        const char *column_data[4] = {b, second, third, b + 3 * others}; \
        _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) \
            _Pragma("GCC unroll 4") for (int c = 0; c < 4; c++) sum[r][c] = _mm512_setzero_ps(); \
        for (; k < depth; k += 32) { \
            __mmask32 mask = depth - k >= 32 ? 0xffffffffu : (1u << (depth - k)) - 1; \
            __m512bh y[4]; \
            _Pragma("GCC unroll 4") for (int c = 0; c < 4; c++) y[c] = (__m512bh)_mm512_maskz_loadu_epi16(mask, column_data[c] + 2 * k); \
            _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) { \
                __m512bh x = (__m512bh)_mm512_maskz_loadu_epi16(mask, a + r * a_bytes + 2 * k); \
                _Pragma("GCC unroll 4") for (int c = 0; c < 4; c++) sum[r][c] = _mm512_dpbf16_ps(sum[r][c], x, y[c]); \
            } \
        } \
        __mmask16 mask = (__mmask16)(columns - column >= 4 ? 15 : (1 << (columns - column)) - 1); \
        _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) \
            store_sums(to, r, column, mask, _mm512_castps128_ps512(sums_of_4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]))); \
    } \
}
DOT_ROWS(1) DOT_ROWS(2) DOT_ROWS(3) DOT_ROWS(4)

/* ROWS rows of `a` times `columns` columns of `b`, both with contiguous rows, without packing. The sums have the
   same bits as those of the tiles. */
#define ACROSS_ROWS(ROWS) \
TARGET_BF16 static void across_rows_##ROWS( \
    ptrdiff_t depth, ptrdiff_t columns, const char *a, ptrdiff_t a_bytes, const char *b, ptrdiff_t b_bytes, const PairStore *to) { \
    for (ptrdiff_t column = 0; column < columns; column += 64, b += 128) { \
        __m512 sum[ROWS][4]; \
        __mmask16 mask[4]; \
        __m512bh y[4]; \
        const char *row = b; \
        ptrdiff_t k = 0; \
        _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) { \
            ptrdiff_t rest = columns - column - 16 * v; \
            mask[v] = (__mmask16)(rest >= 16 ? 0xffff : rest > 0 ? (1 << rest) - 1 : 0); \
            _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) sum[r][v] = _mm512_setzero_ps(); \
        } \
        for (; k + 2 <= depth; k += 2, row += 2 * b_bytes) { \
            _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) y[v] = (__m512bh)pairs_of_rows(mask[v], row + 32 * v, row + b_bytes + 32 * v); \
            _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) { \
                __m512bh x = (__m512bh)_mm512_set1_epi32(*(const unaligned_pair *)(a + r * a_bytes + 2 * k)); \
                _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, y[v]); \
            } \
        } \
        if (k < depth) { \
            _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) y[v] = (__m512bh)pairs_of_rows(mask[v], row + 32 * v, NULL); \
            _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) { \
                __m512bh x = (__m512bh)_mm512_set1_epi32(*(const unaligned_bf16 *)(a + r * a_bytes + 2 * k)); \
                _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, y[v]); \
            } \
        } \
        _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) \
            _Pragma("GCC unroll 4") for (int v = 0; v < 4; v++) \
                if (mask[v]) store_sums(to, r, column + 16 * v, mask[v], sum[r][v]); \
    } \
}
ACROSS_ROWS(1) ACROSS_ROWS(2) ACROSS_ROWS(3) ACROSS_ROWS(4)

/* Multiply up to MAX_UNPACKED_ROWS rows of `a` by `columns` columns of `b`, without packing. The columns of `b` are
   contiguous if `transposed`, and its rows otherwise. */
static void multiply_unpacked_rows(
    ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns, const char *a, ptrdiff_t a_bytes, const char *b, ptrdiff_t b_bytes,
    int transposed, const PairStore *to) {
    static void (*const kernels[2][MAX_UNPACKED_ROWS])(ptrdiff_t, ptrdiff_t, const char *, ptrdiff_t, const char *, ptrdiff_t, const PairStore *) = {
        {across_rows_1, across_rows_2, across_rows_3, across_rows_4}, {dot_rows_1, dot_rows_2, dot_rows_3, dot_rows_4}};
    kernels[transposed][rows - 1](depth, columns, a, a_bytes, b, b_bytes, to);
}

/* Round n float32 numbers to bfloat16. Subnormal numbers become zero. */
TARGET_BF16 static void round_to_bfloat16(const float *x, ptrdiff_t n, void *to) {
    uint16_t *out = (uint16_t *)to;
    for (; n > 0; n -= 16, x += 16, out += 16) {
        __mmask16 mask = (__mmask16)(n >= 16 ? 0xffff : (1 << n) - 1);
        _mm256_mask_storeu_epi16(out, mask, (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x)));
    }
}

#else
static int has_avx512_bf16(void) { return 0; }
/* These functions are never called, because `has_avx512_bf16` returns 0. */
static void multiply_pair_panel(
    ptrdiff_t rows, ptrdiff_t depth, const char *a, ptrdiff_t row_bytes, ptrdiff_t pair_bytes, const char *b, ptrdiff_t columns,
    PairStore to) {
    (void)rows, (void)depth, (void)a, (void)row_bytes, (void)pair_bytes, (void)b, (void)columns, (void)to;
}
static void multiply_unpacked_rows(
    ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns, const char *a, ptrdiff_t a_bytes, const char *b, ptrdiff_t b_bytes,
    int transposed, const PairStore *to) {
    (void)transposed, (void)rows, (void)depth, (void)columns, (void)a, (void)a_bytes, (void)b, (void)b_bytes, (void)to;
}
static void pack_row_pairs(ptrdiff_t depth, ptrdiff_t columns, const char *x, ptrdiff_t pitch_bytes, char *to, ptrdiff_t step) {
    (void)depth, (void)columns, (void)x, (void)pitch_bytes, (void)to, (void)step;
}
static void pack_column_pairs(ptrdiff_t depth, ptrdiff_t columns, const char *x, ptrdiff_t pitch_bytes, char *to, ptrdiff_t step) {
    (void)depth, (void)columns, (void)x, (void)pitch_bytes, (void)to, (void)step;
}
static void pack_copied_pairs(
    ptrdiff_t depth, const void *from, const int64_t *offset, const LaneCopy *copies, ptrdiff_t count, char *to, ptrdiff_t step) {
    (void)depth, (void)from, (void)offset, (void)copies, (void)count, (void)to, (void)step;
}
static void round_to_bfloat16(const float *x, ptrdiff_t n, void *to) { (void)x, (void)n, (void)to; }
#endif

#endif
