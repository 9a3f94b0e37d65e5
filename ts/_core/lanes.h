/* Loops over rows of floats in vectors of sixteen, compiled for several instruction sets; the CPU's is chosen at load.

   In: a row and its length; out: a number, or another row.  C, because the vector types and `target_clones` are the
   compiler's, not Cython's.  Sums are made in the same order on every machine: sixteen running sums over BLOCK
   elements, whose total is added in double.  Without GCC's extensions the same text compiles for the base target. */

#ifndef TS_LANES_H
#define TS_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(64)));
typedef int int_lanes __attribute__((vector_size(64)));
typedef float any_lanes __attribute__((vector_size(64), aligned(4), may_alias)); /* of any alignment */

enum { WIDTH = 16, LANES_BLOCK = 1024 };

INLINE lanes lanes_at(const float *x) { return *(const any_lanes *)x; }
INLINE void lanes_to(float *x, lanes v) { *(any_lanes *)x = v; }
INLINE lanes choose(int_lanes mask, lanes a, lanes b) {
    return (lanes)((mask & (int_lanes)a) | (~mask & (int_lanes)b));
}
/* For the last few elements of a row: 0, 1, 2 ... */
#define PLACES ((int_lanes){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})

INLINE lanes only(int_lanes mask, lanes v) { return (lanes)(mask & (int_lanes)v); }

INLINE double lanes_total(lanes v) {
    float a[WIDTH], b[8], c[4];
    lanes_to(a, v);
    for (int k = 0; k < 8; k++) b[k] = a[k] + a[k + 8];
    for (int k = 0; k < 4; k++) c[k] = b[k] + b[k + 4];
    return ((double)c[0] + c[2]) + ((double)c[1] + c[3]);
}

/* The largest element; any where there is a NaN. */
CLONES static float lanes_peak(const float *x, ptrdiff_t n) {
    float a[WIDTH], peak = x[0];
    if (n < WIDTH) {
        for (ptrdiff_t i = 1; i < n; i++) peak = x[i] > peak ? x[i] : peak;
        return peak;
    }
    lanes high = lanes_at(x + n - WIDTH);
    for (ptrdiff_t i = 0; i + WIDTH <= n; i += WIDTH) {
        lanes v = lanes_at(x + i);
        high = choose(v > high, v, high);
    }
    lanes_to(a, high);
    for (int k = 0; k < 8; k++) a[k] = a[k] > a[k + 8] ? a[k] : a[k + 8];
    for (int k = 0; k < 4; k++) a[k] = a[k] > a[k + 4] ? a[k] : a[k + 4];
    peak = a[0] > a[1] ? a[0] : a[1];
    peak = a[2] > peak ? a[2] : peak;
    return a[3] > peak ? a[3] : peak;
}

CLONES static double lanes_sum(const float *x, ptrdiff_t n) {
    double total = 0;
    ptrdiff_t i = 0;
    if (n < WIDTH) {
        for (; i < n; i++) total += x[i];
        return total;
    }
    while (i < n) {
        ptrdiff_t until = n - i > LANES_BLOCK ? i + LANES_BLOCK : n;
        lanes a = {0}, b = {0};
        for (; i + 2 * WIDTH <= until; i += 2 * WIDTH) {
            a += lanes_at(x + i);
            b += lanes_at(x + i + WIDTH);
        }
        if (i + WIDTH <= until) {
            a += lanes_at(x + i);
            i += WIDTH;
        }
        if (i < until) { /* the last few: those before them are masked out */
            b += only(PLACES >= (int)(WIDTH - (until - i)), lanes_at(x + until - WIDTH));
            i = until;
        }
        total += lanes_total(a + b);
    }
    return total;
}

/* The sum of (x - about) ** 2, and in `first` that of x - about. */
CLONES static double lanes_squares(const float *x, ptrdiff_t n, float about, double *first) {
    double total = 0, plain = 0;
    ptrdiff_t i = 0;
    if (n < WIDTH) {
        for (; i < n; i++) {
            float off = x[i] - about;
            total += off * off;
            plain += off;
        }
        *first = plain;
        return total;
    }
    while (i < n) {
        ptrdiff_t until = n - i > LANES_BLOCK ? i + LANES_BLOCK : n;
        lanes a = {0}, b = {0}, c = {0}, d = {0};
        for (; i + 2 * WIDTH <= until; i += 2 * WIDTH) {
            lanes u = lanes_at(x + i) - about, v = lanes_at(x + i + WIDTH) - about;
            a += u * u;
            b += v * v;
            c += u;
            d += v;
        }
        if (i + WIDTH <= until) {
            lanes u = lanes_at(x + i) - about;
            a += u * u;
            c += u;
            i += WIDTH;
        }
        if (i < until) {
            lanes v = only(PLACES >= (int)(WIDTH - (until - i)), lanes_at(x + until - WIDTH) - about);
            b += v * v;
            d += v;
            i = until;
        }
        total += lanes_total(a + b);
        plain += lanes_total(c + d);
    }
    *first = plain;
    return total;
}

