"""Lowering of optimized graphs to verified bytecode, which the interpreter executes.

A graph, and its instructions:

    graph(%n : int):                                    0  MOVE         r1, r4          r1 := 0
      %t : int = prim::Loop(%n, %true, %zero)           1  MOVE         r2, r4          r2 := 0
        block0(%i : int, %s : int):             =>      2  JUMP_LE_I64  5, r0, r4
          %u : int = aten::add(%s, %i)                  3  ADD_I64      r2, r2, r1
          -> (%true, %u)                                4  LOOP_STEP    3, r1, r0
      return (%t)                                       5  RETURN       r2

Each value has a virtual register. A loop-carried value uses one register in all iterations. The outputs of
`prim::If` and `prim::Loop` become copies, which register allocation coalesces. Comparisons that only decide a
branch become conditional jumps. Other operators become their opcode, or a call if they have no opcode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.assembler.instruction import Label
from ts._core.vm.code import Code
from ts.bytecode import (  # noqa: F401  (these modules register functions for node kinds)
    lower_containers,
    lower_objects,
    lower_operators,
)
from ts.bytecode.assembler import assemble
from ts.bytecode.lower_control_flow import lower_branch
from ts.bytecode.lowering import LineTable, Lowering, ReplaceFunction, lowers
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.subgraph_functions import Prepare, differentiable_operator
from ts.fusion.fusion_rules import program_of_graph
from ts.fusion.program import group_operator
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import TupleType
from ts.passes.graph_fuser import fuse_fallback


def lower(graph: Graph, name: str = "graph", prepare: Prepare | None = None) -> Code:
    """Return the code of a graph. `prepare` compiles a subgraph before the first run of the subgraph."""
    return lower_to_program(graph, name, prepare)[0]


def lower_to_program(
    graph: Graph,
    name: str,
    prepare: Prepare | None = None,
    replace_function: ReplaceFunction | None = None,
    prepare_differentiable: Prepare | None = None,
) -> tuple[Code, SerializedCode]:
    """Lower a graph. Return its code, and the `SerializedCode` from which the code is built.

    `Lowering` describes the arguments.
    """
    lines = LineTable(name)
    program = lower_graph(Lowering(graph, lines, prepare or lower, replace_function, prepare_differentiable))
    return program.code(), program


def lower_graph(low: Lowering) -> SerializedCode:
    """Lower the graph of `low`, allocate registers and assemble."""
    block = low.graph.block()
    for value in block.inputs():
        low.define(value)
    low.lower_nodes(block)
    if not low.terminated:
        outputs = block.outputs()
        if len(outputs) == 1:
            result = low.use(outputs[0])
        elif not outputs:
            result = low.constant(None, "x")
        else:
            result = low.new_register("o")
            tuple_type = TupleType([value.type() for value in outputs])
            registers = low.use_all(outputs)
            low.emit("TUPLE_NEW", result, low.types.index(tuple_type), register_list=registers)
        low.emit("RETURN", result)
    return assemble(low)


@lowers("prim::FusionGroup")
def _lower_fusion_group(low: Lowering, node: Node) -> None:
    """Lower a fusion group to a call of its kernel."""
    subgraph: Graph = node.get("Subgraph")
    program, values = program_of_graph(subgraph)
    fallback = fuse_fallback(subgraph) if program.continues else subgraph
    _lower_subgraph(low, node, group_operator(program), values, fallback)


@lowers("prim::DifferentiableGraph")
def _lower_differentiable_graph(low: Lowering, node: Node) -> None:
    """Lower a differentiable graph to a call that runs it and records its backward graph."""
    subgraph: Graph = node.get("Subgraph")
    operator = differentiable_operator(subgraph, low.prepare_differentiable)
    _lower_subgraph(low, node, operator, subgraph.inputs(), subgraph)


def _lower_subgraph(
    low: Lowering, node: Node, operator: Any, values: Sequence[Value], fallback: Graph
) -> None:
    """Emit a call of `operator` with values of the subgraph of `node`, and after it the nodes of `fallback`.

    The nodes run only if the operator returns False.
    """
    for graph in (node.get("Subgraph"), fallback):
        for inner, outer in zip(graph.inputs(), node.inputs(), strict=True):
            low.registers.values[inner] = low.use(outer)
    inputs = low.use_all(values)
    outputs = [low.define(value) for value in node.outputs()]
    success, end = low.new_register("b"), Label()
    low.call_operator(operator, inputs, [success, *outputs])
    low.depth += 1
    low.emit("JUMP_IF", end, success)
    lower_branch(low, fallback.block(), outputs)
    low.depth -= 1
    low.bind_label(end)


@lowers("prim::RaiseException")
def _lower_raise(low: Lowering, node: Node) -> None:
    name = low.use(node.input(1)) if len(node.inputs()) > 1 else low.constant(None, "x")
    low.emit("RAISE", low.use(node.input()), name)


@lowers("prim::Print")
def _lower_print(low: Lowering, node: Node) -> None:
    low.emit("PRINT", register_list=low.use_all(node.inputs()))


@lowers("prim::Breakpoint")
def _lower_breakpoint(low: Lowering, node: Node) -> None:
    """Emit nothing, because breakpoints only take effect in code lowered for the debugger."""
