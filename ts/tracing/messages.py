"""Error and warning messages of the tracer, with PyTorch's wording."""

from __future__ import annotations

from typing import Final

_CONVERTING: Final = (
    "Converting a tensor to a {} might cause the trace to be incorrect. We can't record the data flow of "
    "Python values, so this value will be treated as a constant in the future. This means that the trace "
    "might not generalize to other inputs!"
)
_LENGTH: Final = (
    "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
    "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect"
    " results."
)
_ITERATION: Final = (
    "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape "
    "won't change the number of iterations executed (and might lead to errors or silently give incorrect "
    "results)."
)
ESCAPES: Final = {
    "array": _CONVERTING.format("NumPy array"),
    "length": _LENGTH,
    "iteration": _ITERATION,
    **{
        kind: _CONVERTING.format(f"Python {kind}")
        for kind in ("integer", "boolean", "float", "complex", "number", "list")
    },
}
"""Warnings by kind of conversion to a Python value. As in PyTorch, conversion to an index has none."""

CONSTRUCTORS_WITH_WARNING: Final = frozenset({"tensor", "as_tensor", "from_numpy", "Tensor"})
"""Constructor functions for which PyTorch warns that the result becomes a constant."""

CONSTRUCTED: Final = (
    "torch.{} results are registered as constants in the trace. You can safely ignore this warning if you"
    " use this function to create tensors out of constant variables that would be the same every time you"
    " call this function. In any other case, this might cause the trace to be incorrect."
)
CONTAINER_OUTPUT: Final = (
    "Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only "
    "valid if the container structure does not change based on the module's inputs. Consider using a "
    "constant container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` "
    "instead). If you absolutely need this and know the side effects, pass strict=False to trace() to "
    "allow this behavior."
)
VIEWS: Final = (
    "There are {} live references to the data region being modified when tracing in-place operator {}{}. "
    "This might cause the trace to be incorrect, because all other views that also reference this data will "
    "not reflect this change in the trace! On the other hand, if all other views use the same memory chunk, "
    "but are disjoint (e.g. are outputs of torch.split), this might still be safe."
)
NO_OUTPUT: Final = (
    "The traced function didn't return any values! Side-effects are not captured in traces, so it would "
    "be a no-op."
)
WRONG_OUTPUT: Final = (
    "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
)
WRONG_DICT_OUTPUT: Final = (
    "output 1 ({}) of traced region cannot be understood by the tracer, only outputs matching "
    "dict[Union[str, Tensor], Union[Tensor, Tuple[Tensor, ...]]] can be a dictionary output of a traced "
    "function"
)
UNKNOWN_TYPE: Final = "Tracer cannot infer type of {}\n:{}"
EMPTY_LIST: Final = "List trace inputs must have elements"
EMPTY_DICT: Final = "Dictionary inputs must have entries"
LIST_ELEMENT: Final = "Could not infer type of list element: {}"
LIST_TYPES: Final = "List inputs to traced functions must have consistent element type. Found {} and {}"
DICT_TYPES: Final = "Dictionary inputs to traced functions must have consistent type. Found {} and {}"
CONTAINERS_ONLY: Final = (
    "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or "
    "outputs of traced functions, but instead got value of type {}."
)
UNKNOWN_OUTPUT: Final = (
    "output {} ({}) of traced region did not have observable data dependence with trace inputs; this "
    "probably indicates your program cannot be understood by the tracer."
)
NOT_TRACED: Final = (
    "Tried to trace {} but it is not part of the active trace. Modules that are called during a trace "
    "must be registered as submodules of the thing being traced."
)
REQUIRES_GRAD: Final = (
    "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or"
    " detaching the gradient\nTensor:\n{}"
)
TOO_LARGE: Final = (
    "a value with {} or more elements is too large for a trace, which unpacks each element: a container "
    "that is contained twice counts twice"
)
GUARD: Final = "The trace does not hold for these inputs: {} was {} when it was traced ({}), and is "
ADVICE: Final = (
    ' now. Compute with tensors there, script the function, or trace it with guards="off" if the example\'s '
    "value is valid for all inputs"
)
