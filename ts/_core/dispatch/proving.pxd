"""Inference of result types of operators from argument types (`proving.pyx`)."""

from ts._core.dispatch.operator cimport Operator


# Return the TypeSpec of each result for arguments of the types `actual`. Raise TypeError if one of these
# types does not match the schema.
cdef tuple result_specs(Operator op, list actual)
