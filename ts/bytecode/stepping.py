"""Graphs to code that a debugger can stop in.

In: a graph of the pipeline `STEPPING`: a `prim::Line` stands before each line and reads all variables.
Out: a `Code` with a BREAK for each of them, and a `Place` that says which register holds which variable.

    x = x + 1          prim::Line(%x.1, %n)            BREAK    0, place 7, [r2, r0]
                       %x.5 = aten::add(%x.1, %1)      ADD_I64  r3, r2, r5

From a BREAK to the next, its registers keep their values, so that the callers of a function that stopped can
be looked at as well; each entry of `Code.lines` knows the place before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ts._core.value.spec import TypeSpec
from ts._core.vm.breaks import Breaks
from ts._core.vm.code import Code
from ts.bytecode.instruction import Instruction
from ts.bytecode.lower import Lowering
from ts.bytecode.opcodes import NUMBER
from ts.ir.graph import Block, Graph, Node
from ts.ir.source import SourceRange
from ts.ir.types import Type


@dataclass
class Place:
    """Where a program may stop."""

    number: int
    function: str
    range: SourceRange
    event: str  # line, return or breakpoint
    types: dict[str, Type]  # of the variables; the one called `return` is what a function gives
    owner: Any  # the function for debugging
    is_entry: bool = False
    registers: tuple[int, ...] = ()

    @property
    def line(self) -> int:
        """The number of the line in its file."""
        return self.range.line

    @property
    def filename(self) -> str:
        """The file, as the source names it."""
        return self.range.source.filename or "<string>"


class Debugging(Protocol):
    """What the lowering needs of a debugger."""

    breaks: Breaks
    places: list[Place]

    def twin(self, function: Any) -> Any:
        """What is to run instead of a function."""


class Stack(tuple[tuple[str, Any], ...]):
    """An entry of `Code.lines` that knows its place."""

    place: int


class _Line(NamedTuple):
    """The line of an instruction, and the number of the place before it."""

    line: Any
    place: int


class SteppingLowering(Lowering):
    """The lowering of one graph for a debugger."""

    def __init__(
        self, graph: Graph, name: str, prepare: Callable[[Graph, str], Code], debugging: Debugging, owner: Any
    ) -> None:
        super().__init__(graph, name, prepare, debugging.twin)
        self.debugging = debugging
        self.owner = owner
        self.here = -1  # the number of the last place
        self.visible: tuple[int, ...] = ()  # the registers of its variables
        self.found: list[Place] = []

    def lower_line(self, node: Node) -> None:
        """A BREAK."""
        names = node.get("names")
        registers = tuple(self.use(value) for value in node.inputs())
        event = node.get("event")
        types = {name: value.type() for name, value in zip(names, node.inputs(), strict=True)}
        number = self.debugging.breaks.new_place(event == "breakpoint", event == "return")
        is_entry = not self.found and event != "return"
        assert node.range is not None  # each statement has one
        place = Place(number, self.name, node.range, event, types, self.owner, is_entry)
        self.debugging.places.append(place)
        self.found.append(place)
        self.here, self.visible = number, registers
        self.emit("BREAK", self.function_number(self.debugging.breaks), number, pool=list(registers))

    def lower_nodes(self, block: Block) -> None:
        """What follows a block belongs to the line before it again."""
        before = self.here, self.visible
        super().lower_nodes(block)
        self.here, self.visible = before

    def emit(
        self, name: str, a: Any = 0, b: Any = 0, c: Any = 0, pool: list[int] | None = None, results: int = 0
    ) -> Instruction:
        instruction = super().emit(name, a, b, c, pool, results)
        instruction.line = _Line(self.line, self.here)
        instruction.keeps = (*instruction.keeps, *self.visible)
        instruction.refresh()
        return instruction

    def _may_be_deferred(self, node: Node) -> bool:
        """Conditions are computed in the lines where they stand."""
        return node.kind() == "aten::__range_length" and super()._may_be_deferred(node)

    def stack_of(self, line: Any) -> Stack:
        marked = line if isinstance(line, _Line) else _Line(line, -1)
        stack = Stack(super().stack_of(marked.line))
        stack.place = marked.place
        return stack

    def assemble(self, parameters: Sequence[TypeSpec], result: TypeSpec) -> Code:
        code = super().assemble(parameters, result)
        for number, offset in _breaks(code):
            place = self.debugging.places[number]
            place.registers = tuple(code.pool_list(offset))
        return code


def _breaks(code: Code) -> Iterator[tuple[int, int]]:
    """(place, offset in the pool) of each BREAK."""
    for opcode, _, place, offset in code.instructions:
        if opcode == NUMBER["BREAK"]:
            yield place, offset
