/* Maxima and sums of pooling windows by rows of the output, for float, double and int64 elements, used by
   `pooling_windows.pyx`.

   An output row is computed in two steps. `*_rows` combines the input rows of its windows, element by element, and
   writes the result to a buffer with neutral elements (the lowest number, or 0) at both sides. `*_columns` combines
   the buffer's elements for each window. With column stride 2, the buffer contains the even and then the odd columns,
   so that each tap of adjacent windows reads adjacent elements:

       row a b c d e with one neutral element at each side      even: - b d -     odd: a c e

   The kernels exist for vectors of 128, 256 and 512 bits. They select and add in the same order, so results have the
   same bits at all levels. */

#ifndef TS_SIMD_POOLING_H
#define TS_SIMD_POOLING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd_level.h"

enum { MAX_TAPS = 64, MAX_PLANE_ELEMENTS = 1 << 30, AFTER_ALL_INDICES = INT32_MAX };

/* The columns of the windows of a row, and the layout of the buffer. */
typedef struct {
    ptrdiff_t width, out_width, stride;
    ptrdiff_t left;                 /* number of neutral elements before the first column */
    ptrdiff_t half, pitch;          /* index of the first odd column for stride 2, and number of elements of the buffer */
    ptrdiff_t taps;                 /* number of columns of a window, or 0 for windows that do not advance by `stride` */
    ptrdiff_t span;                 /* number of windows if they advanced by one column, for strides above 2 */
    ptrdiff_t dilation;
    const int64_t *begin, *stop;    /* first column, and end of the columns, of each window */
    int64_t tap_offsets[MAX_TAPS];  /* tap t of window k is element tap_offsets[t] + k of the buffer */
} PoolRow;

/* Combine `count` input rows. `end` is the end of readable memory. For maxima with indices, element c of row r has the
   index bases[r] + c. The index of each maximum is written to `at`, in integers of the elements' size. */
typedef void (*PoolRowsKernel)(const PoolRow *p, const void *const *rows, const int64_t *bases, ptrdiff_t count,
                               const void *end, void *buffer, void *at);
/* Write the results of the windows to `out`, whose memory ends at `end`, and the indices of maxima to `index`. The
   arrays `all` and `all_at` have p->pitch elements of temporary memory. */
typedef void (*PoolColumnsKernel)(const PoolRow *p, const void *buffer, const void *at, void *out, const void *end,
                                  int64_t *index, void *all, void *all_at);
/* Set n elements to the lowest number, and their indices to a number above all indices. */
typedef void (*PoolFillKernel)(ptrdiff_t n, void *out, void *at);

typedef struct {
    int lanes, element_size;
    PoolRowsKernel max_rows, max_rows_with_indices, sum_rows;
    PoolColumnsKernel max_columns, max_columns_with_indices, sum_columns;
    PoolFillKernel fill_lowest;
} PoolKernels;

#ifdef __clang__ /* clang requires constant arguments of shuffles */
#define POOL_SHUFFLE(a, b, indices) (a)
enum { CAN_SHUFFLE_POOL = 0 };
#else
#define POOL_SHUFFLE(a, b, indices) __builtin_shuffle(a, b, indices)
enum { CAN_SHUFFLE_POOL = 1 };
#endif
#define POOL_INLINE static inline __attribute__((always_inline))

/* The lanes of a where the mask is set, else those of b. */
#define POOL_SELECT(ID, mask, a, b) (V_##ID)(((mask) & (I_##ID)(a)) | (~(mask) & (I_##ID)(b)))
#define POOL_SELECT_INDEX(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

