"""Modes that see operators below autograd: `__torch_dispatch__`, as PyTorch's module of this name has it.

    class Logging(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)
            return func(*args, **(kwargs or {}))

    with Logging():
        ts.nn.functional.linear(x, w)          prints aten.t.default, aten.mm.default

A handler gets the overload that runs, after function transforms and autograd: composite operators come as
their parts, and those of gradients when `backward` runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ts
from ts._core.layers import dispatch_modes
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracedBy, current_tracer
from ts.absent import names_for
from ts.export.decompositions import table
from ts.export.node_values import readable
from ts.export.python_calls import overload_for_numbers, with_factory_options
from ts.ops.namespace import OpOverload, overload_named
from ts.tracing.indexing import get_index, put_index
from ts.tracing.without_elements import WithoutElements

__all__ = [
    "BaseTorchDispatchMode",
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
]

__getattr__ = names_for(__name__)


# ---------------------------------------------------------------- what handlers are given


def _arguments(op: Any, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, by position up to the last that is no default, and those by name."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    needed = 0
    for p, x in zip(op.signature.parameters, values, strict=True):
        is_default = p.has_default and _is_default(x, p.default)
        made = readable(p.kind, x)
        if p.keyword_only:
            if not is_default:
                named[p.name] = made
        else:
            positional.append(made)
            needed = needed if is_default else len(positional)
    return tuple(positional[:needed]), named


def _is_default(x: Any, default: Any) -> bool:
    if x is None or default is None:
        return x is default
    return type(x) is type(default) and not isinstance(x, Tensor) and bool(x == default)


def _call_of(op: Any, values: list[Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    op = overload_for_numbers(op)
    return overload_named(op.name, op.overload), *_arguments(op, values)


def _composite(op: Any) -> Callable[..., Any] | None:
    """Return what runs a composite operator on the values of its parameters; None for other operators."""
    function = table.implicit().get(op.key)
    if function is None:
        return None

    def run(*values: Any) -> Any:
        positional, named = [], {}
        for p, x in zip(op.signature.parameters, values, strict=True):
            if p.keyword_only:
                named[p.name] = readable(p.kind, x)
            else:
                positional.append(readable(p.kind, x))
        return function(*positional, **named)

    return run


dispatch_modes.set_rules(_composite, _call_of)


# ---------------------------------------------------------------- modes


class _Watcher(WithoutElements):
    """What a thread with modes asks for methods of tensors that have no operator: they become operators."""

    def __init__(self, outer: Any) -> None:
        self.outer = outer  # the tracer around the mode

    def like(self, x: Any) -> Any:
        """The tensor itself."""
        return x

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """An operator, which the modes see where it runs."""
        with TracedBy(self.outer):
            if isinstance(operators, OpOverload):
                return operators(*args, **(kwargs or {}))
            op, values, _ = operators.resolve(args, kwargs or {})
            result = op.call_list(with_factory_options(op, values))
            if (kwargs or {}).get("requires_grad") is True and isinstance(result, Tensor):
                result.requires_grad_()
            return operators.for_python(op, result) if hasattr(operators, "for_python") else result

    def get(self, x: Tensor, index: Any) -> Any:
        """x[index]"""
        return get_index(x, index, skip_whole=True)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """x[index] = value"""
        put_index(x, index, value, skip_whole=True)

    def to(self, x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        """x.to(...)"""
        return self.unrecorded(lambda: x.to(*args, **kwargs))  # type: ignore[no-any-return]

    def element(self, x: Tensor) -> Any:
        """x.item()"""
        return ts.ops.aten._local_scalar_dense(x)

    def constructed(self, x: Tensor, function: str) -> Tensor:
        """A tensor of numbers of Python."""
        return ts.ops.aten.lift_fresh(x)  # type: ignore[no-any-return]

    def literal(self, x: Tensor) -> Tensor:
        """A tensor that is made of numbers in an index or an assignment."""
        return ts.ops.aten.lift_fresh(x)  # type: ignore[no-any-return]

    def listed(self, x: Tensor) -> Any:
        """x.tolist(), which is no operator."""
        return None

    def escape(self, x: Tensor, kind: str, number: Any) -> None:
        """A tensor becomes a value of Python: its only element is asked for by an operator."""
        if kind not in ("list", "length"):
            with TracedBy(self.outer):
                ts.ops.aten._local_scalar_dense(x)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A scripted function, whose operators the modes see."""
        with TracedBy(self.outer):
            return function(*args, **kwargs)


class TorchDispatchMode:
    """Inside of `with mode:` its `__torch_dispatch__` is called for the operators that the thread runs.

    In the handler the mode is off: what it calls goes to the mode around it.
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchDispatchMode:
        _push_mode(self)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """Return an instance; deprecated in PyTorch, too."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Return whether it belongs to the compiler: modes of programs do not."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that runs every operator as it is."""

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode() -> Any:
    return dispatch_modes.stack()[-1] if dispatch_modes.stack() else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    return list(dispatch_modes.stack())


def _len_torch_dispatch_stack() -> int:
    return len(dispatch_modes.stack())


def _push_mode(mode: TorchDispatchMode) -> None:
    watching = TracedBy(_Watcher(current_tracer()))
    watching.__enter__()
    _watching().append(watching)
    dispatch_modes.push(mode)


def _pop_mode(k: Any = None) -> Any:
    _watching().pop().__exit__(None, None, None)
    return dispatch_modes.pop()


_of_thread = threading.local()


def _watching() -> list[TracedBy]:
    """Return the blocks in which the thread's methods of tensors become operators, one for each mode."""
    if not hasattr(_of_thread, "watching"):
        _of_thread.watching = []
    return _of_thread.watching  # type: ignore[no-any-return]


_pop_mode_temporarily = dispatch_modes.without_last
_disable_current_modes = dispatch_modes.without_all


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Return whether the thread is inside of a mode."""
    return bool(dispatch_modes.stack())


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Return whether the thread is inside of a mode that compiled code would have to keep."""
    return bool(dispatch_modes.stack())


# ---------------------------------------------------------------- classes of tensors


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Return whether a tensor is of a class that says which tensors it is made of (`__tensor_flatten__`)."""
    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Return whether a class of tensors says which tensors it is made of."""
    is_subclass = issubclass(t, Tensor) and t is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
