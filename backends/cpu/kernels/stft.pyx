"""Short-time Fourier transform and its inverse by overlap-add for CPU tensors: stft, istft.

Input: interpreter registers with contiguous signals or spectra, the length of a transform, a hop length and a
window. Output: the register of the result, in memory order (batch, frames, frequencies).

The kernels support real signals and windows, one-sided complex spectra, and the padding mode "reflect". For
other arguments and large tensors, the operator's Python kernel runs. Example:

    stft(signal, 8, return_complex=True)
"""

cimport numpy as cnp
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport CDOUBLE, CFLOAT, DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.fourier cimport COMPLEX_TO_REAL, REAL_TO_COMPLEX, transform_rows
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, is_tensor, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cnp.import_array()

# Larger results are left to the operator's Python kernel, which checks the memory limit.
cdef int64_t MAX_FRAME_ELEMENTS = <int64_t>1 << 28
cdef double MIN_WINDOW_WEIGHT = 1e-11               # minimal sum of squared window weights for each sample, by which istft divides the sample

ctypedef fused floating:
    float
    double


ctypedef struct Frames:
    npy_intp batch
    npy_intp count                     # number of frames of a signal
    npy_intp samples                   # number of samples of a signal before padding
    npy_intp pad                       # number of reflected samples on each side
    npy_intp n                         # length of a frame and of its transform
    npy_intp hop
    npy_intp left                      # offset of the window, which may be shorter than a frame, in the frame
    npy_intp width                     # length of the window


cdef bint is_none_or(IValue *x, int64_t value) noexcept:
    """Return whether an optional bool argument is None or `value`."""
    return x.tag == TAG_NONE or x.v.i == value


cdef int64_t int_or(IValue *x, int64_t otherwise) noexcept:
    return x.v.i if x.tag == TAG_INT else otherwise


cdef bint is_reflect_mode(IValue *x):
    return x.tag == TAG_OBJECT and type(<object>x.v.o) is str and <str>x.v.o == "reflect"


cdef PyArrayObject *read_window(IValue *x, int kind, npy_intp width) noexcept:
    """Return the array of a contiguous window of `width` elements with dtype `kind`, else NULL."""
    cdef PyArrayObject *a = contiguous_array_or_null(x)
    if a == NULL or scalar_type(x) != kind or ndim_of(a) != 1 or dims_of(a)[0] != width:
        return NULL
    return a


# ---------------------------------------------------------------- stft

cdef void frame_signal(const floating *x, const floating *window, Frames *f, floating *out) noexcept nogil:
    """Write the windowed frames of one signal to `out`. A NULL `window` stands for ones."""
    cdef npy_intp k, i, at, first
    cdef const floating *source
    for k in range(f.count):
        first = k * f.hop - f.pad
        for i in range(f.left):
            out[i] = 0
        for i in range(f.left + f.width, f.n):
            out[i] = 0
        if first >= 0 and first + f.n <= f.samples:
            source = x + first + f.left
            if window != NULL:
                for i in range(f.width):
                    out[f.left + i] = source[i] * window[i]
            else:
                for i in range(f.width):
                    out[f.left + i] = source[i]
        else:
            for i in range(f.width):
                at = first + f.left + i
                if at < 0:
                    at = -at
                if at >= f.samples:
                    at = 2 * (f.samples - 1) - at
                out[f.left + i] = x[at] * window[i] if window != NULL else x[at]
        out += f.n


