"""Dispatch modes (`__torch_dispatch__`), which intercept operators below autograd.

A mode intercepts the operators that its `with` block calls. The example prints `aten.t.default` and
`aten.mm.default`:

    class Logging(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)
            return func(*args, **(kwargs or {}))

    with Logging():
        ts.nn.functional.linear(x, w)

A handler receives the overload that would run, after function transforms and autograd. Composite operators
are decomposed first. Operators that compute gradients reach the handler when `backward` runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ts
from ts._core.dispatch_layers import dispatch_modes, level_stack
from ts._core.tensor.subclasses import is_traceable_wrapper_subclass, is_traceable_wrapper_subclass_type
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracingScope, current_tracer
from ts.export.decompositions import decomposition_table
from ts.export.node_arguments import readable
from ts.export.python_calls import overload_for_numbers, with_factory_options
from ts.ops.namespace import OpOverload, overload_named
from ts.tracing.meta_tracer import MetaTracer
from ts.unsupported import names_for

__all__ = [
    "BaseTorchDispatchMode",
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]

__getattr__ = names_for(__name__)


# ---------------------------------------------------------------- arguments of handlers


def _arguments(op: Any, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and keyword arguments of a call.

    Keyword arguments and trailing positional arguments that equal their defaults are omitted.
    """
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    positional_count = 0
    for p, x in zip(op.signature.parameters, values, strict=True):
        is_default = p.has_default and _is_default(x, p.default)
        argument = readable(p.kind, x)
        if p.keyword_only:
            if not is_default:
                keywords[p.name] = argument
        else:
            positional.append(argument)
            positional_count = positional_count if is_default else len(positional)
    return tuple(positional[:positional_count]), keywords


def _is_default(x: Any, default: Any) -> bool:
    if x is None or default is None:
        return x is default
    return type(x) is type(default) and not isinstance(x, Tensor) and bool(x == default)


