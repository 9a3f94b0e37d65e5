"""Specialization of gradient code to gradients known to be zero or defined.

In the example, %z is an undefined gradient (the result of `prim::AutogradZero()`), and %x is defined. The
value on the right replaces the node on the left:

    %s : Tensor = prim::AutogradAdd(%x, %z)             =>    %x
    %s : Tensor = prim::AutogradAdd(%x, %y)             =>    aten::add(%x, %y, %one), if both are defined
    %b : bool = prim::AutogradAnyNonZero(%z, %x)        =>    true
    %b : bool = prim::AutogradAnyNonZero(%z, %z)        =>    false
    %y : Tensor = prim::If(%b)                          =>    the taken branch

The types of graph inputs state which inputs are undefined. Results of operators are always defined.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from ts.ir.graph import Graph, Node, Value
from ts.ir.types import TensorType
from ts.passes.pass_utils import constant_value, inline_block_before
from ts.passes.rewriter import Rewriter, Rule, RuleSet


class _GradState(Enum):
    ZERO = auto()
    DEFINED = auto()
    UNKNOWN = auto()


def specialize_autogradzero(graph: Graph) -> bool:
    """Simplify nodes whose input gradients are known to be zero or known to be defined."""
    return _RULES.apply(graph)


def _state(value: Value) -> _GradState:
    node, type = value.node(), value.type()
    if node is node.owning_graph().param_node():
        is_undefined = type.undefined_ if isinstance(type, TensorType) else False
        return {True: _GradState.ZERO, False: _GradState.DEFINED, None: _GradState.UNKNOWN}[is_undefined]
    if node.kind() == "prim::AutogradZero":
        return _GradState.ZERO
    return _GradState.DEFINED if node.schema() is not None else _GradState.UNKNOWN


def _add(rewriter: Rewriter, node: Node) -> Value | None:
    states = [_state(value) for value in node.inputs()]
    if _GradState.ZERO in states:
        return node.input(1 - states.index(_GradState.ZERO))
    if states != [_GradState.DEFINED, _GradState.DEFINED]:
        return None
    return rewriter.call(node, "aten::add", [*node.inputs(), rewriter.constant(node, 1)])


def _any_nonzero(rewriter: Rewriter, node: Node) -> Value | None:
    states = [_state(value) for value in node.inputs()]
    if _GradState.DEFINED not in states and _GradState.UNKNOWN in states:
        return None
    return rewriter.constant(node, _GradState.DEFINED in states)


def _take_branch(_: Rewriter, choice: Node) -> list[Value] | None:
    """Replace an `if` with a constant condition by the taken branch."""
    condition = constant_value(choice.input())
    if not isinstance(condition, bool):
        return None
    block = choice.blocks()[0 if condition else 1]
    inline_block_before(block, choice)
    return list(block.outputs())


_RULES: Final = RuleSet(
    "specialize_autogradzero",
    Rule("prim::AutogradAdd", _add),
    Rule("prim::AutogradAnyNonZero", _any_nonzero),
    Rule("prim::If", _take_branch),
)
