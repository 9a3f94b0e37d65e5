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

    Saved value i is the value of parameter i of the formula.
    """
    cdef Rule rule
    cdef Formula formula
    cdef int *starts  # input of the rule -> number of its first edge, or NULL if each input has one edge

    cdef list saved_names(self)
    cdef int saved_index(self, str attribute) except -2


cdef class MissingNode(Node):
    """Backward node of an operator without a derivative. It raises NotImplementedError when it runs."""
    cdef str operator


# Return zeros with the expected shape, dtype and device, as the gradient of a result that has none.
cdef object zeros_like(Expected *like)
# Create a node without edges, with memory for the values that the formula reads.
cdef OperatorNode operator_node(Rule rule, Formula formula)
# Create a node with `edges` edges that raises NotImplementedError with the operator's name when it runs.
cdef MissingNode missing_node(str operator, int edges)
# Run the function of a formula. If an operator in the formula raises an exception, the exception's message
# lists no stack frames of the formula.
cdef int run_formula(Function function, IValue *values, IValue *result) except -1
