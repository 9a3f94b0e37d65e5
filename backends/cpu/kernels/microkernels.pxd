"""Microkernels of `simd_tiles.h` (register tiling, in-register transpose, software prefetch)."""

from libc.stdint cimport int64_t

cdef extern from "microkernels.h":
    ctypedef void (*TileKernel)(
        Py_ssize_t, const void *, const void *, void *, Py_ssize_t, int, const void *
    ) noexcept nogil
    ctypedef void (*PartKernel)(
        Py_ssize_t, const void *, const void *, void *, Py_ssize_t, int, Py_ssize_t, Py_ssize_t, double, const void *,
        const void *, Py_ssize_t
    ) noexcept nogil
    ctypedef void (*ReachKernel)(
        Py_ssize_t, const void *, const void *, const int64_t *, void *, Py_ssize_t, int, const void *
    ) noexcept nogil
    ctypedef void (*SumKernel)(
        Py_ssize_t, const void *, const int64_t *, const void *, Py_ssize_t, void *
    ) noexcept nogil
    ctypedef void (*TapKernel)(
        Py_ssize_t, const void *, const void *, const int64_t *, void *, Py_ssize_t
    ) noexcept nogil
    ctypedef void (*PackKernel)(Py_ssize_t, const void *, const int64_t *, void *, int) noexcept nogil
    ctypedef struct VectorCopy:
        int64_t source, lane
    ctypedef void (*PackCopiesKernel)(
        Py_ssize_t, const void *, const int64_t *, const VectorCopy *, Py_ssize_t, void *, Py_ssize_t
    ) noexcept nogil
    enum:
        MAX_COLUMNS
    ctypedef void (*ColumnsKernel)(
        Py_ssize_t, const void *, const void *, int, void *, Py_ssize_t, Py_ssize_t, int, const void *
    ) noexcept nogil
    ctypedef void (*CopyKernel)(Py_ssize_t, const void *, Py_ssize_t, void *, int) noexcept nogil
    ctypedef void (*RowsKernel)(
        Py_ssize_t, Py_ssize_t, Py_ssize_t, const void *, Py_ssize_t, Py_ssize_t, const void *, Py_ssize_t, double,
        const void *, void *, Py_ssize_t
    ) noexcept nogil
    ctypedef struct DepthwisePlane:
        Py_ssize_t height, width, pitch, half, left, row_stride, column_stride, tap_rows, tap_columns, out_height, out_width
        const int64_t *row_offsets
        const int64_t *column_offsets
    ctypedef void (*DepthwiseCopyKernel)(const DepthwisePlane *, const void *, Py_ssize_t, void *) noexcept nogil
    ctypedef void (*DepthwiseKernel)(const DepthwisePlane *, const void *, const void *, double, void *) noexcept nogil
    ctypedef struct Kernels:
        int lanes
        int rows
        TileKernel tile[4][3]
        PartKernel part[4][3]
        ReachKernel reach[4][3]
        TapKernel taps
        SumKernel tap_sums
        PackKernel pack
        PackCopiesKernel pack_copies
        ColumnsKernel columns
        DepthwiseCopyKernel depthwise_copy
        DepthwiseKernel depthwise
        CopyKernel copy_rows
        CopyKernel transpose_rows
        CopyKernel copy_vectors
        CopyKernel transpose_vector
        RowsKernel along
        RowsKernel across
        RowsKernel packed

# Return the microkernels for float64 if `double_`, else for float32. The address never changes, but a call of
# `instruction_set` with another SIMD level replaces the functions in the struct.
cdef Kernels *microkernels(bint double_) noexcept nogil
