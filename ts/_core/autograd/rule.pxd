"""Differentiation rules of operators, created from `ts.ops.derivatives` and read by autograd (`tape.pyx`)."""

from libc.stdint cimport int32_t, uint64_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue
from ts._core.vm.function cimport Function


cpdef enum DifferentiationKind:
    PLAIN = 0                          # no gradient flows to the arguments
    BY_FORMULA = 1
    BY_DECOMPOSITION = 2                       # a decomposition with the same arguments runs instead of the operator
    INSIDE = 3                         # no rule is needed: the kernel calls other operators, and autograd records these
    LEFT = 4                           # a fusion group: its operators run one by one instead, and are recorded
    UNIMPLEMENTED = 5                        # the derivative is not implemented
    UNSUPPORTED = 6                        # an out= variant, whose call raises an error
    GRAPH = 7                          # a differentiable graph: one backward node is recorded for all of its operators


cpdef enum FormulaInputKind:
    """The value that a formula parameter receives."""
    GRADIENT = 0                       # the gradient of one result
    GRADIENTS = 1                      # the gradients of all results, as a list
    ARGUMENT = 2
    RESULT = 3
    RESULTS = 4                        # all results, as a list
    REQUIRES_GRAD = 5                         # list of bool, for a formula with several gradients: whether each of its arguments requires grad
    # The kinds from SIZE (list of sizes) to OFFSET are properties of an argument or result, which
    # `Source.at` identifies. Numbers from 0 to n - 1 are arguments, and number n + i is result i.
    SIZE = 6
    STRIDE = 7
    RANK = 8
    DTYPE = 9
    COUNT = 10                         # the number of elements
    COMPLEX = 11                       # whether the dtype is complex
    OFFSET = 12                        # the storage offset


cdef enum:
    MAX_INPUTS = 60


cdef struct Source:
    int origin                         # FormulaInputKind of the value
    int at                             # number of the argument or result that the value comes from
    bint as_tensor                     # True if a number is passed as a 0-dim tensor


cdef class Formula:
    """A derivative formula: a function that returns the gradients of some arguments."""
    cdef object compile                # function that compiles the derivative, called at the first backward pass
    cdef Function compiled             # result of `compile`, or None
    cdef Source *sources               # array with one Source per parameter of the formula
    cdef int count
    cdef bint reads_results            # True if the formula reads results or their properties (sizes, dtypes)
    # numbers of the arguments whose gradients the formula returns
    cdef readonly tuple argument_indices
    cdef int *input_indices            # indices of these arguments in the `inputs` of the rule
    cdef int gradient_count
    # value of a REQUIRES_GRAD parameter of a formula: one bool for each argument in `argument_indices`, True
    # if the argument requires grad
    cdef readonly tuple requires_grad

    cdef Function function(self)
    cdef int find_inputs(self, tuple inputs) except -1


cdef class Rule:
    cdef readonly DifferentiationKind how
    cdef readonly str name             # name of the backward nodes, such as "MulBackward0"
    cdef readonly tuple inputs         # numbers of the arguments that have gradients
    cdef readonly tuple results        # numbers of the results that have gradients
    # number of the argument that the operator modifies in place and returns, or -1 if it modifies none
    cdef readonly int written
    cdef readonly bint reshapes        # True for the in-place variant of a view operator, such as `t_`
    cdef readonly bint lists           # True if the only result is a list of tensors
    cdef readonly bint absent          # True if formulas receive None instead of zeros for undefined gradients
    cdef readonly Function decomposition       # for BY_DECOMPOSITION: function that runs instead of the operator
    cdef readonly str error_message    # message of the error that UNSUPPORTED raises
    cdef int input_at[MAX_INPUTS]     # `inputs` as a C array
    cdef int input_count
    cdef uint64_t result_bits          # `results` as a bit mask
    cdef Formula last                  # formula of the last call, which calls with the same bit mask (`last_grad_mask`) use again
    cdef uint64_t last_grad_mask
    cdef dict formulas                 # bit mask of the inputs that require grad -> formula
    cdef object build                  # function: bit mask of the inputs that require grad -> new Formula

    cdef Formula formula(self, uint64_t grad_mask)


# pointer to the function that runs a differentiable graph and records its node, set by `differentiable_graph`
cdef int (*invoke_graph)(Operator op, Rule rule, IValue *r, const int32_t *at) except -1
# Return the differentiation rule of an operator record. Rules are cached.
cdef Rule rule_of(object record)
