/* Table of row kernels for float. `simd_row_loops.h` fills in one table per SIMD level. `vector_math.pxd`
   selects the table. */

#ifndef TS_ROW_LOOPS_H
#define TS_ROW_LOOPS_H

#include <stddef.h>

/* Number of rows that are processed together: the serial end of one row's reduction (maximum, sum) overlaps
   with the work on other rows. */
enum { ROWS_AT_ONCE = 32, ELEMENTS_AT_ONCE = 4096 };

static inline ptrdiff_t rows_at_once(ptrdiff_t rows, ptrdiff_t n) {
    ptrdiff_t max_rows = ELEMENTS_AT_ONCE / n < ROWS_AT_ONCE ? ELEMENTS_AT_ONCE / n : ROWS_AT_ONCE;
    max_rows = max_rows < 1 ? 1 : max_rows;
    return rows < max_rows ? rows : max_rows;
}

/* Loops of the backward of normalizations and softmax, for float and double. */
#define BACKWARD_OF(NAME, T) \
typedef struct { \
    /* gradients of the input, and of weight and bias (sums over the rows). Outputs may be NULL. */ \
    void (*rows)(const T *g, const T *x, const T *weight, const T *mean, const T *scale, ptrdiff_t rows, ptrdiff_t n, T *of_x, T *of_weight, \
                 T *of_bias); \
    void (*sums)(const T *g, const T *x, T about, ptrdiff_t n, double *first, double *second); /* sums of g and of g * (x - about) */ \
    void (*affine)(const T *g, const T *x, T a, T b, T c, ptrdiff_t n, T *out);                /* g * a + x * b + c */ \
    void (*scale)(const T *g, T a, ptrdiff_t n, T *out); /* g * a */ \
    /* like `sums`, `affine` and `scale`, for columns with one number per column in `about`, a, b and c */ \
    void (*column_sums)(const T *g, const T *x, const T *about, ptrdiff_t rows, ptrdiff_t n, T *first, T *second); \
    void (*column_affine)(const T *g, const T *x, const T *a, const T *b, const T *c, ptrdiff_t rows, ptrdiff_t n, T *out); \
    void (*column_scale)(const T *g, const T *a, ptrdiff_t rows, ptrdiff_t n, T *out); \
    void (*softmax)(const T *g, const T *y, ptrdiff_t rows, ptrdiff_t n, T *out); /* y * (g - sum(g * y)) */ \
    double (*sum)(const T *g, ptrdiff_t n); \
    void (*add)(const T *g, ptrdiff_t n, T *out); /* out += g */ \
} NAME;
BACKWARD_OF(FloatBackward, float)
BACKWARD_OF(DoubleBackward, double)

/* Operations of a chain (`simd_arithmetic_chains.h`) on its value and an operand. */
typedef enum {
    NOT_ARITHMETIC = -1,
    CHAIN_ADD,
    CHAIN_SUBTRACT,      /* value - operand */
    CHAIN_SUBTRACT_FROM, /* operand - value */
    CHAIN_MULTIPLY,
    CHAIN_DIVIDE,        /* value / operand */
    CHAIN_DIVIDE_INTO,   /* operand / value */
    CHAIN_SQUARE,        /* value * value, without an operand */
} Arithmetic;
enum { MAX_CHAIN = 8 };
typedef struct {
    int count;
    Arithmetic operation[MAX_CHAIN];
    int then_exp; /* 1 if the result is exp of the chain's value */
} Chain;

typedef struct {
    float (*max)(const float *x, ptrdiff_t n); /* maximum of a row, undefined if the row has a NaN */
    float (*max_or_nan)(const float *x, ptrdiff_t n); /* maximum of a row, NaN if the row has a NaN; a zero may have any sign */
    float (*min_or_nan)(const float *x, ptrdiff_t n);
    double (*sum)(const float *x, ptrdiff_t n);
    void (*sum_of_blocks)(const float *x, ptrdiff_t rows, ptrdiff_t n, double *total); /* sums of rows, in the same order at each SIMD level */
    double (*sum_of_squared_differences)(const float *x, ptrdiff_t n, float about, double *first); /* sum of (x - about)^2 (`first` gets the sum of x - about) */
    double (*sum_of_exp)(const float *x, ptrdiff_t n, float peak);                  /* sum of exp(x - peak) */
    void (*exp_and_add)(const float *x, ptrdiff_t n, const float *peak, float *out, float *total); /* out = exp(x - peak), total += out */
    void (*softmax)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *out);                     /* `out` must not be x */
    void (*max_and_sum_of_exp)(const float *x, ptrdiff_t rows, ptrdiff_t n, float *peak, float *total);       /* maximum, and sum of exp(x - peak), of each row */
    void (*subtract_max_and_log)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *first, const float *then, float *out); /* (x - first) - then */
    void (*moments)(const float *x, ptrdiff_t n, double eps, double *mean, double *scale); /* mean, and scale = 1 / sqrt(variance + eps) */
    void (*normalise)(const float *x, ptrdiff_t n, float scale, float shift, float *out);  /* x * scale + shift */
    /* Normalizes rows. Weight, bias, means and scales may be NULL. */
    void (*layer_norm)(const float *x, ptrdiff_t rows, ptrdiff_t n, const float *weight, const float *bias, double eps, float *out, float *means,
                       float *scales);
    /* g - exp(y) * sum(g), the backward of log_softmax */
    void (*log_softmax_backward)(const float *g, const float *y, ptrdiff_t rows, ptrdiff_t n, float *out);
    /* One time step of recurrent cells. `input_gates` and `hidden_gates` are the contributions of the input
       and of the hidden state to the gates, n elements per gate and row. The state is updated in place.
       `bias` (or NULL) is added to the hidden state's contribution to the candidate. The activated gates are
       written to `saved`, which may be NULL or `input_gates`. */
    void (*lstm_step)(ptrdiff_t rows, ptrdiff_t n, const float *input_gates, const float *hidden_gates, float *cell, float *hidden, float *saved);
    /* Backward of `lstm_step`: computes the gradients of the gates from the saved gates and the cell states
       before and after the step. The gradient of the hidden state is `grad` (or 0 if NULL) plus `through`.
       `of_cell` contains the gradient of the cell state after the step, and is replaced by that of the cell
       state before the step. */
    void (*lstm_step_backward)(ptrdiff_t rows, ptrdiff_t n, const float *saved, const float *before, const float *after, const float *grad,
                               const float *through, float *of_cell, float *of_gates);
    void (*gru_step)(ptrdiff_t rows, ptrdiff_t n, const float *input_gates, const float *hidden_gates, const float *bias, float *hidden);
    void (*tanh_step)(ptrdiff_t n, const float *input_gates, const float *hidden_gates, float *hidden);
    /* Inner loops with NumPy's signature. `data` is a Chain. */
    void (*chain_of_floats)(char **args, const ptrdiff_t *count, const ptrdiff_t *strides, void *data);
    void (*chain_of_doubles)(char **args, const ptrdiff_t *count, const ptrdiff_t *strides, void *data);
    FloatBackward float_backward;
    DoubleBackward double_backward;
} RowLoops;

#endif
