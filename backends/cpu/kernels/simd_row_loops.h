/* Vectorized loops over rows of floats: sums and maxima, softmax, moments and normalization, time steps of
   recurrent cells.

   In: a row and its length. Out: a number, or another row. Included by `vector_math.h`, and therefore
   compiled for each TIER. Accumulators sum ROW_BLOCK elements, and the sums of blocks are added in double.
   The order of additions does not depend on the row's address. */

#ifndef TS_VECTOR_ROWS_H
#define TS_VECTOR_ROWS_H

#include "row_loops.h"

enum { ROW_BLOCK = 1024, SUMS = LANES == 16 ? 2 : 4 }; /* several accumulators hide the latency of additions */

typedef int32_t any_ints __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef float fours __attribute__((vector_size(16), may_alias));
typedef int32_t four_ints __attribute__((vector_size(16), may_alias));

/* Load the first n elements. The other lanes are zeros. */
INLINE lanes lane_first(const float *x, ptrdiff_t n) {
    lanes v = {0};
    if (n >= LANES) return lane_at(x);
    memcpy(&v, x, n * sizeof(float));
    return v;
}
INLINE void lane_first_to(float *x, lanes v, ptrdiff_t n) {
    if (n >= LANES)
        lane_to(x, v);
    else
        memcpy(x, &v, n * sizeof(float));
}

/* Loop over the vectors of a row that is written to another row. The last vector has the last elements of
   the row, and may overlap the vector before it. */
#define FOR_VECTORS(I, LEFT, N) \
    for (ptrdiff_t I = 0, LEFT = N; LEFT > 0; I = LEFT > LANES && LEFT < 2 * LANES ? N - LANES : I + LANES, LEFT = N - I)

static const int32_t NONE_THEN_ALL[2 * LANES] = {
    [LANES] = -1, -1, -1, -1,
#if TIER >= 3
    -1, -1, -1, -1,
#endif
#if TIER == 4
    -1, -1, -1, -1, -1, -1, -1, -1,
#endif
};
/* v in the last or the first `count` lanes, zeros in the other lanes. */
INLINE lanes only_last(ptrdiff_t count, lanes v) { return (lanes)((int_lanes) * (const any_ints *)(NONE_THEN_ALL + count) & (int_lanes)v); }
INLINE lanes only_first(ptrdiff_t count, lanes v) {
    return (lanes)(~(int_lanes) * (const any_ints *)(NONE_THEN_ALL + LANES - count) & (int_lanes)v);
}

INLINE double lane_total(lanes v) {
    const fours *part = (const fours *)&v;
    fours c = part[0];
    if (LANES == 16) c = (part[0] + part[2]) + (part[1] + part[3 % (LANES / 4)]);
    if (LANES == 8) c = part[0] + part[1];
    return ((double)c[0] + c[2]) + ((double)c[1] + c[3]);
}
INLINE double sums_total(const lanes sum[SUMS]) {
    return lane_total(SUMS == 2 ? sum[0] + sum[1] : (sum[0] + sum[1]) + (sum[2 % SUMS] + sum[3 % SUMS]));
}

/* ---------------------------------------------------------------- sums and extremes */

INLINE fours higher_of(fours a, fours b) {
    four_ints wins = a > b;
    return (fours)((wins & (four_ints)a) | (~wins & (four_ints)b));
}
static float row_peak(const float *x, ptrdiff_t n) {
    ptrdiff_t i = 0;
    if (n < LANES) {
        float peak = x[0];
        for (i = 1; i < n; i++) peak = x[i] > peak ? x[i] : peak;
        return peak;
    }
    lanes last = lane_at(x + n - LANES), high[4] = {last, last, last, last};
    for (; i + 4 * LANES <= n; i += 4 * LANES) /* four accumulators hide the latency of comparisons */
        for (int k = 0; k < 4; k++) high[k] = lane_max(lane_at(x + i + k * LANES), high[k]);
    for (; i + LANES <= n; i += LANES) high[0] = lane_max(lane_at(x + i), high[0]);
    high[0] = lane_max(lane_max(high[0], high[1]), lane_max(high[2], high[3]));
    const fours *part = (const fours *)high;
    fours c = part[0];
    for (int k = 1; k < LANES / 4; k++) c = higher_of(part[k], c);
    float a = c[0] > c[1] ? c[0] : c[1], b = c[2] > c[3] ? c[2] : c[3];
    return a > b ? a : b;
}

