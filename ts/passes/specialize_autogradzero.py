"""Specialization of gradient code to gradients known to be zero or defined.

    %z : Tensor = prim::AutogradZero()
    %s : Tensor = prim::AutogradAdd(%x, %z)             =>    %x
    %s : Tensor = prim::AutogradAdd(%x, %y)             =>    aten::add(%x, %y, %one), if both are defined
    %b : bool = prim::AutogradAnyNonZero(%z, %x)        =>    true
    %b : bool = prim::AutogradAnyNonZero(%z, %z)        =>    false
    %y : Tensor = prim::If(%b)                                the taken branch

The type of a graph input says whether it is an undefined tensor. Results of operators are always defined.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TensorType
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value, inline_block_before


class _GradState(Enum):
    ZERO = auto()
    DEFINED = auto()
    UNKNOWN = auto()


_KINDS: Final = ("prim::AutogradAdd", "prim::AutogradAnyNonZero", "prim::If")


def specialize_autogradzero(graph: Graph) -> bool:
    """Simplify nodes whose input gradients are known to be zero or known to be defined."""
    states: dict[Value, _GradState] = {}
    for value in graph.inputs():
        value_type = value.type()
        is_undefined = value_type.undefined_ if isinstance(value_type, TensorType) else False
        states[value] = {True: _GradState.ZERO, False: _GradState.DEFINED, None: _GradState.UNKNOWN}[
            is_undefined
        ]
    return _visit(graph.block(), states)


def _visit(block: Block, states: dict[Value, _GradState]) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner, states)
        if node.kind() in _KINDS and optimization_allowed("specialize_autogradzero"):
            changed |= _decide(node, states)
        for output in node.outputs() if node.in_block() else ():
            states.setdefault(output, _state(node))
    return changed


def _state(node: Node) -> _GradState:
    if node.kind() == "prim::AutogradZero":
        return _GradState.ZERO
    return _GradState.DEFINED if node.schema() is not None else _GradState.UNKNOWN


def _decide(node: Node, states: dict[Value, _GradState]) -> bool:
    graph = node.owning_graph()
    inputs = node.inputs()
    input_states = [states.get(value, _GradState.UNKNOWN) for value in inputs]
    if node.kind() == "prim::If":
        return _take_branch(node)
    with graph.inserting_before(node):
        if node.kind() == "prim::AutogradAnyNonZero":
            if _GradState.DEFINED not in input_states and _GradState.UNKNOWN in input_states:
                return False
            result = graph.insert_constant(_GradState.DEFINED in input_states)
        elif _GradState.ZERO in input_states:
            result = inputs[1 - input_states.index(_GradState.ZERO)]
        elif input_states == [_GradState.DEFINED, _GradState.DEFINED]:
            result = graph.insert("aten::add", [*inputs, graph.insert_constant(1)])
            states[result] = _GradState.DEFINED
        else:
            return False
    update("specialize_autogradzero", "Replacing {}", node)
    node.output().replace_all_uses_with(result)
    node.destroy()
    return True


def _take_branch(choice: Node) -> bool:
    """Replace an `if` with a constant condition by the taken branch; return True if it was replaced."""
    condition = constant_value(choice.input())
    if not isinstance(condition, bool):
        return False
    block = choice.blocks()[0 if condition else 1]
    inline_block_before(block, choice)
    for output, value in zip(choice.outputs(), block.outputs(), strict=True):
        output.replace_all_uses_with(value)
    choice.destroy()
    return True
