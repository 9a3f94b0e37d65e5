"""Compile directives: functions and decorators with a special meaning for the compiler.

Example:

    xs = ts.jit.annotate(List[int], [])          the list has type `int[]` in compiled code
    if not ts.jit.is_scripting(): ...            the block is omitted from compiled code

The decorators `ignore`, `unused` and `export` set the attribute `__ts_marker__` of a function.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from ts._core.late_binding import resolve
from ts._core.thread.context import current_tracer

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_MARKER: Final = "__ts_marker__"
_INSTEAD: Final = "__ts_instead__"
_SPECIAL_FORM_ATTRIBUTE: Final = "__ts_form__"
BOOLEAN_DISPATCH: Final = "__ts_boolean_dispatch__"


def annotate(the_type: Any, the_value: T) -> T:
    """Return `the_value`. In compiled code, `the_type` is the static type of the result."""
    return the_value


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Start `func(*args, **kwargs)` asynchronously and return its future. A tracer records the call.

    A scripted function, or any function in compiled code, runs as a separate task, possibly on another
    thread.  A Python function runs to completion before `fork` returns.
    """
    from ts._core.vm.function import Function
    from ts._core.vm.future import Future

    tracer = current_tracer()
    if tracer is not None:
        return tracer.fork(func, args, kwargs)
    if builtins.isinstance(func, Function):
        program = func.start(*args, **kwargs)
        program.queue()
        return program.future
    if not callable(func):
        raise TypeError(f"Object of type '{type(func).__name__}' is not an instance of 'function'")
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Any) -> Any:
    """Wait for a future and return its result. Raise TypeError for other objects."""
    from ts._core.vm.future import Future

    if not isinstance(future, Future):
        actual_type = type(future).__name__
        raise TypeError(f"wait(): incompatible function arguments: expected a Future, not {actual_type}")
    return future.wait()


def is_scripting() -> bool:
    """Return False if called by Python. In compiled code, a call of this function is the constant True.

    The compiler skips the branches of an `if` that compiled code never reaches because of this constant.
    """
    return False


def is_tracing() -> bool:
    """Return whether `ts.jit.trace` records in this thread. Recording by other tracers does not count."""
    tracer = current_tracer()
    return tracer is not None and tracer.is_trace


def get_tracing_state() -> Any:
    """Return the tracer of `ts.jit.trace` if it records in this thread, or None."""
    return current_tracer() if is_tracing() else None


# ---- directives for functions ----------------------------------------------------------------------


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Exclude a function from compilation: compiled code calls the function in Python.

    With `drop=True`, a call in compiled code raises an error, as for `unused`.
    """
    if callable(drop):
        return _mark(drop, "ignore")
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    option = "True"
    if "drop_on_export" in kwargs:
        drop, option = kwargs["drop_on_export"], "drop_on_export=True"
    if drop:
        warnings.warn(
            f"ignore({option}) has been deprecated. TorchScript will now drop the function call on "
            "compilation. Use torch.jit.unused now.",
            FutureWarning,
            stacklevel=2,
        )
    return lambda function: _mark(function, "unused" if drop else "ignore")


def unused(function: F) -> F:
    """Exclude a function from compilation: a call in compiled code raises an error."""
    if builtins.isinstance(function, property):
        for accessor in (function.fget, function.fset):
            if accessor is not None:
                _mark(accessor, "unused")
        return function
    return _mark(function, "unused")


def export(function: F) -> F:
    """Mark a module method for compilation even if no compiled code calls it."""
    return _mark(function, "export")


def _mark(function: F, marker: str) -> F:
    setattr(function, _MARKER, marker)
    return function


def not_compiled(alternative: str) -> Callable[[F], F]:
    """Return a decorator for functions that compiled code cannot call.

    `alternative` is the function that the error message suggests instead.
    """

    def marked(function: F) -> F:
        setattr(function, _INSTEAD, alternative)
        return function

    return marked


def alternative_of(function: Any) -> str | None:
    """Return the `alternative` passed to `not_compiled` for a function, or None if undecorated."""
    original_name: str | None = getattr(function, "__dict__", {}).get(_INSTEAD)
    return original_name


def special_form(form: str) -> Callable[[F], F]:
    """Return a decorator for a function of `ts`.

    If a script calls the decorated function, the compiler emits the call as the special form `form`.
    """

    def marked(function: F) -> F:
        setattr(function, _SPECIAL_FORM_ATTRIBUTE, form)
        return function

    return marked


def find_special_form(function: Any) -> str | None:
    """Return the special form registered for a function, or None for other functions."""
    form: str | None = getattr(function, "__dict__", {}).get(_SPECIAL_FORM_ATTRIBUTE)
    return form


def modifier_of(function: Any) -> str | None:
    """Return the compile directive of a function: "ignore", "unused", "export", or None."""
    marker = getattr(function, _MARKER, None)
    if builtins.isinstance(marker, str):
        return marker
    # A program that also uses PyTorch may apply PyTorch's decorators, which set this attribute.
    modifier = getattr(function, "_torchscript_modifier", None)
    return modifier.partition(" ")[0] if builtins.isinstance(modifier, str) else None


class BooleanDispatch(NamedTuple):
    """Two functions, `if_true` and `if_false`: the bool argument `name` of a call selects one of them.

    `position` is the index of this argument, and `default` is its value in calls without the argument.
    """

    name: str
    position: int
    default: bool
    if_true: Callable[..., Any]
    if_false: Callable[..., Any]


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str | None = None,
    func_name: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls `if_true` or `if_false`, depending on its bool argument `arg_name`.

    In compiled code, the argument must be a constant.
    """

    def dispatch(*args: Any, **kwargs: Any) -> Any:
        flag = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if flag else if_false)(*args, **kwargs)

    documented = if_true.__doc__ or if_false.__doc__
    if if_true.__doc__ and if_false.__doc__:
        raise RuntimeError("only one function can have a docstring")
    dispatch.__doc__ = documented
    dispatch.__name__ = func_name or if_false.__name__
    dispatch.__module__ = module_name or dispatch.__module__
    setattr(dispatch, BOOLEAN_DISPATCH, BooleanDispatch(arg_name, arg_index, default, if_true, if_false))
    return dispatch


