"""linspace for new floating CPU tensors.

Input: interpreter registers with both ends, the number of elements, and a dtype. Output: the register of the
tensor.

Elements are computed in double, from both ends towards the middle, so both ends are exact. For other
arguments, the operator's Python kernel runs. Example:

    linspace(0, 1, 5)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.create cimport is_plain_cpu, read_dtype
from ts.backends.cpu.kernels.kernel cimport new_contiguous, set_result, read_number
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

cnp.import_array()

# Larger results are left to the operator's Python kernel, which checks the memory limit.
cdef int64_t MAX_ELEMENTS = 1 << 24

ctypedef fused floating:
    float
    double


cdef void fill_line(floating *out, npy_intp n, double start, double end) noexcept:
    cdef double step = (end - start) / (n - 1) if n > 1 else 0
    cdef npy_intp i
    for i in range(n // 2):
        out[i] = <floating>(start + step * i)
    for i in range(n // 2, n):
        out[i] = <floating>(end - step * (n - 1 - i))


cdef int linspace(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double start, end, exact = 9007199254740992.0
    cdef npy_intp n = r[at[2]].v.i
    cdef int kind = read_dtype(&r[at[3]], -1)
    if (kind != FLOAT and kind != DOUBLE) or not 0 <= n <= MAX_ELEMENTS or not is_plain_cpu(&r[at[4]], &r[at[5]], &r[at[6]]):
        return UNSUPPORTED
    if not read_number(&r[at[0]], kind, &start) or not read_number(&r[at[1]], kind, &end):
        return UNSUPPORTED
    if not (-exact <= start <= exact and -exact <= end <= exact):
        return UNSUPPORTED
    result = new_contiguous(1, &n, kind)
    if kind == FLOAT:
        fill_line(<float *>data_of(<PyArrayObject *>result), n, start, start if n == 1 else end)
    else:
        fill_line(<double *>data_of(<PyArrayObject *>result), n, start, start if n == 1 else end)
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::linspace", linspace)
