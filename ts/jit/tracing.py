"""Tracing: runs a function or module once on example inputs, and records the tensor operations.

Example:

    traced = ts.jit.trace(f, (x, y))                 # a ScriptFunction
    traced = ts.jit.trace(net, x)                    # a module, with `forward`
    traced = ts.jit.trace_module(net, {"forward": x, "encode": y})

A trace contains only the branches that the example inputs take. A branch on a computed number (`if x.sum() >
0:`) causes a TracerWarning during tracing, and adds a guard. In later calls, the guard raises an error if the
condition has another value. With `guards="warn"`, the guard only warns. With `guards="off"`, there is no
guard, as in PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.frontend.compile_directives import callable_argument_names
from ts.nn.modules.module import Module
from ts.runtime.jit_enabled import enabled
from ts.runtime.module import ScriptModule
from ts.tracing.check_trace import TracingCheckError, check_trace
from ts.tracing.guards import FAILURES
from ts.tracing.traced_module import TopLevelTracedModule, trace_function, trace_methods, trace_to_graph
from ts.tracing.tracer import Options, TracerWarning
from ts.tracing.types import check_element_types, type_message

__all__ = ["TracerWarning", "TracingCheckError", "get_trace_graph", "trace", "trace_module"]


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Sequence[Any] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: None = None,
    _compilation_unit: None = None,
    example_kwarg_inputs: Mapping[str, Any] | None = None,
    _store_inputs: bool = True,
    *,
    guards: str = "raise",
) -> Any:
    """Trace `func` on `example_inputs` and return the recorded program.

    With `check_trace`, trace and run the function again on `example_inputs`, or on each of `check_inputs`,
    and report differences. With `strict=False`, the result may be a dict, and a list as result causes no
    warning. The structure of the result must then be independent of the inputs.

    Python code may compute a value from the inputs, such as `int(x)` or `x.sum() > 0` in an `if`. `guards`
    selects the reaction of the trace if such a value differs from the value for the example inputs:

    - "raise": raise a RuntimeError with the expression, its recorded and actual value, and the line.
    - "warn": warn with that message, and compute with the example's value.
    - "off": compute with the example's value without a check, as PyTorch's traces do.
    """
    if not enabled():
        return func
    _warn_of_optimize(optimize)
    options = _options(strict, _force_outplace, guards)
    if isinstance(func, ScriptModule) and func._object is not None:
        warnings.warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as "
            "is.",
            stacklevel=2,
        )
        return func
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and not isinstance(func, Module):
        if func.__name__ != "forward":
            raise AttributeError(
                "trace doesn't support compiling individual module's functions.\nPlease use trace_module"
            )
        func = owner
    inputs = _inputs(func, example_inputs, example_kwarg_inputs)
    checks = None if check_inputs is None else [_as_tuple(each) for each in check_inputs]
    if isinstance(func, Module):
        return trace_module(
            func,
            {"forward": inputs},
            None,
            check_trace,
            None if checks is None else [{"forward": each} for each in checks],
            check_tolerance,
            strict,
            _force_outplace,
            guards=guards,
        )
    _check_types(inputs)
    traced = trace_function(func, inputs, callable_argument_names(func), options)
    if check_trace:
        _check(
            func,
            traced,
            [inputs] if checks is None else checks,
            lambda arguments: trace_function(func, arguments, callable_argument_names(func), options),
            check_tolerance,
        )
    return traced


def trace_module(
    mod: Module,
    inputs: Mapping[str, Any],
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Sequence[Mapping[str, Any]] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: None = None,
    _compilation_unit: None = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
    *,
    guards: str = "raise",
) -> Any:
    """Trace the methods named by the keys of `inputs`, and return the traced module.

    For `guards`, see `trace`.
    """
    if not enabled():
        return mod
    _warn_of_optimize(optimize)
    options = _options(strict, _force_outplace, guards)
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, Mapping):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for module in mod.modules():
        if module is not None and getattr(module, "_backward_hooks", None):
            raise ValueError("Modules that have backward hooks assigned can't be compiled: " + str(module))
    arguments_by_method = {name: _as_tuple(each) for name, each in inputs.items()}
    for each in arguments_by_method.values():
        _check_types(each)

    def traced_on(arguments: Mapping[str, Sequence[Any]]) -> TopLevelTracedModule:
        return trace_methods(mod, arguments, callable_argument_names, options)

    traced = traced_on(arguments_by_method)
    if check_trace:
        for name, arguments in arguments_by_method.items():
            checks = [arguments]
            if check_inputs is not None:
                checks = [_as_tuple(each[name]) for each in check_inputs]
            _check(
                mod if name == "forward" else getattr(mod, name),
                getattr(traced, name),
                checks,
                lambda example: getattr(traced_on({name: example}), name),  # noqa: B023 -- called at once
                check_tolerance,
            )
    return traced


def get_trace_graph(
    f: Any,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    strict: bool = True,
    _force_outplace: bool = False,
    return_inputs: bool = False,
    _return_inputs_states: bool = False,
) -> tuple[Any, ...]:
    """Trace a call of `f`, and return the tuple (graph, result).

    Parameters and buffers of `f` are additional inputs of the graph.

    With `return_inputs`, the tuple has a third item, the values of all inputs of the graph in this call.
    """
    arguments = _as_tuple(args)
    function = f if not kwargs else lambda *inputs: f(*inputs, **kwargs)
    names = callable_argument_names(f.forward if isinstance(f, Module) else f)
    copies = _copies(arguments) if return_inputs else arguments
    graph, result, state = trace_to_graph(f, function, arguments, names, Options(strict, _force_outplace))
    return (graph, result, (*copies, *state)) if return_inputs else (graph, result)


def _check(
    function: Callable[..., Any],
    traced: Any,
    checks: Sequence[Sequence[Any]],
    trace_again: Callable[[Sequence[Any]], Any],
    tolerance: float,
) -> None:
    for inputs in checks:
        check_trace(function, traced, trace_again, lambda: _copies(inputs), tolerance)  # noqa: B023


def _options(strict: bool, force_outplace: bool, guards: str) -> Options:
    if guards not in FAILURES:
        raise ValueError(f"guards: expected one of {', '.join(map(repr, FAILURES))}, but got {guards!r}")
    return Options(strict, force_outplace, guards)


def _warn_of_optimize(optimize: object) -> None:
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead",
            FutureWarning,
            stacklevel=3,
        )


# ---- checks and copies of example inputs -----------------------------------------------------------


def _inputs(func: Any, inputs: Any, keyword_inputs: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Return the example arguments as a tuple, in the order of the parameters."""
    if keyword_inputs is None:
        if inputs is None:
            raise RuntimeError("example_kwarg_inputs should be a dict")
        return _as_tuple(inputs)
    if inputs is not None:
        raise RuntimeError("Only one of example_inputs and example_kwarg_inputs can be given")
    if not isinstance(keyword_inputs, Mapping):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    names = callable_argument_names(func.forward if isinstance(func, Module) else func)
    unknown = [name for name in keyword_inputs if name not in names]
    if unknown or list(names[: len(keyword_inputs)]) != [name for name in names if name in keyword_inputs]:
        raise RuntimeError(
            f"example_kwarg_inputs {list(keyword_inputs)} do not match the parameters {names} of the function"
        )
    return tuple(keyword_inputs[name] for name in names[: len(keyword_inputs)])


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    """Return the arguments as a tuple. A single tensor or dict becomes a tuple with one item."""
    return (inputs,) if isinstance(inputs, Tensor | dict) else tuple(inputs)


