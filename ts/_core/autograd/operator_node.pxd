"""Backward nodes of operators: a derivative formula and its saved values."""

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
    cdef int *starts                  # first edge number of each input of the rule; NULL: one edge per input

    cdef list saved_names(self)
    cdef int place_of(self, str attribute) except -2


cdef class MissingNode(Node):
    """Backward node of an operator without a derivative; running it raises NotImplementedError."""
    cdef str operator


# Return the zero gradient of an unused result.
cdef object zeros_like(Expected *like)
# Create a node without edges, with space for the values that the formula reads.
cdef OperatorNode operator_node(Rule rule, Formula formula)
# Create a node that raises NotImplementedError for an operator when it runs.
cdef MissingNode missing_node(str operator, int edges)
# Run a formula; exceptions of its operators propagate without the formula's stack lines.
cdef int run_formula(Function function, IValue *values, IValue *result) except -1
