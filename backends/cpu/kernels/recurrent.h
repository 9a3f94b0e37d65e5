/* One step of recurrent cells of floats, in vectors of sixteen; `simd.h` says how they are compiled.

   In: for each row the gates' shares of the input and of the hidden state, as many elements a gate as the cell has; and the
   state, which is replaced by that after the step. */

#ifndef TS_RECURRENT_H
#define TS_RECURRENT_H

#include "activation.h"

/* The first n elements, and zeros. */
INLINE lanes simd_first(const float *x, ptrdiff_t n) {
    lanes v = {0};
    if (n >= WIDTH) return simd_at(x);
    memcpy(&v, x, n * sizeof(float));
    return v;
}

INLINE void simd_first_to(float *x, lanes v, ptrdiff_t n) {
    if (n >= WIDTH)
        simd_to(x, v);
    else
        memcpy(x, &v, n * sizeof(float));
}

CLONES static void simd_lstm_step(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, float *cell, float *hidden) {
    for (; rows > 0; rows--, given += 4 * n, fed += 4 * n, cell += n, hidden += n)
        for (ptrdiff_t i = 0; i < n; i += WIDTH) {
            ptrdiff_t left = n - i;
            lanes in = simd_sigmoid(simd_first(given + i, left) + simd_first(fed + i, left));
            lanes forget = simd_sigmoid(simd_first(given + n + i, left) + simd_first(fed + n + i, left));
            lanes update = simd_tanh(simd_first(given + 2 * n + i, left) + simd_first(fed + 2 * n + i, left));
            lanes out = simd_sigmoid(simd_first(given + 3 * n + i, left) + simd_first(fed + 3 * n + i, left));
            lanes c = forget * simd_first(cell + i, left) + in * update;
            simd_first_to(cell + i, c, left);
            simd_first_to(hidden + i, out * simd_tanh(c), left);
        }
}

/* `bias`, which may be NULL, belongs to what the hidden state gives to the candidate. */
CLONES static void simd_gru_step(ptrdiff_t rows, ptrdiff_t n, const float *given, const float *fed, const float *bias, float *hidden) {
    for (; rows > 0; rows--, given += 3 * n, fed += 3 * n, hidden += n)
        for (ptrdiff_t i = 0; i < n; i += WIDTH) {
            ptrdiff_t left = n - i;
            lanes reset = simd_sigmoid(simd_first(given + i, left) + simd_first(fed + i, left));
            lanes keep = simd_sigmoid(simd_first(given + n + i, left) + simd_first(fed + n + i, left));
            lanes share = simd_first(fed + 2 * n + i, left), before = simd_first(hidden + i, left);
            if (bias) share += simd_first(bias + i, left);
            lanes candidate = simd_tanh(simd_first(given + 2 * n + i, left) + reset * share);
            simd_first_to(hidden + i, (before - candidate) * keep + candidate, left);
        }
}

CLONES static void simd_tanh_step(ptrdiff_t n, const float *given, const float *fed, float *hidden) {
    for (ptrdiff_t i = 0; i < n; i += WIDTH)
        simd_first_to(hidden + i, simd_tanh(simd_first(given + i, n - i) + simd_first(fed + i, n - i)), n - i);
}

#endif
