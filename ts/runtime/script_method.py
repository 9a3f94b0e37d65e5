"""Methods of scripted modules, callable from Python.

A `ScriptMethod` combines a module with the compiled function of one of its methods:

    scripted.method(x)                             calls the method with the module as `self`
    scripted.method.graph, scripted.method.code    stages of its compilation

The decorator `@script_method` marks a method of a `ScriptModule` class that is compiled.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ts.ir.graph import Graph
from ts.ir.schema import FunctionSchema
from ts.runtime.function import ScriptFunction
from ts.runtime.jit_enabled import enabled

if TYPE_CHECKING:
    from ts._core.vm.execution import ScriptCoroutine
    from ts.runtime.module import ScriptModule


class ConstMap:
    """Constants of a printed source text, as attributes `c0`, `c1`, ..."""

    def __init__(self, constants: Sequence[Any]) -> None:
        self.const_mapping = {f"c{i}": value for i, value in enumerate(constants)}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["const_mapping"][name]
        except KeyError:
            raise AttributeError(f"unknown constant {name}") from None


class ScriptMethod:
    """Compiled method of a scripted module."""

    def __init__(self, owner: ScriptModule, function: ScriptFunction) -> None:
        self.owner = owner
        self.function = function
        self.name = self.__name__ = function.name
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__qualname__, self.__annotations__ = function.__qualname__, function.__annotations__

    @property
    def __signature__(self) -> inspect.Signature:
        """Python signature of the method, without the module."""
        signature = self.function.__signature__
        return signature.replace(parameters=[*signature.parameters.values()][1:])

    @property
    def __wrapped__(self) -> Any:
        """Original Python method. Raises AttributeError for methods of archives."""
        try:
            method = self.function.__wrapped__
        except AttributeError:
            raise AttributeError(f"the method '{self.name}' was not compiled from a Python method") from None
        return method.__get__(self.owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method with the scripted module as `self`."""
        return self.function(self.owner._object, *args, **kwargs)

    def get_debug_state(self) -> Any:
        """Return the executed graph and the execution plans of the method."""
        return self.function.get_debug_state()

    def start(self, *args: Any, **kwargs: Any) -> ScriptCoroutine:
        """Return a `ScriptCoroutine` for a call of the method, without starting the call."""
        return self.function.start(self.owner._object, *args, **kwargs)

    @property
    def graph(self) -> Graph:
        """Graph of the method before optimization. The first input is the module."""
        return self.function.graph

    @property
    def inlined_graph(self) -> Graph:
        """Graph in which all calls are inlined."""
        return self.function.inlined_graph

    @property
    def schema(self) -> FunctionSchema:
        """Schema of the method: name, parameters and results."""
        return self.function.schema

    @property
    def code(self) -> str:
        """Source text of the graph."""
        return self.code_with_constants[0]

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """Source text of the graph, and the constants that the text refers to (`CONSTANTS.c0`, ...)."""
        from ts.ir.python_print import to_source  # imported here: loading and calling do not need it

        constants: list[Any] = []
        source = to_source(self.graph, self.name, self.schema, constants, method=True)
        return source, ConstMap(constants)

    @property
    def bytecode(self) -> str:
        """Disassembly of the executed code."""
        return self.function.bytecode

    @property
    def plan(self) -> str:
        """Optimization report: fusion groups, their inputs, and why other nodes are not fused."""
        from ts.runtime.plan_report import format_plan_report

        return format_plan_report(self.function, f"{self.owner.original_name}.{self.name}")

    def peak_memory(self, *args: Any, **kwargs: Any) -> int:
        """Return the peak memory of a call in bytes (see `ScriptFunction.peak_memory`)."""
        return self.function.peak_memory(self.owner._object, *args, **kwargs)

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the optimized graph for the given arguments, annotated with tensor types."""
        return self.function.graph_for(self.owner._object, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<ScriptMethod {self.function.qualified_name}>"


class OverloadedScriptMethod:
    """Method with overloads: a call from Python runs the first overload that accepts the arguments."""

    def __init__(self, owner: ScriptModule, methods: list[ScriptFunction]) -> None:
        self.methods = [ScriptMethod(owner, method) for method in methods]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the first overload that accepts the arguments."""
        for method in self.methods[:-1]:
            try:
                return method(*args, **kwargs)
            except (RuntimeError, TypeError) as error:
                if "Expected a value of type" not in str(error):
                    raise
        return self.methods[-1](*args, **kwargs)

    @property
    def plan(self) -> str:
        """Optimization reports of all overloads."""
        from ts.runtime.plan_report import ReportText

        return ReportText("\n".join(method.plan for method in self.methods))


class ScriptMethodMarker:
    """Marker of a `ScriptModule` method that is compiled with the module."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function


def script_method(function: FunctionType) -> Any:
    """Mark a method of a `ScriptModule` to be compiled when the module is created."""
    if not enabled():
        return function
    if function.__code__.co_argcount == 0:
        raise RuntimeError(f"methods must have a self argument; write `def {function.__name__}(self, ...)`")
    return ScriptMethodMarker(function)