def build_call(op: Any, values: list[Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return the arguments (func, args, kwargs) of a `__torch_dispatch__` handler for an operator call."""
    op = overload_for_numbers(op)
    values = with_factory_options(op, values)
    return overload_named(op.name, op.overload), *_arguments(op, values)


def find_decomposition(op: Any) -> Callable[..., Any] | None:
    """Return the decomposition of a composite operator as a function, or None for other operators."""
    function = decomposition_table.implicit_decomposition(op)
    if function is None:
        return None

    def run(*values: Any) -> Any:
        positional, keywords = [], {}
        for p, x in zip(op.signature.parameters, values, strict=True):
            if p.keyword_only:
                keywords[p.name] = readable(p.kind, x)
            else:
                positional.append(readable(p.kind, x))
        return function(*positional, **keywords)

    return run


# ---------------------------------------------------------------- modes


class _OperatorTracer(MetaTracer):
    """Tracer that is active while a thread has modes.

    It runs indexing, `item` and other tensor methods as operators, which the modes intercept.
    """

    has_elements = True

    def __init__(self, outer: Any) -> None:
        self.outer = outer  # tracer that was active when the mode was entered

    def as_meta(self, x: Any) -> Any:
        """Return the tensor itself, where other tracers return a proxy."""
        return x

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator, so that the active modes intercept the call."""
        with TracingScope(self.outer):
            if isinstance(operators, OpOverload):
                return operators(*args, **(kwargs or {}))
            op, values, _ = operators.resolve(args, kwargs or {})
            result = op.call_list(with_factory_options(op, values))
            if (kwargs or {}).get("requires_grad") is True and isinstance(result, Tensor):
                result.requires_grad_()
            return operators.for_python(op, result) if hasattr(operators, "for_python") else result

    def element(self, x: Tensor) -> Any:
        """Return x.item()."""
        return ts.ops.aten._local_scalar_dense(x)

    def record_constructed(self, x: Tensor, function: str) -> Tensor:
        """Run `aten.lift_fresh` on a tensor that was constructed from Python numbers."""
        return ts.ops.aten.lift_fresh(x)  # type: ignore[no-any-return]

    def literal(self, x: Tensor) -> Tensor:
        """Run `aten.lift_fresh` on a tensor created from Python numbers in an index or assignment."""
        return ts.ops.aten.lift_fresh(x)  # type: ignore[no-any-return]

    def record_escape(self, x: Tensor, kind: str, scalar: Any) -> None:
        """Run `aten._local_scalar_dense` on a tensor that becomes a Python number.

        Do nothing if the kind of the conversion is "list" or "length", because PyTorch then calls no
        operator.
        """
        if kind not in ("list", "length"):
            with TracingScope(self.outer):
                ts.ops.aten._local_scalar_dense(x)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a scripted function, so that the active modes intercept its operators."""
        with TracingScope(self.outer):
            return function(*args, **kwargs)


class TorchDispatchMode:
    """Mode whose `__torch_dispatch__` is called for each operator that the thread calls inside `with mode:`.

    The mode is inactive inside its handler: operators that the handler calls reach the enclosing mode.
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
        """Return an instance. As in PyTorch, this method is deprecated."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Return False, because `ts` has no modes of the compiler, unlike PyTorch."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """Mode that runs all operators unchanged."""

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
    scope = TracingScope(_OperatorTracer(current_tracer()))
    scope.__enter__()
    _tracer_scopes().append(scope)
    dispatch_modes.push(mode)


def _pop_mode(k: Any = None) -> Any:
    _tracer_scopes().pop().__exit__(None, None, None)
    return dispatch_modes.pop()


_thread = threading.local()


def _tracer_scopes() -> list[TracingScope]:
    """Return the tracer scopes of this thread, one for each mode on the stack."""
    if not hasattr(_thread, "scopes"):
        _thread.scopes = []
    return _thread.scopes  # type: ignore[no-any-return]


_pop_mode_temporarily = dispatch_modes.without_last
_disable_current_modes = dispatch_modes.without_all


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Return True if a dispatch mode is active in this thread."""
    return bool(dispatch_modes.stack())


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Return True if a dispatch mode is active in this thread.

    PyTorch does not count modes of its compiler.
    """
    return bool(dispatch_modes.stack())


# ---------------------------------------------------------------- wrapper subclasses


def _operator_of(func: Any) -> Any:
    if not isinstance(func, OpOverload):
        raise AssertionError(f"func must be an OpOverload, got {type(func).__name__}")
    return func.operator


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Return the result of a wrapper subclass's handler: `out`, or the mutated arguments.

    If the schema of `func` states that all results are mutated arguments, return these arguments. Raise
    RuntimeError if only some results are mutated arguments. If `func` changes sizes or strides in place
    (`t_`), those of the wrapper change, too.
    """
    operator = _operator_of(func)
    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        raise AssertionError("args must be a tuple and kwargs a dict")
    values = operator.bind_python(args, kwargs)
    returns = operator.signature.returns
    base = operator.record.base if operator.record is not None else None
    if base is not None and operator.record.variant == "inplace" and _returns_view(base):
        with level_stack.no_transforms():
            func(*args, **kwargs)
    if not any(r.alias_of >= 0 for r in returns):
        return out
    if not all(r.alias_of >= 0 for r in returns):
        raise RuntimeError(f"Unsupported schema: {operator.schema_text}")
    results = tuple(values[r.alias_of] for r in returns)
    return results[0] if len(results) == 1 else results


def _returns_view(record: Any) -> bool:
    """Return True if an operator returns a view of an argument."""
    return any(r.alias_info is not None and not r.alias_info.is_write for r in record.schema.returns)


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """Return the wrapper tensor `t` with each inner tensor replaced by `callback(attribute name, inner)`."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    wrapped = type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)
    if wrapped.shape != outer_size:
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to "
            f"{outer_size}, but got: {wrapped.shape}"
        )
    if wrapped.stride() != outer_stride:
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have stride equal to "
            f"{outer_stride}, but got: {wrapped.stride()}"
        )
    return wrapped
