/* Loops over rows of floats in vectors of sixteen, compiled for several instruction sets; the CPU's is chosen at load.

   In: a row and its length; out: a number, or another row.  C, because the vector types and `target_clones` are the
   compiler's, not Cython's.  Sums are made in the same order on every machine: sixteen running sums over BLOCK
   elements, whose total is added in double.  Without GCC's extensions the same text compiles for the base target. */

#ifndef TS_SIMD_H
#define TS_SIMD_H

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
typedef float any_lanes __attribute__((vector_size(64), aligned(1), may_alias)); /* of any alignment */

typedef float half_lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int half_ints __attribute__((vector_size(32)));
typedef float quarter_lanes __attribute__((vector_size(16), aligned(4), may_alias));

enum { WIDTH = 16, LANES_BLOCK = 1024 };

INLINE lanes simd_at(const float *x) { return *(const any_lanes *)x; }
INLINE void simd_to(float *x, lanes v) { *(any_lanes *)x = v; }
INLINE lanes choose(int_lanes mask, lanes a, lanes b) {
    return (lanes)((mask & (int_lanes)a) | (~mask & (int_lanes)b));
}
/* Masks of the first or last few lanes.  From memory, as GCC takes a comparison that meets another one apart lane by lane. */
typedef int any_int_lanes __attribute__((vector_size(64), aligned(4), may_alias));
static const int32_t NONE_THEN_ALL[2 * WIDTH] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
INLINE int_lanes last_lanes(ptrdiff_t count) { return *(const any_int_lanes *)(NONE_THEN_ALL + count); }
INLINE int_lanes first_lanes(ptrdiff_t count) { return ~last_lanes(WIDTH - count); }

INLINE lanes only(int_lanes mask, lanes v) { return (lanes)(mask & (int_lanes)v); }

INLINE double simd_total(lanes v) {
    half_lanes b = ((half_lanes *)&v)[0] + ((half_lanes *)&v)[1];
    quarter_lanes c = ((quarter_lanes *)&b)[0] + ((quarter_lanes *)&b)[1];
    return ((double)c[0] + c[2]) + ((double)c[1] + c[3]);
}

/* The largest element; any where there is a NaN. */
INLINE float row_peak(const float *x, ptrdiff_t n) {
    ptrdiff_t i = 0;
    if (n < WIDTH) {
        float peak = x[0];
        for (i = 1; i < n; i++) peak = x[i] > peak ? x[i] : peak;
        return peak;
    }
    lanes last = simd_at(x + n - WIDTH), high[4] = {last, last, last, last};
    for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) /* four, since each comparison waits for the one before */
        for (int k = 0; k < 4; k++) {
            lanes v = simd_at(x + i + k * WIDTH);
            high[k] = choose(v > high[k], v, high[k]);
        }
    for (; i + WIDTH <= n; i += WIDTH) {
        lanes v = simd_at(x + i);
        high[0] = choose(v > high[0], v, high[0]);
    }
    high[0] = choose(high[1] > high[0], high[1], high[0]);
    high[2] = choose(high[3] > high[2], high[3], high[2]);
    high[0] = choose(high[2] > high[0], high[2], high[0]);
    half_lanes a = ((half_lanes *)high)[0], b = ((half_lanes *)high)[1];
    half_ints wins = a > b;
    a = (half_lanes)((wins & (half_ints)a) | (~wins & (half_ints)b));
    float c[4] = {a[0] > a[4] ? a[0] : a[4], a[1] > a[5] ? a[1] : a[5], a[2] > a[6] ? a[2] : a[6], a[3] > a[7] ? a[3] : a[7]};
    c[0] = c[0] > c[1] ? c[0] : c[1];
    c[2] = c[2] > c[3] ? c[2] : c[3];
    return c[0] > c[2] ? c[0] : c[2];
}

CLONES static float simd_peak(const float *x, ptrdiff_t n) { return row_peak(x, n); }

INLINE double row_sum(const float *x, ptrdiff_t n) {
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
            a += simd_at(x + i);
            b += simd_at(x + i + WIDTH);
        }
        if (i + WIDTH <= until) {
            a += simd_at(x + i);
            i += WIDTH;
        }
        if (i < until) { /* the last few: those before them are masked out */
            b += only(last_lanes(until - i), simd_at(x + until - WIDTH));
            i = until;
        }
        total += simd_total(a + b);
    }
    return total;
}

CLONES static double simd_sum(const float *x, ptrdiff_t n) { return row_sum(x, n); }

