/* What the inner loops of convolutions and products are: pointers and counts go in, sums come out (`simd_tiles.h`). */

#ifndef TS_MICROKERNELS_H
#define TS_MICROKERNELS_H

#include <stddef.h>
#include <stdint.h>

/* depth times: rows of c += a[row] * b[vector]; `a` has TILE_ROWS numbers a step, `b` `vectors` vectors. */
typedef void (*TileKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add);
/* The same for a matrix where it lies: element k of row r is a[r * a_row + k * a_step].  What is written is alpha times the
   sums, and the bias, a row of `vectors` vectors or NULL, is added. */
typedef void (*PartKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add,
                           ptrdiff_t a_row, ptrdiff_t a_step, double alpha, const void *bias);
/* The same as a tile, vector v of step k being from[offset[k] + v * lanes]: nothing is packed. */
typedef void (*ReachKernel)(ptrdiff_t depth, const void *a, const void *from, const int64_t *offset, void *c,
                            ptrdiff_t pitch, int add);
/* out[tap] = sum of from[offset[tap] + i] * with[i], for `count` elements: whole vectors. */
typedef void (*SumKernel)(ptrdiff_t taps, const void *from, const int64_t *offset, const void *with, ptrdiff_t count,
                          void *out);
/* out[i] = sum of weight[tap] * from[offset[tap] + i], for `count` elements and some beyond them. */
typedef void (*TapKernel)(ptrdiff_t taps, const void *weight, const void *from, const int64_t *offset,
                          void *out, ptrdiff_t count);
/* `depth` times `vectors` vectors from from[offset[k]] one after the other. */
typedef void (*PackKernel)(ptrdiff_t depth, const void *from, const int64_t *offset, void *to, int vectors);
/* Rows of a matrix, `pitch` elements apart, for a product.  Copied: `depth` rows of `TILE_ROWS` elements, or of `count`
   vectors, one after the other.  Turned: `depth` elements of TILE_ROWS rows, or of as many rows as a vector has lanes;
   those of one column become neighbours, `count` elements from one column to the next. */
typedef void (*CopyKernel)(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count);
/* c = alpha * a @ b + bias, a row or NULL: m rows, n columns.  Element k of a's row r is a[r * a_row + k * a_step]; b has its
   columns (along; a_step is 1 then) or its rows (across; n is a vector or more) `b_next` elements apart, or is packed as
   panels of one vector of columns. */
typedef void (*RowsKernel)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *a, ptrdiff_t a_row, ptrdiff_t a_step,
                           const void *b, ptrdiff_t b_next, double alpha, const void *bias, void *c, ptrdiff_t pitch);

typedef struct {
    int lanes, rows;               /* elements of a vector, filters of a tile */
    TileKernel tile[4][3];         /* by log2 of the rows, vectors - 1 */
    PartKernel part[4][3];
    ReachKernel reach[4][3];
    TapKernel taps;
    SumKernel tap_sums;
    PackKernel pack;
    CopyKernel copy_rows, turn_rows, copy_vectors, turn_vector;
    RowsKernel along, across, packed;
} Kernels;

#endif
