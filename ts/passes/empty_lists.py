"""Replacement of empty list literals without a known type by lists of tensors.

A node `prim::EmptyListLiteral` becomes a `prim::ListConstruct` of type `Tensor[]`. The pass does not see
literals `[]` that are arguments of calls. The emitter has already replaced them by lists of the parameter's
type.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node, Value
from ts.passes.pass_utils import applies_to
from ts.passes.rewriter import Rewriter, Rule, RuleSet


@applies_to("prim::EmptyListLiteral")
def replace_empty_list_literals(graph: Graph) -> bool:
    """Replace each `prim::EmptyListLiteral`, or remove it if unused."""
    return _RULES.apply(graph)


def _construct(rewriter: Rewriter, node: Node) -> Value | bool:
    if not node.has_uses():
        node.destroy()
        return True
    new_list = rewriter.graph.create("prim::ListConstruct").insert_before(node)
    return new_list.output().set_type(node.output().type())


_RULES: Final = RuleSet("empty_lists", Rule("prim::EmptyListLiteral", _construct))
