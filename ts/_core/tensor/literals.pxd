"""Conversion of Python numbers to tensor elements (`literals.pyx`)."""

# Write a number as an element of ScalarType `kind`. Return False if the dtype has a lower category than the
# number (bool < int < float < complex) or cannot represent its value.
cdef bint store_value(object value, int kind, char *out) except -1
