"""Normalization of operators with several names to one name.

Later passes then need rules for one name only. The pass replaces the nodes on the left by those on the right:

    %y : Tensor = aten::absolute(%x)         =>    %y : Tensor = aten::abs(%x)
    %z : Tensor = aten::rsub(%x, %y, %a)     =>    %z : Tensor = aten::sub(%y, %x, %a)

`OperatorRecord.same_as` defines the other names of an operator.
"""

from __future__ import annotations

from typing import Final

from ts._core.builtin_ops.properties import VALUE_COMPARISONS
from ts.ir.graph import Graph, Node, Value
from ts.ops import registry
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def normalize_ops(graph: Graph) -> bool:
    """Replace operators that have several names by the operator with the canonical name."""
    renamed = " ".join(kind for kind in graph.kinds() if registry.canonical(kind) != kind)
    rules = RuleSet("normalize_ops", Rule(renamed, _rename), *_RULES) if renamed else _OPERAND_RULES
    return rules.apply(graph)


def _rename(rewriter: Rewriter, node: Node) -> list[Value]:
    return rewriter.replace_kind(node, registry.canonical(node.kind()))


def _swap_operands(rewriter: Rewriter, node: Node) -> list[Value] | None:
    first, second, *others = node.inputs()
    if any(value.type().kind() != "TensorType" for value in (first, second)):
        return None
    return rewriter.replace_kind(node, "aten::sub", [second, first, *others])


def _compare_bools(rewriter: Rewriter, node: Node) -> list[Value] | None:
    if any(value.type().kind() != "BoolType" for value in node.inputs()):
        return None
    return rewriter.replace_kind(node, VALUE_COMPARISONS[node.kind()])


_RULES: Final = (
    Rule("aten::rsub", _swap_operands),
    Rule("aten::__is__ aten::__isnot__", _compare_bools),
)
_OPERAND_RULES: Final = RuleSet("normalize_ops", *_RULES)
