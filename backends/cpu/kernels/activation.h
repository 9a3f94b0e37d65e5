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

INLINE lanes simd_silu(lanes x) { return x * simd_sigmoid(x); }

/* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))): half of 1 + tanh(u) is sigmoid(2 * u). */
INLINE lanes simd_gelu_tanh(lanes x) {
    return x * simd_sigmoid(x * 1.5957691216057308f * (1.0f + 0.044715f * (x * x)));
}

/* x / 2 * (1 + erf(x / sqrt(2))).  With z = |x| / sqrt(2): for z < 0.5 erf(z) / z is a polynomial in z * z; beyond,
   erfc(z) = exp(-z * z) * p(t) / (1 + 2 * z) with t = (z - 2) / (z + 2), so that no digits are lost where x < 0.  Both
   polynomials were fitted to SciPy's `erf` and `erfcx` at Chebyshev's points, to 4e-8. */
INLINE lanes simd_gelu(lanes x) {
    lanes z = simd_abs(x) * 0.70710678118654752f, zz = z * z;
    lanes far = choose(z < 10.0f, z, (lanes){0} + 10.0f), down = far + 2.0f, up = 1.0f + 2.0f * far;
    lanes r = 1.0f / (down * up), t = 1.0f - 4.0f * (r * up), tt = t * t;
    lanes p = zz * 4.717567470e-3f - 2.675697394e-2f;
    p = p * zz + 1.128281951e-1f;
    p = p * zz - 3.761260808e-1f;
    p = p * zz + 1.128379107f;
    lanes near = x * (0.5f + x * (p * 0.35355339059327376f));
    lanes even = tt * -1.296057133e-3f + 8.680170402e-3f, odd = tt * 9.312980692e-4f - 7.937156595e-3f;
    even = even * tt - 5.421507359e-2f;
    odd = odd * tt + 1.640406251e-1f;
    even = even * tt - 1.660307348e-1f;
    odd = odd * tt - 9.276349843e-2f;
    even = even * tt + 1.276978374f;
    lanes tail = 0.5f * simd_exp(far * -far) * ((even + odd * t) * (r * down));
    return choose(z < 0.5f, near, x * choose(x < 0.0f, tail, 1.0f - tail));
}

#define ROW_OF(NAME) \
CLONES static void simd_##NAME##_row(const float *x, ptrdiff_t n, float *out) { \
    ptrdiff_t i = 0; \
    for (; i + WIDTH <= n; i += WIDTH) simd_to(out + i, simd_##NAME(simd_at(x + i))); \
    if (i < n) { \
        lanes v = {0}; \
        memcpy(&v, x + i, (n - i) * sizeof(float)); \
        v = simd_##NAME(v); \
        memcpy(out + i, &v, (n - i) * sizeof(float)); \
    } \
}
ROW_OF(sigmoid)
ROW_OF(silu)
ROW_OF(gelu)
ROW_OF(gelu_tanh)

CLONES static void simd_leaky_relu_row(const float *x, ptrdiff_t n, float slope, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > 0 ? x[i] : x[i] * slope;
}

#endif