/* The sum of (x - about) ** 2, and in `first` that of x - about. */
INLINE double row_squares(const float *x, ptrdiff_t n, float about, double *first) {
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
            lanes u = simd_at(x + i) - about, v = simd_at(x + i + WIDTH) - about;
            a += u * u;
            b += v * v;
            c += u;
            d += v;
        }
        if (i + WIDTH <= until) {
            lanes u = simd_at(x + i) - about;
            a += u * u;
            c += u;
            i += WIDTH;
        }
        if (i < until) {
            lanes v = only(last_lanes(until - i), simd_at(x + until - WIDTH) - about);
            b += v * v;
            d += v;
            i = until;
        }
        total += simd_total(a + b);
        plain += simd_total(c + d);
    }
    *first = plain;
    return total;
}

CLONES static double simd_squares(const float *x, ptrdiff_t n, float about, double *first) {
    return row_squares(x, n, about, first);
}

/* exp(x) for x <= 0 and NaN, within 1.5 units in the last place; 0 where the result would be subnormal. */
INLINE lanes simd_exp(lanes x) {
    const lanes floor = (lanes){0} - 87.33654f;
    lanes shifted = x * 1.44269504088896341f + 12582912.0f; /* 1.5 * 2**23: the integer stands in the low bits */
    lanes whole = shifted - 12582912.0f;
    lanes power = (lanes)(((int_lanes)shifted << 23) + 0x3F800000);
    lanes r = x - whole * 0.693359375f + whole * 2.12194440e-4f, rr = r * r;
    lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f; /* in pairs: each step of Horner's rule would wait for the last */
    lanes q = r * 8.3334519073e-3f + 4.1665795894e-2f;
    p = p * rr + q;
    q = r * 1.6666665459e-1f + 5.0000001201e-1f;
    p = p * rr + q;
    p = p * rr + (r + 1.0f);
    return (lanes)(~(x < floor) & (int_lanes)(p * power));
}

/* The sum of exp(x - peak), whose terms go to `out` where that is not NULL; `out` is not x. */
INLINE double row_raise(const float *x, ptrdiff_t n, float peak, float *out) {
    double total = 0;
    ptrdiff_t i = 0;
    if (n < WIDTH) {
        lanes v = {0}, y;
        memcpy(&v, x, n * sizeof(float));
        y = simd_exp(v - peak);
        if (out) memcpy(out, &y, n * sizeof(float));
        return simd_total(only(first_lanes(n), y));
    }
    while (i < n) {
        ptrdiff_t until = n - i > LANES_BLOCK ? i + LANES_BLOCK : n;
        lanes sum = {0};
        for (; i + WIDTH <= until; i += WIDTH) {
            lanes y = simd_exp(simd_at(x + i) - peak);
            sum += y;
            if (out) simd_to(out + i, y);
        }
        if (i < until) {
            lanes y = simd_exp(simd_at(x + until - WIDTH) - peak);
            sum += only(last_lanes(until - i), y);
            if (out) simd_to(out + until - WIDTH, y);
            i = until;
        }
        total += simd_total(sum);
    }
    return total;
}

CLONES static double simd_raise(const float *x, ptrdiff_t n, float peak) { return row_raise(x, n, peak, NULL); }

/* Rows are taken some at a time, step by step: the last steps of a row (its peak, its sum) take as long as many of its
   elements, unless those of other rows go on meanwhile. */
enum { ROWS_AT_ONCE = 32, ELEMENTS_AT_ONCE = 4096 };

INLINE ptrdiff_t rows_at_once(ptrdiff_t rows, ptrdiff_t n) {
    ptrdiff_t most = ELEMENTS_AT_ONCE / n < ROWS_AT_ONCE ? ELEMENTS_AT_ONCE / n : ROWS_AT_ONCE;
    most = most < 1 ? 1 : most;
    return rows < most ? rows : most;
}