def _check_types(inputs: tuple[Any, ...]) -> None:
    """Raise RuntimeError for inputs that a trace does not support."""
    check_element_types(inputs)
    checked: dict[int, bool] = {}

    def check(x: Any) -> bool:
        """Return True if `x` is a tensor, or a list, tuple or dict whose items all pass this check.

        Each container is visited only once.
        """
        if isinstance(x, Tensor):
            return True
        if not isinstance(x, list | tuple | dict):
            return False
        if id(x) not in checked:
            checked[id(x)] = False not in [check(item) for item in (x.values() if isinstance(x, dict) else x)]
        return checked[id(x)]

    if not check(inputs):
        raise RuntimeError(
            f"Type '{type_message(inputs)}' cannot be traced. Only Tensors and (possibly nested) Lists, "
            "Dicts, and Tuples of Tensors can be traced"
        )


def _copies(x: Any, memo: dict[int, Any] | None = None) -> Any:
    """Copy a structure and its tensors, so that in-place operators do not change the originals.

    A container that occurs several times is copied once.
    """
    if isinstance(x, Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    if not isinstance(x, list | tuple | dict):
        return x
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)]
    copy: Any
    if isinstance(x, dict):
        copy = {key: _copies(item, memo) for key, item in x.items()}
    else:
        copy = [_copies(item, memo) for item in x]
        if isinstance(x, tuple):
            copy = type(x)(*copy) if hasattr(x, "_fields") else tuple(copy)
    memo[id(x)] = copy
    return copy
