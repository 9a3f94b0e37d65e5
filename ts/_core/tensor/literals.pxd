"""Python's numbers as elements."""

# Write a number in the dtype of the ScalarType `kind`; false where that has none of its category, or it does not fit.
cdef bint store_value(object value, int kind, char *out) except -1