static double row_sum(const float *x, ptrdiff_t n) {
    double total = 0;
    ptrdiff_t i = 0;
    if (n < LANES) {
        for (; i < n; i++) total += x[i];
        return total;
    }
    while (i < n) {
        ptrdiff_t until = n - i > ROW_BLOCK ? i + ROW_BLOCK : n;
        lanes sum[SUMS] = {{0}};
        for (; i + SUMS * LANES <= until; i += SUMS * LANES)
            for (int k = 0; k < SUMS; k++) sum[k] += lane_at(x + i + k * LANES);
        for (; i + LANES <= until; i += LANES) sum[0] += lane_at(x + i);
        if (i < until) sum[1] += only_last(until - i, lane_at(x + until - LANES)); /* remaining elements: lanes that are already summed are masked out */
        i = until;
        total += sums_total(sum);
    }
    return total;
}

static double row_squares(const float *x, ptrdiff_t n, float about, double *first) {
    double total = 0, plain = 0;
    ptrdiff_t i = 0;
    if (n < LANES) {
        for (; i < n; i++) {
            float off = x[i] - about;
            total += off * off;
            plain += off;
        }
        *first = plain;
        return total;
    }
    while (i < n) {
        ptrdiff_t until = n - i > ROW_BLOCK ? i + ROW_BLOCK : n;
        lanes square[SUMS] = {{0}}, off[SUMS] = {{0}};
        for (; i + SUMS * LANES <= until; i += SUMS * LANES)
            for (int k = 0; k < SUMS; k++) {
                lanes v = lane_at(x + i + k * LANES) - about;
                square[k] += v * v;
                off[k] += v;
            }
        for (; i + LANES <= until; i += LANES) {
            lanes v = lane_at(x + i) - about;
            square[0] += v * v;
            off[0] += v;
        }
        if (i < until) {
            lanes v = only_last(until - i, lane_at(x + until - LANES) - about);
            square[1] += v * v;
            off[1] += v;
        }
        i = until;
        total += sums_total(square);
        plain += sums_total(off);
    }
    *first = plain;
    return total;
}

#if TIER == 4
typedef uint32_t nan_lanes;
INLINE nan_lanes lane_unordered(lanes a, lanes b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q); }
INLINE int any_nan(nan_lanes bad) { return bad != 0; }
#else
typedef int_lanes nan_lanes;
/* The lanes in which a or b is NaN. */
#if TIER == 3
INLINE nan_lanes lane_unordered(lanes a, lanes b) { return (nan_lanes)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q); }
#else
INLINE nan_lanes lane_unordered(lanes a, lanes b) { return (nan_lanes)(a != a) | (nan_lanes)(b != b); }
#endif
INLINE int any_nan(nan_lanes bad) {
    int32_t any = 0;
    for (int k = 0; k < LANES; k++) any |= bad[k];
    return any != 0;
}
#endif

/* The maximum or minimum of a row of at least one element, or NaN if the row has a NaN. The sign of a result 0
   depends on the level. */
