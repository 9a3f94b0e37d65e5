"""A kernel for elements that lie in order, on tensors whose elements do not: they are copied first.

    if flat_array(&r[at[0]]) == NULL:
        return run_in_order(op, r, at)      # instead of `run_record`

It is the record's kernel that runs where nothing is to be copied, and where how the result lies would depend on how the
arguments do: the record says so (`layout`), but of arguments with gaps in an order that is kept.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_in_order(Operator op, IValue *r, const int32_t *at) except -1
