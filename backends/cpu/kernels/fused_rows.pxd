"""Stages of fusion groups that continue after epilogues (row fusion).

The group runs on one chunk of rows after the other. On each chunk, the stages run one after the other. Stages
with even numbers compute whole rows, and their epilogues run after them. Stages with odd numbers compute one
element per row. The stages of `e = exp(x - x.amax(-1, True)); log(e.sum(-1, True) + 1)` are:

    0    amax of x
    2    sub, exp, and the sum of e
    3    add, log

Results that a later stage reads are in memory for the rows of the chunk, which stays in the L1 or L2 cache.
Results are bit-identical to those of separate operators, since the epilogues sum whole rows in the same order.
"""

from libc.stdint cimport int32_t

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.fused_operands cimport Run
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan

# Divide the steps of a group into stages, allocate the results, and set all addresses of `run`. `run.schedule`
# must refer to memory for a schedule. The results are appended to `owners`, which keeps them alive. Return False
# if the shapes or strides are unsupported.
cdef bint address_row_stages(FusedGroup g, FusedPlan plan, Run *run, IValue *r, const int32_t *at, list owners) except -1