#define ROW_EXTREME(NAME, OF, BEYOND) \
static float NAME(const float *x, ptrdiff_t n) { \
    ptrdiff_t i = 0; \
    float peak = x[0]; \
    if (n < LANES) { \
        for (i = 1; i < n; i++) peak = x[i] BEYOND peak || x[i] != x[i] ? x[i] : peak; \
        return peak; \
    } \
    lanes last = lane_at(x + n - LANES), extreme[4] = {last, last, last, last}; \
    nan_lanes bad = lane_unordered(last, last); \
    for (; i + 4 * LANES <= n; i += 4 * LANES) { /* four accumulators hide the latency of comparisons */ \
        lanes v[4]; \
        for (int k = 0; k < 4; k++) v[k] = lane_at(x + i + k * LANES); \
        bad |= lane_unordered(v[0], v[1]) | lane_unordered(v[2], v[3]); \
        for (int k = 0; k < 4; k++) extreme[k] = OF(v[k], extreme[k]); \
    } \
    for (; i + LANES <= n; i += LANES) { \
        bad |= lane_unordered(lane_at(x + i), last); \
        extreme[0] = OF(lane_at(x + i), extreme[0]); \
    } \
    if (any_nan(bad)) return NAN; \
    extreme[0] = OF(OF(extreme[0], extreme[1]), OF(extreme[2], extreme[3])); \
    peak = extreme[0][0]; \
    for (int k = 1; k < LANES; k++) peak = extreme[0][k] BEYOND peak ? extreme[0][k] : peak; \
    return peak; \
}
ROW_EXTREME(row_max_or_nan, lane_max, >)
ROW_EXTREME(row_min_or_nan, lane_min, <)

/* Sums of blocks as in `block_sum` of `reduce.pxd`: SUM_LANES accumulators per block, which are added in double.
   The order of additions is the same at each level. Several blocks are summed at a time, which hides the latency
   of additions. */
#if defined(__GNUC__)
#define KEEP_IN_MEMORY(x) __asm__("" : "+m"(x))
#else
#define KEEP_IN_MEMORY(x)
#endif
enum { SUM_BLOCK = 512, SUM_LANES = 16, SUM_VECTORS = SUM_LANES / LANES };

INLINE double block_total(const lanes *sum) {
    float lane[SUM_LANES];
    double wide[SUM_LANES / 2], total = 0;
    memcpy(lane, sum, sizeof(lane));
    for (int j = 0; j < SUM_LANES / 2; j++) wide[j] = lane[j] + lane[j + SUM_LANES / 2];
    KEEP_IN_MEMORY(wide); /* the additions read single elements faster from memory than from a vector */
    for (int j = 0; j < SUM_LANES / 2; j++) total += wide[j];
    return total;
}
/* The sums of `blocks` adjacent blocks of n elements. n is a positive multiple of SUM_LANES. */
INLINE void sum_blocks(const float *x, ptrdiff_t n, int blocks, double *total) {
    lanes sum[4 * SUM_VECTORS];
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < SUM_VECTORS; k++) sum[b * SUM_VECTORS + k] = lane_at(x + b * n + k * LANES);
    for (ptrdiff_t i = SUM_LANES; i < n; i += SUM_LANES)
        for (int b = 0; b < blocks; b++)
            for (int k = 0; k < SUM_VECTORS; k++) sum[b * SUM_VECTORS + k] += lane_at(x + b * n + i + k * LANES);
    for (int b = 0; b < blocks; b++) total[b] = block_total(sum + b * SUM_VECTORS);
}
static double row_sum_of_blocks(const float *x, ptrdiff_t n) {
    double total = 0, sum[4], last = 0;
    ptrdiff_t whole;
    for (; n >= 4 * SUM_BLOCK; n -= 4 * SUM_BLOCK, x += 4 * SUM_BLOCK) {
        sum_blocks(x, SUM_BLOCK, 4, sum);
        for (int b = 0; b < 4; b++) total += sum[b];
    }
    for (; n >= SUM_BLOCK; n -= SUM_BLOCK, x += SUM_BLOCK) {
        sum_blocks(x, SUM_BLOCK, 1, sum);
        total += sum[0];
    }
    whole = n / SUM_LANES * SUM_LANES;
    if (whole) sum_blocks(x, whole, 1, &last);
    for (; whole < n; whole++) last += x[whole];
    return total + last;
}
static void rows_sum_of_blocks(const float *x, ptrdiff_t rows, ptrdiff_t n, double *total) {
    ptrdiff_t blocks = n / SUM_BLOCK, b = 0;
    double sum[4];
    if (n % SUM_BLOCK || blocks >= 4) {
        for (ptrdiff_t r = 0; r < rows; r++) total[r] = row_sum_of_blocks(x + r * n, n);
        return;
    }
    for (ptrdiff_t r = 0; r < rows; r++) total[r] = 0;
    for (; b + 4 <= rows * blocks; b += 4) {
        sum_blocks(x + b * SUM_BLOCK, SUM_BLOCK, 4, sum);
        for (int k = 0; k < 4; k++) total[(b + k) / blocks] += sum[k];
    }
    for (; b < rows * blocks; b++) {
        sum_blocks(x + b * SUM_BLOCK, SUM_BLOCK, 1, sum);
        total[b / blocks] += sum[0];
    }
}

