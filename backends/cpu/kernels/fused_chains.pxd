"""Arithmetic chains of fusion groups (loop fusion in registers).

Steps that add, subtract, multiply, divide or square float32 or float64 elements become one step, if each reads the
result of the one before and no other step reads it. The last of them may be an exponential:

    d = x - m; y = d * s; z = y * w + b      one step with the operands x, m, s, w and b
    e = exp(x - m)                           one step with the operands x and m

A step with one operand of whole rows is repeated in each step that reads its result, which saves the pass that
writes the result:

    d = x - m; v = d * d; y = d * s          two steps: v with the operands x and m, y with the operands x, m and s

Results have the same bits as those of separate steps.
"""

from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan
from ts.backends.cpu.kernels.row_loops cimport Arithmetic

# Return the operation of NumPy's ufunc `name` (`add`, `divide`, `square` ...), or NOT_ARITHMETIC.
cdef Arithmetic arithmetic_operation(str name) except *
# Merge steps of a group that continues after epilogues. Steps of one element per row are not merged with steps
# of whole rows, which would compute each element several times.
cdef void merge_arithmetic(FusedGroup g, FusedPlan plan) noexcept
