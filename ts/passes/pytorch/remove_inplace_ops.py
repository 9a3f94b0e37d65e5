"""Unconditional replacement of in-place operators by their functional forms, ignoring aliases.

For example, `aten::add_(%x, %y, %1)` becomes `aten::add(%x, %y, %1)`. The pass is for export to formats
without in-place operators. Unlike `remove_mutation`, it also replaces operators if the program can observe
the difference.
"""

from __future__ import annotations

from ts.ir.graph import Graph, Node, Value
from ts.passes.pytorch.remove_mutation import functional_variant, inplace_kinds
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def remove_inplace_ops(graph: Graph) -> bool:
    """Replace in-place operators. Later readers of the written tensor read the new tensor."""
    return RuleSet("remove_inplace_ops", Rule(inplace_kinds(graph), _make_functional)).apply(graph)


def _make_functional(rewriter: Rewriter, node: Node) -> list[Value] | None:
    record = getattr(node.operator(), "record", None)
    name = functional_variant(node) if record is not None and record.elementwise else None
    if name is None:
        return None
    results = rewriter.replace_kind(node, name)
    node.input().replace_all_uses_after_node_with(node, results[0])
    return results