/* ---------------------------------------------------------------- softmax */

/* exp(x) for x <= 0 and NaN by Estrin's scheme, accurate to 1.5 units in the last place, or 0 if the result
   would be subnormal. */
INLINE lanes lane_exp_below(lanes x) {
    lanes shifted = LANE_FUSED(x, 1.44269504088896341f, LANE_WHOLE), whole = shifted - LANE_WHOLE;
    lanes r = LANE_FUSED(whole, 2.12194440e-4f, LANE_FUSED(whole, -0.693359375f, x)), rr = r * r;
    lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f; /* shorter dependency chain than Horner's rule */
    lanes q = r * 8.3334519073e-3f + 4.1665795894e-2f;
    p = p * rr + q;
    q = r * 1.6666665459e-1f + 5.0000001201e-1f;
    p = p * rr + q;
    p = p * rr + (r + 1.0f);
    return lane_choose(lane_less(x, LANE(-87.33654f)), (lanes){0}, p * lane_power(shifted));
}

/* The sum of exp(x - peak); the terms are written to `out` unless it is NULL. `out` must not be x. */
INLINE double row_exp_terms(const float *x, ptrdiff_t n, float peak, float *out) {
    double total = 0;
    ptrdiff_t i = 0;
    if (n < LANES) {
        lanes y = lane_exp_below(lane_first(x, n) - peak);
        if (out) memcpy(out, &y, n * sizeof(float));
        return lane_total(only_first(n, y));
    }
    while (i < n) {
        ptrdiff_t until = n - i > ROW_BLOCK ? i + ROW_BLOCK : n;
        lanes sum = {0};
        for (; i + LANES <= until; i += LANES) {
            lanes y = lane_exp_below(lane_at(x + i) - peak);
            sum += y;
            if (out) lane_to(out + i, y);
        }
        if (i < until) {
            lanes y = lane_exp_below(lane_at(x + until - LANES) - peak);
            sum += only_last(until - i, y);
            if (out) lane_to(out + until - LANES, y);
        }
        i = until;
        total += lane_total(sum);
    }
    return total;
}
static double row_sum_of_exp(const float *x, ptrdiff_t n, float peak) { return row_exp_terms(x, n, peak, NULL); }

static void row_exp_and_add(const float *x, ptrdiff_t n, const float *peak, float *out, float *total) {
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        ptrdiff_t left = n - i;
        lanes y = lane_exp_below(lane_first(x + i, left) - lane_first(peak + i, left));
        lane_first_to(total + i, lane_first(total + i, left) + y, left);
        lane_first_to(out + i, y, left);
    }
}

static void rows_softmax(const float *x, ptrdiff_t rows, ptrdiff_t n, float *out) {
    float peak[ROWS_AT_ONCE], by[ROWS_AT_ONCE];
    for (ptrdiff_t count; rows > 0; rows -= count, x += count * n) {
        count = rows_at_once(rows, n);
        for (ptrdiff_t r = 0; r < count; r++) peak[r] = row_peak(x + r * n, n);
        for (ptrdiff_t r = 0; r < count; r++) by[r] = (float)(1 / row_exp_terms(x + r * n, n, peak[r], out + r * n));
        for (ptrdiff_t r = 0; r < count; r++, out += n) {
            if (n < LANES) {
                for (ptrdiff_t i = 0; i < n; i++) out[i] *= by[r];
                continue;
            }
            lanes last = lane_at(out + n - LANES) * by[r]; /* loaded before the elements that overlap it are scaled */
            for (ptrdiff_t i = 0; i + LANES <= n; i += LANES) lane_to(out + i, lane_at(out + i) * by[r]);
            lane_to(out + n - LANES, last);
        }
    }
}

