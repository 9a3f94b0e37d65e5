"""Decomposition of `addmm` into `mm` and `add`, which other passes can optimize.

The pass replaces the node on the left by the nodes on the right:

    %y : Tensor = aten::addmm(%b, %x, %w, %1, %1)    =>    %p : Tensor = aten::mm(%x, %w)
                                                           %y : Tensor = aten::add(%b, %p, %1)

The scale factors `beta` and `alpha` (the last two arguments) must be one.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph
from ts.passes.dce import eliminate_dead_code
from ts.passes.rewriter import Rule, RuleSet

_RULES: Final = RuleSet(
    "decompose_ops", Rule("aten::addmm(b, x, w, 1, 1)", "aten::add(b, aten::mm(x, w), 1)")
)


def decompose_ops(graph: Graph) -> bool:
    """Decompose `addmm` into `mm` and `add`."""
    return _RULES.apply(graph) and (eliminate_dead_code(graph) or True)
