/* Types of the microkernels of convolutions and matrix products (`simd_tiles.h`). */

#ifndef TS_MICROKERNELS_H
#define TS_MICROKERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* c (+)= a @ b for the rows of a tile: row r gets the sum over `depth` steps of a[r] * b[vector]. A step
   reads TILE_ROWS numbers of `a` and `vectors` vectors of `b`. Without `add`, row r begins with bias[r], or with 0
   if `bias` is NULL. */
typedef void (*TileKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add,
                           const void *bias);
/* Like TileKernel for an unpacked `a`: element k of row r is a[r * a_row + k * a_stride]. The sums are
   multiplied by alpha. `bias`, a row of `vectors` vectors or NULL, is added to each row. Each step prefetches the
   next `ahead_stride` bytes of `ahead` to the L2 cache. */
typedef void (*PartKernel)(ptrdiff_t depth, const void *a, const void *b, void *c, ptrdiff_t pitch, int add,
                           ptrdiff_t a_row, ptrdiff_t a_stride, double alpha, const void *bias, const void *ahead,
                           ptrdiff_t ahead_stride);
/* Like TileKernel for an unpacked `b`: vector v of step k is from[offset[k] + v * lanes]. */
typedef void (*ReachKernel)(ptrdiff_t depth, const void *a, const void *from, const int64_t *offset, void *c,
                            ptrdiff_t pitch, int add, const void *bias);
/* out[tap] = sum over i of from[offset[tap] + i] * with[i] for `count` elements, where `count` is a multiple
   of the vector length. */
typedef void (*SumKernel)(ptrdiff_t taps, const void *from, const int64_t *offset, const void *with, ptrdiff_t count,
                          void *out);
/* out[i] = sum over taps of weight[tap] * from[offset[tap] + i] for `count` elements, rounded up to whole
   vectors. */
typedef void (*TapKernel)(ptrdiff_t taps, const void *weight, const void *from, const int64_t *offset,
                          void *out, ptrdiff_t count);
/* Copy `vectors` vectors from each of the `depth` addresses from[offset[k]] to consecutive memory. */
typedef void (*PackKernel)(ptrdiff_t depth, const void *from, const int64_t *offset, void *to, int vectors);
/* The copy of one vector: to[lane + i] = from[source + i] for all lanes i. */
typedef struct {
    int64_t source, lane;
} VectorCopy;
/* Pack a panel of `depth` steps that are `pitch` elements apart: step k gets `count` copies from `from` + offset[k].
   The copies run in the given order. A copy may write past the end of a step, because the next step overwrites
   it. */
typedef void (*PackCopiesKernel)(ptrdiff_t depth, const void *from, const int64_t *offset, const VectorCopy *copies,
                                 ptrdiff_t count, void *to, ptrdiff_t pitch);
/* c (+)= weight @ panel for a panel of 1 to MAX_COLUMNS columns and `filters` filters, with a bias as in TileKernel.
   The tiles of the weight are adjacent, a step of the panel has `columns` elements, and rows of c are `pitch`
   elements apart. */
enum { MAX_COLUMNS = 4 };
typedef void (*ColumnsKernel)(ptrdiff_t depth, const void *weight, const void *panel, int columns, void *c,
                              ptrdiff_t pitch, ptrdiff_t filters, int add, const void *bias);
/* Pack rows of a matrix that are `pitch` elements apart. copy_* copies `depth` rows of TILE_ROWS elements, or
   of `count` vectors, to consecutive memory. turn_* transposes `depth` elements of TILE_ROWS rows, or of one
   row per vector lane. Consecutive columns of the output are `count` elements apart. */
typedef void (*CopyKernel)(ptrdiff_t depth, const void *from, ptrdiff_t pitch, void *to, int count);
/* c = alpha * a @ b + bias (a row or NULL) with m rows and n columns. Element k of row r of a is
   a[r * a_row + k * a_stride]. In `along`, `b_next` is the distance in elements between columns of b, and
   a_stride must be 1. In `across`, it is the distance between rows of b, and n must be at least one vector. In
   `packed`, b consists of panels of one vector of columns. */
typedef void (*RowsKernel)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, const void *a, ptrdiff_t a_row, ptrdiff_t a_stride,
                           const void *b, ptrdiff_t b_next, double alpha, const void *bias, void *c, ptrdiff_t pitch);

/* A channel of a depthwise convolution: the input has `height` x `width` elements, the output `out_height` x
   `out_width`. Output (y, x) sums the taps (i, k) over input (y * row_stride + row_offsets[i], ...). A copy of the
   input has rows of `pitch` elements, with `left` zero columns at the start. If column_stride is 2, its odd columns
   start at element `half` of a row. A tap reads element x + column_offsets[k] of a row of the copy. */
typedef struct {
    ptrdiff_t height, width, pitch, half, left, row_stride, column_stride, tap_rows, tap_columns, out_height, out_width;
    const int64_t *row_offsets, *column_offsets;
} DepthwisePlane;
/* Copy a channel, whose rows are `input_pitch` elements apart, to the zero-initialized buffer `padded`. */
typedef void (*DepthwiseCopyKernel)(const DepthwisePlane *plane, const void *input, ptrdiff_t input_pitch, void *padded);
/* Write the convolution of the copy `padded` with tap_rows x tap_columns weights, plus `bias`, to `out`. */
typedef void (*DepthwiseKernel)(const DepthwisePlane *plane, const void *padded, const void *weight, double bias, void *out);

typedef struct {
    int lanes, rows;               /* number of lanes of a vector, number of rows of a tile */
    TileKernel tile[4][3];         /* indexed by log2 of the number of rows, and by the number of vectors - 1 */
    PartKernel part[4][3];
    ReachKernel reach[4][3];
    TapKernel taps;
    SumKernel tap_sums;
    PackKernel pack;
    PackCopiesKernel pack_copies;
    ColumnsKernel columns;
    DepthwiseCopyKernel depthwise_copy;
    DepthwiseKernel depthwise;
    CopyKernel copy_rows, transpose_rows, copy_vectors, transpose_vector;
    RowsKernel along, across, packed;
} Kernels;

#endif
