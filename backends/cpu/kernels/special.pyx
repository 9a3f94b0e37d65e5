"""Special functions (error function, inverse error function, log-gamma, digamma ...) as NumPy ufuncs.

Input: arrays of float32 or float64. Output: arrays of the same dtype. The functions have the names of
`scipy.special`:

    special.erf(x), special.gammaln(x), special.erfinv(x), special.xlogy(x, y)

Functions with a row kernel in `vector_math.h` compute float32 directly. Other functions compute float32
elements in float64. The module also replaces NumPy functions for which row kernels exist, such as exp.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, M_PI, NAN, copysign, exp, fabs, floor, isinf, isnan, log, log1p, round, sqrt, tan
from numpy cimport npy_intp

from ts.backends.cpu.kernels.kernel_registry cimport register_loops
from ts.backends.cpu.kernels.vector_math cimport double_row, doubles_by_row, float_row, floats_by_row

cdef extern from "<math.h>" nogil:
    double erfc(double)
    double lgamma(double)

cnp.import_array()
cnp.import_ufunc()

ctypedef double (*Unary)(double) noexcept nogil
ctypedef double (*Binary)(double, double) noexcept nogil


# ---------------------------------------------------------------- loops whose `data` is the function

cdef void unary_double(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Unary function = <Unary>data
    cdef npy_intp i
    for i in range(n[0]):
        (<double *>(args[1] + i * strides[1]))[0] = function((<double *>(args[0] + i * strides[0]))[0])


cdef void unary_rounded(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Unary function = <Unary>data
    cdef npy_intp i
    for i in range(n[0]):
        (<float *>(args[1] + i * strides[1]))[0] = <float>function((<float *>(args[0] + i * strides[0]))[0])


cdef void binary_double(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Binary function = <Binary>data
    cdef npy_intp i
    for i in range(n[0]):
        (<double *>(args[2] + i * strides[2]))[0] = function(
            (<double *>(args[0] + i * strides[0]))[0], (<double *>(args[1] + i * strides[1]))[0]
        )


cdef void binary_rounded(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Binary function = <Binary>data
    cdef npy_intp i
    for i in range(n[0]):
        (<float *>(args[2] + i * strides[2]))[0] = <float>function(
            (<float *>(args[0] + i * strides[0]))[0], (<float *>(args[1] + i * strides[1]))[0]
        )


# ---------------------------------------------------------------- functions

cdef double c_gammaln(double x) noexcept nogil:
    return lgamma(x)


cdef double quantile(double tail, double offset) noexcept nogil:
    """Return the normal quantile (inverse CDF) at 1/2 + `offset`, by a rational approximation.

    `tail` is 1/2 - |offset|. The caller passes it, because the subtraction would be inexact for a tiny
    `tail`.
    """
    cdef double r, numerator, denominator
    if fabs(offset) <= 0.425:
        r = 0.180625 - offset * offset
        numerator = ((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) * r
                        + 4.5921953931549871457e4) * r + 1.3731693765509461125e4) * r
                      + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
        denominator = ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) * r
                          + 2.1213794301586595867e4) * r + 5.3941960214247511077e3) * r
                        + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0
        return offset * numerator / denominator
    r = sqrt(-log(tail))
    if r <= 5.0:
        r -= 1.6
        numerator = ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r
                         + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r
                       + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
                     + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
        denominator = ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r
                           + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r
                         + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
                       + 2.05319162663775882187e0) * r + 1.0
    else:
        r -= 5.0
        numerator = ((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r
                         + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r
                       + 2.96560571828504891230e-1) * r + 1.78482653991729133580e0) * r
                     + 5.46378491116411436990e0) * r + 6.65790464350110377720e0
        denominator = ((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r
                           + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r
                         + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
                       + 5.99832206555887937690e-1) * r + 1.0
    return numerator / denominator if offset > 0 else -numerator / denominator


cdef double c_ndtri(double p) noexcept nogil:
    if not 0 < p < 1:
        return -INFINITY if p == 0 else INFINITY if p == 1 else NAN
    return quantile(p if p < 0.5 else 1 - p, p - 0.5)


cdef double c_ndtr(double x) noexcept nogil:
    return erfc(-x / sqrt(2.0)) / 2


cdef double c_psi(double x) noexcept nogil:
    """Compute the digamma function by reflection formula, upward recurrence and asymptotic expansion."""
    return psi_from(x, 12)


cdef double c_psi_rounded(double x) noexcept nogil:
    """Compute the digamma function with a relative error below 1e-11, which rounding to float32 hides."""
    return psi_from(x, 6)


cdef inline double psi_from(double x, double asymptotic) noexcept nogil:
    """Compute the digamma function. Numbers from `asymptotic` on need no recurrence.

    The reciprocals of the recurrence are added as one fraction.
    """
    cdef double result = 0, square, numerator = 0, denominator = 1
    if isnan(x) or x == -INFINITY:
        return NAN
    if x <= 0:
        if x == 0:
            return copysign(INFINITY, -x)
        if x == floor(x):
            return NAN
        result = -M_PI / tan(M_PI * (x - round(x)))
        x = 1 - x
    if x < asymptotic:
        while x < asymptotic:
            numerator = numerator * x + denominator
            denominator *= x
            x += 1
        result -= numerator / denominator
    if isinf(x):
        return x
    square = 1 / (x * x)
    return result + log(x) - 0.5 / x - square * (
        1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square * (
            1.0 / 132 - square * (691.0 / 32760 - square / 12)))))
    )


cdef enum:
    SERIES_TERMS = 26
    CHEBYSHEV_TERMS = 24

# 1 / k!**2, the coefficients of i0(x) in powers of x**2 / 4. The terms are positive, so they are added without
# cancellation.
cdef double[SERIES_TERMS] SERIES
# Chebyshev coefficients of sqrt(x) * exp(-x) * i0(x) in 16 / x - 1, for x >= 8.
cdef double *CHEBYSHEV = [
    0.4022452055070544158, 0.0033691164782556940899, 0.000068897583469168239843, 2.891370520834756483e-6,
    2.0489185894690637418e-7, 2.2666689904981780646e-8, 3.3962320257083863452e-9, 4.9406023882249695891e-10,
    1.1889147107846438342e-11, -3.1499165279632413645e-11, -1.3215811840447713119e-11, -1.7941785315068061178e-12,
    7.1801244513836662337e-13, 3.8527783827421427011e-13, 1.5400862175214098269e-14, -4.1505693472872220866e-14,
    -9.5548466988283076487e-15, 3.8116806693526224207e-15, 1.7725601330565263836e-15, -3.4254856196772191346e-16,
    -2.8276239805165834849e-16, 3.4612228676974610931e-17, 4.465621420296759999e-17, -4.8305044859441820713e-18,
]


cdef void set_series() noexcept:
    cdef int k
    SERIES[0] = 1
    for k in range(1, SERIES_TERMS):
        SERIES[k] = SERIES[k - 1] / (<double>k * k)


set_series()


cdef inline double bessel_series(double x) noexcept nogil:
    """Return i0(x) for |x| < 8."""
    cdef double q = x * x / 4, even = SERIES[SERIES_TERMS - 2], odd = SERIES[SERIES_TERMS - 1], square = q * q
    cdef int k
    for k in range(SERIES_TERMS - 4, -1, -2):
        even = even * square + SERIES[k]
        odd = odd * square + SERIES[k + 1]
    return odd * q + even


cdef inline double bessel_tail(double x) noexcept nogil:
    """Return exp(-x) * i0(x) for x >= 8 by Clenshaw's recurrence."""
    cdef double u = 32 / x - 2, last = 0, before = 0, value = 0
    cdef int k
    for k in range(CHEBYSHEV_TERMS - 1, -1, -1):
        before, last = last, value
        value = u * last - before + CHEBYSHEV[k]
    return (value - u / 2 * last) / sqrt(x)


