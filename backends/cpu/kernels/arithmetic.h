/* Arithmetic of floats with a number beside them; the loops are the compiler's to make vectors of, `simd.h` says how.

   In: elements that lie in order, and numbers; out: as many elements. */

#ifndef TS_ARITHMETIC_H
#define TS_ARITHMETIC_H

#include "simd.h"

#define ROW_OF(NAME, EXPRESSION) \
CLONES static void simd_##NAME##_row(const float *x, const float *y, const float *z, ptrdiff_t n, float by, \
                                     float *restrict out) { \
    (void)y; (void)z; (void)by; \
    for (ptrdiff_t i = 0; i < n; i++) out[i] = EXPRESSION; \
}
ROW_OF(square, x[i] * x[i])
ROW_OF(rsub, by - x[i])
ROW_OF(add_scaled, x[i] + by * y[i])
ROW_OF(addcmul, x[i] + by * y[i] * z[i])
ROW_OF(lerp_low, x[i] + by * (y[i] - x[i]))
ROW_OF(lerp_high, y[i] - (y[i] - x[i]) * (1 - by))

/* NaN stays, and the upper limit wins. */
CLONES static void simd_clamp_row(const float *x, ptrdiff_t n, float low, float high, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        float value = x[i] < low ? low : x[i];
        out[i] = value > high ? high : value;
    }
}
CLONES static void simd_clamp_min_row(const float *x, ptrdiff_t n, float low, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] < low ? low : x[i];
}
CLONES static void simd_clamp_max_row(const float *x, ptrdiff_t n, float high, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > high ? high : x[i];
}

#endif