cdef int run_stft(
    Operator op, IValue *r, const int32_t *at, bint center, IValue *normalized, IValue *onesided, IValue *complex_, IValue *aligned
) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *window = NULL
    cdef Frames f
    cdef npy_intp shape[3]
    cdef npy_intp rows, padded, b
    cdef int kind, result
    cdef void *weights = NULL
    cdef ReleasedGil gil_state
    if x == NULL:
        return UNSUPPORTED
    kind, result = scalar_type(&r[at[0]]), CFLOAT if scalar_type(&r[at[0]]) == FLOAT else CDOUBLE
    if not 1 <= ndim_of(x) <= 2 or not is_none_or(onesided, 1) or complex_.tag != TAG_BOOL or not complex_.v.i:
        return UNSUPPORTED
    f.n = r[at[1]].v.i
    f.hop = int_or(&r[at[2]], f.n // 4)
    f.width = int_or(&r[at[3]], f.n)
    f.samples = dims_of(x)[ndim_of(x) - 1]
    f.batch = dims_of(x)[0] if ndim_of(x) == 2 else 1
    if not is_none_or(aligned, 0) or (center and aligned.tag != TAG_NONE) or f.hop <= 0 or not 0 < f.width <= f.n:
        return UNSUPPORTED
    f.pad = f.n // 2 if center else 0
    padded = f.samples + 2 * f.pad
    if (center and f.pad >= f.samples) or f.n > padded or size_of(x) == 0:
        return UNSUPPORTED
    f.left = (f.n - f.width) // 2
    f.count = 1 + (padded - f.n) // f.hop
    rows = f.batch * f.count
    if rows > MAX_FRAME_ELEMENTS // f.n:
        return UNSUPPORTED
    if r[at[4]].tag != TAG_NONE:
        window = read_window(&r[at[4]], kind, f.width)
        if window == NULL:
            return UNSUPPORTED
        weights = data_of(window)
    shape[0], shape[1], shape[2] = f.batch, f.count, f.n
    frames = new_contiguous(3, shape, kind)
    gil_state = leave_gil(rows * f.n, r, at, op.nargs)
    for b in range(f.batch):
        if kind == FLOAT:
            frame_signal[float](
                <float *>data_of(x) + b * f.samples, <float *>weights, &f,
                <float *>data_of(<PyArrayObject *>frames) + b * f.count * f.n,
            )
        else:
            frame_signal[double](
                <double *>data_of(x) + b * f.samples, <double *>weights, &f,
                <double *>data_of(<PyArrayObject *>frames) + b * f.count * f.n,
            )
    take_gil(gil_state)
    output = transform_rows(REAL_TO_COMPLEX, kind, frames, f.n // 2 + 1, "ortho" if normalized.v.i else "")
    spectrum = cnp.PyArray_SwapAxes(<cnp.ndarray>output, 1, 2)
    return set_result(&r[at[op.nargs]], spectrum if ndim_of(x) == 2 else spectrum[0], result)


cdef int stft(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stft(op, r, at, False, &r[at[5]], &r[at[6]], &r[at[7]], &r[at[8]])


cdef int stft_center(Operator op, IValue *r, const int32_t *at) except -1:
    if r[at[5]].v.i and not is_reflect_mode(&r[at[6]]):
        return UNSUPPORTED
    return run_stft(op, r, at, r[at[5]].v.i != 0, &r[at[7]], &r[at[8]], &r[at[9]], &r[at[10]])


# ---------------------------------------------------------------- istft

cdef void overlap_add(
    const floating *frames, const floating *window, Frames *f, floating *signal, floating *weight
) noexcept nogil:
    """Add each frame, multiplied by the window, to the samples of `signal` at the frame's position (overlap-add).

    If `weight` is not NULL, the squared window is added to `weight` at the same positions.
    """
    cdef npy_intp k, i
    cdef floating w = 1
    for k in range(f.count):
        for i in range(f.width):
            if window != NULL:
                w = window[i]
            signal[k * f.hop + f.left + i] += frames[f.left + i] * w
            if weight != NULL:
                weight[k * f.hop + f.left + i] += w * w
        frames += f.n


cdef bint divide(
    const floating *signal, const floating *weight, npy_intp first, npy_intp last, npy_intp length, floating *out
) noexcept nogil:
    """Write the samples [first, last), divided by their weights, to `out`, followed by zeros up to `length`.

    Return False if the weight of one of these samples is too small.
    """
    cdef npy_intp i
    for i in range(first, last):
        if not fabs(weight[i]) >= MIN_WINDOW_WEIGHT:
            return False
    for i in range(first, last):
        out[i - first] = signal[i] / weight[i]
    for i in range(last - first, length):
        out[i] = 0
    return True


cdef bint reconstruct(
    const floating *frames, const floating *window, Frames *f, npy_intp first, npy_intp last, npy_intp length,
    floating *scratch, floating *out,
) noexcept nogil:
    """Reconstruct the signals of a batch. Return False if a window weight is too small.

    `scratch` is a buffer for two signals, filled with zeros.
    """
    cdef npy_intp total = (f.count - 1) * f.hop + f.n, b, i
    for b in range(f.batch):
        for i in range(total):
            scratch[i] = 0
        overlap_add[floating](frames + b * f.count * f.n, window, f, scratch, scratch + total if b == 0 else NULL)
        if not divide[floating](scratch, scratch + total, first, last, length, out + b * length):
            return False
    return True


cdef int istft(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a
    cdef PyArrayObject *window = NULL
    cdef Frames f
    cdef npy_intp shape[3]
    cdef npy_intp rows, first, last, length, total
    cdef int kind, spectrum_kind
    cdef void *weights = NULL
    cdef void *scratch
    cdef bint is_valid
    cdef ReleasedGil gil_state
    if not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU:
        return UNSUPPORTED
    a = <PyArrayObject *>(<Tensor>r[at[0]].v.o).array
    spectrum_kind = scalar_type(&r[at[0]])
    if (spectrum_kind != CFLOAT and spectrum_kind != CDOUBLE) or not 2 <= ndim_of(a) <= 3 or size_of(a) == 0 or r[at[9]].v.i:
        return UNSUPPORTED
    kind = FLOAT if spectrum_kind == CFLOAT else DOUBLE
    f.n = r[at[1]].v.i
    f.hop = int_or(&r[at[2]], f.n // 4)
    f.width = int_or(&r[at[3]], f.n)
    f.batch = dims_of(a)[0] if ndim_of(a) == 3 else 1
    rows, f.count = dims_of(a)[ndim_of(a) - 2], dims_of(a)[ndim_of(a) - 1]
    if not is_none_or(&r[at[7]], 1) or rows != f.n // 2 + 1 or not 0 < f.hop <= f.width <= f.n or rows == f.n:
        return UNSUPPORTED
    if f.batch * f.count > MAX_FRAME_ELEMENTS // f.n:
        return UNSUPPORTED
    f.left = (f.n - f.width) // 2
    if r[at[4]].tag != TAG_NONE:
        window = read_window(&r[at[4]], kind, f.width)
        if window == NULL:
            return UNSUPPORTED
        weights = data_of(window)
    total = (f.count - 1) * f.hop + f.n
    first = f.n // 2 if r[at[5]].v.i else 0
    last = total - first
    length = last - first
    if r[at[8]].tag == TAG_INT:
        length = max(r[at[8]].v.i, <int64_t>0)
        last = min(total, first + length)
    if last <= first or length > MAX_FRAME_ELEMENTS:
        return UNSUPPORTED
    transposed = cnp.PyArray_SwapAxes(<cnp.ndarray>a, ndim_of(a) - 2, ndim_of(a) - 1)
    by_frames = contiguous_copy(<PyArrayObject *>transposed)
    frames = transform_rows(COMPLEX_TO_REAL, kind, by_frames, f.n, "ortho" if r[at[6]].v.i else "")
    shape[0], shape[1] = f.batch, length
    result = new_contiguous(2, shape, kind) if ndim_of(a) == 3 else new_contiguous(1, &shape[1], kind)
    scratch = calloc(2 * total, 8)
    if scratch == NULL:
        raise MemoryError()
    gil_state = leave_gil(f.batch * f.count * f.n, r, at, op.nargs)
    if kind == FLOAT:
        is_valid = reconstruct[float](
            <float *>data_of(<PyArrayObject *>frames), <float *>weights, &f, first, last, length, <float *>scratch,
            <float *>data_of(<PyArrayObject *>result),
        )
    else:
        is_valid = reconstruct[double](
            <double *>data_of(<PyArrayObject *>frames), <double *>weights, &f, first, last, length, <double *>scratch,
            <double *>data_of(<PyArrayObject *>result),
        )
    take_gil(gil_state)
    free(scratch)
    if not is_valid:
        return UNSUPPORTED
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::stft", stft, CONTIGUOUS)
register_kernel("aten::stft.center", stft_center, CONTIGUOUS)
register_kernel("aten::istft", istft)