def script_if_tracing(function: F) -> F:
    """Return a wrapper that calls the scripted `function` during tracing, and `function` itself otherwise."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.scripted(function)(*args, **kwargs)

    wrapper.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]


# ---- directives for blocks and values --------------------------------------------------------------


class ignore_context_manager(contextlib.AbstractContextManager[None]):
    """Block of a scripted function that runs in Python: `with ignore_context_manager(a="inp:int"): ...`.

    The keywords declare the inputs and outputs of the block with their types.
    """

    def __init__(self, **kwargs: str) -> None:
        """Ignore the declarations, which only the compiler reads."""

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


class Attribute(NamedTuple):
    """Value of a module attribute with an explicit type, for values whose type cannot be inferred."""

    value: Any
    type: Any


class ScriptWarning(Warning):
    """Warning about a scripted module that may behave unexpectedly."""


def unwrap_optional(value: T | None) -> T:
    """Return `value`. Raise AssertionError if it is None."""
    assert value is not None, "Unwrapping null optional"
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether `obj` is an instance of `target_type`. The elements of containers are also checked."""
    if builtins.isinstance(target_type, tuple | list):
        return any(isinstance(obj, each) for each in target_type)
    origin, arguments = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None or (not arguments and target_type is not tuple[()]):
        if not builtins.isinstance(target_type, type | None):
            # The result of `to_type` is not needed: it raises an error for an invalid type, such as a `List`
            # without an element type.
            annotations = resolve("annotations")
            annotations.to_type(target_type, annotations.Resolver())
        return builtins.isinstance(obj, target_type or type(None))
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, each) for each in arguments)
    if not builtins.isinstance(obj, origin):
        return False
    if origin is tuple:
        return len(obj) == len(arguments) and all(map(isinstance, obj, arguments))
    if origin is dict:
        key, value = arguments
        return all(isinstance(k, key) and isinstance(v, value) for k, v in obj.items())
    return all(isinstance(element, arguments[0]) for element in obj)


# ---- annotation `BroadcastingListN` ----------------------------------------------------------------


class _BroadcastingList:
    """Annotation `BroadcastingListN[T]`: a list of T, or one T that is repeated N times."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __getitem__(self, elem: Any) -> Any:
        return types.GenericAlias(list, (elem,))

    def __repr__(self) -> str:
        return f"ts.jit.annotations.BroadcastingList{self.size}"


BroadcastingList1 = _BroadcastingList(1)
BroadcastingList2 = _BroadcastingList(2)
BroadcastingList3 = _BroadcastingList(3)
BroadcastingList4 = _BroadcastingList(4)
BroadcastingList5 = _BroadcastingList(5)
BroadcastingList6 = _BroadcastingList(6)


# ---- names and annotations of functions ------------------------------------------------------------


def set_module(obj: Any, module: str) -> None:
    """Set `__module__` of a class or function. Raise TypeError if `module` is not a string."""
    if not builtins.isinstance(module, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = module


def callable_argument_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters.

    Return an empty list if any parameter is not positional-or-keyword, or if the signature is unknown.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return plain if len(plain) == len(parameters) else []


def is_optional(annotation: Any) -> bool:
    """Return whether an annotation is `Optional[T]`, a union of one type and None."""
    arguments = typing.get_args(annotation)
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return is_union and len(arguments) == 2 and type(None) in arguments
