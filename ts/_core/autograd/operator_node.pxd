"""Nodes of operators: a formula, and what it reads."""

from ts._core.autograd.node cimport Expected, Node
from ts._core.autograd.rule cimport Formula, Rule
from ts._core.autograd.saved cimport SavingNode
from ts._core.value.ivalue cimport IValue
from ts._core.vm.function cimport Function

cdef enum:
    MAX_PARAMETERS = 64


cdef class OperatorNode(SavingNode):
    """Backward node of an operator with a derivative formula; saved values are indexed by parameter."""
    cdef Rule rule
    cdef Formula formula
    cdef int *starts                  # the first edge of each of the rule's inputs; NULL: one edge each

    cdef list saved_names(self)
    cdef int place_of(self, str attribute) except -2


cdef class MissingNode(Node):
    """Backward node of an operator without a derivative; running it raises NotImplementedError."""
    cdef str operator


# The zero gradient of an unused result.
cdef object zeros_like(Expected *like)
# A node without edges yet, with room for what the formula reads.
cdef OperatorNode operator_node(Rule rule, Formula formula)
# A node that raises NotImplementedError for an operator.
cdef MissingNode missing_node(str operator, int edges)
# Run a formula; what its operators raise is raised as it is, without the formula's lines.
cdef int run_formula(Function function, IValue *values, IValue *result) except -1
