"""Equality, ordering and string conversion of values; see `values.pyx`."""

from cpython.ref cimport PyObject

from ts._core.value.tagged cimport IValue


# Return whether two values of one type are equal by the scripts' `==`: deep comparison; tensors by identity.
cdef bint values_equal(IValue *a, IValue *b) except -1
# Compare numbers, strings or tuples of them: -1, 0 or 1.  nan is greater than all numbers: a total order.
cdef int compare_values(IValue *a, IValue *b) except? -2
# Return the string of a value that `print`, `str()` and `"{}".format` show in a script.
cdef str value_text(IValue *x)
cdef str float_text(double x)
# Return the type of a value for messages: List[int], Tensor.
cdef str type_text(IValue *x)

# Implement `==` and `repr` of core containers for Python.
cdef object core_equal(object a, object b)
cdef str core_text(object x)
