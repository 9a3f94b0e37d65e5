"""Conversion of Python numbers to tensor elements; see `literals.pyx`."""

# Write a number as an element of ScalarType `kind`; return False if its category or its value does not fit the dtype.
cdef bint store_value(object value, int kind, char *out) except -1
