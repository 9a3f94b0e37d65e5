"""Lowering of a graph to code that the debugger can stop at each source line (single-stepping).

The pipeline `STEPPING` inserts a `prim::Line` node before each source line. This node reads all variables. It
becomes a BREAK instruction and a `StopPoint`, which maps variables to registers. A source line, its nodes and
their instructions:

    x = x + 1          prim::Line(%x.1, %n)            BREAK    0, stop point 7, [r2, r0]
                       %x.5 = aten::add(%x.1, %1)      ADD_I64  r3, r2, r5

In the example, the BREAK contains the number 7 of its stop point and the registers of x and n. The operand 0
is the index of the `Breakpoints` in the object table. The registers of a BREAK are not reused before the next
BREAK. Therefore, the debugger can also show the variables of callers. `Code.lines` stores the number of the
last stop point before each instruction.
"""

from __future__ import annotations

from typing import Any, Protocol

from ts._core.vm.breaks import Breakpoints
from ts._core.vm.code import Code
from ts.bytecode.lower import lower_graph
from ts.bytecode.lowering import LineTable, Lowering, lowers
from ts.bytecode.opcodes import NUMBER
from ts.bytecode.stop_points import Stack, StopPoint
from ts.bytecode.subgraph_functions import Prepare
from ts.ir.graph import Graph, Node


class DebugInfo(Protocol):
    """Attributes and methods of the debugger that the lowering uses."""

    breakpoints: Breakpoints
    stop_points: list[StopPoint]

    def debug_version(self, function: Any) -> Any:
        """Return the version of a called function that is compiled for the debugger."""


class SteppingLines(LineTable):
    """Line table of one function that also creates its stop points for the debugger.

    Each source position is stored with the index of the last stop point before it.
    """

    def __init__(self, name: str, debugging: DebugInfo, owner: Any) -> None:
        super().__init__(name)
        self._debugging = debugging
        self._owner = owner
        self._is_empty = True

    def add_stop_point(self, low: Lowering, node: Node) -> None:
        """Emit a BREAK for a `prim::Line` and add its stop point."""
        breakpoints, event = self._debugging.breakpoints, node.get("event")
        registers = low.use_all(node.inputs())
        types = {name: value.type() for name, value in zip(node.get("names"), node.inputs(), strict=True)}
        index = breakpoints.add_stop_point(event == "breakpoint", event == "return")
        is_entry = self._is_empty and event != "return"
        self._is_empty = False
        assert node.range is not None  # stop points belong to statements, which have source ranges
        self._debugging.stop_points.append(
            StopPoint(index, self.name, node.range, event, types, self._owner, is_entry)
        )
        self.stop_point = index, tuple(registers)
        low.emit("BREAK", low.functions.index(breakpoints), index, register_list=registers)

    def position(self) -> Any:
        """Return the source position of the next instruction, with the index of the last stop point."""
        return self.line, self.stop_point[0]

    def stack_of(self, line: Any) -> Stack:
        """Return the call stack at a node, with the number of the stop point before the node."""
        line, stop_point = line or (None, -1)
        stack = Stack(super().stack_of(line))
        stack.stop_point = stop_point
        return stack


@lowers("prim::Line")
def _lower_line(low: Lowering, node: Node) -> None:
    assert isinstance(low.lines, SteppingLines)
    low.lines.add_stop_point(low, node)


def lower_for_debugger(graph: Graph, name: str, prepare: Prepare, debugging: DebugInfo, owner: Any) -> Code:
    """Return the code of a graph, and store in each stop point the registers of its variables.

    The code computes the bool values of all conditions, because the debugger stops at conditions.
    """
    lines = SteppingLines(name, debugging, owner)
    low = Lowering(graph, lines, prepare, debugging.debug_version, defers_conditions=False)
    code = lower_graph(low).code()
    for opcode, _, index, offset in code.instructions:
        if opcode == NUMBER["BREAK"]:
            debugging.stop_points[index].registers = tuple(code.operand_pool_list(offset))
    return code