/* exp(x) for x <= 0 and NaN, within 1.5 units in the last place; that of -104 rounds to 0. */
INLINE lanes lanes_exp(lanes x) {
    const lanes floor = (lanes){0} - 104;
    lanes low = choose(x < floor, floor, x);
    lanes shifted = low * 1.44269504088896341f + 12582912.0f; /* 1.5 * 2**23: the integer stands in the low bits */
    lanes whole = shifted - 12582912.0f;
    int_lanes power = (int_lanes)shifted - 0x4B400000;
    lanes r = low - whole * 0.693359375f + whole * 2.12194440e-4f;
    lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    int_lanes half = power >> 1; /* in two steps, because the smallest results are subnormal */
    lanes one = (lanes)((half + 127) << 23), two = (lanes)((power - half + 127) << 23);
    return p * one * two;
}

/* The sum of exp(x - peak), whose terms go to `out` where that is not NULL; `out` is not x. */
CLONES static double lanes_raise(const float *x, ptrdiff_t n, float peak, float *out) {
    double total = 0;
    ptrdiff_t i = 0;
    if (n < WIDTH) {
        lanes v = {0}, y;
        memcpy(&v, x, n * sizeof(float));
        y = lanes_exp(v - peak);
        if (out) memcpy(out, &y, n * sizeof(float));
        return lanes_total(only(PLACES < (int)n, y));
    }
    while (i < n) {
        ptrdiff_t until = n - i > LANES_BLOCK ? i + LANES_BLOCK : n;
        lanes sum = {0};
        for (; i + WIDTH <= until; i += WIDTH) {
            lanes y = lanes_exp(lanes_at(x + i) - peak);
            sum += y;
            if (out) lanes_to(out + i, y);
        }
        if (i < until) {
            lanes y = lanes_exp(lanes_at(x + until - WIDTH) - peak);
            sum += only(PLACES >= (int)(WIDTH - (until - i)), y);
            if (out) lanes_to(out + until - WIDTH, y);
            i = until;
        }
        total += lanes_total(sum);
    }
    return total;
}

/* out = exp(x - peak), element by element, and total += out. */
CLONES static void lanes_raise_each(const float *x, ptrdiff_t n, const float *peak, float *out, float *total) {
    ptrdiff_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        lanes y = lanes_exp(lanes_at(x + i) - lanes_at(peak + i));
        lanes_to(out + i, y);
        lanes_to(total + i, lanes_at(total + i) + y);
    }
    if (i < n) {
        lanes v = {0}, w = {0}, y;
        memcpy(&v, x + i, (n - i) * sizeof(float));
        memcpy(&w, peak + i, (n - i) * sizeof(float));
        y = lanes_exp(v - w);
        memcpy(out + i, &y, (n - i) * sizeof(float));
        for (ptrdiff_t k = i; k < n; k++) total[k] += out[k];
    }
}

CLONES static void lanes_higher(float *peak, const float *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) peak[i] = x[i] > peak[i] ? x[i] : peak[i];
}

CLONES static void lanes_scale(float *x, ptrdiff_t n, float by) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by;
}

CLONES static void lanes_scale_each(float *x, ptrdiff_t n, const float *by) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by[i];
}

CLONES static void lanes_lower_each(const float *x, ptrdiff_t n, const float *by, float *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - by[i];
}

CLONES static void lanes_lower(const float *x, ptrdiff_t n, float first, float then, float *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = (x[i] - first) - then;
}

/* out = ((x - about) * scale + shift) * weight + bias; weight and bias may be NULL. */
CLONES static void lanes_normalise(const float *x, ptrdiff_t n, float about, float scale, float shift,
                                   const float *weight, const float *bias, float *out) {
    if (weight && bias)
        for (ptrdiff_t i = 0; i < n; i++) out[i] = ((x[i] - about) * scale + shift) * weight[i] + bias[i];
    else if (weight)
        for (ptrdiff_t i = 0; i < n; i++) out[i] = ((x[i] - about) * scale + shift) * weight[i];
    else if (bias)
        for (ptrdiff_t i = 0; i < n; i++) out[i] = ((x[i] - about) * scale + shift) + bias[i];
    else
        for (ptrdiff_t i = 0; i < n; i++) out[i] = (x[i] - about) * scale + shift;
}

/* Whether all of x is in [low, high). */
CLONES static int within_wide(const int64_t *x, ptrdiff_t n, int64_t low, int64_t high) {
    int64_t outside = 0;
    for (ptrdiff_t i = 0; i < n; i++) outside |= (int64_t)(x[i] < low) | (int64_t)(x[i] >= high);
    return !outside;
}

CLONES static int within_narrow(const int32_t *x, ptrdiff_t n, int64_t low, int64_t high) {
    int32_t outside = 0;
    if (low < INT32_MIN) low = INT32_MIN;
    if (high > INT32_MAX) high = INT32_MAX; /* which is no place in memory */
    for (ptrdiff_t i = 0; i < n; i++) outside |= (x[i] < (int32_t)low) | (x[i] >= (int32_t)high);
    return !outside;
}

/* out[i] = x[index[i]], elements of four or eight bytes. */
CLONES static void pick_four(const int32_t *x, const int64_t *index, ptrdiff_t n, int32_t *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[index[i]];
}

CLONES static void pick_eight(const int64_t *x, const int64_t *index, ptrdiff_t n, int64_t *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[index[i]];
}

#endif