/* Requires at most ROWS_AT_ONCE rows. */
static void rows_max_and_sum_of_exp(const float *x, ptrdiff_t rows, ptrdiff_t n, float *peak, float *total) {
    for (ptrdiff_t r = 0; r < rows; r++) peak[r] = row_peak(x + r * n, n);
    for (ptrdiff_t r = 0; r < rows; r++) total[r] = (float)row_exp_terms(x + r * n, n, peak[r], NULL);
}

static void rows_subtract_max_and_log(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *first, const float *then, float *out) {
    for (ptrdiff_t r = 0; r < rows; r++, x += n, out += n)
        FOR_VECTORS(i, left, n) lane_first_to(out + i, (lane_first(x + i, left) - first[r]) - then[r], left);
}

static void rows_log_softmax_backward(const float *g, const float *y, ptrdiff_t rows, ptrdiff_t n, float *out) {
    for (ptrdiff_t r = 0; r < rows; r++, g += n, y += n, out += n) {
        float by = (float)row_sum(g, n);
        for (ptrdiff_t i = 0; i < n; i += LANES)
            lane_first_to(out + i, lane_first(g + i, n - i) - lane_exp_below(lane_first(y + i, n - i)) * by, n - i);
    }
}

/* ---------------------------------------------------------------- normalization */

/* ((x - about) * scale + shift) * weight + bias. Weight and bias may be NULL. */
INLINE void row_normalised(const float *x, ptrdiff_t n, float about, float scale, float shift, const float *weight, const float *bias, float *out) {
    FOR_VECTORS(i, left, n) {
        lanes y = (lane_first(x + i, left) - about) * scale + shift;
        if (weight) y *= lane_first(weight + i, left);
        if (bias) y += lane_first(bias + i, left);
        lane_first_to(out + i, y, left);
    }
}
static void row_normalise(const float *x, ptrdiff_t n, float scale, float shift, float *out) {
    row_normalised(x, n, 0, scale, shift, NULL, NULL, out);
}

INLINE void rows_moments(const float *x, ptrdiff_t rows, ptrdiff_t n, double eps, double *mean, double *scale) {
    for (ptrdiff_t r = 0; r < rows; r++) mean[r] = row_sum(x + r * n, n) / n;
    for (ptrdiff_t r = 0; r < rows; r++) {
        float about = (float)mean[r];
        double first, squares = row_squares(x + r * n, n, about, &first);
        mean[r] = (double)about + first / n;
        scale[r] = (squares - first * first / n) / n + eps;
    }
    for (ptrdiff_t r = 0; r < rows; r++) scale[r] = 1 / sqrt(scale[r]);
}
static void row_moments(const float *x, ptrdiff_t n, double eps, double *mean, double *scale) { rows_moments(x, 1, n, eps, mean, scale); }

static void rows_layer_norm(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *weight, const float *bias, double eps, float *out,
                            float *means, float *scales) {
    double mean[ROWS_AT_ONCE], scale[ROWS_AT_ONCE];
    for (ptrdiff_t count; rows > 0; rows -= count) {
        count = rows_at_once(rows, n);
        rows_moments(x, count, n, eps, mean, scale);
        for (ptrdiff_t r = 0; r < count; r++, x += n, out += n) {
            float about = (float)mean[r], by = (float)scale[r], shift = (float)((about - mean[r]) * scale[r]);
            row_normalised(x, n, about, by, shift, weight, bias, out);
            if (means) *means++ = about;
            if (scales) *scales++ = by;
        }
    }
}

/* ---------------------------------------------------------------- recurrent cells */

/* sigmoid: 1 / (1 + exp(-x)), without overflow. */
INLINE lanes lane_gate(lanes x) {
    lanes small = lane_exp_below(-lane_abs(x)), y = 1.0f / (1.0f + small);
    return lane_choose(lane_less(x, LANE(0.0f)), small * y, y);
}
/* tanh, accurate to 2 units in the last place: an odd polynomial (Cephes) near 0, else (1 - t) / (1 + t)
   with t = exp(-2 |x|). */
