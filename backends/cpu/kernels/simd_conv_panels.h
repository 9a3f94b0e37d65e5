/* Microkernels of convolutions that compute panels of output positions (`conv_panels.pyx`), for one vector length.
   `simd_tiles.h` includes this file. `microkernels.h` documents the arguments. */

#define PACK_COPIES(ID, TARGET, T) \
TARGET static void pack_copies_##ID(ptrdiff_t depth, const void *from, const int64_t *offset, const VectorCopy *copies, \
                                    ptrdiff_t count, void *to, ptrdiff_t pitch) { \
    T *y = (T *)to; \
    for (; depth > 0; depth--, y += pitch) { \
        const T *x = (const T *)from + *offset++; \
        for (ptrdiff_t i = 0; i < count; i++) *(V_##ID *)(y + copies[i].lane) = *(const V_##ID *)(x + copies[i].source); \
    } \
}

/* TILES tiles of filters at COLUMNS positions. A vector has one lane for each filter of a tile. */
#define COLUMNS_OF(ID, TARGET, T, STEP, TILES, COLUMNS) \
TARGET static inline void columns_##ID##_##COLUMNS##_##TILES( \
    ptrdiff_t depth, const T *a, const T *b, T *c, ptrdiff_t pitch, ptrdiff_t filters, int add, const T *bias) { \
    W_##ID sum[TILES][COLUMNS]; \
    for (int t = 0; t < TILES; t++) for (int j = 0; j < COLUMNS; j++) { \
        sum[t][j] = (W_##ID){0}; \
        for (int r = 0; (add || bias) && r < STEP && t * STEP + r < filters; r++) \
            sum[t][j][r] = add ? c[(t * STEP + r) * pitch + j] : bias[t * STEP + r]; \
    } \
    for (ptrdiff_t k = 0; k < depth; k++) \
        _Pragma("GCC unroll 8") for (int t = 0; t < TILES; t++) { \
            W_##ID w = *(const W_##ID *)(a + (t * depth + k) * STEP); \
            _Pragma("GCC unroll 4") for (int j = 0; j < COLUMNS; j++) sum[t][j] += w * b[k * COLUMNS + j]; \
        } \
    for (int t = 0; t < TILES; t++) for (int j = 0; j < COLUMNS; j++) \
        for (int r = 0; r < STEP && t * STEP + r < filters; r++) c[(t * STEP + r) * pitch + j] = sum[t][j][r]; \
}
#define COLUMNS_LOOP(ID, STEP, TILES, COLUMNS) \
    for (; filters > (TILES - 1) * STEP; a += TILES * depth * STEP, c += TILES * STEP * pitch, \
         filters -= TILES * STEP, start = start ? start + TILES * STEP : NULL) \
        columns_##ID##_##COLUMNS##_##TILES(depth, a, b, c, pitch, filters, add, start);
#define COLUMNS_CASE(ID, STEP, TILES, COLUMNS) \
    case COLUMNS: \
        COLUMNS_LOOP(ID, STEP, TILES, COLUMNS) \
        COLUMNS_LOOP(ID, STEP, 1, COLUMNS) \
        break;
#define PANEL_COLUMNS(ID, TARGET, T, STEP) \
typedef T W_##ID __attribute__((vector_size(STEP * sizeof(T)), aligned(sizeof(T)), may_alias)); \
COLUMNS_OF(ID, TARGET, T, STEP, 8, 1) COLUMNS_OF(ID, TARGET, T, STEP, 4, 2) \
COLUMNS_OF(ID, TARGET, T, STEP, 3, 3) COLUMNS_OF(ID, TARGET, T, STEP, 2, 4) \
COLUMNS_OF(ID, TARGET, T, STEP, 1, 1) COLUMNS_OF(ID, TARGET, T, STEP, 1, 2) \
COLUMNS_OF(ID, TARGET, T, STEP, 1, 3) COLUMNS_OF(ID, TARGET, T, STEP, 1, 4) \
TARGET static void columns_##ID(ptrdiff_t depth, const void *weight, const void *panel, int columns, void *to, \
                                ptrdiff_t pitch, ptrdiff_t filters, int add, const void *bias) { \
    const T *a = (const T *)weight, *b = (const T *)panel, *start = (const T *)bias; T *c = (T *)to; \
    switch (columns) { \
        COLUMNS_CASE(ID, STEP, 8, 1) \
        COLUMNS_CASE(ID, STEP, 4, 2) \
        COLUMNS_CASE(ID, STEP, 3, 3) \
        COLUMNS_CASE(ID, STEP, 2, 4) \
    } \
}
