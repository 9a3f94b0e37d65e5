"""Conversion of Python numbers to tensor elements (`literals.pyx`)."""

# Write the number `value` to `out` as an element of ScalarType `kind`. Return False if the dtype cannot
# represent the number, or if the dtype has a lower category than the number (bool < int < float < complex).
cdef bint store_value(object value, int kind, char *out) except -1
