/* Activation functions of rows of float or double elements. `simd.h` describes the SIMD levels.

   In: contiguous elements and parameters. Out: the same number of elements. `out` may be the input array. */

#ifndef TS_ACTIVATION_H
#define TS_ACTIVATION_H

#include "branchless_select.h"
#include "simd.h"

typedef void (*PieceOfFloats)(const float *, ptrdiff_t, float, float, float *);
typedef void (*PieceOfDoubles)(const double *, ptrdiff_t, double, double, double *);
typedef void (*BackwardOfFloats)(const float *, const float *, ptrdiff_t, float, float, float *);
typedef void (*BackwardOfDoubles)(const double *, const double *, ptrdiff_t, double, double, double *);

/* Piecewise linear functions without branches: both alternatives are computed and selected by bit masks, so
   that compilers vectorize the loop. `out` may be x. */
#define PIECE(T, NAME, CHOICE) \
SIMD_BODY void T##_##NAME##_body(const T *x, ptrdiff_t n, T a, T b, T *out) { \
    (void)a; (void)b; \
    _Pragma("GCC ivdep") \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T v = x[i]; \
        CHOICE \
    } \
} \
SIMD_VERSIONS(void, T##_##NAME, (const T *x, ptrdiff_t n, T a, T b, T *out), (x, n, a, b, out))
#define RAMP(T) T up = v + 3; up = T##_pick(up < 0, 0, up); up = T##_pick(up > 6, 6, up); /* NaN stays NaN */
#define PIECES(T) \
PIECE(T, relu, out[i] = v < 0 ? (T)0 : v;) \
PIECE(T, leaky, out[i] = T##_pick(v > 0, v, v * a);) \
PIECE(T, between, v = v < a ? a : v; out[i] = v > b ? b : v;) \
PIECE(T, soft_shrink, out[i] = T##_pick(v > a, v - a, T##_pick(v < -a, v + a, v * 0));) \
PIECE(T, hard_shrink, v = (v >= -a) & (v <= a) ? (T)0 : v; out[i] = v;) \
PIECE(T, threshold, out[i] = v <= a ? b : v;) \
PIECE(T, hardsigmoid, RAMP(T) out[i] = up / 6;) \
PIECE(T, hardswish, RAMP(T) out[i] = v * up / 6;)
PIECES(float)
PIECES(double)

/* Backward of an activation: g is the gradient of its result, v the input, or the result for sigmoid and
   tanh. */
#define BACKWARD(T, NAME, CHOICE) \
SIMD_BODY void T##_##NAME##_backward_body(const T *grad, const T *x, ptrdiff_t n, T a, T b, T *restrict out) { \
    (void)a; (void)b; \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T g = grad[i], v = x[i]; \
        CHOICE \
    } \
} \
SIMD_VERSIONS(void, T##_##NAME##_backward, (const T *grad, const T *x, ptrdiff_t n, T a, T b, T *restrict out), \
              (grad, x, n, a, b, out))
#define BACKS(T) \
BACKWARD(T, sigmoid, out[i] = g * ((1 - v) * v);) \
BACKWARD(T, tanh, out[i] = g * (1 - v * v);) \
BACKWARD(T, threshold, out[i] = v <= a ? (T)0 : g;) \
BACKWARD(T, between, out[i] = (v <= a) | (v >= b) ? (T)0 : g;) \
BACKWARD(T, leaky, out[i] = T##_pick(v > 0, g, g * a);) \
BACKWARD(T, shrink, out[i] = (v >= -a) & (v <= a) ? (T)0 : g;) \
BACKWARD(T, hardsigmoid, out[i] = T##_pick((v > -3) & (v < 3), g / 6, 0);) \
BACKWARD(T, hardswish, out[i] = T##_pick(v <= -3, 0, T##_pick(v < 3, g * (v / 3 + (T)0.5), g));)
BACKS(float)
BACKS(double)

/* The elementwise computations of elu and softplus before and after the exponential. */
#define AROUND(T, NAME) \
SIMD_BODY void NAME##_below_body(const T *x, ptrdiff_t n, T by, T *restrict out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T v = x[i] > 0 ? (T)0 : x[i]; \
        out[i] = v * by; \
    } \
} \
SIMD_VERSIONS(void, NAME##_below, (const T *x, ptrdiff_t n, T by, T *restrict out), (x, n, by, out)) \
SIMD_BODY void NAME##_above_body(const T *x, const T *below, ptrdiff_t n, T alpha, T scale, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        out[i] = T##_pick(x[i] > 0, x[i], below[i] * alpha) * scale; \
    } \
} \
SIMD_VERSIONS(void, NAME##_above, (const T *x, const T *below, ptrdiff_t n, T alpha, T scale, T *out), \
              (x, below, n, alpha, scale, out)) \
SIMD_BODY void NAME##_softened_body(const T *x, const T *soft, ptrdiff_t n, T beta, T threshold, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        out[i] = T##_pick(x[i] * beta > threshold, x[i], soft[i] / beta); \
    } \
} \
SIMD_VERSIONS(void, NAME##_softened, (const T *x, const T *soft, ptrdiff_t n, T beta, T threshold, T *out), \
              (x, soft, n, beta, threshold, out))
AROUND(float, float)
AROUND(double, double)

#endif
