"""Removal of `expand` nodes that the tracer inserted, because operators broadcast implicitly.

For example, the pass removes `%y = aten::expand(%x, %sizes, %true)`, and %x replaces %y. The last argument
`implicit` is true if the tracer inserted the node. The sizes are those of the traced run, and may be wrong
for other inputs. Calls of `expand` in the program remain.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph
from ts.passes.rewriter import Rule, RuleSet

_RULES: Final = RuleSet("remove_expands", Rule("aten::expand(x, _, True)", "x"))


def remove_expands(graph: Graph) -> bool:
    """Replace the results of `expand` nodes with `implicit=True` by their inputs."""
    return _RULES.apply(graph)
