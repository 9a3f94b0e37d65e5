/* Arithmetic over the two innermost dimensions of operands that broadcast: a loop for each row is a call less.

   In: the operands' and the result's memory, two lengths, and the steps in bytes.  Out: whether the steps are such that a row is
   read element by element or again and again; where not, nothing is done.  C, as `target_clones` is the compiler's. */

#ifndef TS_PLANES_H
#define TS_PLANES_H

#include <stddef.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define PLANE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLANE_CLONES
#endif
/* The result may be an operand; other memory it does not share. */
#if defined(__GNUC__) && !defined(__clang__)
#define NO_CARRIED_ELEMENT _Pragma("GCC ivdep")
#else
#define NO_CARRIED_ELEMENT
#endif

#define PLANE(NAME, number, OP)                                                                                        \
    PLANE_CLONES static int NAME##_##number##_plane(char **args, const ptrdiff_t *lengths, const ptrdiff_t *outer,     \
                                                    const ptrdiff_t *inner) {                                          \
        const ptrdiff_t width = sizeof(number), rows = lengths[0], n = lengths[1];                                     \
        if (inner[2] != width || (inner[0] != width && inner[0]) || (inner[1] != width && inner[1]) ||                  \
            !(inner[0] || inner[1]))                                                                                   \
            return 0;                                                                                                  \
        for (ptrdiff_t i = 0; i < rows; i++) {                                                                         \
            const number *x = (const number *)(args[0] + i * outer[0]);                                                \
            const number *y = (const number *)(args[1] + i * outer[1]);                                                \
            number *out = (number *)(args[2] + i * outer[2]);                                                          \
            if (inner[0] && inner[1]) {                                                                                \
                NO_CARRIED_ELEMENT                                                                                     \
                for (ptrdiff_t j = 0; j < n; j++) out[j] = x[j] OP y[j];                                               \
            } else if (inner[0]) {                                                                                     \
                const number by = *y;                                                                                  \
                NO_CARRIED_ELEMENT                                                                                     \
                for (ptrdiff_t j = 0; j < n; j++) out[j] = x[j] OP by;                                                 \
            } else {                                                                                                   \
                const number by = *x;                                                                                  \
                NO_CARRIED_ELEMENT                                                                                     \
                for (ptrdiff_t j = 0; j < n; j++) out[j] = by OP y[j];                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return 1;                                                                                                      \
    }

#define PLANES(NAME, OP) PLANE(NAME, float, OP) PLANE(NAME, double, OP)

PLANES(add, +)
PLANES(subtract, -)
PLANES(multiply, *)
PLANES(divide, /)

#endif
