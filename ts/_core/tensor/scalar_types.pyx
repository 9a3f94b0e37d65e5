"""ScalarTypes: tables that convert between PyTorch's dtype numbers, NumPy's type numbers and dtypes.

Input: the rows of `ts.dtypes`. Output: the functions and the table that `scalar_types.pxd` declares.
Examples:

    scalar_type_of_number(NPY_FLOAT)      6, the ScalarType of `torch.float32`
    dtype_of_scalar_type[6]               ts.float32
"""

import numpy as np

from ts import dtypes

cdef enum:
    CODES = 48                         # number of ScalarTypes
    # upper limit of the type numbers of NumPy's built-in dtypes. Dtypes that `ml_dtypes` registers have
    # larger numbers.
    NUMBERS = 32
    LATER = -2                         # type number of a dtype of `ml_dtypes`, which is unknown before the import of this package

cdef int SCALAR_TYPE[NUMBERS]        # NumPy type number -> ScalarType
cdef int NUMBER[CODES]               # ScalarType -> NumPy type number
cdef int ml_dtype_codes[CODES]       # ScalarTypes of the dtypes of `ml_dtypes`
cdef int ml_dtype_count = 0
dtype_of_scalar_type = [None] * CODES


def enter_dtype(dtype, numpy_dtype):
    NUMBER[<int>dtype.code] = numpy_dtype.num
    if numpy_dtype.num < NUMBERS:
        SCALAR_TYPE[<int>numpy_dtype.num] = dtype.code


def _fill_tables():
    global ml_dtype_count
    cdef int i
    for i in range(NUMBERS):
        SCALAR_TYPE[i] = -1
    for i in range(CODES):
        NUMBER[i] = -1
    for d in dtypes.ALL:
        dtype_of_scalar_type[d.code] = d
        if d.is_of_ml_dtypes:
            ml_dtype_codes[ml_dtype_count] = d.code
            ml_dtype_count += 1
            NUMBER[<int>d.code] = LATER
    dtypes.for_each_dtype(enter_dtype)
    # On some platforms, NumPy gives `longlong` and int64 different type numbers, although both have the same
    # layout.
    SCALAR_TYPE[<int>np.dtype(np.longlong).num] = dtypes.int64.code
    SCALAR_TYPE[<int>np.dtype(np.ulonglong).num] = dtypes.uint64.code


_fill_tables()


cdef int scalar_type_of_number(int type_number) noexcept nogil:
    cdef int i
    if 0 <= type_number < NUMBERS:
        return SCALAR_TYPE[type_number]
    for i in range(ml_dtype_count):
        if type_number >= NUMBERS and type_number == number_of_scalar_type(ml_dtype_codes[i]):
            return ml_dtype_codes[i]
    return -1


cdef int number_of_scalar_type(int scalar_type) noexcept nogil:
    if not 0 <= scalar_type < CODES:
        return -1
    if NUMBER[scalar_type] == LATER:
        with gil:
            return dtype_of_scalar_type[scalar_type].numpy_dtype.num
    return NUMBER[scalar_type]


cdef bint is_registered_dtype(int scalar_type) noexcept nogil:
    return NUMBER[scalar_type] >= NUMBERS