cdef double c_i0(double x) noexcept nogil:
    """Compute the modified Bessel function of the first kind and order 0. As in PyTorch, i0(inf) is NaN."""
    x = fabs(x)
    if x < 8 or isnan(x):
        return bessel_series(x)
    return NAN if isinf(x) else exp(x) * bessel_tail(x)


cdef double c_i0e(double x) noexcept nogil:
    """Compute exp(-|x|) * i0(x)."""
    x = fabs(x)
    return bessel_tail(x) if x >= 8 else exp(-x) * bessel_series(x)


cdef double c_entr(double x) noexcept nogil:
    return x if isnan(x) else -x * log(x) if x > 0 else 0 if x == 0 else -INFINITY


cdef double c_xlogy(double x, double y) noexcept nogil:
    return 0 if x == 0 and not isnan(y) else x * log(y)


cdef double c_xlog1py(double x, double y) noexcept nogil:
    return 0 if x == 0 and not isnan(y) else x * log1p(y)


# ---------------------------------------------------------------- ufuncs
# The ufuncs refer to the tables below, so the tables must exist as long as the process.

cdef char TYPES[4]
cdef char BINARY_TYPES[6]
TYPES[:] = [cnp.NPY_FLOAT, cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_DOUBLE]
BINARY_TYPES[:] = [
    cnp.NPY_FLOAT, cnp.NPY_FLOAT, cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_DOUBLE, cnp.NPY_DOUBLE
]
cdef cnp.PyUFuncGenericFunction by_rows[2]
cdef cnp.PyUFuncGenericFunction rounded[2]
cdef cnp.PyUFuncGenericFunction two[2]
by_rows[0], by_rows[1] = <cnp.PyUFuncGenericFunction>floats_by_row, <cnp.PyUFuncGenericFunction>doubles_by_row
rounded[0], rounded[1] = <cnp.PyUFuncGenericFunction>unary_rounded, <cnp.PyUFuncGenericFunction>unary_double
two[0], two[1] = <cnp.PyUFuncGenericFunction>binary_rounded, <cnp.PyUFuncGenericFunction>binary_double

