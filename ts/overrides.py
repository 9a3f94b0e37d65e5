"""Classes and modes that override functions by `__torch_function__`, as in `torch.overrides`.

A mode intercepts calls in its `with` block. This mode prints `torch.ones` and `torch.Tensor.add`:

    class Logging(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            print(resolve_name(func))
            return func(*args, **(kwargs or {}))

    with Logging():
        ts.ones(2) + 1

Operators, functions of `ts.nn.functional` and methods of tensors can be overridden in eager code. Calls
within scripts and operators are not intercepted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import ts
from ts._core.dispatch import modes
from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable, call_overridden, overriding_arguments
from ts._core.dispatch.subclasses import NOT_CONVERTED
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import DisableTorchFunction
from ts._core.thread.warnings import warn

__all__ = [
    "enable_reentrant_dispatch",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


# ---------------------------------------------------------------- queries


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return True if a mode is active, or if the class of an argument overrides functions."""
    return bool(modes.stack()) or bool(overriding_arguments(list(relevant_args)))


def has_torch_function_unary(argument: Any) -> bool:
    """Return `has_torch_function((argument,))`."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """Return `has_torch_function(arguments)`."""
    return has_torch_function(arguments)


def is_tensor_like(inp: Any) -> bool:
    """Return True if an object is a Tensor or defines `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Call the override of `public_api(*args, **kwargs)`: the active mode's, then those of `relevant_args`.

    The next override is called if an override returns NotImplemented. If all of them return NotImplemented,
    TypeError is raised.
    """
    overriding = overriding_arguments(list(relevant_args), with_tensors=True)
    if modes.stack():
        with modes.pop_mode() as mode:
            result = mode.__torch_function__(public_api, tuple(map(type, overriding)), args, kwargs)
        if result is not NotImplemented:
            return result
    return call_overridden(public_api, overriding, args, kwargs, is_python=True)


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a function overridable by `__torch_function__`.

    `dispatcher(*args, **kwargs)` returns the arguments whose classes may override the function.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(called, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return called

    return decorate


# ---------------------------------------------------------------- lists of functions


_SPACES = ("", "nn.functional", "linalg", "fft", "special")
_IGNORED = """
    __class__ __dir__ __doc__ __getattribute__ __getattr__ __init__ __init_subclass__ __new__ __subclasshook__
    __torch_function__ _make_subclass as_subclass __delattr__ __setattr__ __sizeof__ __reduce__ __reduce_ex__
    __hash__ __str__ __setstate__ __getstate__
"""
_IGNORED_METHODS = frozenset(_IGNORED.split())


@functools.cache
def _functions_by_namespace() -> dict[Any, dict[str, Any]]:
    """Return for each namespace (a module or `Tensor`) a dict from full name to overridable function."""
    ts.zeros(1).add(1)  # the first operator call adds all operators to Tensor as methods
    functions_by_namespace: dict[Any, dict[str, Any]] = {}
    for path in _SPACES:
        space: Any = ts
        for attribute in filter(None, path.split(".")):
            space = getattr(space, attribute)
        prefix = ".".join(["torch", *filter(None, [path])])
        members = {f"{prefix}.{n}": getattr(space, n, None) for n in dir(space) if not n.startswith("_")}
        functions_by_namespace[space] = {
            n: m for n, m in members.items() if isinstance(m, OverloadSet | Overridable)
        }
    methods = functions_by_namespace[Tensor] = {}
    for name in dir(Tensor):
        member = inspect.getattr_static(Tensor, name)
        if name in _IGNORED_METHODS:
            continue
        if inspect.isdatadescriptor(member):
            methods[f"torch.Tensor.{name}.__get__"] = member.__get__  # type: ignore[union-attr]
        elif callable(getattr(Tensor, name)):
            methods[f"torch.Tensor.{name}"] = getattr(Tensor, name)
    return functions_by_namespace


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the overridable functions, by namespace."""
    return {space: list(functions.values()) for space, functions in _functions_by_namespace().items()}


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return, for tests, an override of each overridable function. The overrides return -1."""
    overridable = [
        function for functions in _functions_by_namespace().values() for function in functions.values()
    ]
    return {function: lambda *args, **kwargs: -1 for function in overridable}


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the functions of the package that cannot be overridden."""
    overridable = {id(function) for function in get_testing_overrides()}
    members = [getattr(ts, name, None) for name in dir(ts) if not name.startswith("_")]
    functions = [m for m in members if callable(m) and id(m) not in overridable and not isinstance(m, type)]
    methods = [getattr(Tensor, name, None) for name in _IGNORED_METHODS - {"__doc__"}]
    return {function for function in [*functions, *methods] if callable(function)}


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Return the functions whose results `Tensor.__torch_function__` does not convert to a subclass."""
    return set(NOT_CONVERTED)


@functools.cache
def _names() -> dict[Callable[..., Any], str]:
    names: dict[Callable[..., Any], str] = {}
    for functions in _functions_by_namespace().values():
        for name, function in functions.items():
            names.setdefault(function, name)
    return names


def resolve_name(f: Callable[..., Any]) -> str | None:
    """Return the qualified name of a function, such as "torch.Tensor.add", or None if not overridable."""
    return _names().get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return True if a function is a method of tensors, or an accessor of a tensor attribute."""
    of_attribute = getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__")
    return of_attribute or func in set(_functions_by_namespace()[Tensor].values())


# ---------------------------------------------------------------- modes


class TorchFunctionMode:
    """Context manager whose `__torch_function__` intercepts functions that this thread calls in its block.

    While `__torch_function__` runs, the mode is disabled. Functions called by `__torch_function__` are
    intercepted by the enclosing mode, or by overriding classes if no mode encloses this mode.
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        modes.push(self)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        modes.pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Return an instance. As in PyTorch, this method is deprecated."""
        warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Mode that calls each function unchanged."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    return modes.stack()[-1] if modes.stack() else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(modes.stack())


def has_function_modes() -> bool:
    """Return True if a mode intercepts functions."""
    return bool(_get_current_function_mode_stack())


def _push_mode(mode: Any) -> None:
    modes.push(mode)


def _pop_mode() -> Any:
    return modes.pop()


_pop_mode_temporarily = modes.pop_mode


def enable_reentrant_dispatch() -> DisableTorchFunction:
    """Return a context manager in which classes override functions even within `__torch_function__`."""
    return DisableTorchFunction(False)