/* Rows of softmax(x); `out` is not x. */
CLONES static void simd_softmax(const float *x, ptrdiff_t rows, ptrdiff_t n, float *out) {
    float peak[ROWS_AT_ONCE], by[ROWS_AT_ONCE];
    for (ptrdiff_t count; rows > 0; rows -= count, x += count * n) {
        count = rows_at_once(rows, n);
        for (ptrdiff_t r = 0; r < count; r++) peak[r] = row_peak(x + r * n, n);
        for (ptrdiff_t r = 0; r < count; r++) by[r] = (float)(1 / row_raise(x + r * n, n, peak[r], out + r * n));
        for (ptrdiff_t r = 0; r < count; r++, out += n) {
            if (n < WIDTH) {
                for (ptrdiff_t i = 0; i < n; i++) out[i] *= by[r];
                continue;
            }
            lanes last = simd_at(out + n - WIDTH) * by[r]; /* read before the elements that it shares are scaled */
            for (ptrdiff_t i = 0; i + WIDTH <= n; i += WIDTH) simd_to(out + i, simd_at(out + i) * by[r]);
            simd_to(out + n - WIDTH, last);
        }
    }
}

/* The peak of each row, and the sum of exp(x - peak); at most ROWS_AT_ONCE rows. */
CLONES static void simd_totals(const float *x, ptrdiff_t rows, ptrdiff_t n, float *peak, float *total) {
    for (ptrdiff_t r = 0; r < rows; r++) peak[r] = row_peak(x + r * n, n);
    for (ptrdiff_t r = 0; r < rows; r++) {
        double t = row_raise(x + r * n, n, peak[r], NULL);
        total[r] = (float)t;
    }
}

/* Rows of (x - first) - then. */
CLONES static void simd_lower(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *first, const float *then,
                               float *out) {
    for (ptrdiff_t r = 0; r < rows; r++, x += n, out += n) {
        if (n < WIDTH) {
            for (ptrdiff_t i = 0; i < n; i++) out[i] = (x[i] - first[r]) - then[r];
            continue;
        }
        for (ptrdiff_t i = 0; i + WIDTH <= n; i += WIDTH) simd_to(out + i, (simd_at(x + i) - first[r]) - then[r]);
        simd_to(out + n - WIDTH, (simd_at(x + n - WIDTH) - first[r]) - then[r]);
    }
}

/* out = exp(x - peak), element by element, and total += out. */
CLONES static void simd_raise_each(const float *x, ptrdiff_t n, const float *peak, float *out, float *total) {
    ptrdiff_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        lanes y = simd_exp(simd_at(x + i) - simd_at(peak + i));
        simd_to(out + i, y);
        simd_to(total + i, simd_at(total + i) + y);
    }
    if (i < n) {
        lanes v = {0}, w = {0}, y;
        memcpy(&v, x + i, (n - i) * sizeof(float));
        memcpy(&w, peak + i, (n - i) * sizeof(float));
        y = simd_exp(v - w);
        memcpy(out + i, &y, (n - i) * sizeof(float));
        for (ptrdiff_t k = i; k < n; k++) total[k] += out[k];
    }
}

CLONES static void simd_higher(float *peak, const float *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) peak[i] = x[i] > peak[i] ? x[i] : peak[i];
}

CLONES static void simd_scale_each(float *x, ptrdiff_t n, const float *by) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= by[i];
}

CLONES static void simd_lower_each(const float *x, ptrdiff_t n, const float *by, float *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - by[i];
}

/* out = ((x - about) * scale + shift) * weight + bias; weight and bias may be NULL. */
INLINE void row_normalise(const float *x, ptrdiff_t n, float about, float scale, float shift,
                          const float *weight, const float *bias, float *out) {
    if (n < WIDTH) {
        for (ptrdiff_t i = 0; i < n; i++) {
            float y = (x[i] - about) * scale + shift;
            if (weight) y *= weight[i];
            out[i] = bias ? y + bias[i] : y;
        }
        return;
    }
    for (ptrdiff_t i = 0; i < n; i += WIDTH) {
        if (i + WIDTH > n) i = n - WIDTH;
        lanes y = (simd_at(x + i) - about) * scale + shift;
        if (weight) y *= simd_at(weight + i);
        simd_to(out + i, bias ? y + simd_at(bias + i) : y);
    }
}

CLONES static void simd_normalise(const float *x, ptrdiff_t n, float about, float scale, float shift, float *out) {
    row_normalise(x, n, about, scale, shift, NULL, NULL, out);
}

/* The mean, and 1 / sqrt(variance + eps), of each row. */
INLINE void row_moments(const float *x, ptrdiff_t rows, ptrdiff_t n, double eps, double *mean, double *scale) {
    for (ptrdiff_t r = 0; r < rows; r++) mean[r] = row_sum(x + r * n, n) / n;
    for (ptrdiff_t r = 0; r < rows; r++) {
        float about = (float)mean[r];
        double first, squares = row_squares(x + r * n, n, about, &first);
        mean[r] = (double)about + first / n;
        scale[r] = (squares - first * first / n) / n + eps;
    }
    for (ptrdiff_t r = 0; r < rows; r++) scale[r] = 1 / sqrt(scale[r]);
}

