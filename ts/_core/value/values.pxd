"""Equality, ordering and string conversion of values (`values.pyx`)."""

from cpython.ref cimport PyObject

from ts._core.value.tagged cimport IValue


# Return whether two values of one type are equal by the rules of `==` in scripts. Containers are equal if
# their elements are equal. A tensor is equal only to itself.
cdef bint values_equal(IValue *a, IValue *b) except -1
# Compare two numbers, strings, objects with `__lt__`, or tuples of them, and return -1, 0 or 1.  In this total order,
# nan is greater than all numbers.
cdef int compare_values(IValue *a, IValue *b) except? -2
# Return the string that `print`, `str()` and `"{}".format` produce for a value in a script.
cdef str value_text(IValue *x)
cdef str float_text(double x)
# Return the type of a value for messages, such as List[int] or Tensor.
cdef str type_text(IValue *x)

# Implement Python's `==` and `repr` of core containers.
cdef object core_equal(object a, object b)
cdef str core_text(object x)