cdef enum:
    ROW_KERNEL_COUNT = 9               # The loops of the first ROW_KERNEL_COUNT functions in NAMES are row kernels.
    MAX_NAMES = 40
    MAX_LOOPS = 12

cdef char **NAMES = [
    "erf", "erfc", "erfinv", "sigmoid", "silu", "gelu", "gelu_tanh", "softplus", "log_sigmoid",
    "gammaln", "ndtri", "ndtr", "psi", "entr", "i0", "i0e", "xlogy", "xlog1py",
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
]
cdef int FIRST_NUMPY_INDEX = 18  # The functions in NAMES from this index on are NumPy's, with replaced float32 and float64 loops.
cdef int NAME_COUNT = 34
cdef Unary UNARY_FUNCTIONS[7]
cdef Binary BINARY_FUNCTIONS[2]
UNARY_FUNCTIONS[:] = [c_gammaln, c_ndtri, c_ndtr, c_psi, c_entr, c_i0, c_i0e]
BINARY_FUNCTIONS[:] = [c_xlogy, c_xlog1py]

cdef void *functions[MAX_NAMES][MAX_LOOPS]
cdef cnp.PyUFuncGenericFunction replaced_loops[MAX_NAMES][MAX_LOOPS]
cdef char replaced_types[MAX_NAMES][2 * MAX_LOOPS]


cdef object make_ufunc(int at):
    """Create the ufunc NAMES[at], with a float32 and a float64 loop."""
    cdef str name = NAMES[at].decode()
    if at < ROW_KERNEL_COUNT:
        functions[at][0], functions[at][1] = <void *>float_row(name), <void *>double_row(name)
        return cnp.PyUFunc_FromFuncAndData(by_rows, functions[at], TYPES, 2, 1, 1, -1, NAMES[at], NULL, 0)
    if at < FIRST_NUMPY_INDEX - 2:
        functions[at][0] = functions[at][1] = <void *>UNARY_FUNCTIONS[at - ROW_KERNEL_COUNT]
        if name == "psi":
            functions[at][0] = <void *>c_psi_rounded
        return cnp.PyUFunc_FromFuncAndData(rounded, functions[at], TYPES, 2, 1, 1, -1, NAMES[at], NULL, 0)
    functions[at][0] = functions[at][1] = <void *>BINARY_FUNCTIONS[at - (FIRST_NUMPY_INDEX - 2)]
    return cnp.PyUFunc_FromFuncAndData(two, functions[at], BINARY_TYPES, 2, 2, 1, -1, NAMES[at], NULL, 0)


cdef object replace_loops(int at):
    cdef str name = NAMES[at].decode()
    cdef cnp.ufunc ufunc = getattr(np, name)
    cdef int i, count = 0
    for i, signature in enumerate(getattr(np, name).types):
        if "O" in signature or count == MAX_LOOPS:
            continue
        type_number = np.dtype(signature[0]).num
        replaced_types[at][2 * count] = replaced_types[at][2 * count + 1] = type_number
        replaced_loops[at][count] = <cnp.PyUFuncGenericFunction>ufunc.functions[i]
        functions[at][count] = ufunc.data[i]
        if signature[0] == "f" and float_row(name) != NULL:
            replaced_loops[at][count] = <cnp.PyUFuncGenericFunction>floats_by_row
            functions[at][count] = <void *>float_row(name)
        elif signature[0] == "d" and double_row(name) != NULL:
            replaced_loops[at][count] = <cnp.PyUFuncGenericFunction>doubles_by_row
            functions[at][count] = <void *>double_row(name)
        count += 1
    return cnp.PyUFunc_FromFuncAndData(
        replaced_loops[at], functions[at], replaced_types[at], count, 1, 1, -1, NAMES[at], NULL, 0
    )


UFUNCS = {NAMES[at].decode(): make_ufunc(at) if at < FIRST_NUMPY_INDEX else replace_loops(at) for at in range(NAME_COUNT)}
OURS_OF_NUMPY = tuple(NAMES[at].decode() for at in range(FIRST_NUMPY_INDEX, NAME_COUNT))
for name, ufunc in UFUNCS.items():
    register_loops(f"ufunc:{name}", ufunc)
