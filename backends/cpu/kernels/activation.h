/* Activations of floats in vectors of sixteen; `simd.h` says how they are compiled.

   In: elements that lie in order, and numbers; out: as many elements, which may be those that came in. */

#ifndef TS_ACTIVATION_H
#define TS_ACTIVATION_H

#include "simd.h"

INLINE lanes simd_abs(lanes x) { return (lanes)((int_lanes)x & 0x7FFFFFFF); }
INLINE lanes simd_below(lanes x) { return (lanes)((int_lanes)x | (int)0x80000000); } /* -|x| */

/* 1 / (1 + exp(-x)), without overflow on either side. */
INLINE lanes simd_sigmoid(lanes x) {
    lanes small = simd_exp(simd_below(x)), y = 1.0f / (1.0f + small);
    return choose(x < 0.0f, small * y, y);
}

/* Within 2 units in the last place: near 0 an odd polynomial (that of Cephes), beyond it (1 - t) / (1 + t), t = exp(-2 |x|). */
INLINE lanes simd_tanh(lanes x) {
    lanes size = simd_abs(x), xx = x * x;
    lanes p = xx * -5.70498872745e-3f + 2.06390887954e-2f;
    p = p * xx - 5.37397155531e-2f;
    p = p * xx + 1.33314422036e-1f;
    p = p * xx - 3.33332819422e-1f;
    lanes near = x + x * (xx * p), small = simd_exp(size * -2.0f), far = (1.0f - small) / (1.0f + small);
    return choose(size < 0.625f, near, (lanes)((int_lanes)far | ((int_lanes)x & (int)0x80000000)));
}

CLONES static void simd_leaky_relu_row(const float *x, ptrdiff_t n, float slope, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > 0 ? x[i] : x[i] * slope;
}

/* What elu and softplus do before and after the exponential; what is not chosen is computed first, so that there is no branch. */
#define AROUND(T, NAME) \
CLONES static void NAME##_below(const T *x, ptrdiff_t n, T by, T *restrict out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T v = x[i] > 0 ? (T)0 : x[i]; \
        out[i] = v * by; \
    } \
} \
CLONES static void NAME##_above(const T *x, const T *below, ptrdiff_t n, T alpha, T scale, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T less = below[i] * alpha, v = x[i] > 0 ? x[i] : less; \
        out[i] = v * scale; \
    } \
} \
CLONES static void NAME##_softened(const T *x, const T *soft, ptrdiff_t n, T beta, T threshold, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T v = x[i], y = soft[i] / beta, scaled = v * beta; \
        out[i] = scaled > threshold ? v : y; \
    } \
}
AROUND(float, float)
AROUND(double, double)

#endif
