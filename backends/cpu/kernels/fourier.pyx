"""Fast Fourier transforms (FFT, pocketfft) along the last dimension of contiguous CPU tensors.

Input: interpreter registers with a tensor, a length, a dimension and the name of a norm. Output: the register
of the result.

The loops are those of NumPy's generalized ufuncs. For large tensors and unsupported arguments, the operator's
Python kernel runs. The operators are:

    fft_rfft(x)      fft_irfft(x, 20)      fft_fft(x, norm="ortho")      fft_ifft(x)
"""

from importlib import import_module

cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport CDOUBLE, CFLOAT, DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, contiguous_array_or_null, new_contiguous, new_like, set_result, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.ufunc_loops cimport UfuncLoop, find_ufunc_loop

from ts.backends.cpu.namespace import namespace

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    LOOPS = 5  # one loop for each Transform, but two for REAL_TO_COMPLEX (for even and odd lengths)

cdef UfuncLoop of_floats[LOOPS]
cdef UfuncLoop of_doubles[LOOPS]
cdef bint loops_loaded = False


cdef int look_up_loops(int index, str name, str single, str double_) except -1:
    """Look up the two loops of a numpy.fft ufunc, for types `single` and `double_`.

    Missing loops stay NULL.
    """
    try:
        module = import_module("numpy.fft._pocketfft_umath")
    except ImportError:
        return 0
    find_ufunc_loop(module, name, single, &of_floats[index])
    find_ufunc_loop(module, name, double_, &of_doubles[index])
    return 0


cdef UfuncLoop *loops_for(int kind) except NULL:
    global loops_loaded
    if not loops_loaded:
        loops_loaded = True
        look_up_loops(<int>REAL_TO_COMPLEX, "rfft_n_even", "ff->F", "dd->D")
        look_up_loops(<int>COMPLEX_TO_REAL, "irfft", "Ff->f", "Dd->d")
        look_up_loops(<int>FORWARDS, "fft", "Ff->F", "Dd->D")
        look_up_loops(<int>BACKWARDS, "ifft", "Ff->F", "Dd->D")
        look_up_loops(LOOPS - 1, "rfft_n_odd", "ff->F", "dd->D")
    return &of_floats[0] if kind == FLOAT else &of_doubles[0]


cdef bint can_transform(int kind):
    cdef UfuncLoop *loops
    cdef int i
    if kind != FLOAT and kind != DOUBLE:
        return False
    loops = loops_for(kind)
    for i in range(LOOPS):
        if loops[i].function == NULL:
            return False
    return True


cdef int transform(
    Transform direction, int kind, char *x, npy_intp n, npy_intp length, char *out, npy_intp m, npy_intp rows, double factor
) except -1:
    """Compute the Fourier transforms of `rows` rows, from `n` elements each in `x` to `m` elements each in `out`.

    `length` is the number of points of each transform. The results are multiplied by `factor`.
    """
    cdef UfuncLoop *loop = &loops_for(kind)[LOOPS - 1 if direction == REAL_TO_COMPLEX and length % 2 else <int>direction]
    cdef npy_intp real = 4 if kind == FLOAT else 8
    cdef npy_intp from_stride = real if direction == REAL_TO_COMPLEX else 2 * real
    cdef npy_intp to_stride = real if direction == COMPLEX_TO_REAL else 2 * real
    cdef npy_intp[3] dims = [rows, n, m]
    cdef npy_intp[5] strides = [n * from_stride, 0, m * to_stride, from_stride, to_stride]
    cdef float single = <float>factor
    cdef char *args[3]
    args[0], args[1], args[2] = x, <char *>&single if kind == FLOAT else <char *>&factor, out
    if rows:
        loop.function(args, dims, strides, loop.data)
    return -1 if PyErr_Occurred() else 0


cdef double factor_of(str norm, npy_intp n, bint forwards):
    """Return the scale factor of the results for norm `norm`, or 0 for an invalid norm."""
    if norm == "ortho":
        return 1 / sqrt(<double>n)
    if norm == "" or norm == "backward":
        return 1 if forwards else 1.0 / n
    if norm == "forward":
        return 1.0 / n if forwards else 1
    return 0


cdef str read_string(IValue *x):
    """Read an optional string argument. Return "" for None, and None for values of other types."""
    if x.tag == TAG_NONE:
        return ""
    return <str>x.v.o if x.tag == TAG_OBJECT and type(<object>x.v.o) is str else None


