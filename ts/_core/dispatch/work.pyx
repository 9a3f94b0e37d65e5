"""Admission control of operators under `ts.limits` by estimated time, as a kernel cannot be interrupted.

`before_operator` compares a lower bound of the operator's time with the remaining time. It raises
TimeExceeded if too little time remains. If NumPy cannot allocate an array, the call raises MemoryExceeded.

For an operator with an operator record, `ts.ops.cost_model` estimates the time from the sizes of the arguments. For an
operator of the language, the estimate is proportional to the lengths of its lists and strings.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from ts._core.value.container cimport Dict, List, Tuple
from ts._core.thread.allowance cimport as_limit
from ts._core.thread.context cimport LIMITED
from ts._core.thread.deadline cimport check_time, charge_time, timed
from ts._core.dispatch.operator cimport LIMITS_KEY, Operator, call_after, invoke_after, register_key
from ts._core.late_binding import resolve
from ts._core.tensor.tensor cimport BACKEND_META, Tensor
from ts._core.value.ivalue cimport IValue, TAG_OBJECT, box_shallow
from ts.errors import LimitExceeded

cdef double ITEM_NS = 0.1   # lower bound of the time that an operator takes per list item or character

cdef dict rules = {}  # Operator -> function that estimates its time, or None if the time is negligible


cdef int invoke(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    try:
        if timed:
            before_operator(op, r, at)
        invoke_after(LIMITS_KEY, op, r, at, code, instruction)
        if timed:
            check_time()
    except Exception as error:
        raise_limit(error)
    return 0


cdef object call(Operator op, list args):
    try:
        if timed:
            before_call(op, args)
        result = call_after(LIMITS_KEY, op, args)
        if timed:
            check_time()
    except Exception as error:
        raise_limit(error)
    return result


cdef int raise_limit(object error) except -1:
    """Raise `error`, or the limit error that replaces it, such as MemoryExceeded in place of NumPy's MemoryError."""
    limit = as_limit(error)
    if limit is error:
        raise error
    raise limit from error


cdef int before_operator(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double amount = 0
    cdef int i
    check_time()
    if op.record is None:
        for i in range(op.nargs):
            amount += length(&r[at[i]])
        return charge_time(ITEM_NS * amount)
    rule = rule_of(op)
    if rule is None:
        return 0
    args = [box_shallow(&r[at[i]]) for i in range(op.nargs)]
    return 0 if of_meta(args) else charge_time(estimate(rule, args))


cdef int before_call(Operator op, list args) except -1:
    check_time()
    rule = rule_of(op)
    return 0 if rule is None or of_meta(args) else charge_time(estimate(rule, args))


cdef double estimate(object rule, list args) except -1:
    """Return the time in ns that `rule` estimates.

    Return 0 for invalid arguments, for which the kernel raises an error.
    """
    try:
        return max(rule(*args), 0)
    except LimitExceeded:
        raise
    except Exception:
        return 0


cdef bint of_meta(args) except -1:
    """Return whether a tensor in `args` is on the meta backend, which has no elements."""
    for x in args:
        if isinstance(x, Tensor):
            if (<Tensor>x).backend == BACKEND_META:
                return True
        elif isinstance(x, (list, tuple, List)) and of_meta(x):
            return True
    return False


cdef object rule_of(Operator op):
    if op not in rules:
        rules[op] = resolve("operator_work")(op.record)
    return rules[op]


cdef Py_ssize_t length(IValue *x) noexcept:
    """Return the number of items or characters of a container or string, or 0 for other values."""
    if x.tag != TAG_OBJECT or x.v.o == NULL:
        return 0
    o = <object>x.v.o
    if type(o) is List:
        return (<List>o).size
    if type(o) is Dict:
        return (<Dict>o).used
    return len(<str>o) if type(o) is str else 0


register_key(LIMITS_KEY, LIMITED, invoke, call)
