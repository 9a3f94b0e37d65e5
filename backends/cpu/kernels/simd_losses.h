/* Elementwise losses of rows of float and double elements, compiled once for each SIMD level, used by
   `pointwise_loss.pyx`. Products are rounded before they are added (no FMA), so results have the same bits at all
   levels. */

#ifndef TS_SIMD_LOSSES_H
#define TS_SIMD_LOSSES_H

#ifdef __clang__
#pragma clang fp contract(off)
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include <stddef.h>

#include "simd_level.h"

#define LOSS_LOOP(NAME, T, PARAMETERS, ARGUMENTS, EXPRESSION) \
SIMD_BODY void NAME##_##T##_body PARAMETERS { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T a = x[i], b = y[i]; \
        out[i] = EXPRESSION; \
    } \
} \
SIMD_VERSIONS(void, NAME##_##T, PARAMETERS, ARGUMENTS)

#define LOSSES(T) \
SIMD_BODY T distance_##T(T a, T b) { return a - b < 0 ? b - a : a - b; } \
LOSS_LOOP(squared_error, T, (const T *x, const T *y, ptrdiff_t n, T *restrict out), (x, y, n, out), (a - b) * (a - b)) \
LOSS_LOOP(absolute_error, T, (const T *x, const T *y, ptrdiff_t n, T *restrict out), (x, y, n, out), distance_##T(a, b)) \
/* a quadratic function of the distance below `limit`, else a linear function */ \
LOSS_LOOP(smooth_l1, T, (const T *x, const T *y, ptrdiff_t n, T limit, T half_limit, T *restrict out), (x, y, n, limit, half_limit, out), \
          distance_##T(a, b) < limit ? (T)0.5 * distance_##T(a, b) * distance_##T(a, b) / limit : distance_##T(a, b) - half_limit) \
LOSS_LOOP(huber, T, (const T *x, const T *y, ptrdiff_t n, T limit, T half_limit, T *restrict out), (x, y, n, limit, half_limit, out), \
          distance_##T(a, b) <= limit ? (T)0.5 * distance_##T(a, b) * distance_##T(a, b) : limit * (distance_##T(a, b) - half_limit)) \
LOSS_LOOP(product, T, (const T *x, const T *y, ptrdiff_t n, T *restrict out), (x, y, n, out), a * b) \
/* The cross entropy of targets y, given the logarithms of p and of 1 - p. Logarithms are at least -100. */ \
LOSS_LOOP(binary_entropy, T, (const T *x, const T *y, const T *target, ptrdiff_t n, T *restrict out), (x, y, target, n, out), \
          -(target[i] * (a > -100 ? a : -100) + (1 - target[i]) * (b > -100 ? b : -100))) \
/* The cross entropy of targets y, given scores x, log1p(exp(-|x|)), and a weight of the positive targets. */ \
LOSS_LOOP(logits_entropy, T, (const T *x, const T *y, const T *log_term, ptrdiff_t n, T *restrict out), (x, y, log_term, n, out), \
          (1 - b) * a + (log_term[i] + (-a > 0 ? -a : 0))) \
LOSS_LOOP(weighted_logits_entropy, T, (const T *x, const T *y, const T *log_term, const T *weight, ptrdiff_t n, T *restrict out), \
          (x, y, log_term, weight, n, out), (1 - b) * a + (1 + (weight[i] - 1) * b) * (log_term[i] + (-a > 0 ? -a : 0))) \
/* The terms of the Kullback-Leibler divergence: y * (log(y) - x), given log(y), or exp(y) * (y - x), given exp(y). */ \
LOSS_LOOP(divergence, T, (const T *x, const T *y, const T *log_target, ptrdiff_t n, T *restrict out), (x, y, log_target, n, out), \
          (b == 0 ? 0 : b * log_target[i]) - b * a) \
LOSS_LOOP(log_divergence, T, (const T *x, const T *y, const T *target, ptrdiff_t n, T *restrict out), (x, y, target, n, out), \
          target[i] * (b - a)) \
SIMD_BODY void negative_absolute_##T##_body(const T *x, ptrdiff_t n, T *restrict out) { \
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > 0 ? -x[i] : x[i]; \
} \
SIMD_VERSIONS(void, negative_absolute_##T, (const T *x, ptrdiff_t n, T *restrict out), (x, n, out)) \
/* Return whether all elements are in [0, 1]. */ \
SIMD_BODY int are_probabilities_##T##_body(const T *x, ptrdiff_t n) { \
    int outside = 0; \
    for (ptrdiff_t i = 0; i < n; i++) outside |= !(x[i] >= 0) | !(x[i] <= 1); \
    return !outside; \
} \
SIMD_VERSIONS(int, are_probabilities_##T, (const T *x, ptrdiff_t n), (x, n))
LOSSES(float)
LOSSES(double)

#endif
