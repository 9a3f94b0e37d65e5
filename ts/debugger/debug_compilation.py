"""Debug compilation, which compiles functions again with a stop point before every line.

Input: a function. Output: its debug version, which calls `on_stop` at stop points. The debug version calls
the debug versions of its callees. Example:

    debugging = DebugCode(on_stop, on_failure, on_code)
    debug_f = debugging.debug_version(f)
    debug_f(3)
    debugging.prepare_all(debug_f)         compiles all reachable functions, to find all stop points

Functions without source (created from a graph) have no debug version and run unchanged. A function that calls
`breakpoint()` always runs as a debug version (`prepare_with_breakpoints`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ts._core.value.build_lock import build_lock
from ts._core.vm.breaks import Breakpoints, PausedProgram
from ts._core.vm.code import Code
from ts._core.vm.function import Function
from ts.bytecode.debug_lowering import lower_for_debugger
from ts.bytecode.stop_points import StopPoint
from ts.bytecode.subgraph_functions import SubgraphFunction
from ts.frontend import compile
from ts.frontend.parse import ParsedFunction
from ts.ir.graph import Graph
from ts.runtime.deep_recursion import run_with_large_stack
from ts.runtime.function import ScriptFunction, compile_function
from ts.runtime.gc_pause import gc_disabled
from ts.runtime.graph_variants import enter_autocast


class DebugFunction(Function):
    """Function that was compiled with stop points for a debugger."""

    def __init__(self, original: ScriptFunction, parsed: ParsedFunction, code: DebugCode) -> None:
        super().__init__(original.name, original.arguments, original.declaration, result=original.result)
        self.original = original
        self.parsed = parsed
        self._code = code

    def _prepare(self) -> Code:
        return self._code.prepare(self.original, self.parsed, self)

    def parameters(self) -> list[str]:
        """Names of the parameters of the function."""
        return [argument.arg for argument in self.parsed.arguments]

    def lookup_names(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of `names` in the function's globals.

        Names that cannot be resolved are omitted.
        """
        values = {}
        for name in names:
            with suppress(KeyError):
                values[name] = self.parsed.resolver.lookup(name)
        return values


class DebugCode:
    """Debug versions of functions for one debugger, with their stop points."""

    def __init__(
        self,
        on_stop: Callable[[PausedProgram, StopPoint, bool], None],
        on_failure: Callable[[PausedProgram, BaseException], None],
        on_code: Callable[[], None],
    ) -> None:
        """Store the callbacks for stops, failures and new stop points."""
        self.stop_points: list[StopPoint] = []
        self.breakpoints = Breakpoints(
            lambda paused, n, is_armed: on_stop(paused, self.stop_points[n], is_armed), on_failure
        )
        self._on_code = on_code
        # id of a function -> (the function, its debug version)
        self._debug_versions: dict[int, tuple[Any, Any]] = {}

    def debug_version(self, function: Any) -> Any:
        """Return the debug version of a function, or the function itself if it has no source."""
        entry = self._debug_versions.get(id(function))
        if entry is None:
            parsed = function.definition() if isinstance(function, ScriptFunction) else None
            debug_function = function if parsed is None else DebugFunction(function, parsed, self)
            entry = self._debug_versions[id(function)] = function, debug_function
        return entry[1]

    def prepare(self, original: ScriptFunction, parsed: ParsedFunction, owner: Any) -> Code:
        """Compile the debug version of a function."""

        def lower(graph: Graph, name: str) -> Code:
            return lower_for_debugger(graph, name, lower, self, owner)

        def compile_and_lower() -> Code:
            graph = compile.compile_function(parsed, compile_function, lines=True).graph
            enter_autocast(graph)
            return lower(graph, original.name)

        with build_lock(), gc_disabled(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first compilation has shown the warnings
            code: Code = run_with_large_stack(compile_and_lower)
        self._on_code()
        return code

    def prepare_all(self, debug_function: Function) -> None:
        """Compile the debug versions of all functions that `debug_function` calls, directly or indirectly.

        Interface methods are not compiled, because they are not known before the call.
        """
        seen: set[int] = set()
        pending = [debug_function]
        while pending:
            function = pending.pop()
            if id(function) not in seen:
                seen.add(id(function))
                callees = function.compiled_code.functions
                pending += [f for f in callees if isinstance(f, DebugFunction | SubgraphFunction)]
