"""Sampling of images at grid positions, by the nearest element or bilinear interpolation.

Input: interpreter registers with contiguous floating images and grids, and with three options. Output: the
register of the result.

The options are the mode, the padding and `align_corners`. For volumes, large inputs and unsupported
arguments, the operator's Python kernel runs. Example:

    grid_sampler(images (N, C, H, W), grid (N, h, w, 2), 0, 0, False)
"""

cimport numpy as cnp
from libc.math cimport fabs, floor, fmod, rint
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.parallel_for cimport partition_count


cnp.import_array()

cdef enum:
    BILINEAR = 0
    NEAREST = 1
    ZEROS = 0
    BORDER = 1
    REFLECTION = 2
    # Maximal product of positions and channels. For larger inputs, the operator's Python kernel runs, which can use
    # several threads.
    MAX_SINGLE_THREAD_WORK = 1 << 15

ctypedef fused floating:
    float
    double


ctypedef struct Sampling:
    npy_intp height
    npy_intp width
    npy_intp positions                    # number of grid positions of one image
    npy_intp channels
    int mode
    int padding
    bint align


cdef inline floating grid_position(floating at, npy_intp size, Sampling *s) noexcept nogil:
    """Convert a coordinate in [-1, 1] to a position along a dimension of `size` elements.

    With the padding modes BORDER and REFLECTION, a position outside of the image is mapped to a position
    inside.
    """
    cdef floating low, span, distance, folds, extra, one = 1, half = 0.5, scale = (size - s.align) / 2.0
    at = (at + one) * scale
    if not s.align:
        at = at - half
    if s.padding == ZEROS:
        return at
    if s.padding == REFLECTION:
        low = 0 if s.align else -half
        span = size - s.align
        if span == 0:
            at = 0
        else:
            distance = <floating>fabs(at - low)
            folds = <floating>floor(distance / span)
            extra = distance - folds * span
            if fmod(folds, 2) != 0:
                extra = span - extra
            at = extra + low
    if not at > 0:
        return 0
    return at if at < size - 1 else size - 1


cdef inline npy_intp cell_index(floating at, npy_intp size) noexcept nogil:
    """Return the position `at` truncated to an index, or -1 if `at` is outside of the image."""
    return <npy_intp>at if 0 <= at < size else -1


cdef void sample_nearest(const floating *x, const floating *grid, Sampling *s, floating *out) noexcept nogil:
    """Sample one image: write the element that is nearest to each grid position to `out`."""
    cdef npy_intp p, c, row, column, n = s.height * s.width
    for p in range(s.positions):
        column = cell_index[floating](<floating>rint(grid_position[floating](grid[2 * p], s.width, s)), s.width)
        row = cell_index[floating](<floating>rint(grid_position[floating](grid[2 * p + 1], s.height, s)), s.height)
        for c in range(s.channels):
            out[c * s.positions + p] = x[c * n + row * s.width + column] if row >= 0 and column >= 0 else 0


cdef void sample_bilinear(const floating *x, const floating *grid, Sampling *s, floating *out) noexcept nogil:
    """Sample one image by bilinear interpolation.

    The four products are added from upper left to lower right.
    """
    cdef npy_intp cells[4]
    cdef floating weights[4]
    cdef npy_intp rows[2]
    cdef npy_intp columns[2]
    cdef floating across[2]
    cdef floating along[2]
    cdef floating x_position, y_position, left, top, total, one = 1, value
    cdef npy_intp p, c, n = s.height * s.width
    cdef int i
    cdef bint inside
    for p in range(s.positions):
        x_position = grid_position[floating](grid[2 * p], s.width, s)
        y_position = grid_position[floating](grid[2 * p + 1], s.height, s)
        left, top = <floating>floor(x_position), <floating>floor(y_position)
        along[0], along[1] = left + one - x_position, x_position - left
        across[0], across[1] = top + one - y_position, y_position - top
        columns[0], columns[1] = cell_index[floating](left, s.width), cell_index[floating](left + one, s.width)
        rows[0], rows[1] = cell_index[floating](top, s.height), cell_index[floating](top + one, s.height)
        inside = True
        for i in range(4):
            cells[i] = rows[i >> 1] * s.width + columns[i & 1]
            if rows[i >> 1] < 0 or columns[i & 1] < 0:
                cells[i] = -1
                inside = False
            weights[i] = across[i >> 1] * along[i & 1]
        if inside:
            for c in range(s.channels):
                total = x[c * n + cells[0]] * weights[0]
                total += x[c * n + cells[1]] * weights[1]
                total += x[c * n + cells[2]] * weights[2]
                out[c * s.positions + p] = total + x[c * n + cells[3]] * weights[3]
            continue
        for c in range(s.channels):
            total = 0
            for i in range(4):
                value = 0
                if cells[i] >= 0:
                    value = x[c * n + cells[i]]
                total += value * weights[i]
            out[c * s.positions + p] = total


cdef void sample(
    const floating *x, const floating *grid, npy_intp images, Sampling *s, floating *out
) noexcept nogil:
    cdef npy_intp k
    for k in range(images):
        if s.mode == BILINEAR:
            sample_bilinear[floating](x, grid, s, out)
        else:
            sample_nearest[floating](x, grid, s, out)
        x += s.channels * s.height * s.width
        grid += 2 * s.positions
        out += s.channels * s.positions


cdef int grid_sampler(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *grid = float_array(&r[at[1]])
    cdef Sampling s
    cdef npy_intp shape[4]
    cdef npy_intp work
    cdef int kind
    cdef ReleasedGil gil_state
    if x == NULL or grid == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if ndim_of(x) != 4 or ndim_of(grid) != 4 or scalar_type(&r[at[1]]) != kind:
        return UNSUPPORTED
    if dims_of(grid)[0] != dims_of(x)[0] or dims_of(grid)[3] != 2 or not dims_of(x)[2] or not dims_of(x)[3]:
        return UNSUPPORTED
    if not 0 <= r[at[2]].v.i <= NEAREST or not 0 <= r[at[3]].v.i <= REFLECTION:
        return UNSUPPORTED
    s.mode, s.padding, s.align = <int>r[at[2]].v.i, <int>r[at[3]].v.i, r[at[4]].v.i != 0
    shape[0], shape[1], shape[2], shape[3] = dims_of(x)[0], dims_of(x)[1], dims_of(grid)[1], dims_of(grid)[2]
    s.channels, s.height, s.width, s.positions = shape[1], dims_of(x)[2], dims_of(x)[3], shape[2] * shape[3]
    work = shape[0] * s.channels * s.positions
    if work > MAX_SINGLE_THREAD_WORK and partition_count(4.0 * work) > 1:
        return UNSUPPORTED
    result = new_contiguous(4, shape, kind)
    gil_state = leave_gil(work, r, at, op.nargs)
    if kind == FLOAT:
        sample[float](<float *>data_of(x), <float *>data_of(grid), shape[0], &s, <float *>data_of(<PyArrayObject *>result))
    else:
        sample[double](<double *>data_of(x), <double *>data_of(grid), shape[0], &s, <double *>data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::grid_sampler", grid_sampler, CONTIGUOUS)
register_kernel("aten::grid_sampler_2d", grid_sampler, CONTIGUOUS)
