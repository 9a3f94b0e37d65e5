/* Vectorized elementary functions (transcendental functions) of float and double, with branches only for
   rare arguments.

   In: a row and its length. Out: another row, which may be the input row. The source is compiled once for
   each TIER (`simd_primitives.h`), each in a separate extension. The remainder of a row is computed in a
   padded vector, so that an element's bits do not depend on its position. Polynomials were fitted with at
   least 40 digits. Range reductions follow fdlibm. `narrow` functions compute floats in double and round
   once. tests/test_vector_math.py bounds the error of all functions: one unit in the last place. */

#ifndef TS_VECTOR_MATH_H
#define TS_VECTOR_MATH_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#pragma GCC push_options
#if TIER == 4
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")
#elif TIER == 3
#pragma GCC target("avx2,fma")
#endif
#endif

#include "simd_primitives.h"
#include "simd_math_coefficients.h"
#include "simd_math_f64.h"
#include "simd_math_f32.h"

/* ---------------------------------------------------------------- rows of elements */

typedef float any_lanes __attribute__((vector_size(BYTES), aligned(1), may_alias)); /* a vector at any address */
typedef double any_wides __attribute__((vector_size(BYTES), aligned(1), may_alias));
typedef float any_narrows __attribute__((vector_size(BYTES / 2), aligned(1), may_alias));
INLINE lanes lane_at(const float *x) { return (lanes) * (const any_lanes *)x; }
INLINE void lane_to(float *x, lanes v) { *(any_lanes *)x = (any_lanes)v; }
INLINE wides wide_at(const double *x) { return (wides) * (const any_wides *)x; }
INLINE void wide_to(double *x, wides v) { *(any_wides *)x = (any_wides)v; }
INLINE wides narrow_at(const float *x) { return wide_of((narrows) * (const any_narrows *)x); }
INLINE void narrow_to(float *x, wides v) { *(any_narrows *)x = (any_narrows)narrow_of(v); }

#include "simd_row_loops.h"
#include "simd_normalization_backward.h"

#define WITH_TAIL(T, V, KIND, COUNT, VALUE) \
    ptrdiff_t i = 0; \
    for (; i + COUNT <= n; i += COUNT) { \
        V v = KIND##_at(x + i); \
        KIND##_to(out + i, VALUE); \
    } \
    if (i < n) { \
        T last[COUNT] = {0}; \
        memcpy(last, x + i, (n - i) * sizeof(T)); \
        V v = KIND##_at(last); \
        KIND##_to(last, VALUE); \
        memcpy(out + i, last, (n - i) * sizeof(T)); \
    }

#define LANE_ROW(NAME) static void float_##NAME(const float *x, ptrdiff_t n, float *out) { WITH_TAIL(float, lanes, lane, LANES, lane_##NAME(v)) }
#define WIDE_ROW(NAME) static void double_##NAME(const double *x, ptrdiff_t n, double *out) { WITH_TAIL(double, wides, wide, WIDES, wide_##NAME(v)) }
#define NARROW_ROW(NAME) static void float_##NAME(const float *x, ptrdiff_t n, float *out) { WITH_TAIL(float, wides, narrow, WIDES, narrow_##NAME(v)) }

