"""Anomaly detection: shows the source lines of the operator whose backward raises an exception or returns NaN.

Input: each backward node, when it is created and when it runs. Output: warnings, exceptions, and these
entries of `node.metadata`:

    metadata["traceback_"]    the source lines that created the node, outermost first
    metadata["parent_"]       for a node created during a backward pass: the node that was running
"""

import threading
import traceback
import warnings

from cpython.object cimport PyObject

from ts._core.autograd.node cimport Node
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport Tensor
from ts._core.vm.code cimport Code, Instruction

searching = nan_is_error = False

cdef object here = threading.local()   # thread-local attribute `node`: the backward node that this thread runs


def search_anomalies(bint on, bint check_nan):
    """Set `searching` and `nan_is_error`, and return their previous values as a tuple."""
    global searching, nan_is_error
    before = searching, nan_is_error
    searching, nan_is_error = on, check_nan
    return bool(before[0]), bool(before[1])


cdef int save_traceback(Node node, PyObject *code, const void *instruction) except -1:
    cdef list lines = traceback.format_stack()
    if code != NULL:
        lines.extend(script_lines(<Code>code, <const Instruction *>instruction))
    node.metadata["traceback_"] = lines
    parent = getattr(here, "node", None)
    if parent is not None:
        node.metadata["parent_"] = parent
    return 0


cdef list script_lines(Code code, const Instruction *instruction):
    if not code.lines:
        return []
    stack = code.lines[instruction - code.instructions] or ()
    return [range.highlight(function) for function, range in reversed(stack) if range is not None]


cdef list apply_watched(Node node, list gradients):
    cdef list results
    outer = getattr(here, "node", None)
    here.node = node
    try:
        results = node.apply(gradients)
        if nan_is_error:
            check_nan(node, results)
    except Exception:
        warn_of(node)
        raise
    finally:
        here.node = outer
    return results


cdef int check_nan(Node node, list results) except -1:
    for i, gradient in enumerate(results):
        if isinstance(gradient, Tensor) and bool(operator_function("any")(operator_function("isnan")(gradient))):
            raise RuntimeError(f"Function '{node.title()}' returned nan values in its {i}th output.")
    return 0


cdef int warn_of(Node node) except -1:
    """Issue a warning with the source lines that created `node`, then one warning for each of its ancestors.

    The parent of a node is the entry `parent_` of the node's metadata.
    """
    cdef Node parent
    seen = set()
    warn(f"Error detected in {node.title()}. ", "Traceback of forward call that caused the error:", node)
    parent = node.metadata.get("parent_")
    while parent is not None and parent not in seen:
        seen.add(parent)
        warn("\n\n", f"Previous calculation was induced by {parent.title()}. Traceback of forward call that induced the previous calculation:", parent)
        parent = parent.metadata.get("parent_")
    return 0


cdef int warn(str begin, str title, Node node) except -1:
    lines = node.metadata.get("traceback_")
    if lines is None:
        message = "No forward pass information available. Enable detect anomaly during forward pass for more information."
    else:
        message = f"{title}\n{''.join(lines)}"
    warnings.warn(begin + message, stacklevel=1)
    return 0
