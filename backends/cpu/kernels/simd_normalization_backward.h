/* Backward of normalizations and softmax: vectorized loops over rows, for float and double.

   In: a gradient, the normalized input, and its moments. Out: a gradient, or sums. Vectors sum ROW_BLOCK
   elements, and the sums of blocks are added in double. A gradient is an affine function of the two rows: g *
   a + x * b + c. Included after `simd_row_loops.h`, and therefore compiled for each TIER. */

#ifndef TS_VECTOR_BACKWARD_H
#define TS_VECTOR_BACKWARD_H

INLINE double wide_total(wides v) {
    double total = v[0];
    for (int k = 1; k < WIDES; k++) total += v[k];
    return total;
}

#define BACKWARD(T, V, AT) \
INLINE void T##_add(const T *g, const T *weight, const T *x, T about, ptrdiff_t i, V *a, V *b) { \
    V v = AT##_at(g + i); \
    if (weight) v *= AT##_at(weight + i); \
    *a += v; \
    *b += v * (AT##_at(x + i) - about); \
} \
/* Sums of g and of g * (x - about). If there is a weight, g stands for g * weight. */ \
INLINE void T##_sums(const T *g, const T *weight, const T *x, T about, ptrdiff_t n, double *first, double *second) { \
    const ptrdiff_t width = sizeof(V) / sizeof(T); \
    double one = 0, two = 0; \
    ptrdiff_t i = 0; \
    while (i + width <= n) { \
        ptrdiff_t until = n - i > ROW_BLOCK ? i + ROW_BLOCK : n; \
        V a[SUMS] = {{0}}, b[SUMS] = {{0}}; \
        for (; i + SUMS * width <= until; i += SUMS * width) \
            for (int k = 0; k < SUMS; k++) T##_add(g, weight, x, about, i + k * width, &a[k], &b[k]); \
        for (; i + width <= until; i += width) T##_add(g, weight, x, about, i, &a[0], &b[0]); \
        for (int k = 1; k < SUMS; k++) { \
            a[0] += a[k]; \
            b[0] += b[k]; \
        } \
        one += AT##_total(a[0]); \
        two += AT##_total(b[0]); \
    } \
    for (; i < n; i++) { \
        T v = weight ? g[i] * weight[i] : g[i]; \
        one += v; \
        two += v * (x[i] - about); \
    } \
    *first = one; \
    *second = two; \
} \
INLINE void T##_affine(const T *g, const T *weight, const T *x, T a, T b, T c, ptrdiff_t n, T *out) { \
    const ptrdiff_t width = sizeof(V) / sizeof(T); \
    ptrdiff_t i = 0; \
    for (; i + width <= n; i += width) { \
        V v = AT##_at(g + i) * a; \
        if (weight) v *= AT##_at(weight + i); \
        AT##_to(out + i, v + AT##_at(x + i) * b + c); \
    } \
    for (; i < n; i++) out[i] = (weight ? g[i] * a * weight[i] : g[i] * a) + x[i] * b + c; \
} \
/* Gradients of the input, and of weight and bias (sums over the rows). Outputs may be NULL. */ \
INLINE void T##_rows(const T *g, const T *x, const T *weight, const T *mean, const T *scale, ptrdiff_t rows, ptrdiff_t n, \
                     T *of_x, T *of_weight, T *of_bias) { \
    const ptrdiff_t width = sizeof(V) / sizeof(T); \
    for (ptrdiff_t r = 0; r < rows; r++, g += n, x += n) { \
        T about = mean[r], by = scale[r]; \
        double first, second; \
        if (of_x) { \
            T##_sums(g, weight, x, about, n, &first, &second); \
            double along = -second * by * by * by / n; \
            T##_affine(g, weight, x, by, (T)along, (T)(-first * by / n - along * about), n, of_x); \
            of_x += n; \
        } \
        ptrdiff_t i = 0; \
        if (of_weight) { \
            for (; i + width <= n; i += width) \
                AT##_to(of_weight + i, AT##_at(of_weight + i) + AT##_at(g + i) * ((AT##_at(x + i) - about) * by)); \
            for (; i < n; i++) of_weight[i] += g[i] * ((x[i] - about) * by); \
        } \
        if (of_bias) { \
            for (i = 0; i + width <= n; i += width) AT##_to(of_bias + i, AT##_at(of_bias + i) + AT##_at(g + i)); \
            for (; i < n; i++) of_bias[i] += g[i]; \
        } \
    } \
} \
static void backward_rows_##T(const T *g, const T *x, const T *weight, const T *mean, const T *scale, ptrdiff_t rows, \
                              ptrdiff_t n, T *of_x, T *of_weight, T *of_bias) { \
    if (weight) \
        T##_rows(g, x, weight, mean, scale, rows, n, of_x, of_weight, of_bias); \
    else \
        T##_rows(g, x, NULL, mean, scale, rows, n, of_x, of_weight, of_bias); \
} \
static void backward_sums_##T(const T *g, const T *x, T about, ptrdiff_t n, double *first, double *second) { \
    T##_sums(g, NULL, x, about, n, first, second); \
} \
static void backward_affine_##T(const T *g, const T *x, T a, T b, T c, ptrdiff_t n, T *out) { \
    T##_affine(g, NULL, x, a, b, c, n, out); \
} \
static void backward_scale_##T(const T *g, T a, ptrdiff_t n, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) out[i] = g[i] * a; \
} \
/* Like the loops above for columns: sums over the rows with one `about` per column, one affine function per column. */ \
static void backward_column_sums_##T(const T *g, const T *x, const T *about, ptrdiff_t rows, ptrdiff_t n, T *first, \
                                            T *second) { \
    for (ptrdiff_t r = 0; r < rows; r++, g += n, x += n) \
        for (ptrdiff_t i = 0; i < n; i++) { \
            first[i] += g[i]; \
            second[i] += g[i] * (x[i] - about[i]); \
        } \
} \
static void backward_column_affine_##T(const T *g, const T *x, const T *a, const T *b, const T *c, ptrdiff_t rows, \
                                              ptrdiff_t n, T *out) { \
    for (ptrdiff_t r = 0; r < rows; r++, g += n, x += n, out += n) \
        for (ptrdiff_t i = 0; i < n; i++) out[i] = g[i] * a[i] + x[i] * b[i] + c[i]; \
} \
static void backward_column_scale_##T(const T *g, const T *a, ptrdiff_t rows, ptrdiff_t n, T *out) { \
    for (ptrdiff_t r = 0; r < rows; r++, g += n, out += n) \
        for (ptrdiff_t i = 0; i < n; i++) out[i] = g[i] * a[i]; \
} \
/* y * (g - sum(g * y)) */ \
static void backward_softmax_##T(const T *g, const T *y, ptrdiff_t rows, ptrdiff_t n, T *out) { \
    const ptrdiff_t width = sizeof(V) / sizeof(T); \
    for (ptrdiff_t r = 0; r < rows; r++, g += n, y += n, out += n) { \
        double none, along; \
        T by; \
        ptrdiff_t i = 0; \
        T##_sums(g, NULL, y, 0, n, &none, &along); \
        by = (T)along; \
        for (; i + width <= n; i += width) AT##_to(out + i, AT##_at(y + i) * (AT##_at(g + i) - by)); \
        for (; i < n; i++) out[i] = y[i] * (g[i] - by); \
    } \
} \
static double backward_sum_##T(const T *g, ptrdiff_t n) { \
    double first, none; \
    T##_sums(g, NULL, g, 0, n, &first, &none); \
    return first; \
} \
static void backward_add_##T(const T *g, ptrdiff_t n, T *out) { \
    for (ptrdiff_t i = 0; i < n; i++) out[i] += g[i]; \
}

BACKWARD(float, lanes, lane)
BACKWARD(double, wides, wide)

#define BACKWARD_LOOPS(T) \
    {backward_rows_##T, backward_sums_##T, backward_affine_##T, backward_scale_##T, backward_column_sums_##T, backward_column_affine_##T, \
     backward_column_scale_##T, backward_softmax_##T, backward_sum_##T, backward_add_##T}

#endif
