"""Differentiation rules of operators, converted from `ts.ops.derivatives` to the form of the tape."""

from libc.stdint cimport int32_t, uint64_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue
from ts._core.vm.function cimport Function


cpdef enum DifferentiationKind:
    PLAIN = 0                          # no gradient passes
    BY_FORMULA = 1
    BY_PARTS = 2                       # another function of the same arguments runs instead
    INSIDE = 3                         # its kernel calls operators, which are recorded
    LEFT = 4                           # a group: its operators run one by one
    MISSING = 5                        # no derivative implemented
    REFUSED = 6                        # a form with out=
    GRAPH = 7                          # a part of a program, which has a node as a whole


cpdef enum FormulaInputKind:
    """Source of a formula parameter."""
    GRADIENT = 0                       # of one result
    GRADIENTS = 1                      # of all, as a list
    ARGUMENT = 2
    RESULT = 3
    RESULTS = 4                        # all, as a list
    WANTED = 5                         # which of the arguments of a joint formula are, as a list of bool
    SIZE = 6                           # of an argument or, counted on, a result; as those below
    STRIDE = 7
    RANK = 8
    DTYPE = 9
    COUNT = 10                         # of elements
    COMPLEX = 11                       # whether it is


cdef enum:
    MAX_INPUTS = 60


cdef struct Source:
    int origin                         # a From
    int at                             # which argument or result
    bint as_tensor                     # a number is given as a tensor without dimensions


cdef class Formula:
    """A function that gives gradients of arguments."""
    cdef readonly Function function
    cdef Source *sources               # of its parameters
    cdef int count
    cdef bint reads_results            # or facts about them
    cdef readonly tuple gives          # the arguments, by number
    cdef int *given_at                 # ... and which of the rule's inputs each is
    cdef int given_count
    cdef readonly tuple wanted         # of them, for WANTED

    cdef int find_inputs(self, tuple inputs) except -1


cdef class Rule:
    cdef readonly DifferentiationKind how
    cdef readonly str name             # of nodes: "MulBackward0"
    cdef readonly tuple inputs         # the arguments that have gradients, by number
    cdef readonly tuple results        # the results that have, by number
    cdef readonly int written          # the argument that is written and given back, or -1
    cdef readonly bint lists           # the one result is a list of tensors
    cdef readonly bint absent          # an undefined gradient is None
    cdef readonly Function parts       # of BY_PARTS
    cdef readonly str text             # of who refuses
    cdef int input_at[MAX_INPUTS]     # `inputs` again
    cdef int input_count
    cdef uint64_t result_bits          # `results` again
    cdef Formula last                  # what was asked for last, with its bits
    cdef uint64_t last_wanted
    cdef dict formulas                 # by which of `inputs` are wanted, as bits
    cdef object build                  # build(bits) makes one

    cdef Formula formula(self, uint64_t wanted)


# Runs a differentiable graph and records its node; set by `differentiable_graph`.
cdef int (*invoke_graph)(Operator op, Rule rule, IValue *r, const int32_t *at) except -1
# The rule of an operator's record, cached.
cdef Rule rule_of(object record)
