"""Result types of operators from argument types; see `proving.pyx`."""

from ts._core.dispatch.operator cimport Operator


# The TypeSpec of each result; TypeError where an argument does not fit the schema.
cdef tuple result_specs(Operator op, list found)