INLINE lanes lane_state(lanes x) {
    lanes size = lane_abs(x), xx = x * x;
    lanes p = LANE_HORNER(xx, -3.33333819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f, -5.70498872745e-3f);
    lanes near = x + x * (xx * p), small = lane_exp_below(size * -2.0f), far = (1.0f - small) / (1.0f + small);
    return lane_choose(lane_less(size, LANE(0.625f)), near, lane_signed(far, x));
}
#define SHARES(k) (lane_first(input_gates + (k) * n + i, left) + lane_first(hidden_gates + (k) * n + i, left))

static void rows_lstm_step(ptrdiff_t rows, ptrdiff_t n, const float *input_gates, const float *hidden_gates, float *cell, float *hidden, float *saved) {
    for (; rows > 0; rows--, input_gates += 4 * n, hidden_gates += 4 * n, cell += n, hidden += n) {
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            ptrdiff_t left = n - i;
            lanes in = lane_gate(SHARES(0)), forget = lane_gate(SHARES(1)), update = lane_state(SHARES(2)), out = lane_gate(SHARES(3));
            lanes c = forget * lane_first(cell + i, left) + in * update;
            lane_first_to(cell + i, c, left);
            lane_first_to(hidden + i, out * lane_state(c), left);
            if (saved) {
                lane_first_to(saved + i, in, left);
                lane_first_to(saved + n + i, forget, left);
                lane_first_to(saved + 2 * n + i, update, left);
                lane_first_to(saved + 3 * n + i, out, left);
            }
        }
        if (saved) saved += 4 * n;
    }
}
static void rows_lstm_step_backward(ptrdiff_t rows, ptrdiff_t n, const float *saved, const float *before, const float *after, const float *grad,
                                    const float *through, float *of_cell, float *of_gates) {
    const lanes one = LANE(1.0f);
    for (; rows > 0; rows--, saved += 4 * n, before += n, after += n, through += n, of_cell += n, of_gates += 4 * n) {
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            ptrdiff_t left = n - i;
            lanes in = lane_first(saved + i, left), forget = lane_first(saved + n + i, left);
            lanes update = lane_first(saved + 2 * n + i, left), out = lane_first(saved + 3 * n + i, left);
            lanes tanh_cell = lane_state(lane_first(after + i, left)), of_hidden = lane_first(through + i, left);
            if (grad) of_hidden += lane_first(grad + i, left);
            lanes of_inside = lane_first(of_cell + i, left) + of_hidden * out * (one - tanh_cell * tanh_cell);
            lane_first_to(of_gates + i, of_inside * update * in * (one - in), left);
            lane_first_to(of_gates + n + i, of_inside * lane_first(before + i, left) * forget * (one - forget), left);
            lane_first_to(of_gates + 2 * n + i, of_inside * in * (one - update * update), left);
            lane_first_to(of_gates + 3 * n + i, of_hidden * tanh_cell * out * (one - out), left);
            lane_first_to(of_cell + i, of_inside * forget, left);
        }
        if (grad) grad += n;
    }
}
static void rows_gru_step(ptrdiff_t rows, ptrdiff_t n, const float *input_gates, const float *hidden_gates, const float *bias, float *hidden) {
    for (; rows > 0; rows--, input_gates += 3 * n, hidden_gates += 3 * n, hidden += n)
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            ptrdiff_t left = n - i;
            lanes reset = lane_gate(SHARES(0)), keep = lane_gate(SHARES(1));
            lanes share = lane_first(hidden_gates + 2 * n + i, left), before = lane_first(hidden + i, left);
            if (bias) share += lane_first(bias + i, left);
            lanes candidate = lane_state(lane_first(input_gates + 2 * n + i, left) + reset * share);
            lane_first_to(hidden + i, (before - candidate) * keep + candidate, left);
        }
}
static void row_tanh_step(ptrdiff_t n, const float *input_gates, const float *hidden_gates, float *hidden) {
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        ptrdiff_t left = n - i;
        lane_first_to(hidden + i, lane_state(SHARES(0)), left);
    }
}

#endif
