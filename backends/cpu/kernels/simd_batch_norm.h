/* Loops of batch normalization, compiled once for each SIMD level, used by `batch_norm.pyx`. Products are rounded before
   they are added (no FMA), so results have the same bits at all levels. */

#ifndef TS_SIMD_BATCH_NORM_H
#define TS_SIMD_BATCH_NORM_H

#ifdef __clang__
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include <stddef.h>

#include "simd_level.h"

enum { CHANNEL_SUMS = 8 }; /* number of accumulators of each sum, which are added at the end */

#define BATCH_NORM_LOOPS(T) \
/* Add the sum of x - about to `total`, and the sum of (x - about) ** 2 to `squares`. */ \
SIMD_BODY void add_channel_##T##_body(const T *x, ptrdiff_t n, double about, double *total, double *squares) { \
    double first[CHANNEL_SUMS] = {0}, second[CHANNEL_SUMS] = {0}; \
    ptrdiff_t j = 0; \
    for (; j + CHANNEL_SUMS <= n; j += CHANNEL_SUMS) \
        for (int k = 0; k < CHANNEL_SUMS; k++) { \
            double difference = x[j + k] - about; \
            first[k] += difference; \
            second[k] += difference * difference; \
        } \
    for (; j < n; j++) { \
        double difference = x[j] - about; \
        first[0] += difference; \
        second[0] += difference * difference; \
    } \
    for (int k = 0; k < CHANNEL_SUMS; k++) { *total += first[k]; *squares += second[k]; } \
} \
SIMD_VERSIONS(void, add_channel_##T, (const T *x, ptrdiff_t n, double about, double *total, double *squares), (x, n, about, total, squares)) \
/* The same for one element of each channel. */ \
SIMD_BODY void add_channels_##T##_body(const T *x, ptrdiff_t n, const double *about, double *restrict totals, double *restrict squares) { \
    for (ptrdiff_t c = 0; c < n; c++) { \
        double difference = x[c] - about[c]; \
        totals[c] += difference; \
        squares[c] += difference * difference; \
    } \
} \
SIMD_VERSIONS(void, add_channels_##T, (const T *x, ptrdiff_t n, const double *about, double *restrict totals, double *restrict squares), \
              (x, n, about, totals, squares)) \
SIMD_BODY void scale_channel_##T##_body(const T *x, ptrdiff_t n, T scale, T shift, T *restrict out) { \
    for (ptrdiff_t j = 0; j < n; j++) out[j] = x[j] * scale + shift; \
} \
SIMD_VERSIONS(void, scale_channel_##T, (const T *x, ptrdiff_t n, T scale, T shift, T *restrict out), (x, n, scale, shift, out)) \
SIMD_BODY void scale_channels_##T##_body(const T *x, ptrdiff_t n, const T *scale, const T *shift, T *restrict out) { \
    for (ptrdiff_t c = 0; c < n; c++) out[c] = x[c] * scale[c] + shift[c]; \
} \
SIMD_VERSIONS(void, scale_channels_##T, (const T *x, ptrdiff_t n, const T *scale, const T *shift, T *restrict out), (x, n, scale, shift, out))
BATCH_NORM_LOOPS(float)
BATCH_NORM_LOOPS(double)

#endif
