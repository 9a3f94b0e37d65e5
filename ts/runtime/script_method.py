"""Methods of scripted modules as Python sees them.

In: a module and the compiled function of one of its methods.  Out: something to call, and to look at:

    scripted.method(x)                             runs it on the module's object
    scripted.method.graph, scripted.method.code    every stage of its compilation
    @script_method                                 marks a method of a `ScriptModule` class to be compiled
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ts.ir.graph import Graph
from ts.ir.python_print import to_source
from ts.ir.schema import FunctionSchema
from ts.runtime.function import ScriptFunction
from ts.runtime.switch import enabled

if TYPE_CHECKING:
    from ts._core.vm.execution import Execution
    from ts.runtime.module import ScriptModule


class ConstMap:
    """The constants of a source text as attributes `c0`, `c1`, ..."""

    def __init__(self, constants: Sequence[Any]) -> None:
        self.const_mapping = {f"c{i}": value for i, value in enumerate(constants)}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["const_mapping"][name]
        except KeyError:
            raise AttributeError(f"there is no constant {name}") from None


class ScriptMethod:
    """A compiled method of one module."""

    def __init__(self, owner: ScriptModule, function: ScriptFunction) -> None:
        self.owner = owner
        self.function = function
        self.name = self.__name__ = function.name
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__qualname__, self.__annotations__ = function.__qualname__, function.__annotations__

    @property
    def __signature__(self) -> inspect.Signature:
        """Parameters as Python shows them, without the module."""
        whole = self.function.__signature__
        return whole.replace(parameters=[*whole.parameters.values()][1:])

    @property
    def __wrapped__(self) -> Any:
        """The method of Python that was compiled; of an archive there is none."""
        try:
            method = self.function.__wrapped__
        except AttributeError:
            raise AttributeError(f"nothing of Python is behind the method '{self.name}'") from None
        return method.__get__(self.owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.owner._object, *args, **kwargs)

    def start(self, *args: Any, **kwargs: Any) -> Execution:
        """The call as an `Execution`, which has not begun."""
        return self.function.start(self.owner._object, *args, **kwargs)

    @property
    def graph(self) -> Graph:
        """The graph as the frontend left it; its first input is the module."""
        return self.function.graph

    @property
    def inlined_graph(self) -> Graph:
        """The graph with all calls inlined."""
        return self.function.inlined_graph

    @property
    def schema(self) -> FunctionSchema:
        """Parameters and results."""
        return self.function.schema

    @property
    def code(self) -> str:
        """The graph as source text."""
        return self.code_with_constants[0]

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """The source text, and the constants without a literal that it calls `CONSTANTS.c0`, ..."""
        constants: list[Any] = []
        text = to_source(self.graph, self.name, self.schema, constants, method=True)
        return text, ConstMap(constants)

    @property
    def bytecode(self) -> str:
        """The disassembly of what runs."""
        return self.function.bytecode

    @property
    def plan(self) -> str:
        """What runs as one in it, on what inputs, and what does not, and why."""
        from ts.runtime.plan import plan_of

        return plan_of(self.function, f"{self.owner.original_name}.{self.name}")

    def peak_memory(self, *args: Any, **kwargs: Any) -> int:
        """The most bytes that a call with these arguments holds at once beside them: `ScriptFunction`."""
        return self.function.peak_memory(self.owner._object, *args, **kwargs)

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that runs for these arguments."""
        return self.function.graph_for(self.owner._object, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<ScriptMethod {self.function.qualified_name}>"


class OverloadedScriptMethod:
    """A method with several declarations, called from Python: the first one that takes the arguments."""

    def __init__(self, owner: ScriptModule, methods: list[ScriptFunction]) -> None:
        self.methods = [ScriptMethod(owner, method) for method in methods]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for method in self.methods[:-1]:
            try:
                return method(*args, **kwargs)
            except (RuntimeError, TypeError) as error:
                if "Expected a value of type" not in str(error):
                    raise
        return self.methods[-1](*args, **kwargs)

    @property
    def plan(self) -> str:
        """The plans of all declarations, one after the other."""
        from ts.runtime.plan import PlanText

        return PlanText("\n".join(method.plan for method in self.methods))


class ScriptMethodMarker:
    """A method of a ScriptModule class that is to be compiled."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function


def script_method(function: FunctionType) -> Any:
    """Mark a method of a `ScriptModule` to be compiled when the module is made."""
    if not enabled():
        return function
    if function.__code__.co_argcount == 0:
        raise RuntimeError(f"methods must have a self argument; write `def {function.__name__}(self, ...)`")
    return ScriptMethodMarker(function)