cdef object converted_array(PyArrayObject *a, int kind):
    """Return a copy of the array converted to dtype `kind`."""
    result = new_like(a, kind)
    cnp.PyArray_CopyInto(<cnp.ndarray>result, <cnp.ndarray>a)
    return result


cdef object transform_rows(Transform direction, int kind, object rows, npy_intp m, str norm):
    cdef PyArrayObject *x = <PyArrayObject *>rows
    cdef npy_intp shape[MAX_DIMS]
    cdef npy_intp n = dims_of(x)[ndim_of(x) - 1], length = n if direction == REAL_TO_COMPLEX else m
    cdef int d, result = kind
    if direction == REAL_TO_COMPLEX:
        result = CFLOAT if kind == FLOAT else CDOUBLE
    if max(size_of(x), size_of(x) // n * m) > MAX_TRANSFORM_ELEMENTS or not can_transform(kind):
        function = namespace.transforms.rfft if direction == REAL_TO_COMPLEX else namespace.transforms.irfft
        return function(rows, length, -1, norm or None)
    for d in range(ndim_of(x)):
        shape[d] = dims_of(x)[d]
    shape[ndim_of(x) - 1] = m
    output = new_contiguous(ndim_of(x), shape, result)
    transform(
        direction, kind, data_of(x), n, length, data_of(<PyArrayObject *>output), m, size_of(x) // n,
        factor_of(norm, length, direction == REAL_TO_COMPLEX),
    )
    return output


cdef int run_transform(Operator op, IValue *r, const int32_t *at, Transform direction) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp shape[MAX_DIMS]
    cdef npy_intp n, length, m, rows
    cdef int kind, nd, d, real, result
    cdef bint is_complex
    cdef str norm = read_string(&r[at[3]])
    cdef double factor
    if a == NULL or norm is None:
        return UNSUPPORTED
    kind, nd = scalar_type(&r[at[0]]), ndim_of(a)
    is_complex = kind == CFLOAT or kind == CDOUBLE
    real = FLOAT if kind == FLOAT or kind == CFLOAT else DOUBLE
    if not is_complex and kind != FLOAT and kind != DOUBLE:
        return UNSUPPORTED
    if nd == 0 or (r[at[2]].v.i != -1 and r[at[2]].v.i != nd - 1) or (is_complex and direction == REAL_TO_COMPLEX):
        return UNSUPPORTED
    n = dims_of(a)[nd - 1]
    length = 2 * (n - 1) if direction == COMPLEX_TO_REAL else n
    if r[at[1]].tag == TAG_INT:
        length = r[at[1]].v.i
    if n == 0 or not 1 <= length <= MAX_TRANSFORM_ELEMENTS or size_of(a) == 0 or size_of(a) > MAX_TRANSFORM_ELEMENTS:
        return UNSUPPORTED
    rows = size_of(a) // n
    factor = factor_of(norm, length, direction == REAL_TO_COMPLEX or direction == FORWARDS)
    if rows * length > MAX_TRANSFORM_ELEMENTS or factor == 0 or not can_transform(real):
        return UNSUPPORTED
    source = <object>a
    if direction != REAL_TO_COMPLEX and not is_complex:
        source = converted_array(a, CFLOAT if real == FLOAT else CDOUBLE)
    m = length // 2 + 1 if direction == REAL_TO_COMPLEX else length
    for d in range(nd - 1):
        shape[d] = dims_of(a)[d]
    shape[nd - 1] = m
    result = real if direction == COMPLEX_TO_REAL else CFLOAT if real == FLOAT else CDOUBLE
    output = new_contiguous(nd, shape, result)
    transform(
        direction, real, data_of(<PyArrayObject *>source), n, length, data_of(<PyArrayObject *>output), m, rows, factor
    )
    return set_result(&r[at[op.nargs]], output, result)


cdef int rfft(Operator op, IValue *r, const int32_t *at) except -1:
    return run_transform(op, r, at, REAL_TO_COMPLEX)

cdef int irfft(Operator op, IValue *r, const int32_t *at) except -1:
    return run_transform(op, r, at, COMPLEX_TO_REAL)

cdef int fft(Operator op, IValue *r, const int32_t *at) except -1:
    return run_transform(op, r, at, FORWARDS)

cdef int ifft(Operator op, IValue *r, const int32_t *at) except -1:
    return run_transform(op, r, at, BACKWARDS)


register_kernel("aten::fft_rfft", rfft, CONTIGUOUS)
register_kernel("aten::fft_irfft", irfft, CONTIGUOUS)
register_kernel("aten::fft_fft", fft, CONTIGUOUS)
register_kernel("aten::fft_ifft", ifft, CONTIGUOUS)
