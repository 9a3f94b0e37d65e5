/* Matrix products with few rows, without packing, used by `skinny_gemm.pyx`. `simd_tiles.h` includes this
   file and instantiates its macros for every vector width.

   along    b has contiguous columns, as weights of a layer do: x @ w.T       vectors run along a sum
   across   b has contiguous rows: x @ w                                      vectors run across the sums

   In `along`, each sum has one accumulator vector. The accumulators of L sums are folded together by halves,
   until one vector holds L results. In `across`, each element has one accumulator, as in the tiles. In both,
   the order of additions for an element does not depend on which other elements are computed with it. */

#include <string.h>

/* Add the lower and upper half of a, and of b. The results are interleaved. */
#define FOLD(ID, TARGET, T) \
TARGET static inline __attribute__((always_inline)) V_##ID fold_##ID(V_##ID a, V_##ID b) { \
    V_##ID sum; \
    if (CAN_SHUFFLE) { \
        P_##ID low, high; \
        for (int i = 0; i < L_##ID; i++) { \
            low[i] = i / 2 + (i % 2) * L_##ID; \
            high[i] = low[i] + L_##ID / 2; \
        } \
        return SHUFFLE(a, b, low) + SHUFFLE(a, b, high); \
    } \
    for (int i = 0; i < L_##ID / 2; i++) { \
        sum[2 * i] = a[i] + a[i + L_##ID / 2]; \
        sum[2 * i + 1] = b[i] + b[i + L_##ID / 2]; \
    } \
    return sum; \
} \
/* Shuffle that moves the even lanes first, then the odd lanes. */ \
TARGET static inline __attribute__((always_inline)) V_##ID apart_##ID(V_##ID a) { \
    V_##ID sum; \
    P_##ID indices; \
    for (int i = 0; i < L_##ID; i++) indices[i] = i % (L_##ID / 2) * 2 + i / (L_##ID / 2); \
    if (CAN_SHUFFLE) return SHUFFLE(a, a, indices); \
    for (int i = 0; i < L_##ID; i++) sum[i] = a[indices[i]]; \
    return sum; \
}

/* Sums of ROWS rows and COLUMNS columns, folded log2(ROWS * COLUMNS) times. One vector then holds the sums in
   row-major order. If fewer columns remain, the last column is repeated. */
#define ALONG(ID, TARGET, T, ROWS, COLUMNS) \
TARGET static inline __attribute__((always_inline)) V_##ID sums_##ID##_##ROWS##_##COLUMNS( \
    ptrdiff_t depth, const T *a, ptrdiff_t a_row, const T *b, ptrdiff_t b_column, ptrdiff_t columns) { \
    const T *x[ROWS], *y[COLUMNS]; \
    V_##ID sum[ROWS * COLUMNS], u[ROWS], v; \
    P_##ID rest; \
    ptrdiff_t k = 0; \
    for (int r = 0; r < ROWS; r++) x[r] = a + r * a_row; \
    for (int c = 0; c < COLUMNS; c++) y[c] = c < columns || c == 0 ? b + c * b_column : y[c - 1]; \
    for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = (V_##ID){0}; \
    for (; k + L_##ID <= depth; k += L_##ID) { \
        for (int r = 0; r < ROWS; r++) u[r] = *(const V_##ID *)(x[r] + k); \
        for (int c = 0; c < COLUMNS; c++) { \
            v = *(const V_##ID *)(y[c] + k); \
            for (int r = 0; r < ROWS; r++) sum[r * COLUMNS + c] += u[r] * v; \
        } \
    } \
    /* Remainder: the last whole vectors, with lanes that are already summed masked out. Unconditional, to keep the sums in registers. */ \
    for (int i = 0; i < L_##ID; i++) rest[i] = i; \
    rest = (P_##ID)(rest >= (INDEX_##T)(L_##ID - (depth - k))); \
    for (int r = 0; r < ROWS; r++) u[r] = (V_##ID)(rest & (P_##ID)*(const V_##ID *)(x[r] + depth - L_##ID)); \
    for (int c = 0; c < COLUMNS; c++) { \
        v = (V_##ID)(rest & (P_##ID)*(const V_##ID *)(y[c] + depth - L_##ID)); \
        for (int r = 0; r < ROWS; r++) sum[r * COLUMNS + c] += u[r] * v; \
    } \
    FOLDS(ID, ROWS * COLUMNS) \
    return sum[0]; \
}
#define FOLDED(ID, N, COUNT) \
    if (COUNT >= 2 * N) for (int i = 0; i < N; i++) sum[i] = fold_##ID(sum[i], sum[i + N]);
#define FOLDS(ID, COUNT) FOLDED(ID, 8, COUNT) FOLDED(ID, 4, COUNT) FOLDED(ID, 2, COUNT) FOLDED(ID, 1, COUNT)

/* Compute ROWS rows of the product, for at most L / ROWS of its columns. */
#define ALONG_ROWS(ID, TARGET, T, ROWS, COLUMNS) \
ALONG(ID, TARGET, T, ROWS, COLUMNS) \
TARGET static void along_##ID##_##ROWS( \
    ptrdiff_t columns, ptrdiff_t depth, const T *a, ptrdiff_t a_row, const T *b, ptrdiff_t b_column, \
    T alpha, const T *bias, T *c, ptrdiff_t pitch) { \
    enum { WIDE = L_##ID / ROWS }; \
    V_##ID sums = sums_##ID##_##ROWS##_##COLUMNS(depth, a, a_row, b, b_column, columns); \
    T each[L_##ID]; \
    if (COLUMNS < WIDE) { /* `sums` covers half of the columns. The last fold interleaves it with the other half. */ \
        ptrdiff_t half = columns > COLUMNS ? COLUMNS : 0; \
        sums = fold_##ID(sums, sums_##ID##_##ROWS##_##COLUMNS(depth, a, a_row, b + half * b_column, b_column, columns - half)); \
        sums = apart_##ID(sums); \
    } \
    sums *= alpha; \
    if (ROWS == 1 && columns >= WIDE) { \
        if (bias) sums += *(const V_##ID *)bias; \
        *(V_##ID *)c = sums; \
        return; \
    } \
    *(V_##ID *)each = sums; \
    for (int r = 0; r < ROWS; r++, c += pitch) { \
        if (columns >= WIDE) \
            for (int i = 0; i < WIDE; i++) c[i] = bias ? each[r * WIDE + i] + bias[i] : each[r * WIDE + i]; \
        else \
            for (int i = 0; i < columns; i++) c[i] = bias ? each[r * WIDE + i] + bias[i] : each[r * WIDE + i]; \
    } \
}

#define ALONG_ALL(ID, TARGET, T, MAX_ROWS) \
TARGET static void along_##ID( \
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *pa, ptrdiff_t a_row, ptrdiff_t a_stride, \
    const void *pb, ptrdiff_t b_column, double alpha, const void *pbias, void *pc, ptrdiff_t pitch) { \
    const T *a = (const T *)pa, *b = (const T *)pb, *bias = (const T *)pbias; \
    T *c = (T *)pc; \
    (void)a_stride; \
    for (ptrdiff_t from = 0; from < n; from += L_##ID) { \
        ptrdiff_t until = from + L_##ID < n ? from + L_##ID : n; \
        for (ptrdiff_t row = 0, rows; row < m; row += rows) { \
            rows = m - row >= 4 && MAX_ROWS >= 4 ? 4 : m - row >= 2 ? 2 : 1; \
            for (ptrdiff_t i = from; i < until; i += L_##ID / rows) \
                (rows == 4 ? along_##ID##_##MAX_ROWS : rows == 2 ? along_##ID##_2 : along_##ID##_1)( \
                    until - i, depth, a + row * a_row, a_row, b + i * b_column, b_column, (T)alpha, \
                    bias ? bias + i : bias, c + row * pitch + i, pitch); \
        } \
    } \
}

/* Compute bit-identical sums for packed b (`gemm_tiles.pyx`): each of a sum's L accumulators is a lane of a
   vector over columns. */
#define ALONG_PACKED(ID, TARGET, T) \
TARGET static inline __attribute__((always_inline)) V_##ID packed_sums_##ID( \
    ptrdiff_t depth, const T *x, const T *b) { \
    V_##ID sum[L_##ID]; \
    for (int i = 0; i < L_##ID; i++) sum[i] = (V_##ID){0}; \
    for (; depth >= L_##ID; depth -= L_##ID, x += L_##ID, b += L_##ID * L_##ID) \
        for (int i = 0; i < L_##ID; i++) sum[i] += *(const V_##ID *)(b + i * L_##ID) * x[i]; \
    for (int i = 0; i < L_##ID; i++) \
        if (i >= L_##ID - depth) sum[i] += *(const V_##ID *)(b + (i - L_##ID + depth) * L_##ID) * x[i - L_##ID + depth]; \
    ADDED(ID, 8) ADDED(ID, 4) ADDED(ID, 2) ADDED(ID, 1) \
    return sum[0]; \
} \
TARGET static void packed_##ID( \
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *pa, ptrdiff_t a_row, ptrdiff_t a_stride, \
    const void *pb, ptrdiff_t b_next, double alpha, const void *pbias, void *pc, ptrdiff_t pitch) { \
    const T *a = (const T *)pa, *b = (const T *)pb, *bias = (const T *)pbias; \
    T *c = (T *)pc; \
    (void)a_stride; \
    (void)b_next; \
    for (ptrdiff_t at = 0; at < n; at += L_##ID) { \
        ptrdiff_t left = n - at < L_##ID ? n - at : L_##ID; \
        for (ptrdiff_t row = 0; row < m; row++) { \
            V_##ID sums = packed_sums_##ID(depth, a + row * a_row, b + at * depth) * (T)alpha, more = {0}; \
            if (bias && left == L_##ID) \
                sums += *(const V_##ID *)(bias + at); \
            else if (bias) { \
                memcpy(&more, bias + at, left * sizeof(T)); \
                sums += more; \
            } \
            if (left == L_##ID) \
                *(V_##ID *)(c + row * pitch + at) = sums; \
            else \
                memcpy(c + row * pitch + at, &sums, left * sizeof(T)); \
        } \
    } \
}
#define ADDED(ID, N) \
    if (L_##ID >= 2 * N) for (int i = 0; i < N; i++) sum[i] += sum[i + N];

/* Compute sums of ROWS rows and VECTORS vectors of columns. The remaining columns form a vector that overlaps
   the previous vector. */
#define ACROSS(ID, TARGET, T, ROWS, VECTORS) \
TARGET static void across_##ID##_##ROWS##_##VECTORS( \
    ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_stride, const T *b, ptrdiff_t b_row, \
    T alpha, const T *bias, T *c, ptrdiff_t pitch) { \
    V_##ID sum[ROWS][VECTORS], x[VECTORS]; \
    for (int r = 0; r < ROWS; r++) for (int v = 0; v < VECTORS; v++) sum[r][v] = (V_##ID){0}; \
    for (; depth > 0; depth--, a += a_stride, b += b_row) { \
        for (int v = 0; v < VECTORS; v++) x[v] = *(const V_##ID *)(b + v * L_##ID); \
        for (int r = 0; r < ROWS; r++) for (int v = 0; v < VECTORS; v++) sum[r][v] += x[v] * a[r * a_row]; \
    } \
    for (int r = 0; r < ROWS; r++, c += pitch) \
        for (int v = 0; v < VECTORS; v++) { \
            sum[r][v] *= alpha; \
            if (bias) sum[r][v] += *(const V_##ID *)(bias + v * L_##ID); \
            *(V_##ID *)(c + v * L_##ID) = sum[r][v]; \
        } \
}

/* Compute the largest number of vectors that fits in the registers at a time, then two, then one. */
#define ACROSS_WIDE(ID, TARGET, T, ROWS, WIDE) \
ACROSS(ID, TARGET, T, ROWS, 1) ACROSS(ID, TARGET, T, ROWS, 2) ACROSS(ID, TARGET, T, ROWS, WIDE) \
TARGET static void across_##ID##_##ROWS( \
    ptrdiff_t n, ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_stride, const T *b, ptrdiff_t b_row, \
    T alpha, const T *bias, T *c, ptrdiff_t pitch) { \
    for (ptrdiff_t at = 0, vectors; at < n; at += vectors * L_##ID) { \
        vectors = n - at >= WIDE * L_##ID ? WIDE : n - at >= 2 * L_##ID ? 2 : 1; \
        if (at + L_##ID > n) at = n - L_##ID; \
        (vectors == WIDE ? across_##ID##_##ROWS##_##WIDE \
         : vectors == 2 ? across_##ID##_##ROWS##_2 : across_##ID##_##ROWS##_1)( \
            depth, a, a_row, a_stride, b + at, b_row, alpha, bias ? bias + at : bias, c + at, pitch); \
    } \
}

#define ACROSS_ALL(ID, TARGET, T, WIDE1, WIDE2, WIDE4) \
ACROSS_WIDE(ID, TARGET, T, 1, WIDE1) ACROSS_WIDE(ID, TARGET, T, 2, WIDE2) ACROSS_WIDE(ID, TARGET, T, 4, WIDE4) \
TARGET static void across_##ID( \
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *pa, ptrdiff_t a_row, ptrdiff_t a_stride, \
    const void *pb, ptrdiff_t b_row, double alpha, const void *bias, void *pc, ptrdiff_t pitch) { \
    for (ptrdiff_t row = 0, rows; row < m; row += rows) { \
        rows = m - row >= 4 ? 4 : m - row >= 2 ? 2 : 1; \
        (rows == 4 ? across_##ID##_4 : rows == 2 ? across_##ID##_2 : across_##ID##_1)( \
            n, depth, (const T *)pa + row * a_row, a_row, a_stride, (const T *)pb, b_row, (T)alpha, (const T *)bias, \
            (T *)pc + row * pitch, pitch); \
    } \
}

/* The numbers of rows and vectors that fit in the registers, by the lanes of a vector. */
#define ROWS_OF_16(ID, TARGET, T) ALONG_PACKED(ID, TARGET, T) \
ALONG_ROWS(ID, TARGET, T, 1, 8) ALONG_ROWS(ID, TARGET, T, 2, 8) ALONG_ROWS(ID, TARGET, T, 4, 4) ALONG_ALL(ID, TARGET, T, 4)
#define ROWS_OF_8(ID, TARGET, T) ALONG_PACKED(ID, TARGET, T) \
ALONG_ROWS(ID, TARGET, T, 1, 8) ALONG_ROWS(ID, TARGET, T, 2, 4) ALONG_ROWS(ID, TARGET, T, 4, 2) ALONG_ALL(ID, TARGET, T, 4)
#define ROWS_OF_4(ID, TARGET, T) ALONG_PACKED(ID, TARGET, T) \
ALONG_ROWS(ID, TARGET, T, 1, 4) ALONG_ROWS(ID, TARGET, T, 2, 2) ALONG_ROWS(ID, TARGET, T, 4, 1) ALONG_ALL(ID, TARGET, T, 4)
#define ROWS_OF_2(ID, TARGET, T) ALONG_PACKED(ID, TARGET, T) \
ALONG_ROWS(ID, TARGET, T, 1, 2) ALONG_ROWS(ID, TARGET, T, 2, 1) ALONG_ALL(ID, TARGET, T, 2)
