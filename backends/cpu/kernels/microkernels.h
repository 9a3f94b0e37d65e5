/* Types of the microkernels of convolutions and matrix products (`simd_tiles.h`). */

#ifndef TS_MICROKERNELS_H
#define TS_MICROKERNELS_H

#include <stddef.h>
#include <stdint.h>

/* rows of c (+)= sum over `depth` steps of a[row] * b[vector]; per step, `a` has TILE_ROWS numbers, `b`
   `vectors` vectors. */
typedef void (*TileKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add);
/* Like TileKernel for an unpacked `a`: element k of row r is a[r * a_row + k * a_step]. The sums are
   multiplied by alpha, and `bias`, a row of `vectors` vectors or NULL, is added. */
typedef void (*PartKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add,
                           ptrdiff_t a_row, ptrdiff_t a_step, double alpha, const void *bias);
/* Like TileKernel for an unpacked `b`: vector v of step k is from[offset[k] + v * lanes]. */
typedef void (*ReachKernel)(ptrdiff_t depth, const void *a, const void *from, const int64_t *offset, void *c,
                            ptrdiff_t pitch, int add);
/* out[tap] = sum of from[offset[tap] + i] * with[i] over `count` elements; `count` is a multiple of the
   vector length. */
typedef void (*SumKernel)(ptrdiff_t taps, const void *from, const int64_t *offset, const void *with, ptrdiff_t count,
                          void *out);
/* out[i] = sum of weight[tap] * from[offset[tap] + i] for `count` elements, rounded up to whole vectors. */
typedef void (*TapKernel)(ptrdiff_t taps, const void *weight, const void *from, const int64_t *offset,
                          void *out, ptrdiff_t count);
/* Copy `depth` times `vectors` vectors from from[offset[k]] to consecutive memory. */
typedef void (*PackKernel)(ptrdiff_t depth, const void *from, const int64_t *offset, void *to, int vectors);
/* Pack rows of a matrix, `pitch` elements apart. copy_*: `depth` rows of TILE_ROWS elements, or of `count`
   vectors, to consecutive memory. turn_*: transpose `depth` elements of TILE_ROWS rows, or of as many rows as
   a vector has lanes, with `count` elements between columns in the output. */
typedef void (*CopyKernel)(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count);
/* c = alpha * a @ b + bias (a row or NULL) with m rows and n columns. Element k of a's row r is a[r * a_row +
   k * a_step]. `b_next` is the distance in elements between columns of b (along; a_step is 1 then) or between
   its rows (across; n is at least a vector); in `packed`, b consists of panels of one vector of columns. */
typedef void (*RowsKernel)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *a, ptrdiff_t a_row, ptrdiff_t a_step,
                           const void *b, ptrdiff_t b_next, double alpha, const void *bias, void *c, ptrdiff_t pitch);

typedef struct {
    int lanes, rows;               /* elements of a vector, rows of a tile */
    TileKernel tile[4][3];         /* by log2 of the rows, and number of vectors - 1 */
    PartKernel part[4][3];
    ReachKernel reach[4][3];
    TapKernel taps;
    SumKernel tap_sums;
    PackKernel pack;
    CopyKernel copy_rows, turn_rows, copy_vectors, turn_vector;
    RowsKernel along, across, packed;
} Kernels;

#endif