CLONES static void simd_moments(const float *x, ptrdiff_t n, double eps, double *mean, double *scale) {
    row_moments(x, 1, n, eps, mean, scale);
}

/* Rows of layer_norm(x). */
CLONES static void simd_layer_norm(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *weight, const float *bias,
                                    double eps, float *out) {
    double mean[ROWS_AT_ONCE], scale[ROWS_AT_ONCE];
    for (ptrdiff_t count; rows > 0; rows -= count) {
        count = rows_at_once(rows, n);
        row_moments(x, count, n, eps, mean, scale);
        for (ptrdiff_t r = 0; r < count; r++, x += n, out += n) {
            float about = (float)mean[r], by = (float)scale[r], shift = (float)((about - mean[r]) * scale[r]);
            row_normalise(x, n, about, by, shift, weight, bias, out);
        }
    }
}

/* `count` rows, one after the other, each made of the next length[p] bytes of every part p. */
CLONES static void join_rows(const char **from, const ptrdiff_t *length, ptrdiff_t parts, ptrdiff_t count, char *to) {
    for (; count > 0; count--)
        for (ptrdiff_t p = 0; p < parts; p++) {
            const char *x = from[p];
            ptrdiff_t n = length[p], i = 0;
            if (n < (ptrdiff_t)sizeof(lanes) || n > 2048)
                memcpy(to, x, n);
            else {
                for (; i + (ptrdiff_t)sizeof(lanes) <= n; i += sizeof(lanes))
                    simd_to((float *)(to + i), simd_at((const float *)(x + i)));
                simd_to((float *)(to + n - sizeof(lanes)), simd_at((const float *)(x + n - sizeof(lanes))));
            }
            from[p] += n;
            to += n;
        }
}

CLONES static int64_t simd_sum_int64(const int64_t *x, ptrdiff_t n) {
    int64_t total = 0;
    for (ptrdiff_t i = 0; i < n; i++) total += x[i];
    return total;
}

/* An index that another thread may write: what was tested is what is used. */
static inline int64_t once_wide(const int64_t *x) { return *(const volatile int64_t *)x; }
static inline int64_t once_narrow(const int32_t *x) { return *(const volatile int32_t *)x; }

/* out[i] = x[index[i]] for elements of four or eight bytes; 0 where an index is not in [0, size), and then `out` is not
   filled.  Not in vectors: gathers are no faster than loads. */
#define PICK(NAME, T) \
static int pick_##NAME(const T *x, ptrdiff_t size, const int64_t *index, ptrdiff_t n, T *restrict out) { \
    ptrdiff_t i = 0; \
    uint64_t m = size; \
    for (; i + 4 <= n; i += 4) { \
        uint64_t p = once_wide(index + i), q = once_wide(index + i + 1); \
        uint64_t r = once_wide(index + i + 2), s = once_wide(index + i + 3); \
        if (p >= m || q >= m || r >= m || s >= m) return 0; \
        T a = x[p], b = x[q], c = x[r], d = x[s]; \
        out[i] = a; out[i + 1] = b; out[i + 2] = c; out[i + 3] = d; \
    } \
    for (; i < n; i++) { \
        uint64_t p = once_wide(index + i); \
        if (p >= m) return 0; \
        out[i] = x[p]; \
    } \
    return 1; \
} \
/* The same for rows of x and out. */ \
static int pick_##NAME##_of_rows(const T *x, ptrdiff_t rows, ptrdiff_t size, const int64_t *index, ptrdiff_t n, \
                                 T *restrict out) { \
    for (; rows >= 4; rows -= 4, x += 4 * size, out += 4 * n) \
        for (ptrdiff_t i = 0; i < n; i++) { \
            uint64_t p = once_wide(index + i); \
            if (p >= (uint64_t)size) return 0; \
            T a = x[p], b = x[p + size], c = x[p + 2 * size], d = x[p + 3 * size]; \
            out[i] = a; out[i + n] = b; out[i + 2 * n] = c; out[i + 3 * n] = d; \
        } \
    for (; rows > 0; rows--, x += size, out += n) if (!pick_##NAME(x, size, index, n, out)) return 0; \
    return 1; \
}
PICK(four, int32_t)
PICK(eight, int64_t)

#endif
