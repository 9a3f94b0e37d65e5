"""Conversion between ScalarTypes, NumPy's type numbers and dtypes (`scalar_types.pyx`)."""

# ScalarType -> dtype
cdef list dtype_of_scalar_type

# Convert a NumPy type number to a ScalarType, and the reverse. Return -1 if no such type exists.
cdef int scalar_type_of_number(int type_number) noexcept nogil
cdef int number_of_scalar_type(int scalar_type) noexcept nogil
# Return whether a package has registered the dtype with NumPy (`ml_dtypes`), so that `item` of an array does not
# return a Python number.
cdef bint is_registered_dtype(int scalar_type) noexcept nogil
