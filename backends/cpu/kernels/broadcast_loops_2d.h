/* Binary float arithmetic: inner loops for contiguous rows, and for the two innermost dimensions of
   broadcast operands at once.

   In: memory of operands and result, lengths, and strides in bytes, as for NumPy's inner loops. Operands may
   be contiguous or scalars (stride 0), and the result must be contiguous. For other strides, plane functions
   return 0, and row loops call NumPy's loop (`other`). In C, for the macros of `simd_level.h`. */

#ifndef TS_PLANES_H
#define TS_PLANES_H

#include <stddef.h>
#include <string.h>

#include "simd_level.h"

/* The result array may be one of the operands, but must not overlap them partially. */
#if defined(__GNUC__) && !defined(__clang__)
#define NO_CARRIED_ELEMENT _Pragma("GCC ivdep")
#else
#define NO_CARRIED_ELEMENT
#endif

typedef void (*InnerLoop)(char **args, const ptrdiff_t *count, const ptrdiff_t *strides, void *data);

/* Compute one row. Return 0 if the strides are unsupported. */
#define ROW(NAME, number, OP)                                                                                          \
    static inline __attribute__((always_inline)) int NAME##_##number##_row(const number *x, const number *y,           \
                                                                           number *out, ptrdiff_t n,                   \
                                                                           const ptrdiff_t *strides) {                   \
        const ptrdiff_t width = sizeof(number);                                                                        \
        if (strides[2] != width) return 0;                                                                               \
        if (strides[0] == width && strides[1] == width) {                                                                  \
            NO_CARRIED_ELEMENT                                                                                         \
            for (ptrdiff_t j = 0; j < n; j++) out[j] = x[j] OP y[j];                                                   \
        } else if (strides[0] == width && !strides[1]) {                                                                   \
            const number by = *y;                                                                                      \
            NO_CARRIED_ELEMENT                                                                                         \
            for (ptrdiff_t j = 0; j < n; j++) out[j] = x[j] OP by;                                                     \
        } else if (!strides[0] && strides[1] == width) {                                                                   \
            const number by = *x;                                                                                      \
            NO_CARRIED_ELEMENT                                                                                         \
            for (ptrdiff_t j = 0; j < n; j++) out[j] = by OP y[j];                                                     \
        } else {                                                                                                       \
            return 0;                                                                                                  \
        }                                                                                                              \
        return 1;                                                                                                      \
    }

#define PLANE(NAME, number, OP)                                                                                        \
    ROW(NAME, number, OP)                                                                                              \
    SIMD_BODY void NAME##_##number##_loop_body(char **args, const ptrdiff_t *count, const ptrdiff_t *strides,          \
                                                    void *other) {                                                     \
        if (!NAME##_##number##_row((const number *)args[0], (const number *)args[1], (number *)args[2], *count, strides)) \
            ((InnerLoop)other)(args, count, strides, NULL);                                                              \
    }                                                                                                                  \
    SIMD_VERSIONS(void, NAME##_##number##_loop,                                                                        \
                  (char **args, const ptrdiff_t *count,                                                                \
                   const ptrdiff_t *strides, void *other),                                                               \
                  (args, count, strides, other))                                                                         \
    SIMD_BODY int NAME##_##number##_plane_body(char **args, const ptrdiff_t *lengths, const ptrdiff_t *outer,        \
                                                    const ptrdiff_t *inner) {                                          \
        for (ptrdiff_t i = 0; i < lengths[0]; i++)                                                                     \
            if (!NAME##_##number##_row((const number *)(args[0] + i * outer[0]), (const number *)(args[1] + i * outer[1]), \
                                       (number *)(args[2] + i * outer[2]), lengths[1], inner))                         \
                return 0;                                                                                              \
        return 1;                                                                                                      \
    }                                                                                                                  \
    SIMD_VERSIONS(int, NAME##_##number##_plane,                                                                        \
                  (char **args, const ptrdiff_t *lengths,                                                              \
                   const ptrdiff_t *outer, const ptrdiff_t *inner),                                                    \
                  (args, lengths, outer, inner))

#define PLANES(NAME, OP) PLANE(NAME, float, OP) PLANE(NAME, double, OP)

PLANES(add, +)
PLANES(subtract, -)
PLANES(multiply, *)
PLANES(divide, /)

/* Return the row loops and plane functions of NumPy's ufunc `name`, for float and double, or NULL for other
   names. */
struct Arithmetic {
    const char *name;
    InnerLoop loops[2];
    int (*planes[2])(char **args, const ptrdiff_t *lengths, const ptrdiff_t *outer, const ptrdiff_t *inner);
};
#define ARITHMETIC(NAME, PREFIX) {NAME, {PREFIX##_float_loop, PREFIX##_double_loop}, {PREFIX##_float_plane, PREFIX##_double_plane}}
static const struct Arithmetic FLOAT_ARITHMETIC[] = {
    ARITHMETIC("add", add), ARITHMETIC("subtract", subtract), ARITHMETIC("multiply", multiply),
    ARITHMETIC("divide", divide), ARITHMETIC("true_divide", divide),
};
static const struct Arithmetic *float_arithmetic(const char *name) {
    for (size_t i = 0; i < sizeof(FLOAT_ARITHMETIC) / sizeof(*FLOAT_ARITHMETIC); i++)
        if (!strcmp(FLOAT_ARITHMETIC[i].name, name)) return &FLOAT_ARITHMETIC[i];
    return NULL;
}

#endif