LANE_ROW(exp) LANE_ROW(exp2) LANE_ROW(log) LANE_ROW(log2) LANE_ROW(log10) LANE_ROW(asin) LANE_ROW(acos) LANE_ROW(atan) LANE_ROW(tanh)
LANE_ROW(erf) LANE_ROW(erfc) LANE_ROW(erfinv) LANE_ROW(sigmoid) LANE_ROW(silu) LANE_ROW(gelu) LANE_ROW(logsigmoid)
NARROW_ROW(log1p) NARROW_ROW(expm1) NARROW_ROW(sinh) NARROW_ROW(cosh) NARROW_ROW(sin) NARROW_ROW(cos) NARROW_ROW(tan) NARROW_ROW(gelu_tanh)
WIDE_ROW(exp) WIDE_ROW(expm1) WIDE_ROW(log) WIDE_ROW(log2) WIDE_ROW(log10) WIDE_ROW(asin) WIDE_ROW(acos) WIDE_ROW(tanh) WIDE_ROW(sin) WIDE_ROW(cos)
WIDE_ROW(tan) WIDE_ROW(erf) WIDE_ROW(erfc) WIDE_ROW(erfinv) WIDE_ROW(sigmoid) WIDE_ROW(silu) WIDE_ROW(gelu) WIDE_ROW(gelu_tanh) WIDE_ROW(logsigmoid)
LANE_ROW(softplus) WIDE_ROW(softplus)
#include "simd_arithmetic_chains.h"

#if TIER == 4 /* for this TIER NumPy's loops are vectorized */
#define OR_NUMPY(ROW) NULL
#else
WIDE_ROW(exp2) WIDE_ROW(log1p) WIDE_ROW(atan) WIDE_ROW(sinh) WIDE_ROW(cosh)
#define OR_NUMPY(ROW) ROW
#endif

/* Return the row kernel by NumPy's or SciPy's name, or NULL if NumPy's loop is as good. */
typedef void (*FloatRow)(const float *, ptrdiff_t, float *);
typedef void (*DoubleRow)(const double *, ptrdiff_t, double *);
static const struct {
    const char *name;
    FloatRow of_floats;
    DoubleRow of_doubles;
} MATH_ROWS[] = {
    {"exp", float_exp, double_exp}, {"exp2", float_exp2, OR_NUMPY(double_exp2)}, {"expm1", float_expm1, double_expm1}, {"log", float_log, double_log},
    {"log2", float_log2, double_log2}, {"log10", float_log10, double_log10}, {"log1p", float_log1p, OR_NUMPY(double_log1p)}, {"sin", float_sin, double_sin},
    {"cos", float_cos, double_cos}, {"tan", float_tan, double_tan}, {"arcsin", float_asin, double_asin}, {"arccos", float_acos, double_acos},
    {"arctan", float_atan, OR_NUMPY(double_atan)}, {"sinh", float_sinh, OR_NUMPY(double_sinh)}, {"cosh", float_cosh, OR_NUMPY(double_cosh)}, {"tanh", float_tanh, double_tanh},
    {"erf", float_erf, double_erf}, {"erfc", float_erfc, double_erfc}, {"erfinv", float_erfinv, double_erfinv},
    {"sigmoid", float_sigmoid, double_sigmoid}, {"silu", float_silu, double_silu}, {"gelu", float_gelu, double_gelu},
    {"gelu_tanh", float_gelu_tanh, double_gelu_tanh}, {"softplus", float_softplus, double_softplus},
    {"log_sigmoid", float_logsigmoid, double_logsigmoid},
};

static const RowLoops ROW_LOOPS = {
    row_peak, row_max_or_nan, row_min_or_nan, row_sum, rows_sum_of_blocks, row_squares, row_sum_of_exp, row_exp_and_add, rows_softmax, rows_max_and_sum_of_exp, rows_subtract_max_and_log, row_moments, row_normalise,
    rows_layer_norm, rows_log_softmax_backward, rows_lstm_step, rows_lstm_step_backward, rows_gru_step, row_tanh_step,
    chain_of_float, chain_of_double,
    BACKWARD_LOOPS(float), BACKWARD_LOOPS(double),
};
static const RowLoops *row_loops(void) { return &ROW_LOOPS; }

static void *math_row(const char *name, int of_doubles) {
    for (size_t i = 0; i < sizeof(MATH_ROWS) / sizeof(MATH_ROWS[0]); i++)
        if (!strcmp(MATH_ROWS[i].name, name)) return of_doubles ? (void *)MATH_ROWS[i].of_doubles : (void *)MATH_ROWS[i].of_floats;
    return NULL;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#endif