#define POOLING(ID, TARGET, T, INDEX, BYTES, LOWEST) \
typedef T V_##ID __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \
typedef INDEX I_##ID __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \
enum { L_##ID = BYTES / sizeof(T) }; \
TARGET POOL_INLINE I_##ID pool_lanes_##ID(void) { \
    I_##ID lanes; \
    for (int i = 0; i < L_##ID; i++) lanes[i] = i; \
    return lanes; \
} \
/* Load a vector that may cross the end of readable memory. Lanes after the end are zeros. */ \
TARGET POOL_INLINE V_##ID pool_load_##ID(const T *x, const T *end, int is_inside) { \
    V_##ID v = {0}; \
    if (is_inside || x + L_##ID <= end) return *(const V_##ID *)x; \
    if (x < end) memcpy(&v, x, (size_t)(end - x) * sizeof(T)); \
    return v; \
} \
/* Store two adjacent vectors of row elements, from column c on, in the layout of the buffer. */ \
TARGET POOL_INLINE void pool_store_##ID(const PoolRow *p, T *buffer, ptrdiff_t c, V_##ID a, V_##ID b) { \
    if (p->stride != 2) { \
        *(V_##ID *)(buffer + p->left + c) = a; \
        *(V_##ID *)(buffer + p->left + c + L_##ID) = b; \
        return; \
    } \
    T *first = buffer + (p->left % 2 ? p->half : 0) + p->left / 2 + c / 2; \
    T *second = buffer + (p->left % 2 ? 0 : p->half) + (p->left + 1) / 2 + c / 2; \
    if (CAN_SHUFFLE_POOL) { \
        I_##ID even = 2 * pool_lanes_##ID(), odd = even + 1; \
        *(V_##ID *)first = POOL_SHUFFLE(a, b, even); \
        *(V_##ID *)second = POOL_SHUFFLE(a, b, odd); \
    } else { \
        for (int i = 0; i < L_##ID / 2; i++) { \
            first[i] = a[2 * i]; second[i] = a[2 * i + 1]; \
            first[L_##ID / 2 + i] = b[2 * i]; second[L_##ID / 2 + i] = b[2 * i + 1]; \
        } \
    } \
} \
TARGET POOL_INLINE void pool_max_block_##ID( \
    const PoolRow *p, const T *const *rows, const int64_t *bases, ptrdiff_t count, const T *end, T *buffer, INDEX *at, \
    ptrdiff_t c, const int is_inside) { \
    I_##ID lanes = pool_lanes_##ID(), first = {0}, second = {0}, mask; \
    V_##ID a = pool_load_##ID(rows[0] + c, end, is_inside), b = pool_load_##ID(rows[0] + c + L_##ID, end, is_inside), v; \
    if (at) { first = lanes + (INDEX)(bases[0] + c); second = first + L_##ID; } \
    for (ptrdiff_t r = 1; r < count; r++) { \
        v = pool_load_##ID(rows[r] + c, end, is_inside); \
        mask = (I_##ID)(v > a) | (I_##ID)(v != v); \
        a = POOL_SELECT(ID, mask, v, a); \
        if (at) first = POOL_SELECT_INDEX(mask, lanes + (INDEX)(bases[r] + c), first); \
        v = pool_load_##ID(rows[r] + c + L_##ID, end, is_inside); \
        mask = (I_##ID)(v > b) | (I_##ID)(v != v); \
        b = POOL_SELECT(ID, mask, v, b); \
        if (at) second = POOL_SELECT_INDEX(mask, lanes + (INDEX)(bases[r] + c + L_##ID), second); \
    } \
    if (!is_inside) { /* elements after the row become neutral */ \
        V_##ID lowest = (V_##ID){0} + (T)(LOWEST); \
        I_##ID last = (I_##ID){0} + (INDEX)AFTER_ALL_INDICES; \
        mask = (I_##ID)(lanes < (I_##ID){0} + (INDEX)(p->width - c)); \
        a = POOL_SELECT(ID, mask, a, lowest); \
        first = POOL_SELECT_INDEX(mask, first, last); \
        mask = (I_##ID)(lanes + L_##ID < (I_##ID){0} + (INDEX)(p->width - c)); \
        b = POOL_SELECT(ID, mask, b, lowest); \
        second = POOL_SELECT_INDEX(mask, second, last); \
    } \
    pool_store_##ID(p, buffer, c, a, b); \
    if (at) pool_store_##ID(p, (T *)at, c, (V_##ID)first, (V_##ID)second); \
} \
TARGET static void pool_max_rows_##ID( \
    const PoolRow *p, const void *const *rows, const int64_t *bases, ptrdiff_t count, const void *end, void *buffer, void *at) { \
    const T *const *x = (const T *const *)rows; \
    ptrdiff_t c = 0; \
    for (; c + 2 * L_##ID <= p->width; c += 2 * L_##ID) \
        pool_max_block_##ID(p, x, bases, count, (const T *)end, (T *)buffer, NULL, c, 1); \
    if (c < p->width) pool_max_block_##ID(p, x, bases, count, (const T *)end, (T *)buffer, NULL, c, 0); \
} \
TARGET static void pool_max_rows_with_indices_##ID( \
    const PoolRow *p, const void *const *rows, const int64_t *bases, ptrdiff_t count, const void *end, void *buffer, void *at) { \
    const T *const *x = (const T *const *)rows; \
    ptrdiff_t c = 0; \
    for (; c + 2 * L_##ID <= p->width; c += 2 * L_##ID) \
        pool_max_block_##ID(p, x, bases, count, (const T *)end, (T *)buffer, (INDEX *)at, c, 1); \
    if (c < p->width) pool_max_block_##ID(p, x, bases, count, (const T *)end, (T *)buffer, (INDEX *)at, c, 0); \
} \
TARGET POOL_INLINE void pool_sum_block_##ID( \
    const PoolRow *p, const T *const *rows, ptrdiff_t count, const T *end, T *buffer, ptrdiff_t c, const int is_inside) { \
    V_##ID a = {0}, b = {0}; \
    for (ptrdiff_t r = 0; r < count; r++) { \
        a += pool_load_##ID(rows[r] + c, end, is_inside); \
        b += pool_load_##ID(rows[r] + c + L_##ID, end, is_inside); \
    } \
    if (!is_inside) { \
        I_##ID lanes = pool_lanes_##ID(); \
        a = (V_##ID)((I_##ID)(lanes < (I_##ID){0} + (INDEX)(p->width - c)) & (I_##ID)a); \
        b = (V_##ID)((I_##ID)(lanes + L_##ID < (I_##ID){0} + (INDEX)(p->width - c)) & (I_##ID)b); \
    } \
    pool_store_##ID(p, buffer, c, a, b); \
} \
TARGET static void pool_sum_rows_##ID( \
    const PoolRow *p, const void *const *rows, const int64_t *bases, ptrdiff_t count, const void *end, void *buffer, void *at) { \
    const T *const *x = (const T *const *)rows; \
    ptrdiff_t c = 0; \
    for (; c + 2 * L_##ID <= p->width; c += 2 * L_##ID) \
        pool_sum_block_##ID(p, x, count, (const T *)end, (T *)buffer, c, 1); \
    if (c < p->width) pool_sum_block_##ID(p, x, count, (const T *)end, (T *)buffer, c, 0); \
} \
/* Store a vector. Elements after the row are overwritten by the next row. Elements after `end` are not written. */ \
TARGET POOL_INLINE void pool_store_out_##ID(T *out, const T *end, V_##ID v) { \
    if (out + L_##ID <= end) *(V_##ID *)out = v; \
    else if (out < end) memcpy(out, &v, (size_t)(end - out) * sizeof(T)); \
} \
TARGET POOL_INLINE void pool_max_windows_##ID( \
    const PoolRow *p, const ptrdiff_t taps, const T *buffer, const INDEX *at, ptrdiff_t count, T *out, const T *end, INDEX *index) { \
    const int64_t *offsets = p->tap_offsets; \
    for (ptrdiff_t k = 0; k < count; k += L_##ID) { \
        V_##ID best = *(const V_##ID *)(buffer + offsets[0] + k); \
        I_##ID best_at = {0}; \
        if (at) best_at = *(const I_##ID *)(at + offsets[0] + k); \
        for (ptrdiff_t t = 1; t < taps; t++) { \
            V_##ID v = *(const V_##ID *)(buffer + offsets[t] + k); \
            I_##ID mask = (I_##ID)(v > best); \
            if (at) { /* the first of equal maxima, or the last NaN */ \
                I_##ID i = *(const I_##ID *)(at + offsets[t] + k), is_later = (I_##ID)(i > best_at); \
                mask |= ((I_##ID)(v == best) & ~is_later) | ((I_##ID)(v != v) & ((I_##ID)(best == best) | is_later)); \
                best_at = POOL_SELECT_INDEX(mask, i, best_at); \
            } else { \
                mask |= (I_##ID)(v != v); \
            } \
            best = POOL_SELECT(ID, mask, v, best); \
        } \
        pool_store_out_##ID(out + k, end, best); \
        if (at) *(I_##ID *)(index + k) = best_at; \
    } \
} \
/* Maxima of windows that do not advance by a constant stride. */ \
TARGET POOL_INLINE void pool_max_irregular_##ID(const PoolRow *p, const T *buffer, const INDEX *at, T *out, INDEX *index) { \
    for (ptrdiff_t k = 0; k < p->out_width; k++) { \
        ptrdiff_t c = p->begin[k]; \
        T best = (T)(LOWEST); \
        INDEX best_at = 0; \
        if (c < p->stop[k]) { \
            best = buffer[c]; \
            if (at) best_at = at[c]; \
        } else if (at) { \
            best_at = at[0] + (INDEX)c; \
        } \
        for (c += p->dilation; c < p->stop[k]; c += p->dilation) { \
            T v = buffer[c]; \
            int is_selected = v > best; \
            if (at) { \
                int is_later = at[c] > best_at; \
                is_selected |= ((v == best) & !is_later) | ((v != v) & ((best == best) | is_later)); \
                best_at = is_selected ? at[c] : best_at; \
            } else { \
                is_selected |= v != v; \
            } \
            best = is_selected ? v : best; \
        } \
        out[k] = best; \
        if (at) index[k] = best_at; \
    } \
} \
TARGET POOL_INLINE void pool_max_all_##ID( \
    const PoolRow *p, const T *buffer, const INDEX *at, T *out, const T *end, int64_t *index, T *all, INDEX *all_at) { \
    if (p->taps == 0) { \
        pool_max_irregular_##ID(p, buffer, at, out, all_at); \
    } else if (p->stride <= 2) { \
        if (p->taps == 2) pool_max_windows_##ID(p, 2, buffer, at, p->out_width, out, end, all_at); \
        else if (p->taps == 3) pool_max_windows_##ID(p, 3, buffer, at, p->out_width, out, end, all_at); \
        else pool_max_windows_##ID(p, p->taps, buffer, at, p->out_width, out, end, all_at); \
    } else { \
        pool_max_windows_##ID(p, p->taps, buffer, at, p->span, all, all + p->pitch, all_at); \
        for (ptrdiff_t k = 0; k < p->out_width; k++) out[k] = all[k * p->stride]; \
        if (at) for (ptrdiff_t k = 0; k < p->out_width; k++) index[k] = all_at[k * p->stride]; \
        return; \
    } \
    if (at) for (ptrdiff_t k = 0; k < p->out_width; k++) index[k] = all_at[k]; \
} \
TARGET static void pool_max_columns_##ID( \
    const PoolRow *p, const void *buffer, const void *at, void *out, const void *end, int64_t *index, void *all, void *all_at) { \
    pool_max_all_##ID(p, (const T *)buffer, NULL, (T *)out, (const T *)end, NULL, (T *)all, NULL); \
} \
TARGET static void pool_max_columns_with_indices_##ID( \
    const PoolRow *p, const void *buffer, const void *at, void *out, const void *end, int64_t *index, void *all, void *all_at) { \
    pool_max_all_##ID(p, (const T *)buffer, (const INDEX *)at, (T *)out, (const T *)end, index, (T *)all, (INDEX *)all_at); \
} \
TARGET POOL_INLINE void pool_sum_windows_##ID( \
    const PoolRow *p, const ptrdiff_t taps, const T *buffer, ptrdiff_t count, T *out, const T *end) { \
    for (ptrdiff_t k = 0; k < count; k += L_##ID) { \
        V_##ID sum = {0}; \
        for (ptrdiff_t t = 0; t < taps; t++) sum += *(const V_##ID *)(buffer + p->tap_offsets[t] + k); \
        pool_store_out_##ID(out + k, end, sum); \
    } \
} \
TARGET static void pool_sum_columns_##ID( \
    const PoolRow *p, const void *from, const void *at, void *to, const void *end, int64_t *index, void *all, void *all_at) { \
    const T *buffer = (const T *)from; \
    T *out = (T *)to; \
    if (p->taps == 0) { \
        for (ptrdiff_t k = 0; k < p->out_width; k++) { \
            T sum = 0; \
            for (ptrdiff_t c = p->begin[k]; c < p->stop[k]; c += p->dilation) sum += buffer[c]; \
            out[k] = sum; \
        } \
    } else if (p->stride > 2) { \
        pool_sum_windows_##ID(p, p->taps, buffer, p->span, (T *)all, (const T *)all + p->pitch); \
        for (ptrdiff_t k = 0; k < p->out_width; k++) out[k] = ((const T *)all)[k * p->stride]; \
    } else if (p->taps == 2) { \
        pool_sum_windows_##ID(p, 2, buffer, p->out_width, out, (const T *)end); \
    } else if (p->taps == 3) { \
        pool_sum_windows_##ID(p, 3, buffer, p->out_width, out, (const T *)end); \
    } else { \
        pool_sum_windows_##ID(p, p->taps, buffer, p->out_width, out, (const T *)end); \
    } \
} \
TARGET static void pool_fill_lowest_##ID(ptrdiff_t n, void *out, void *at) { \
    for (ptrdiff_t i = 0; i < n; i++) ((T *)out)[i] = (T)(LOWEST); \
    if (at) for (ptrdiff_t i = 0; i < n; i++) ((INDEX *)at)[i] = (INDEX)AFTER_ALL_INDICES; \
} \
static const PoolKernels pool_##ID = { \
    L_##ID, sizeof(T), pool_max_rows_##ID, pool_max_rows_with_indices_##ID, pool_sum_rows_##ID, \
    pool_max_columns_##ID, pool_max_columns_with_indices_##ID, pool_sum_columns_##ID, pool_fill_lowest_##ID};

POOLING(f16, , float, int32_t, 16, -INFINITY)
POOLING(d16, , double, int64_t, 16, -INFINITY)
POOLING(q16, , int64_t, int64_t, 16, INT64_MIN)
#if HAS_SIMD_LEVELS
POOLING(f32, TARGET_AVX2, float, int32_t, 32, -INFINITY)
POOLING(d32, TARGET_AVX2, double, int64_t, 32, -INFINITY)
POOLING(q32, TARGET_AVX2, int64_t, int64_t, 32, INT64_MIN)
POOLING(f64, TARGET_AVX512, float, int32_t, 64, -INFINITY)
POOLING(d64, TARGET_AVX512, double, int64_t, 64, -INFINITY)
POOLING(q64, TARGET_AVX512, int64_t, int64_t, 64, INT64_MIN)
#define POOL_LEVEL(LETTER) (simd_level == SIMD_AVX512 ? &pool_##LETTER##64 : simd_level == SIMD_AVX2 ? &pool_##LETTER##32 : &pool_##LETTER##16)
#else
#define POOL_LEVEL(LETTER) (&pool_##LETTER##16)
#endif

/* Return the kernels for elements with the letter 'f' (float), 'd' (double) or 'q' (int64), at the SIMD level of the process. */
static inline const PoolKernels *pool_kernels(int letter) {
    return letter == 'f' ? POOL_LEVEL(f) : letter == 'd' ? POOL_LEVEL(d) : POOL_LEVEL(q);
}

/* Prefetch the cache lines from `start` to PREFETCH_BYTES after `position`, but at most MAX_PREFETCH_BYTES, and return the
   end of the prefetched memory. The processor's prefetcher does not detect blocks of columns that are read from several rows. */
enum { CACHE_LINE_BYTES = 64, PREFETCH_BYTES = 4096, MAX_PREFETCH_BYTES = 1 << 14 };
static inline const char *prefetch_bytes(const char *start, const char *position, const char *end) {
    const char *stop = end - position > PREFETCH_BYTES ? position + PREFETCH_BYTES : end;
    if (stop - start > MAX_PREFETCH_BYTES) start = stop - MAX_PREFETCH_BYTES;
    for (; start < stop; start += CACHE_LINE_BYTES) __builtin_prefetch(start);
    return start;
}

/* out[i] /= divisor[i] */
#define DIVIDE(T) \
SIMD_BODY void divide_##T##s_body(T *out, const T *divisor, ptrdiff_t n) { \
    for (ptrdiff_t i = 0; i < n; i++) out[i] /= divisor[i]; \
} \
SIMD_VERSIONS(void, divide_##T##s, (T *out, const T *divisor, ptrdiff_t n), (out, divisor, n))
DIVIDE(float)
DIVIDE(double)

#endif
