"""Conversion between half precision and float32 (round to nearest even, F16C instructions, denormals).

NumPy's conversion is slower, and warns of overflow. `short_floats.pxd` describes the use of the functions.
"""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport FLOAT, HALF, dims_of, ndim_of
from ts._core.tensor.scalar_types cimport scalar_type_of_number
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.tensor_iterator cimport Operand, set_operand_strides, new_result, iterate_operands

cnp.import_array()

cdef enum:
    TILE = 1024                        # number of elements of a tile. The buffers of three operands fit in the L1 cache.


cdef bint is_exact_half(double x, int kind) noexcept nogil:
    cdef float wide = <float>x, back
    cdef char short_one[2]
    shorten(&wide, 1, kind == BFLOAT16, short_one, 2)
    widen(short_one, 2, 1, kind == BFLOAT16, &back)
    return back == x


cdef bint is_half_number(int type_number) noexcept:
    cdef int kind = scalar_type_of_number(type_number)
    return kind == HALF or kind == BFLOAT16


# The next functions are inner loops with one operand. `iterate_operands` calls such loops only with
# contiguous results.

cdef void float16_to_float32(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    widen(args[0], strides[0], n[0], False, <float *>args[1])

cdef void bfloat16_to_float32(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    widen(args[0], strides[0], n[0], True, <float *>args[1])

cdef void float32_to_float16(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    shorten(<const float *>args[0], n[0], False, args[1], strides[1])

cdef void float32_to_bfloat16(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    shorten(<const float *>args[0], n[0], True, args[1], strides[1])


cdef void run_half_tiles(char **args, const npy_intp *n, const npy_intp *strides, void *data) noexcept nogil:
    cdef Widened *to = <Widened *>data
    cdef float scratch[3][TILE]
    cdef char *wide[3]
    cdef npy_intp wide_strides[3]
    cdef npy_intp i = 0, count
    cdef int k, last = to.arity
    for k in range(last + 1):
        wide[k] = <char *>scratch[k]
        wide_strides[k] = sizeof(float)
    for k in range(last):
        if strides[k] == 0:              # a scalar operand is converted once
            widen(args[k], 2, 1, to.brain, scratch[k])
            wide_strides[k] = 0
    if to.returns_bools:
        wide_strides[last] = strides[last]
    while i < n[0]:
        count = min(n[0] - i, <npy_intp>TILE)
        for k in range(last):
            if strides[k] != 0:
                widen(args[k] + i * strides[k], strides[k], count, to.brain, scratch[k])
        if to.returns_bools:
            wide[last] = args[last] + i * strides[last]
        to.function(wide, &count, wide_strides, to.data)
        if not to.returns_bools:
            shorten(scratch[last], count, to.brain, args[last] + i * strides[last], strides[last])
        i += count


cdef object to_float32(PyArrayObject *a):
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[2]
    cdef int nd = ndim_of(a), d
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    set_operand_strides(&operands[0], a, nd, shape)
    result = new_result(operands, 1, nd, shape, FLOAT)
    if scalar_type_of_number(cnp.PyArray_TYPE(<cnp.ndarray>a)) == HALF:
        iterate_operands(float16_to_float32, NULL, operands, 2, nd, shape)
    else:
        iterate_operands(bfloat16_to_float32, NULL, operands, 2, nd, shape)
    return result


cdef object to_half_precision(PyArrayObject *a, int type_number):
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[2]
    cdef int nd = ndim_of(a), d, kind = scalar_type_of_number(type_number)
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    set_operand_strides(&operands[0], a, nd, shape)
    result = new_result(operands, 1, nd, shape, kind)
    iterate_operands(float32_to_float16 if kind == HALF else float32_to_bfloat16, NULL, operands, 2, nd, shape)
    return result
