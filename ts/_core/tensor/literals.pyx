"""Fast construction of tensors from Python numbers and small nested lists of numbers.

Input: a number or a list, and a ScalarType, or -1 to infer it. Output: a tensor. For other data, the output
is None, and `factories.tensor` constructs the tensor or raises an error. Example:

    from_scalars([[1, 2], [3, 4.5]], -1)     float32: the default dtype if a number is a float
"""

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, INT64, PyArrayObject, data_of, new_array
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport wrap_cpu

from ts import dtypes

cnp.import_array()

cdef extern from "Python.h":
    long long as_long_long "PyLong_AsLongLongAndOverflow"(object, int *overflow) except? -1

cdef enum:
    MAX_DEPTH = 8
    MAX_NUMBERS = 1 << 12  # maximal count of numbers. For more, `factories.tensor` checks the deadline during the conversion.


cdef bint store_value(object value, int kind, char *out) except -1:
    """Write a Python number to `out` as an element of ScalarType `kind`.

    Return False if the dtype has a lower category than the number or cannot represent the number.
    """
    cdef double real
    cdef int64_t integer = 0
    cdef int overflow = 0
    if type(value) is float:
        real = value
        if kind != FLOAT and kind != DOUBLE:
            return False
    elif type(value) is int or type(value) is bool:
        integer = as_long_long(value, &overflow)
        real = <double>integer
        if overflow or (kind == BOOL and type(value) is int):
            return False
    else:
        return False
    if kind == FLOAT:
        if isfinite(real) and fabs(real) > FLT_MAX:
            return False
        (<float *>out)[0] = <float>real
    elif kind == DOUBLE:
        (<double *>out)[0] = real
    elif kind == INT64:
        (<int64_t *>out)[0] = integer
    elif kind == BOOL:
        (<uint8_t *>out)[0] = integer != 0
    else:
        return False
    return True


cdef inline bint is_row(object data):
    return type(data) is list or type(data) is tuple


cdef int category(object data, int depth, int nd, const npy_intp *dims) except -1:
    """Return the highest category of the numbers in nested lists, in the order BOOL, INT64, FLOAT.

    Return 0 if the lists are ragged or contain other values.
    """
    cdef int result = 0, one
    if depth == nd:
        if type(data) is float:
            return FLOAT
        return INT64 if type(data) is int else (BOOL if type(data) is bool else 0)
    if not is_row(data) or len(data) != dims[depth]:
        return 0
    for item in data:
        one = category(item, depth + 1, nd, dims)
        if one == 0:
            return 0
        if one == FLOAT or (one == INT64 and result != FLOAT) or result == 0:
            result = one
    return result


cdef char *fill(object data, int depth, int nd, int kind, npy_intp width, char *out, char *end) except? NULL:
    """Write the numbers in nested lists to `out`, in row-major order. Return the address after the last one.

    Return NULL if a number does not fit the dtype, or another thread has changed the shape of the lists.
    """
    if depth == nd:
        return out + width if out < end and store_value(data, kind, out) else NULL
    if not is_row(data):
        return NULL
    for item in data:
        out = fill(item, depth + 1, nd, kind, width, out, end)
        if out == NULL:
            return NULL
    return out


def from_scalars(data, int scalar_type):
    """Return a tensor made from a number or nested lists of numbers, or None if they are unsupported.

    `scalar_type` is a ScalarType, or -1 to infer the dtype.
    """
    cdef npy_intp dims[MAX_DEPTH]
    cdef npy_intp count = 1, width
    cdef int nd = 0, kind
    cdef char *start
    first = data
    while is_row(first):
        if nd == MAX_DEPTH or len(first) == 0:
            return None
        dims[nd] = len(first)
        count *= dims[nd]
        if count > MAX_NUMBERS:
            return None
        nd += 1
        first = first[0]
    kind = category(data, 0, nd, dims)
    if kind == 0:
        return None
    if scalar_type >= 0:
        kind = scalar_type
    elif kind == FLOAT:
        kind = dtypes.get_default_dtype().code
    if kind != FLOAT and kind != DOUBLE and kind != INT64 and kind != BOOL:
        return None
    array = new_array(nd, dims, number_of_scalar_type(kind))
    start = data_of(<PyArrayObject *>array)
    width = cnp.PyArray_ITEMSIZE(<cnp.ndarray>array)
    if fill(data, 0, nd, kind, width, start, start + count * width) != start + count * width:
        return None
    return wrap_cpu(array, kind)
