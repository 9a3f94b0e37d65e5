/* Activations of floats; `simd.h` says how they are compiled.

   In: elements that lie in order, and numbers; out: as many elements, which may be those that came in. */

#ifndef TS_ACTIVATION_H
#define TS_ACTIVATION_H

#include "simd.h"

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
