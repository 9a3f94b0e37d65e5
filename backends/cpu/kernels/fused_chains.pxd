"""Arithmetic chains of fusion groups (loop fusion in registers).

Steps that add, subtract, multiply or divide float32 or float64 elements become one step, if each reads the result
of the one before and no other step reads it:

    d = x - m; y = d * s; z = y * w + b      one step with the operands x, m, s, w and b

Results have the same bits as those of separate steps.
"""

from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan
from ts.backends.cpu.kernels.row_loops cimport Arithmetic

# Return the operation of NumPy's ufunc `name` (`add`, `divide` ...), or NOT_ARITHMETIC.
cdef Arithmetic arithmetic_operation(str name) except *
# Merge steps of a group that continues after epilogues. Steps of one element per row are not merged with steps
# of whole rows, which would compute each element several times.
cdef void merge_arithmetic(FusedGroup g, FusedPlan plan) noexcept
