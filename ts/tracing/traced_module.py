"""Traced functions and modules: results of `ts.jit.trace`, created from recorded graphs.

A Python function is traced to a `ScriptFunction`. A module is traced to a `TopLevelTracedModule`, whose
submodules have the class `TracedModule`. A submodule has a `forward` if it is called during the trace. The
right column shows uses of the results:

    traced = trace_function(f, (x,), ...)                    traced.graph, traced(x)
    traced = trace_methods(net, {"forward": (x,)}, ...)      traced.layers[0].graph, traced.weight
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.value.build_lock import build_lock
from ts.frontend import modules, naming
from ts.frontend.modules import ConcreteModule
from ts.ir.graph import Graph
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import TENSOR, Type, erase_shape
from ts.passes.dce import eliminate_dead_code
from ts.passes.erase_shapes import erase_shape_information
from ts.passes.inline import inline_if_everything
from ts.passes.preserve_raising_code import set_graph_to_execute
from ts.passes.tracing.trace_scopes import convert_scopes
from ts.passes.unwrap_numbers import unwrap_numbers
from ts.runtime.function import ScriptFunction
from ts.runtime.module import RecursiveScriptModule, ScriptModule, compile_entry_points, object_tree
from ts.tracing.tracer import Options, Tracer

ROOT = "__module"


class TracedModule(RecursiveScriptModule):
    """Scripted module whose methods are traces."""

    def _get_name(self) -> str:
        return type(self).__name__ if self.__dict__.get("_object") is None else self.original_name


class TopLevelTracedModule(TracedModule):
    """Traced module that `ts.jit.trace` returns."""


def trace_function(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    names: Sequence[str],
    options: Options,
) -> ScriptFunction:
    """Return the trace of a call of `function`."""
    graph, _ = record(function, inputs, names, Tracer(options))
    convert_scopes(graph, None, _no_methods)
    eliminate_dead_code(graph)
    traced = _named(function)
    traced.__doc__ = getattr(function, "__doc__", None)
    return finish(traced, graph)


def record(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    names: Sequence[str],
    tracer: Tracer,
) -> tuple[Graph, Any]:
    """Record a call of `function`, and return the graph and the result of the call."""
    arguments = [tracer.add_input(x, names[i] if i < len(names) else "") for i, x in enumerate(inputs)]
    with tracer.recording():
        result = function(*arguments)
        tracer.add_output(result)
    return tracer.graph, result


def trace_methods(
    module: Any,
    inputs: Mapping[str, Sequence[Any]],
    names_of: Callable[[Any], list[str]],
    options: Options,
) -> TopLevelTracedModule:
    """Return the traced module for `module`, with a traced method for each key of `inputs`."""
    with build_lock():
        concrete = modules.concrete_module(module, share_types=False, traced=True)
        handle, children = object_tree(module, concrete, TracedModule)
    traced_module = TopLevelTracedModule(concrete, handle, children)
    by_path: dict[str, ConcreteModule] = {}
    _collect_by_path(concrete, ROOT, by_path)
    for name, arguments in inputs.items():
        method = getattr(module, name)
        tracer = Tracer(options)
        self_value = tracer.graph.add_input("self", concrete.type)
        tracer.set_value(handle, self_value)
        _add_attributes(tracer, module, traced_module, ROOT)
        graph, _ = record(module if name == "forward" else method, arguments, names_of(method), tracer)
        convert_scopes(graph, ROOT, lambda path, body: _declare(by_path[path], body, "forward"))
        eliminate_dead_code(graph)
        _declare(concrete, graph, name)
    compile_entry_points(concrete)
    return traced_module


def _collect_by_path(concrete: ConcreteModule, path: str, by_path: dict[str, ConcreteModule]) -> None:
    by_path[path] = concrete
    for name, submodule in concrete.submodules.items():
        _collect_by_path(submodule, f"{path}.{name}", by_path)


def _add_attributes(tracer: Tracer, module: Any, traced_module: ScriptModule, path: str) -> None:
    """Register the tensors and submodules of `module` with the tracer, as attributes of `traced_module`."""
    if path != ROOT:
        tracer.paths.setdefault(id(module), path)
    for name, type in traced_module._concrete.type.attributes.items():
        below = f"{path}.{name}"
        child = module._modules.get(name)
        if child is not None:
            inner = traced_module._modules[name]
            tracer.add_attribute(below, inner._object, type)
            _add_attributes(tracer, child, inner, below)
        else:
            value = getattr(module, name, None)
            if isinstance(value, Tensor):
                tracer.add_attribute(below, value, TENSOR)


def _declare(concrete: ConcreteModule, graph: Graph, name: str) -> tuple[str, Type]:
    """Declare a method of a module. The second trace of a method is named `forward1`."""
    methods = concrete.type.methods
    free, count = name, 0
    while free in methods:
        count += 1
        free = f"{name}{count}"
    eliminate_dead_code(graph)
    method = ScriptFunction(free, f"{concrete.type.qualified_name()}.{free}")
    methods[free] = finish(method, graph)
    return free, method.schema.returns[0].type


def _no_methods(path: str, graph: Graph) -> tuple[str, Type]:
    raise AssertionError("a function has no submodules")


def finish(function: ScriptFunction, graph: Graph) -> ScriptFunction:
    """Set the graph of a function to the graph of a trace."""
    inline_if_everything(graph)
    arguments = tuple(
        Argument(v.debug_name_base() if v.has_debug_name() else f"argument_{i}", erase_shape(v.type()))
        for i, v in enumerate(graph.inputs())
    )
    returns = tuple(Argument("", erase_shape(v.type())) for v in graph.outputs())
    function.finish(graph, FunctionSchema(function.name, "", arguments, returns))
    runs = graph.copy()
    erase_shape_information(runs)
    unwrap_numbers(runs)
    set_graph_to_execute(graph, runs)
    return function


def _named(function: Any) -> ScriptFunction:
    """Create an empty script function with a unique qualified name, for a trace."""
    function = getattr(function, "__func__", function)
    name = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "_lambda")
    is_plain = isinstance(function, FunctionType)
    qualified = naming.unique_name(naming.qualified_name(function) if is_plain else f"__torch__.{name}")
    traced = ScriptFunction(name, qualified)
    return traced


def trace_to_graph(
    module: Any,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    names: Sequence[str],
    options: Options,
) -> tuple[Graph, Any, list[Tensor]]:
    """Record a call, and return (graph, result, tensors).

    The tensors of the module are additional inputs of the graph.
    """
    tracer = Tracer(options)
    arguments = [tracer.add_input(x, names[i] if i < len(names) else "") for i, x in enumerate(inputs)]
    state: list[Tensor] = []
    if hasattr(module, "named_parameters"):
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if tracer.find(tensor) is None:
                tracer.add_input(tensor, name)
                state.append(tensor)
    with tracer.recording():
        result = function(*arguments)
        tracer.add_output(result)
    convert_scopes(tracer.graph, None, _no_methods)
    eliminate_dead_code(tracer.graph)
    return tracer.graph, result, state
