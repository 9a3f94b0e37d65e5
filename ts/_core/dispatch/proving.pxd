"""Inference of result types of operators from argument types (`proving.pyx`)."""

from ts._core.dispatch.operator cimport Operator


# Return the TypeSpec of each result, or raise TypeError for an argument type that does not match the schema.
cdef tuple result_specs(Operator op, list actual)
