/* Selection (predication) of one of two numbers by a bit mask. Compilers vectorize the mask operations, but
   may compile `?:` to a branch.

   float_pick(x > 0, x, x * slope) */

#ifndef TS_PICK_H
#define TS_PICK_H

#include <stdint.h>
#include <string.h>

#define PICK(T, BITS) \
static inline __attribute__((always_inline)) T T##_pick(int yes, T a, T b) { \
    BITS x, y, mask = -(BITS)(yes != 0); \
    memcpy(&x, &a, sizeof x); \
    memcpy(&y, &b, sizeof y); \
    x = (x & mask) | (y & ~mask); \
    memcpy(&a, &x, sizeof a); \
    return a; \
}
PICK(float, int32_t)
PICK(double, int64_t)

#endif
