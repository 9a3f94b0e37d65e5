/* Column-wise min/max with row index (argmin/argmax), compiled once for each SIMD level.

   In: contiguous rows of a matrix. Out: the extreme element of each column and its row index. In C, for the
   macros of `simd_level.h`. A NaN is the extreme element of its column. Of equal elements, the first row is
   returned. */

#ifndef TS_EXTREMES_H
#define TS_EXTREMES_H

#include <stddef.h>
#include <stdint.h>

#include "simd_level.h"

/* Macro parameters: `number` is the element type, `row` an integer type of equal size for row indices.
   `values` may be NULL. */
#define COLUMN_EXTREMES(number, row)                                                                                   \
    enum { number##_block = 128 / sizeof(number) };                                                                   \
    /* Process `count` <= `block` columns in parallel. */                                                          \
    static inline __attribute__((always_inline)) void number##_extremes_of(int largest, ptrdiff_t count,               \
                                                                           const number *x, ptrdiff_t n,               \
                                                                           ptrdiff_t pitch, number *values,            \
                                                                           int64_t *indices) {                         \
        number best[number##_block];                                                                                   \
        row index[number##_block];                                                                                     \
        for (ptrdiff_t j = 0; j < count; j++) best[j] = x[j], index[j] = 0;                                            \
        for (ptrdiff_t i = 1; i < n; i++) {                                                                            \
            const number *now = x + i * pitch;                                                                         \
            for (ptrdiff_t j = 0; j < count; j++) {                                                                    \
                number v = now[j], old = best[j];                                                                      \
                /* The negated comparison is also true for a NaN v. A NaN that was found before is kept. */            \
                int newer = !(largest ? v <= old : v >= old) & (old == old);                                           \
                best[j] = newer ? v : old;                                                                             \
                index[j] = newer ? (row)i : index[j];                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (ptrdiff_t j = 0; j < count; j++) {                                                                        \
            if (values) values[j] = best[j];                                                                           \
            indices[j] = index[j];                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static inline __attribute__((always_inline)) void number##_extremes(                                               \
        int largest, const number *x, ptrdiff_t n, ptrdiff_t columns, number *values, int64_t *indices) {              \
        ptrdiff_t j = 0;                                                                                               \
        for (; j + number##_block <= columns; j += number##_block)                                                     \
            number##_extremes_of(largest, number##_block, x + j, n, columns, values ? values + j : NULL, indices + j); \
        if (j < columns)                                                                                               \
            number##_extremes_of(largest, columns - j, x + j, n, columns, values ? values + j : NULL, indices + j);    \
    }                                                                                                                  \
    SIMD_BODY void number##_column_extremes_body(                                                                    \
        int largest, const number *x, ptrdiff_t n, ptrdiff_t columns, number *values, int64_t *indices) {              \
        if (largest)                                                                                                   \
            number##_extremes(1, x, n, columns, values, indices);                                                      \
        else                                                                                                           \
            number##_extremes(0, x, n, columns, values, indices);                                                      \
    }                                                                                                                  \
    SIMD_VERSIONS(void, number##_column_extremes,                                                                      \
                  (int largest, const number *x, ptrdiff_t n, ptrdiff_t columns,                                       \
                   number *values, int64_t *indices),                                                                  \
                  (largest, x, n, columns, values, indices))

COLUMN_EXTREMES(float, int32_t)
COLUMN_EXTREMES(double, int64_t)
COLUMN_EXTREMES(int32_t, int32_t)
COLUMN_EXTREMES(int64_t, int64_t)

#endif
