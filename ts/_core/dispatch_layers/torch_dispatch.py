"""Calls of the `__torch_dispatch__` handlers of modes and tensor classes, to run an operator.

Handlers are called below autograd, transforms and autocast, with the arguments (func, types, args, kwargs).
The handler of the thread's last mode is called first, then the handlers of the tensors' classes. The
operator's result is the first handler result that is not NotImplemented. An operator that writes to an
argument always returns this argument.

A composite operator runs its decomposition instead. A mode is disabled inside its handler, and autograd is
disabled inside all handlers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ts._core.dispatch_layers import dispatch_modes, level_stack
from ts._core.late_binding import resolve
from ts._core.tensor.subclasses import is_dispatched
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import follow_view, share_version, version, written
from ts._core.thread.context import GradMode, TracingScope


def is_composite(op: Any) -> bool:
    """Return whether an operator has a decomposition.

    If so, handlers receive the operators of the decomposition.
    """
    return resolve("torch_dispatch_decomposition")(op) is not None


def run(op: Any, values: list[Any]) -> Any:
    """Call the `__torch_dispatch__` handlers for an operator. A composite operator is decomposed first."""
    if not _is_visible(op):
        with dispatch_modes.without_all(), level_stack.no_transforms(), TracingScope(None):
            return op.call_list(values)
    function = resolve("torch_dispatch_decomposition")(op)
    if function is not None:
        result = level_stack.call_decomposition(function, values)
        if result is not NotImplemented:
            return result
    dispatched = _dispatched_tensors(values)
    # There is no handler to call if no mode is active and only the base of a view has a handler.
    if not dispatched and not dispatch_modes.is_active():
        return level_stack.run_without_layers(op, values)
    versions = [(x, version(x)) for x in _written_tensors(op, values)]
    func, args, kwargs = resolve("torch_dispatch_call")(op, values)
    result = _call_handlers(func, dispatched, args, kwargs)
    for x, before in versions:
        if version(x) == before:
            written(x)
    return _with_aliases(op, values, result)


def _call_handlers(func: Any, dispatched: list[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the first handler result other than NotImplemented.

    Raise TypeError if no handler returns one.
    """
    types = tuple(type(x) for x in dispatched)
    refusing: list[str] = []
    if dispatch_modes.is_active():
        with dispatch_modes.without_last() as mode, TracingScope(None), GradMode(False):
            result = mode.__torch_dispatch__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
        refusing.append(f"mode object {mode}")
    for x in dispatched:
        with TracingScope(None), GradMode(False):
            result = x.__torch_dispatch__(func, types, args, kwargs)  # type: ignore[attr-defined]
        if result is not NotImplemented:
            return result
        refusing.append(f"tensor subclass {type(x)}")
    listed = "".join(f"\n\n  - {each}" for each in refusing)
    raise TypeError(
        f"Multiple dispatch failed for 'torch._ops.{func}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:{listed}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _is_visible(op: Any) -> bool:
    """Return whether handlers are called for an operator. Queries such as `aten::size` are excluded."""
    returns, record = op.signature.returns, op.record
    if any("Tensor" in r.kind for r in returns) or any(p.written for p in op.signature.parameters):
        return True
    return not returns or bool(record.reads_elements) or record.side_effect


# ---------------------------------------------------------------- tensors of classes with handlers


def has_dispatched(values: Iterable[Any]) -> bool:
    """Return whether `values` or nested lists contain a tensor whose class has a handler."""
    return any(has_dispatched(x) if isinstance(x, list | tuple) else is_dispatched(x) for x in values)


def _dispatched_tensors(values: list[Any]) -> list[Tensor]:
    """Return one tensor for each class with a handler.

    The order is from left to right, except that subclasses come before their base classes.
    """
    result: list[Tensor] = []
    for x in _tensors(values):
        if not is_dispatched(x) or any(type(x) is type(y) for y in result):
            continue
        index = next((i for i, y in enumerate(result) if isinstance(x, type(y))), len(result))
        result.insert(index, x)
    return result


def _written_tensors(op: Any, values: list[Any]) -> list[Tensor]:
    """Return the tensors that the operator writes, including those in lists, whose class has a handler."""
    parameters = op.signature.parameters
    of_written = [x for p, x in zip(parameters, values, strict=True) if p.written]
    return [x for x in _tensors(of_written) if is_dispatched(x)]


def _tensors(values: list[Any]) -> list[Tensor]:
    result: list[Tensor] = []
    for x in values:
        if isinstance(x, Tensor):
            result.append(x)
        elif isinstance(x, list):
            result += _tensors(x)
    return result


# ---------------------------------------------------------------- results of handlers


def _with_aliases(op: Any, values: list[Any], result: Any) -> Any:
    """Convert a handler's results as the schema requires.

    A result that the schema declares as a written argument is replaced by this argument. A result that it
    declares as a view becomes a view of its argument.
    """
    returns = op.signature.returns
    if not returns:
        return None
    if len(returns) == 1:
        return _with_alias(op, returns[0], values, result)
    if not isinstance(result, tuple | list):
        raise RuntimeError(f"Object of type '{type(result).__name__}' is not an instance of 'sequence'")
    if len(result) != len(returns):
        raise RuntimeError(
            f"__torch_dispatch__ returned {len(result)} results for {op.name}, expected {len(returns)}"
        )
    return tuple(_with_alias(op, r, values, x) for r, x in zip(returns, result, strict=True))


def _with_alias(op: Any, declared: Any, values: list[Any], result: Any) -> Any:
    if declared.alias_of >= 0:
        return values[declared.alias_of]
    if declared.kind == "Tensor" and not isinstance(result, Tensor) and result is not None:
        raise RuntimeError(f"Unable to cast {result!r} to Tensor")
    if declared.kind.endswith("[]"):
        if not isinstance(result, tuple | list):
            raise RuntimeError(
                f"Unable to cast Python instance of type {type(result)} to C++ type '?' (#define "
                "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
            )
        result = list(result)
    if declared.view_of >= 0 and is_dispatched(values[declared.view_of]):
        for view in result if isinstance(result, list) else [result]:
            _mark_view(op, values[declared.view_of], view)
    return result


def _mark_view(op: Any, base: Tensor, view: Any) -> None:
    """Make a handler's result a view of `base`.

    For `detach`, the result only shares the version counter of `base`.
    """
    if op.record.detaches:
        if is_dispatched(view) and view is not base:
            share_version(view, base)
        return
    if view is base:
        raise RuntimeError(
            "View operation returned a tensor that is the same as the input base tensor.  This is no longer "
            "allowed; you must explicitly create a new tensor (e.g., using .detach()). As a user, you could "
            "have made a mistake implementing __torch_dispatch__ or a Python operator decomposition or meta "
            "registration; if that's not the case, please report a bug to PyTorch or the backend you are "
            "using."
        )
    if is_dispatched(view) and view._base is None:
        follow_view(view, base)
