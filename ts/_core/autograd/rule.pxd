"""Differentiation rules of operators, converted from `ts.ops.derivatives` to the form of the tape."""

from libc.stdint cimport int32_t, uint64_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue
from ts._core.vm.function cimport Function


cpdef enum DifferentiationKind:
    PLAIN = 0                          # no gradient passes
    BY_FORMULA = 1
    BY_PARTS = 2                       # a decomposition with the same arguments runs instead
    INSIDE = 3                         # the kernel calls operators, which are recorded
    LEFT = 4                           # a fusion group: its operators run and are recorded one by one
    MISSING = 5                        # no derivative implemented
    REFUSED = 6                        # an out= variant
    GRAPH = 7                          # a differentiable graph, with one node for the whole graph


cpdef enum FormulaInputKind:
    """Source of a formula parameter."""
    GRADIENT = 0                       # gradient of one result
    GRADIENTS = 1                      # gradients of all results, as a list
    ARGUMENT = 2
    RESULT = 3
    RESULTS = 4                        # all results, as a list
    WANTED = 5                         # list of bool: the arguments of a joint formula that require grad
    SIZE = 6                           # of an argument or a result (numbered after the arguments); the next five too
    STRIDE = 7
    RANK = 8
    DTYPE = 9
    COUNT = 10                         # number of elements
    COMPLEX = 11                       # is complex


cdef enum:
    MAX_INPUTS = 60


cdef struct Source:
    int origin                         # a FormulaInputKind
    int at                             # number of the argument or result
    bint as_tensor                     # pass a number as a 0-dimensional tensor


cdef class Formula:
    """Derivative formula: a function that returns the gradients of some arguments."""
    cdef readonly Function function
    cdef Source *sources               # one per parameter
    cdef int count
    cdef bint reads_results            # or their properties (sizes, dtypes)
    cdef readonly tuple gives          # numbers of the arguments whose gradients it returns
    cdef int *given_at                 # their indices in the rule's `inputs`
    cdef int given_count
    cdef readonly tuple wanted         # numbers of the arguments in the list of a WANTED parameter

    cdef int find_inputs(self, tuple inputs) except -1


cdef class Rule:
    cdef readonly DifferentiationKind how
    cdef readonly str name             # of nodes: "MulBackward0"
    cdef readonly tuple inputs         # numbers of the arguments that have gradients
    cdef readonly tuple results        # numbers of the results that have gradients
    cdef readonly int written          # number of the argument that is modified in place and returned, or -1
    cdef readonly bint lists           # the only result is a list of tensors
    cdef readonly bint absent          # pass undefined gradients as None instead of zeros
    cdef readonly Function parts       # decomposition, for BY_PARTS
    cdef readonly str text             # error message, for REFUSED
    cdef int input_at[MAX_INPUTS]     # copy of `inputs`
    cdef int input_count
    cdef uint64_t result_bits          # `results` as a bit mask
    cdef Formula last                  # the formula of the last call, for `last_wanted`
    cdef uint64_t last_wanted
    cdef dict formulas                 # formula by bit mask of the inputs that require grad
    cdef object build                  # build(bit mask) -> Formula

    cdef Formula formula(self, uint64_t wanted)


# Run a differentiable graph and record its node; set by `differentiable_graph`.
cdef int (*invoke_graph)(Operator op, Rule rule, IValue *r, const int32_t *at) except -1
# Return the rule of an operator record, cached.
cdef Rule rule_of(object record)
