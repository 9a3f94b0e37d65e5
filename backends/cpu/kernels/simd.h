/* Auto-vectorization of loops over rows, which are compiled once for each SIMD level (`simd_level.h`).

   In: a row and its length. Out: a number, or another row. In C, because Cython has no vector types and
   target attributes. Code that is written with vector types is compiled separately for each level
   (`simd_row_loops.h`), because GCC compiles vectors that are wider than the target's to scalar loops. */

#ifndef TS_SIMD_H
#define TS_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unaligned_types.h"
#include "simd_level.h"

#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(64)));
typedef float any_lanes __attribute__((vector_size(64), aligned(1), may_alias)); /* a vector at any address */

INLINE lanes simd_at(const float *x) { return *(const any_lanes *)x; }
INLINE void simd_to(float *x, lanes v) { *(any_lanes *)x = v; }
SIMD_BODY void simd_maximum_body(float *peak, const float *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) peak[i] = x[i] > peak[i] ? x[i] : peak[i];
}
SIMD_VERSIONS(void, simd_maximum, (float *peak, const float *x, ptrdiff_t n), (peak, x, n))

SIMD_BODY void simd_multiply_body(float *x, ptrdiff_t n, const float *by) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by[i];
}
SIMD_VERSIONS(void, simd_multiply, (float *x, ptrdiff_t n, const float *by), (x, n, by))

SIMD_BODY void simd_subtract_body(const float *x, ptrdiff_t n, const float *by, float *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - by[i];
}
SIMD_VERSIONS(void, simd_subtract, (const float *x, ptrdiff_t n, const float *by, float *out), (x, n, by, out))

SIMD_BODY void simd_fill_four_body(four_bytes *out, ptrdiff_t n, int32_t value) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = value;
}
SIMD_VERSIONS(void, simd_fill_four, (four_bytes *out, ptrdiff_t n, int32_t value), (out, n, value))

SIMD_BODY void simd_fill_eight_body(eight_bytes *out, ptrdiff_t n, int64_t value) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = value;
}
SIMD_VERSIONS(void, simd_fill_eight, (eight_bytes *out, ptrdiff_t n, int64_t value), (out, n, value))

/* Return the index of the first element that equals `value`, or n. */
SIMD_BODY ptrdiff_t simd_find_float_body(const float *x, ptrdiff_t n, float value) {
    enum { FIND_BLOCK = 256 };
    ptrdiff_t i = 0;
    for (; i + FIND_BLOCK <= n; i += FIND_BLOCK) {
        int is_found = 0;
        for (int k = 0; k < FIND_BLOCK; k++) is_found |= x[i + k] == value;
        if (is_found) break;
    }
    while (i < n && x[i] != value) i++;
    return i;
}
SIMD_VERSIONS(ptrdiff_t, simd_find_float, (const float *x, ptrdiff_t n, float value), (x, n, value))

/* Write `count` rows. Each row is the concatenation of the next length[p] bytes of each source p. */
SIMD_BODY void join_rows_body(const char **from, const ptrdiff_t *length, ptrdiff_t parts, ptrdiff_t count, char *to) {
    for (; count > 0; count--)
        for (ptrdiff_t p = 0; p < parts; p++) {
            const char *x = from[p];
            ptrdiff_t n = length[p], i = 0;
            if (n < (ptrdiff_t)sizeof(lanes) || n > 2048)
                memcpy(to, x, n);
            else {
                for (; i + (ptrdiff_t)sizeof(lanes) <= n; i += sizeof(lanes))
                    simd_to((float *)(to + i), simd_at((const float *)(x + i)));
                simd_to((float *)(to + n - sizeof(lanes)), simd_at((const float *)(x + n - sizeof(lanes))));
            }
            from[p] += n;
            to += n;
        }
}
SIMD_VERSIONS(void, join_rows, (const char **from, const ptrdiff_t *length, ptrdiff_t parts, ptrdiff_t count, char *to),
              (from, length, parts, count, to))

SIMD_BODY int64_t simd_sum_int64_body(const int64_t *x, ptrdiff_t n) {
    int64_t total = 0;
    for (ptrdiff_t i = 0; i < n; i++) total += x[i];
    return total;
}
SIMD_VERSIONS(int64_t, simd_sum_int64, (const int64_t *x, ptrdiff_t n), (x, n))

/* Read an index from memory once, because another thread may change it between the check and the use. */
static inline int64_t once_wide(const int64_t *x) { return *(const volatile int64_t *)x; }
static inline int64_t once_narrow(const int32_t *x) { return *(const volatile int32_t *)x; }

/* out[i] = x[index[i]] for elements of four or eight bytes. Returns 0 if an index is not in [0, size), with
   `out` partly filled. Gather instructions are not used, because they are no faster than loads. */
#define PICK(NAME, T) \
static int pick_##NAME(const T *x, ptrdiff_t size, const int64_t *index, ptrdiff_t n, T *restrict out) { \
    ptrdiff_t i = 0; \
    uint64_t m = size; \
    for (; i + 4 <= n; i += 4) { \
        uint64_t p = once_wide(index + i), q = once_wide(index + i + 1); \
        uint64_t r = once_wide(index + i + 2), s = once_wide(index + i + 3); \
        if (p >= m || q >= m || r >= m || s >= m) return 0; \
        T a = x[p], b = x[q], c = x[r], d = x[s]; \
        out[i] = a; out[i + 1] = b; out[i + 2] = c; out[i + 3] = d; \
    } \
    for (; i < n; i++) { \
        uint64_t p = once_wide(index + i); \
        if (p >= m) return 0; \
        out[i] = x[p]; \
    } \
    return 1; \
} \
/* Select elements with equal indices in each row of x and out. */ \
static int pick_##NAME##_of_rows(const T *x, ptrdiff_t rows, ptrdiff_t size, const int64_t *index, ptrdiff_t n, \
                                 T *restrict out) { \
    for (; rows >= 4; rows -= 4, x += 4 * size, out += 4 * n) \
        for (ptrdiff_t i = 0; i < n; i++) { \
            uint64_t p = once_wide(index + i); \
            if (p >= (uint64_t)size) return 0; \
            T a = x[p], b = x[p + size], c = x[p + 2 * size], d = x[p + 3 * size]; \
            out[i] = a; out[i + n] = b; out[i + 2 * n] = c; out[i + 3 * n] = d; \
        } \
    for (; rows > 0; rows--, x += size, out += n) if (!pick_##NAME(x, size, index, n, out)) return 0; \
    return 1; \
}
PICK(four, four_bytes)
PICK(eight, eight_bytes)

#endif
