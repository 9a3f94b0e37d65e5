"""Backward nodes of operators, with a derivative formula and saved values."""

from ts._core.autograd.node cimport Expected, Node
from ts._core.autograd.rule cimport Formula, Rule
from ts._core.autograd.saved cimport SavingNode
from ts._core.value.ivalue cimport IValue
from ts._core.vm.function cimport Function

cdef enum:
    MAX_PARAMETERS = 64


cdef class OperatorNode(SavingNode):
    """Backward node of an operator with a derivative formula.

    Saved values are indexed by the formula's parameters.
    """
    cdef Rule rule
    cdef Formula formula
    cdef int *starts  # number of the first edge of each input of the rule, or NULL if each input has one edge

    cdef list saved_names(self)
    cdef int saved_index(self, str attribute) except -2


cdef class MissingNode(Node):
    """Backward node of an operator without a derivative. It raises NotImplementedError when it runs."""
    cdef str operator


# Return zeros as the gradient of an unused result.
cdef object zeros_like(Expected *like)
# Create a node without edges, with memory for the values that the formula reads.
cdef OperatorNode operator_node(Rule rule, Formula formula)
# Create a node that raises NotImplementedError for the operator when it runs.
cdef MissingNode missing_node(str operator, int edges)
# Run a formula. If one of its operators raises, the exception propagates without the stack lines of the
# formula.
cdef int run_formula(Function function, IValue *values, IValue *result) except -1
