/* Chains of additions, subtractions, multiplications and divisions (loop fusion in registers):
   acc = first operand, then acc = acc OP operand for each operation, then optionally acc = exp(acc).

   In: the operands, with strides of one element or 0, as for NumPy's inner loops. Out: a contiguous row, which
   may be one of the operands. Included by `vector_math.h`, and therefore compiled for each TIER. A chain keeps
   the bits of the single operations: products and sums are not contracted to fused multiply-adds. */

#ifndef TS_ARITHMETIC_CHAINS_H
#define TS_ARITHMETIC_CHAINS_H

#include "row_loops.h"

/* Prevent the contraction of the multiplication whose result is `v`. */
#if defined(__GNUC__) && defined(__x86_64__)
#if TIER == 4
#define ROUNDED(v) __asm__("" : "+v"(v))
#else
#define ROUNDED(v) __asm__("" : "+x"(v))
#endif
#elif defined(__GNUC__) && defined(__aarch64__)
#define ROUNDED(v) __asm__("" : "+w"(v))
#else
#define ROUNDED(v)
#endif

/* Keep `p` in a register, so that the addresses p + constant need no registers of their own. Otherwise, gcc computes
   the offsets of all vectors before the loop, and spills them. */
#if defined(__GNUC__)
#define HOLD_POINTER(p) __asm__("" : "+r"(p))
#else
#define HOLD_POINTER(p)
#endif

enum { CHAIN_VECTORS = TIER == 4 ? 16 : 8 }; /* number of vectors that are kept in registers */

#define EACH _Pragma("GCC unroll 16") for (int b = 0; b < vectors; b++)
/* acc = EXPRESSION of acc and the operand y, which is a row, or a single element */
#define OPERATION(CODE, VECTOR, AT, EXPRESSION) \
    case 2 * CODE: \
        x += i; \
        HOLD_POINTER(x); \
        EACH { \
            VECTOR y = AT(x + b * width); \
            acc[b] = EXPRESSION; \
            ROUNDED(acc[b]); \
        } \
        break; \
    case 2 * CODE + 1: { \
        VECTOR y = *x - (VECTOR){0}; \
        EACH { \
            acc[b] = EXPRESSION; \
            ROUNDED(acc[b]); \
        } \
        break; \
    }

#define CHAIN_LOOPS(T, VECTOR, AT, TO) \
/* An operation with its operand. `code` is twice the operation, plus 1 if the operand is a single element. */ \
typedef struct { \
    const T *operand; \
    int code; \
} Step_##T; \
INLINE void chain_block_of_##T(const T *first, ptrdiff_t stride, const Step_##T *steps, const Step_##T *end, ptrdiff_t i, int vectors, T *out) { \
    const ptrdiff_t width = sizeof(VECTOR) / sizeof(T); \
    VECTOR acc[CHAIN_VECTORS]; \
    if (stride) { \
        first += i; \
        HOLD_POINTER(first); \
        EACH acc[b] = AT(first + b * width); \
    } else \
        EACH acc[b] = *first - (VECTOR){0}; \
    for (; steps < end; steps++) { \
        const T *x = steps->operand; \
        switch (steps->code) { \
            OPERATION(CHAIN_ADD, VECTOR, AT, acc[b] + y) \
            OPERATION(CHAIN_SUBTRACT, VECTOR, AT, acc[b] - y) \
            OPERATION(CHAIN_SUBTRACT_FROM, VECTOR, AT, y - acc[b]) \
            OPERATION(CHAIN_MULTIPLY, VECTOR, AT, acc[b] * y) \
            OPERATION(CHAIN_DIVIDE, VECTOR, AT, acc[b] / y) \
            OPERATION(CHAIN_DIVIDE_INTO, VECTOR, AT, y / acc[b]) \
        default: /* CHAIN_SQUARE has no operand */ \
            EACH { \
                acc[b] *= acc[b]; \
                ROUNDED(acc[b]); \
            } \
        } \
    } \
    out += i; \
    HOLD_POINTER(out); \
    EACH TO(out + b * width, acc[b]); \
} \
INLINE void chain_element_of_##T(char **args, const ptrdiff_t *strides, const Chain *chain, ptrdiff_t i) { \
    T acc = *(const T *)(args[0] + i * strides[0]); \
    int operand = 1; \
    for (int k = 0; k < chain->count; k++) { \
        T y = acc; \
        if (chain->operation[k] != CHAIN_SQUARE) { \
            y = *(const T *)(args[operand] + i * strides[operand]); \
            operand++; \
        } \
        switch (chain->operation[k]) { \
            case CHAIN_ADD: acc = acc + y; break; \
            case CHAIN_SUBTRACT: acc = acc - y; break; \
            case CHAIN_SUBTRACT_FROM: acc = y - acc; break; \
            case CHAIN_DIVIDE: acc = acc / y; break; \
            case CHAIN_DIVIDE_INTO: acc = y / acc; break; \
            default: acc = acc * y; \
        } \
        ROUNDED(acc); \
    } \
    *(T *)(args[operand] + i * sizeof(T)) = acc; \
} \
static void chain_of_##T(char **args, const ptrdiff_t *count, const ptrdiff_t *strides, void *data) { \
    const ptrdiff_t n = *count, width = sizeof(VECTOR) / sizeof(T), stride = strides[0]; \
    const Chain *chain = (const Chain *)data; \
    const T *first = (const T *)args[0]; \
    Step_##T steps[MAX_CHAIN], *end = steps + chain->count; \
    ptrdiff_t i = 0; \
    int operand = 1; \
    for (int k = 0; k < chain->count; k++) { \
        steps[k].code = 2 * chain->operation[k]; \
        if (chain->operation[k] == CHAIN_SQUARE) continue; \
        steps[k].operand = (const T *)args[operand]; \
        steps[k].code += !strides[operand]; \
        operand++; \
    } \
    T *out = (T *)args[operand]; \
    for (; i + CHAIN_VECTORS * width <= n; i += CHAIN_VECTORS * width) { \
        chain_block_of_##T(first, stride, steps, end, i, CHAIN_VECTORS, out); \
        if (chain->then_exp) T##_exp(out + i, CHAIN_VECTORS * width, out + i); \
    } \
    const ptrdiff_t rest = i; \
    for (; i + width <= n; i += width) chain_block_of_##T(first, stride, steps, end, i, 1, out); \
    for (; i < n; i++) chain_element_of_##T(args, strides, chain, i); \
    if (chain->then_exp) T##_exp(out + rest, n - rest, out + rest); \
}
CHAIN_LOOPS(float, lanes, lane_at, lane_to)
CHAIN_LOOPS(double, wides, wide_at, wide_to)

#endif
