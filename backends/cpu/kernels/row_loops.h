/* Table of row kernels on floats, filled in once per SIMD level by `simd_row_loops.h` and used through
   `vector_math.pxd`. */

#ifndef TS_ROW_LOOPS_H
#define TS_ROW_LOOPS_H

#include <stddef.h>

/* Several rows are processed together, step by step: the serial end of a reduction (maximum, sum) of one row
   then overlaps with other rows. */
enum { ROWS_AT_ONCE = 32, ELEMENTS_AT_ONCE = 4096 };

static inline ptrdiff_t rows_at_once(ptrdiff_t rows, ptrdiff_t n) {
    ptrdiff_t most = ELEMENTS_AT_ONCE / n < ROWS_AT_ONCE ? ELEMENTS_AT_ONCE / n : ROWS_AT_ONCE;
    most = most < 1 ? 1 : most;
    return rows < most ? rows : most;
}

/* Backward of normalizations and softmax, for float and double. */
#define BACKWARD_OF(NAME, T) \
typedef struct { \
    /* gradients of the rows, and sums over the rows for each column; outputs may be NULL */ \
    void (*rows)(const T *g, const T *x, const T *weight, const T *mean, const T *scale, ptrdiff_t rows, ptrdiff_t n, T *of_x, T *of_weight, \
                 T *of_bias); \
    void (*sums)(const T *g, const T *x, T about, ptrdiff_t n, double *first, double *second); /* sums of g and of g * (x - about) */ \
    void (*affine)(const T *g, const T *x, T a, T b, T c, ptrdiff_t n, T *out);                /* g * a + x * b + c */ \
    /* the same for columns, with one `about` per column */ \
    void (*column_sums)(const T *g, const T *x, const T *about, ptrdiff_t rows, ptrdiff_t n, T *first, T *second); \
    void (*column_affine)(const T *g, const T *x, const T *a, const T *b, const T *c, ptrdiff_t rows, ptrdiff_t n, T *out); \
    void (*softmax)(const T *g, const T *y, ptrdiff_t rows, ptrdiff_t n, T *out); /* y * (g - sum(g * y)) */ \
    double (*sum)(const T *g, ptrdiff_t n); \
    void (*add)(const T *g, ptrdiff_t n, T *out); /* out += g */ \
} NAME;
BACKWARD_OF(FloatBackward, float)
BACKWARD_OF(DoubleBackward, double)

typedef struct {
    float (*peak)(const float *x, ptrdiff_t n); /* maximum; undefined if there is a NaN */
    double (*sum)(const float *x, ptrdiff_t n);
    double (*squares)(const float *x, ptrdiff_t n, float about, double *first); /* sum of (x - about)^2; `first`: sum of x - about */
    double (*raised)(const float *x, ptrdiff_t n, float peak);                  /* the sum of exp(x - peak) */
    void (*raised_each)(const float *x, ptrdiff_t n, const float *peak, float *out, float *total); /* out = exp(x - peak), total += out */
    void (*softmax)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *out);                     /* `out` must not be x */
    void (*totals)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *peak, float *total);       /* maxima, and sums of exp(x - peak) */
    void (*lower)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *first, const float *then, float *out); /* (x - first) - then */
    void (*moments)(const float *x, ptrdiff_t n, double eps, double *mean, double *scale); /* scale = 1 / sqrt(variance + eps) */
    void (*normalise)(const float *x, ptrdiff_t n, float scale, float shift, float *out);  /* x * scale + shift */
    /* weight, bias, means and scales may be NULL */
    void (*layer_norm)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *weight, const float *bias, double eps, float *out, float *means,
                       float *scales);
    /* g - exp(y) * sum(g), the backward of log_softmax */
    void (*log_softmax_backward)(const float *g, const float *y, ptrdiff_t rows, ptrdiff_t n, float *out);
    /* One time step of recurrent cells: `given` and `fed` are the gates' contributions of the input and of
       the hidden state for each row, n elements per gate; the state is updated in place. `bias`, which may be
       NULL, is added to the hidden state's contribution to the candidate. `kept` receives the activated
       gates; it may be NULL, or `given`. */
    void (*lstm_step)(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, float *cell, float *hidden, float *kept);
    /* Backward of `lstm_step`: from saved gates and the cell states before and after the step to the gates'
       gradients. The gradient of the hidden state is the sum of `grad`, which may be NULL, and `through`;
       `of_cell`, the gradient of the cell state after the step, is replaced by that before the step. */
    void (*lstm_step_backward)(ptrdiff_t rows, ptrdiff_t n, const float *kept, const float *before, const float *after, const float *grad,
                               const float *through, float *of_cell, float *of_gates);
    void (*gru_step)(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, const float *bias, float *hidden);
    void (*tanh_step)(ptrdiff_t n, const float *given, const float *fed, float *hidden);
    FloatBackward float_backward;
    DoubleBackward double_backward;
} RowLoops;

#endif
