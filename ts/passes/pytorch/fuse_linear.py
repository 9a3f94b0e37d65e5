"""Fusion of products with a transposed weight into `linear`.

The pass replaces the nodes on the left by the node on the right:

    %t : Tensor = aten::t(%w)                              %y : Tensor = aten::linear(%x, %w, %b)
    %y : Tensor = aten::addmm(%b, %x, %t, %one, %one)  =>

The pass also replaces `matmul`, and an in-place addition after `matmul`. Other additions remain. If the right
factor is not a transposed weight, the pass inserts a transposition of this factor.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet
from ts.passes.subgraph_rewrite import Values, rewrite

_WITH_BIAS: Final = "  %w = aten::t(%t)\n  %r = aten::linear(%x, %w, %b)\n  return (%r)"
_PATTERNS: Final = (
    (
        "graph(%x, %t, %b, %beta, %alpha):\n  %r = aten::addmm(%b, %x, %t, %beta, %alpha)\n  return (%r)",
        "graph(%x, %t, %b, %beta, %alpha):\n" + _WITH_BIAS,
    ),
    (
        "graph(%x, %t, %b, %alpha):\n  %p = aten::matmul(%x, %t)\n"
        "  %r = aten::add_(%p, %b, %alpha)\n  return (%r)",
        "graph(%x, %t, %b, %alpha):\n" + _WITH_BIAS,
    ),
    (
        "graph(%x, %t):\n  %r = aten::matmul(%x, %t)\n  return (%r)",
        "graph(%x, %t):\n  %b : NoneType = prim::Constant()\n" + _WITH_BIAS,
    ),
)


def fuse_linear(graph: Graph) -> bool:
    """Fuse products with a transposed matrix into `linear`."""
    changed = False
    for pattern, replacement in _PATTERNS:
        changed |= rewrite(pattern, replacement, graph, _is_linear)
    if changed:
        _WEIGHTS.apply(graph)
        eliminate_dead_code(graph)
    return changed


def _is_linear(match: Values) -> bool:
    """Return whether the weight in `match` is the result of a transpose and all scale factors are 1."""
    values_by_name = {pattern_value.debug_name(): value for pattern_value, value in match.items()}
    factors = [values_by_name[name] for name in ("beta", "alpha") if name in values_by_name]
    return values_by_name["t"].node().kind() == "aten::t" and all(
        constant_value(value) == 1 for value in factors
    )


def _remove_double_transpose(_: Rewriter, node: Node) -> bool:
    outer = node.input(1).node()
    inner = outer.input().node() if outer.kind() == "aten::t" else outer
    if inner is outer or inner.kind() != "aten::t":
        return False
    node.replace_input(1, inner.input())
    return True


_WEIGHTS: Final = RuleSet("fuse_linear", Rule("aten::linear", _remove_double_transpose))
