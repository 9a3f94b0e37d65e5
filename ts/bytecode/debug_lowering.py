"""Lowering of a graph to code that the debugger can stop at each source line (single-stepping).

In: a graph of the pipeline `STEPPING`, in which a `prim::Line` before each source line reads all variables.
Out: a `Code` with a BREAK for each `prim::Line`, and debug information: for each BREAK, a `StopPoint` that
maps variables to registers.

    x = x + 1          prim::Line(%x.1, %n)            BREAK    0, stop point 7, [r2, r0]
                       %x.5 = aten::add(%x.1, %1)      ADD_I64  r3, r2, r5

The operand 0 is the index of the `Breakpoints` in the object table of the code.  The registers that a BREAK
lists are not reused before the next BREAK.  A caller is always between two of its BREAKs, so the debugger can
also show the caller's variables.  `Code.lines` stores, for each instruction, the number of the last stop
point before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ts._core.value.spec import TypeSpec
from ts._core.vm.breaks import Breakpoints
from ts._core.vm.code import Code
from ts.bytecode.instruction import Instruction
from ts.bytecode.lower import Lowering
from ts.bytecode.opcodes import NUMBER
from ts.ir.graph import Block, Graph, Node
from ts.ir.source import SourceRange
from ts.ir.types import Type


@dataclass
class StopPoint:
    """Position at which the debugger can stop, with the names, types and registers of the variables."""

    number: int
    function: str
    range: SourceRange
    event: str  # "line", "return" or "breakpoint"
    # name of a visible variable -> its type. The key "return" has the type of the function's result.
    types: dict[str, Type]
    owner: Any  # the function that contains the stop point, as compiled for the debugger
    is_entry: bool = False
    registers: tuple[int, ...] = ()

    @property
    def line(self) -> int:
        """Line number in the source file."""
        return self.range.line

    @property
    def filename(self) -> str:
        """Path of the source file, or "<string>" if the source has no file."""
        return self.range.source.filename or "<string>"


class DebugInfo(Protocol):
    """Attributes and methods of the debugger that the lowering uses."""

    breakpoints: Breakpoints
    stop_points: list[StopPoint]

    def debug_version(self, function: Any) -> Any:
        """Return the version of a called function that is compiled for the debugger."""


class Stack(tuple[tuple[str, Any], ...]):
    """Entry of `Code.lines`: call stack of an instruction, and number of the last stop point before it."""

    stop_point: int


class _Line(NamedTuple):
    """Source line of an instruction, with the number of the stop point before the instruction."""

    line: Any
    stop_point: int


class SteppingLowering(Lowering):
    """Lowering of one graph for the debugger."""

    def __init__(
        self, graph: Graph, name: str, prepare: Callable[[Graph, str], Code], debugging: DebugInfo, owner: Any
    ) -> None:
        super().__init__(graph, name, prepare, debugging.debug_version)
        self.debugging = debugging
        self.owner = owner
        self.last_stop_point = -1  # index of the stop point that was emitted last, or -1 if there is none
        self.visible_registers: tuple[
            int, ...
        ] = ()  # registers of the variables that the debugger shows at the last stop point
        self.stop_points: list[StopPoint] = []

    def lower_line(self, node: Node) -> None:
        """Emit a BREAK for a `prim::Line` and add its stop point."""
        names = node.get("names")
        registers = tuple(self.use(value) for value in node.inputs())
        event = node.get("event")
        types = {name: value.type() for name, value in zip(names, node.inputs(), strict=True)}
        index = self.debugging.breakpoints.add_stop_point(event == "breakpoint", event == "return")
        is_entry = not self.stop_points and event != "return"
        assert node.range is not None  # stop points belong to statements, which have source ranges
        stop_point = StopPoint(index, self.name, node.range, event, types, self.owner, is_entry)
        self.debugging.stop_points.append(stop_point)
        self.stop_points.append(stop_point)
        self.last_stop_point, self.visible_registers = index, registers
        self.emit(
            "BREAK", self.function_index(self.debugging.breakpoints), index, register_list=list(registers)
        )

    def lower_nodes(self, block: Block) -> None:
        """Lower `block`. For code behind it, the last stop point is the one before the block."""
        before = self.last_stop_point, self.visible_registers
        super().lower_nodes(block)
        self.last_stop_point, self.visible_registers = before

    def emit(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        register_list: list[int] | None = None,
        results: int = 0,
    ) -> Instruction:
        """Append an instruction. It counts as a read of the variables at the last stop point."""
        instruction = super().emit(name, a, b, c, register_list, results)
        instruction.line = _Line(self.line, self.last_stop_point)
        instruction.keeps = (*instruction.keeps, *self.visible_registers)
        instruction.refresh()
        return instruction

    def _may_be_deferred(self, node: Node) -> bool:
        """Return whether `node` may be lowered at its use. Conditions may not: the debugger stops there."""
        return node.kind() == "aten::__range_length" and super()._may_be_deferred(node)

    def stack_of(self, line: Any) -> Stack:
        """Return the call stack at a node, with the number of the stop point before the node."""
        marked = line if isinstance(line, _Line) else _Line(line, -1)
        stack = Stack(super().stack_of(marked.line))
        stack.stop_point = marked.stop_point
        return stack

    def assemble(self, parameters: Sequence[TypeSpec], result: TypeSpec) -> Code:
        """Assemble the code, and store in each stop point the registers of its variables."""
        code = super().assemble(parameters, result)
        for index, offset in _breaks(code):
            stop_point = self.debugging.stop_points[index]
            stop_point.registers = tuple(code.operand_pool_list(offset))
        return code


def _breaks(code: Code) -> Iterator[tuple[int, int]]:
    """Yield (index of the stop point, pool offset) for each BREAK."""
    for opcode, _, index, offset in code.instructions:
        if opcode == NUMBER["BREAK"]:
            yield index, offset
