/* Depthwise convolution of one channel by rows of the output, included by `simd_tiles.h`. `microkernels.h`
   documents the arguments.

   The input is first copied to rows with zero columns around them. With column stride 2, even and odd columns
   are separated, so that each tap reads adjacent elements. Rows outside of the input are skipped. */

/* The functions are inlined for constant `columns` 3 and 5, so that the loops over columns are unrolled, and
   `offsets` of the columns stay in registers. */
#define DEPTHWISE_BLOCK(ID, TARGET, T, VECTORS) \
TARGET static inline __attribute__((always_inline)) void depthwise_block_##ID##_##VECTORS( \
    const DepthwisePlane *p, const ptrdiff_t columns, const int64_t *offsets, const T *padded, const T *weight, T bias, \
    ptrdiff_t y, ptrdiff_t x, T *out, const T *end) { \
    /* With one vector, two sums halve the latency of the dependent additions. */ \
    V_##ID sum[VECTORS] = {{0}}, odd[VECTORS] = {{0}}; \
    for (ptrdiff_t i = 0; i < p->tap_rows; i++) { \
        ptrdiff_t row = y * p->row_stride + p->row_offsets[i]; \
        if (row < 0 || row >= p->height) continue; \
        const T *line = padded + row * p->pitch + x, *factors = weight + i * columns; \
        for (ptrdiff_t k = 0; k < columns; k++) \
            for (int v = 0; v < VECTORS; v++) \
                *(VECTORS == 1 && k % 2 ? &odd[v] : &sum[v]) += *(const V_##ID *)(line + offsets[k] + v * L_##ID) * factors[k]; \
    } \
    out += y * p->out_width + x; \
    for (int v = 0; v < VECTORS; v++, out += L_##ID) { \
        sum[v] += odd[v] + bias; \
        if (out + L_##ID <= end) {  /* elements after the row are overwritten with the next row */ \
            *(V_##ID *)out = sum[v]; \
        } else if (out < end) { \
            memcpy(out, &sum[v], (size_t)(end - out) * sizeof(T)); \
        } \
    } \
}

#define DEPTHWISE(ID, TARGET, T) \
TARGET static void depthwise_copy_##ID(const DepthwisePlane *p, const void *input, ptrdiff_t input_pitch, void *padded) { \
    P_##ID even, odd; \
    for (int i = 0; i < L_##ID; i++) { even[i] = 2 * i; odd[i] = 2 * i + 1; } \
    for (ptrdiff_t y = 0; y < p->height; y++) { \
        const T *x = (const T *)input + y * input_pitch; \
        T *row = (T *)padded + y * p->pitch; \
        ptrdiff_t i = 0, j = 0; \
        if (p->column_stride == 1) { \
            row += p->left; \
            for (; i + L_##ID <= p->width; i += L_##ID) *(V_##ID *)(row + i) = *(const V_##ID *)(x + i); \
            for (; i + 4 <= p->width; i += 4) memcpy(row + i, x + i, 4 * sizeof(T)); \
            for (; i < p->width; i++) row[i] = x[i]; \
            continue; \
        } \
        /* column c of the padded row is element c / 2 of the even or the odd columns */ \
        T *first = row + p->left / 2 + (p->left % 2 ? p->half : 0); \
        T *second = p->left % 2 ? row + (p->left + 1) / 2 : row + p->half + p->left / 2; \
        for (; CAN_SHUFFLE && i + 2 * L_##ID <= p->width; i += 2 * L_##ID, j += L_##ID) { \
            V_##ID a = *(const V_##ID *)(x + i), b = *(const V_##ID *)(x + i + L_##ID); \
            *(V_##ID *)(first + j) = SHUFFLE(a, b, even); \
            *(V_##ID *)(second + j) = SHUFFLE(a, b, odd); \
        } \
        for (; i + 1 < p->width; i += 2, j++) { first[j] = x[i]; second[j] = x[i + 1]; } \
        if (i < p->width) first[j] = x[i]; \
    } \
} \
TARGET static inline __attribute__((always_inline)) void depthwise_rows_##ID( \
    const DepthwisePlane *p, const ptrdiff_t columns, const int64_t *offsets, const T *padded, const T *weight, T bias, T *out) { \
    const T *end = out + p->out_height * p->out_width; \
    for (ptrdiff_t y = 0; y < p->out_height; y++) { \
        ptrdiff_t x = 0; \
        for (; x + 3 * L_##ID < p->out_width; x += 4 * L_##ID) \
            depthwise_block_##ID##_4(p, columns, offsets, padded, weight, bias, y, x, out, end); \
        for (; x + L_##ID < p->out_width; x += 2 * L_##ID) \
            depthwise_block_##ID##_2(p, columns, offsets, padded, weight, bias, y, x, out, end); \
        if (x < p->out_width) \
            depthwise_block_##ID##_1(p, columns, offsets, padded, weight, bias, y, x, out, end); \
    } \
} \
TARGET static void depthwise_##ID(const DepthwisePlane *plane, const void *pp, const void *pw, double bias, void *to) { \
    const T *padded = (const T *)pp, *weight = (const T *)pw; \
    const DepthwisePlane p = *plane; \
    int64_t o[5]; \
    for (int k = 0; k < 5 && k < p.tap_columns; k++) o[k] = p.column_offsets[k]; \
    if (p.tap_columns == 3) depthwise_rows_##ID(&p, 3, o, padded, weight, (T)bias, (T *)to); \
    else if (p.tap_columns == 5) depthwise_rows_##ID(&p, 5, o, padded, weight, (T)bias, (T *)to); \
    else depthwise_rows_##ID(&p, p.tap_columns, p.column_offsets, padded, weight, (T)bias, (T *)to); \
}
