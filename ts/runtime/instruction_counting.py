"""Instruction counting of executed code, including the instructions of called functions.

The example calls `f(3)` and then returns the number of executed instructions of each kind:

    counter = InstructionCounter()
    CountedFunction(f, counter)(3)
    counter.instructions()                    Counter({"ADD_I64": 12, ...})

Functions are not counted if they are forked, called through an interface, or created by a closure.
"""

from __future__ import annotations

from typing import Any

from ts._core.vm.function import Function
from ts.bytecode.instruction_counter import InstructionCounter
from ts.bytecode.serialized_code import SerializedCode
from ts.frontend.load_policy import UNRESTRICTED
from ts.runtime.function import ScriptFunction
from ts.runtime.graph_variants import prepare_program


class CountedFunction(Function):
    """Function that runs the code of `original` with counters.

    `instrumented` is a dict from each `ScriptFunction` to its `CountedFunction`. The counted code calls the
    latter, so that callees are counted, too.
    """

    def __init__(
        self,
        original: ScriptFunction,
        counter: InstructionCounter,
        instrumented: dict[ScriptFunction, CountedFunction] | None = None,
    ) -> None:
        original.ensure_compiled()
        super().__init__(original.name, original.arguments, original.declaration, result=original.result)
        self._original = original
        self._counter = counter
        self._instrumented = {} if instrumented is None else instrumented
        self._instrumented[original] = self
        self.program: SerializedCode | None = None  # program with counters, or None before the first call

    def _prepare(self) -> Any:
        _, program = prepare_program(self._original.graph, self._original.name, UNRESTRICTED)
        self.program = program._replace(functions=[self._instrument(each) for each in program.functions])
        return self._counter.instrument(self.program)

    def _instrument(self, function: Any) -> Any:
        if not isinstance(function, ScriptFunction):
            return function
        return self._instrumented.get(function) or CountedFunction(
            function, self._counter, self._instrumented
        )
