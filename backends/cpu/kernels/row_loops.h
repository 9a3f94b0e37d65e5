/* Loops over whole rows, of which each kind of processor has its own: what `vector_rows.h` fills in, and `vector_math.pxd` has for kernels. */

#ifndef TS_ROW_LOOPS_H
#define TS_ROW_LOOPS_H

#include <stddef.h>

/* Rows are taken some at a time, step by step: the last steps of a row (its peak, its sum) take as long as many of its elements, unless
   those of other rows go on meanwhile. */
enum { ROWS_AT_ONCE = 32, ELEMENTS_AT_ONCE = 4096 };

static inline ptrdiff_t rows_at_once(ptrdiff_t rows, ptrdiff_t n) {
    ptrdiff_t most = ELEMENTS_AT_ONCE / n < ROWS_AT_ONCE ? ELEMENTS_AT_ONCE / n : ROWS_AT_ONCE;
    most = most < 1 ? 1 : most;
    return rows < most ? rows : most;
}

/* The ways back through normalisations and softmax, of floats and of doubles. */
#define BACKWARD_OF(NAME, T) \
typedef struct { \
    /* the gradient of each row, and sums over the rows for each column; where they are not NULL */ \
    void (*rows)(const T *g, const T *x, const T *weight, const T *mean, const T *scale, ptrdiff_t rows, ptrdiff_t n, T *of_x, T *of_weight, \
                 T *of_bias); \
    void (*sums)(const T *g, const T *x, T about, ptrdiff_t n, double *first, double *second); /* of g and of g * (x - about) */ \
    void (*affine)(const T *g, const T *x, T a, T b, T c, ptrdiff_t n, T *out);                /* g * a + x * b + c */ \
    /* the same for columns, each about a number of its own */ \
    void (*column_sums)(const T *g, const T *x, const T *about, ptrdiff_t rows, ptrdiff_t n, T *first, T *second); \
    void (*column_affine)(const T *g, const T *x, const T *a, const T *b, const T *c, ptrdiff_t rows, ptrdiff_t n, T *out); \
    void (*softmax)(const T *g, const T *y, ptrdiff_t rows, ptrdiff_t n, T *out); /* y * (g - sum(g * y)) */ \
    double (*sum)(const T *g, ptrdiff_t n); \
    void (*add)(const T *g, ptrdiff_t n, T *out); /* out += g */ \
} NAME;
BACKWARD_OF(FloatBackward, float)
BACKWARD_OF(DoubleBackward, double)

typedef struct {
    float (*peak)(const float *x, ptrdiff_t n); /* the largest element; any where there is a NaN */
    double (*sum)(const float *x, ptrdiff_t n);
    double (*squares)(const float *x, ptrdiff_t n, float about, double *first); /* of x - about, and in `first` the sum of that itself */
    double (*raised)(const float *x, ptrdiff_t n, float peak);                  /* the sum of exp(x - peak) */
    void (*raised_each)(const float *x, ptrdiff_t n, const float *peak, float *out, float *total); /* out = exp(x - peak), total += out */
    void (*softmax)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *out);                     /* `out` is not x */
    void (*totals)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *peak, float *total);       /* peaks, and sums of exp(x - peak) */
    void (*lower)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *first, const float *then, float *out); /* (x - first) - then */
    void (*moments)(const float *x, ptrdiff_t n, double eps, double *mean, double *scale); /* and 1 / sqrt(variance + eps) */
    void (*normalise)(const float *x, ptrdiff_t n, float scale, float shift, float *out);  /* x * scale + shift */
    /* weight, bias and where the moments go may be NULL */
    void (*layer_norm)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *weight, const float *bias, double eps, float *out, float *means,
                       float *scales);
    /* g - exp(y) * sum(g), the way back through log_softmax */
    void (*log_softmax_backward)(const float *g, const float *y, ptrdiff_t rows, ptrdiff_t n, float *out);
    /* One step of recurrent cells: for each row the gates' shares of the input and of the hidden state, as many elements a gate as the cell has;
       and the state, which is replaced by that after the step.  `bias`, which may be NULL, belongs to what the hidden state gives to the candidate.
       What the gates let through is kept in `kept`, which may be NULL, or where `given` lies. */
    void (*lstm_step)(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, float *cell, float *hidden, float *kept);
    /* The way back through it: from what was kept and the cells before and after it, to the gates' gradients.  The hidden state's is the sum of
       `grad`, which may be NULL, and `through`; that of the cells after the step is replaced by that of the cells before it. */
    void (*lstm_step_backward)(ptrdiff_t rows, ptrdiff_t n, const float *kept, const float *before, const float *after, const float *grad,
                               const float *through, float *of_cell, float *of_gates);
    void (*gru_step)(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, const float *bias, float *hidden);
    void (*tanh_step)(ptrdiff_t n, const float *given, const float *fed, float *hidden);
    FloatBackward float_backward;
    DoubleBackward double_backward;
} RowLoops;

#endif
