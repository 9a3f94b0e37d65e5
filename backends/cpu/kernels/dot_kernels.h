/* Dot products and vector-matrix products, compiled once for each SIMD level.

   In: contiguous rows.  Out: a number, or a row.  In C, for the macros of `simd_level.h`.  The partial sums and
   their order do not depend on the vector width, so results are bit-identical at all levels. */

#ifndef TS_DOTS_H
#define TS_DOTS_H

#include <stddef.h>

#include "simd_level.h"

enum { SUMS = 64 }; /* number of parallel accumulators for a long row */

#define DOTS(number)                                                                                                   \
    static inline __attribute__((always_inline)) number number##_row_dot(                                              \
        const number *x, const number *y, ptrdiff_t n) {                                                               \
        number sums[SUMS], total = 0;                                                                                  \
        ptrdiff_t i = 0;                                                                                               \
        if (n >= SUMS) {                                                                                               \
            for (int j = 0; j < SUMS; j++) sums[j] = x[j] * y[j];                                                      \
            for (i = SUMS; i + SUMS <= n; i += SUMS)                                                                   \
                for (int j = 0; j < SUMS; j++) sums[j] += x[i + j] * y[i + j];                                         \
            for (int half = SUMS / 2; half; half /= 2)                                                                 \
                for (int j = 0; j < half; j++) sums[j] += sums[j + half];                                              \
            total = sums[0];                                                                                           \
        }                                                                                                              \
        for (; i < n; i++) total += x[i] * y[i];                                                                       \
        return total;                                                                                                  \
    }                                                                                                                  \
    /* out[i] = rows[i] . x, where consecutive rows are `pitch` elements apart */                                      \
    SIMD_BODY void number##_dots_body(                                                                               \
        const number *rows, ptrdiff_t pitch, ptrdiff_t m, const number *x, ptrdiff_t n, number *out) {                 \
        for (ptrdiff_t i = 0; i < m; i++) out[i] = number##_row_dot(rows + i * pitch, x, n);                           \
    }                                                                                                                  \
    SIMD_VERSIONS(void, number##_dots,                                                                                 \
                  (const number *rows, ptrdiff_t pitch, ptrdiff_t m, const number *x,                                  \
                   ptrdiff_t n, number *out),                                                                          \
                  (rows, pitch, m, x, n, out))                                                                         \
    /* out = sum over i of x[i] * rows[i] */                                                                           \
    SIMD_BODY void number##_weighted_rows_body(                                                                      \
        const number *rows, ptrdiff_t pitch, ptrdiff_t m, const number *x, ptrdiff_t n, number *out) {                 \
        for (ptrdiff_t j = 0; j < n; j++) out[j] = x[0] * rows[j];                                                     \
        for (ptrdiff_t i = 1; i < m; i++)                                                                              \
            for (ptrdiff_t j = 0; j < n; j++) out[j] += x[i] * rows[i * pitch + j];                                    \
    }                                                                                                                  \
    SIMD_VERSIONS(void, number##_weighted_rows,                                                                        \
                  (const number *rows, ptrdiff_t pitch, ptrdiff_t m, const number *x,                                  \
                   ptrdiff_t n, number *out),                                                                          \
                  (rows, pitch, m, x, n, out))

DOTS(float)
DOTS(double)

#endif
