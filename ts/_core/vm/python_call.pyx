"""Operators for calls of Python callables from scripts (foreign function interface).

In the example, scripts call `function` with two arguments. Its result must be an int:

    op = PythonOperator(function, 2, INT_SPEC)

Containers are copied in both directions. An exception of the callable becomes the cause of a RuntimeError in
the script. Errors of `ts.limits` and exceptions that do not derive from `Exception` propagate unchanged.
"""

from warnings import warn_explicit

cimport cython
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.vm.failure cimport hides_internals
from ts._core.value.ivalue cimport ANY_SPEC, IValue, TypeSpec, box, move_value, unbox
from ts._core.value.type_of cimport describe_value
from ts._core.tensor.tensor cimport Tensor

from ts.errors import LimitExceeded
from ts.module_names import is_own


@cython.final
cdef class PythonOperator(Operator):
    """Operator that calls a Python callable.

    The operator has a fixed number of arguments, and one result whose type is known.
    """

    cdef readonly object function

    def __init__(self, function not None, int count, TypeSpec result not None):
        arguments = ", ".join([f"Any a{i}" for i in range(count)])
        super().__init__(f"python::call({arguments}) -> Any")
        self.function = function
        self.argument_specs = (ANY_SPEC,) * count
        self.result_spec = result
        self.kernels[0] = call_python


cdef int call_python(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PythonOperator self = <PythonOperator>op
    cdef IValue new
    cdef int i
    cdef list args = []
    for i in range(op.nargs):
        args.append(box(&r[at[i]]))
    try:
        result = self.function(*args)
    except LimitExceeded:
        raise
    except Exception as error:
        raise RuntimeError(failure_text(error)) from error
    try:
        unbox(result, self.result_spec, &new)
    except LimitExceeded:
        raise
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise RuntimeError(
            f" expected value of type {self.result_spec.annotation_str} for return value but instead got value of type "
            f"{class_name(result)}.\nValue: {describe_value(result, repr)}\nCast error details: {error}"
        ) from None
    move_value(&r[at[op.nargs]], &new)
    return 0


cdef str class_name(object x):
    # PyTorch and `ts` use different names for the metaclass of the class Tensor
    return "_TensorMeta" if x is Tensor else type(x).__name__


@cython.final
cdef class WarnOperator(Operator):
    """Operator for `warnings.warn` in a script. The warning shows the source location of the call."""

    cdef readonly str filename
    cdef readonly int line

    def __init__(self, str filename not None, int line):
        super().__init__("script::warn(str message, int stacklevel) -> ()")
        self.filename = filename
        self.line = line
        self.kernels[0] = warn_there


cdef int warn_there(Operator op, IValue *r, const int32_t *at) except -1:
    warn_explicit(box(&r[at[0]]), UserWarning, (<WarnOperator>op).filename, (<WarnOperator>op).line)
    return 0


def failure_text(error):
    """Return the class, message and Python stack of an exception in PyTorch's format, innermost call first."""
    report = f"{type(error).__name__}: {error}\n\nAt:\n"
    traceback = error.__traceback__
    if traceback is None:
        return report
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame, line = traceback.tb_frame, traceback.tb_lineno
    while frame is not None:
        if not hidden(frame):
            report += f"  {frame.f_code.co_filename}({line}): {frame.f_code.co_name}\n"
        frame = frame.f_back
        if frame is not None:
            line = frame.f_lineno
    return report


cdef bint hidden(object frame) except -1:
    """Return whether a Python frame belongs to `ts` itself and is therefore omitted from tracebacks."""
    return hides_internals() and is_own(frame.f_globals.get("__name__"))
