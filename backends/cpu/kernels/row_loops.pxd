"""Tables of row kernels on floats, one table per SIMD level (described in `row_loops.h`)."""

from numpy cimport npy_intp

cdef extern from "row_loops.h" nogil:
    npy_intp rows_at_once(npy_intp rows, npy_intp n)     # number of rows, at most 32, to process together

    ctypedef enum Arithmetic:
        NOT_ARITHMETIC
        CHAIN_ADD
        CHAIN_SUBTRACT
        CHAIN_SUBTRACT_FROM
        CHAIN_MULTIPLY
        CHAIN_DIVIDE
        CHAIN_DIVIDE_INTO
        CHAIN_SQUARE

    enum:
        MAX_CHAIN

    ctypedef struct Chain:             # operations that are applied to the first operand one after the other
        int count
        Arithmetic operation[8]
        bint then_exp

    ctypedef struct FloatBackward:
        void (*rows)(
            const float *g, const float *x, const float *weight, const float *mean, const float *scale, npy_intp rows, npy_intp n,
            float *of_x, float *of_weight, float *of_bias
        ) noexcept nogil
        void (*sums)(const float *g, const float *x, float about, npy_intp n, double *first, double *second) noexcept nogil
        void (*affine)(const float *g, const float *x, float a, float b, float c, npy_intp n, float *out) noexcept nogil
        void (*scale)(const float *g, float a, npy_intp n, float *out) noexcept nogil
        void (*column_sums)(
            const float *g, const float *x, const float *about, npy_intp rows, npy_intp n, float *first, float *second
        ) noexcept nogil
        void (*column_affine)(
            const float *g, const float *x, const float *a, const float *b, const float *c, npy_intp rows, npy_intp n, float *out
        ) noexcept nogil
        void (*column_scale)(const float *g, const float *a, npy_intp rows, npy_intp n, float *out) noexcept nogil
        void (*softmax)(const float *g, const float *y, npy_intp rows, npy_intp n, float *out) noexcept nogil
        double (*sum)(const float *g, npy_intp n) noexcept nogil
        void (*add)(const float *g, npy_intp n, float *out) noexcept nogil

    ctypedef struct DoubleBackward:
        void (*rows)(
            const double *g, const double *x, const double *weight, const double *mean, const double *scale, npy_intp rows, npy_intp n,
            double *of_x, double *of_weight, double *of_bias
        ) noexcept nogil
        void (*sums)(const double *g, const double *x, double about, npy_intp n, double *first, double *second) noexcept nogil
        void (*affine)(const double *g, const double *x, double a, double b, double c, npy_intp n, double *out) noexcept nogil
        void (*scale)(const double *g, double a, npy_intp n, double *out) noexcept nogil
        void (*column_sums)(
            const double *g, const double *x, const double *about, npy_intp rows, npy_intp n, double *first, double *second
        ) noexcept nogil
        void (*column_affine)(
            const double *g, const double *x, const double *a, const double *b, const double *c, npy_intp rows, npy_intp n, double *out
        ) noexcept nogil
        void (*column_scale)(const double *g, const double *a, npy_intp rows, npy_intp n, double *out) noexcept nogil
        void (*softmax)(const double *g, const double *y, npy_intp rows, npy_intp n, double *out) noexcept nogil
        double (*sum)(const double *g, npy_intp n) noexcept nogil
        void (*add)(const double *g, npy_intp n, double *out) noexcept nogil

    ctypedef struct RowLoops:
        float (*max)(const float *x, npy_intp n) noexcept nogil
        float (*max_or_nan)(const float *x, npy_intp n) noexcept nogil
        float (*min_or_nan)(const float *x, npy_intp n) noexcept nogil
        double (*sum)(const float *x, npy_intp n) noexcept nogil
        void (*sum_of_blocks)(const float *x, npy_intp rows, npy_intp n, double *total) noexcept nogil
        double (*sum_of_squared_differences)(const float *x, npy_intp n, float about, double *first) noexcept nogil
        double (*sum_of_exp)(const float *x, npy_intp n, float peak) noexcept nogil
        void (*exp_and_add)(const float *x, npy_intp n, const float *peak, float *out, float *total) noexcept nogil
        void (*softmax)(const float *x, npy_intp rows, npy_intp n, float *out) noexcept nogil
        void (*max_and_sum_of_exp)(const float *x, npy_intp rows, npy_intp n, float *peak, float *total) noexcept nogil
        void (*subtract_max_and_log)(const float *x, npy_intp rows, npy_intp n, const float *first, const float *then, float *out) noexcept nogil
        void (*moments)(const float *x, npy_intp n, double eps, double *mean, double *scale) noexcept nogil
        void (*normalise)(const float *x, npy_intp n, float scale, float shift, float *out) noexcept nogil
        void (*layer_norm)(
            const float *x, npy_intp rows, npy_intp n, const float *weight, const float *bias, double eps, float *out,
            float *means, float *scales
        ) noexcept nogil
        void (*log_softmax_backward)(const float *g, const float *y, npy_intp rows, npy_intp n, float *out) noexcept nogil
        void (*lstm_step)(
            npy_intp rows, npy_intp n, const float *input_gates, const float *hidden_gates, float *cell, float *hidden, float *saved
        ) noexcept nogil
        void (*lstm_step_backward)(
            npy_intp rows, npy_intp n, const float *saved, const float *before, const float *after, const float *grad,
            const float *through, float *of_cell, float *of_gates
        ) noexcept nogil
        void (*gru_step)(npy_intp rows, npy_intp n, const float *input_gates, const float *hidden_gates, const float *bias, float *hidden) noexcept nogil
        void (*tanh_step)(npy_intp n, const float *input_gates, const float *hidden_gates, float *hidden) noexcept nogil
        void (*chain_of_floats)(char **args, const npy_intp *count, const npy_intp *strides, void *data) noexcept nogil
        void (*chain_of_doubles)(char **args, const npy_intp *count, const npy_intp *strides, void *data) noexcept nogil
        FloatBackward float_backward
        DoubleBackward double_backward
