"""Loop-invariant code motion: move loop-invariant operators before the loop.

The pass replaces the loop on the left by the nodes on the right:

    %y : int = prim::Loop(%n, %true, %y.1)           %c : int = aten::mul(%a, %b)
      block0(%i : int, %y.2 : int):            =>    %y : int = prim::Loop(%n, %true, %y.1)
        %c : int = aten::mul(%a, %b)                   block0(%i : int, %y.2 : int):
        %y.3 : int = aten::add(%y.2, %c)                 %y.3 : int = aten::add(%y.2, %c)
        -> (%true, %y.3)                                 -> (%true, %y.3)

A moved operator runs even if the loop has no iteration. The pass therefore moves only operators on numbers
that cannot fail.
"""

from __future__ import annotations

from typing import Final

from ts._core.builtin_ops.properties import names_with
from ts.analysis.alias import AliasDb
from ts.ir.graph import Graph, Node, Value
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import change_loops, preserves

_TOTAL: Final = names_with("total")
_NUMBERS: Final = frozenset({"IntType", "FloatType", "BoolType"})


@preserves(AliasDb)
def hoist_loop_invariants(graph: Graph) -> bool:
    """Move constants and loop-invariant number operators out of loops."""
    return "prim::Loop" in graph.kinds() and change_loops(graph.block(), _hoist)


def _hoist(loop: Node) -> bool:
    body = loop.blocks()[0]
    loop_values: set[Value] = set(body.inputs())
    changed = False
    for node in body.nodes():
        if _is_total(node) and loop_values.isdisjoint(node.inputs()) and optimization_allowed("licm"):
            update("licm", "Moving {}", node)
            node.move_before(loop)
            changed = True
        else:
            loop_values.update(node.outputs())
    return changed


def _is_total(node: Node) -> bool:
    kind = node.kind()
    if kind == "prim::Constant":
        return True
    if kind not in _TOTAL:
        return False
    return all(value.type().kind() in _NUMBERS for value in (*node.inputs(), *node.outputs()))
