"""What an operator gives, by the types of what it is given; see `proving.pyx`."""

from ts._core.dispatch.operator cimport Operator


# The TypeSpec of each result; TypeError where an argument does not fit the schema.
cdef tuple result_specs(Operator op, list found)
