"""Exceptions of scalar arithmetic, such as division by zero.

Input: a status code of the arithmetic functions in `scalar.pxd`. Output: an exception with PyTorch's class
and message.

Example: `raise_status(DIVISION_BY_ZERO)` raises "RuntimeError: division by 0".
"""

cdef int raise_status(int status) except -1 nogil:
    with gil:
        if status == DIVISION_BY_ZERO:
            raise RuntimeError("division by 0")
        if status == INT_DIVMOD_BY_ZERO:
            raise RuntimeError("ZeroDivisionError: integer division or modulo by zero")
        if status == FLOAT_DIVMOD_BY_ZERO:
            raise RuntimeError("ZeroDivisionError: float divmod()")
        if status == ZERO_TO_NEGATIVE_POWER:
            raise RuntimeError("0.0 cannot be raised to a negative power")
        if status == NEGATIVE_FACTORIAL:
            raise RuntimeError("factorial() not defined for negative values")
        if status == NOT_AN_INT:
            raise RuntimeError("Cannot convert float to integer")
        if status == ZERO_RANGE_STEP:
            raise RuntimeError("range() arg 3 must not be zero")
        if status == INDEX_OUT_OF_RANGE:
            raise IndexError("list index out of range")
        raise SystemError(f"scalar arithmetic failed with status {status}")


cdef int raise_not_an_int(double value) except -1 nogil:
    with gil:
        raise RuntimeError("Cannot convert float %f to integer" % value)
