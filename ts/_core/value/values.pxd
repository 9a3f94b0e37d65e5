"""Equality, order and text of any value."""

from cpython.ref cimport PyObject

from ts._core.value.tagged cimport IValue


# Equality of two values of one type, as `==` of scripts has it: deep, by value; tensors by identity.
cdef bint values_equal(IValue *a, IValue *b) except -1
# -1, 0, 1; numbers, strings and tuples of them.  nan is above all numbers, so that sorting is total.
cdef int compare_values(IValue *a, IValue *b) except? -2
# The text that `print`, `str()` and `"{}".format` give in a script.
cdef str value_text(IValue *x)
cdef str float_text(double x)
# The type of a value, for messages: List[int], Tensor.
cdef str type_text(IValue *x)

# `==` and `repr` of a container, asked from Python.
cdef object core_equal(object a, object b)
cdef str core_text(object x)
