"""Inlining of forked tasks: replace `fork` by its body and `wait` by the body's results.

The pass replaces the graph on the left by the graph on the right:

    %f : Future[Tensor] = prim::fork_0(%x)                   %y : Tensor = aten::neg(%x)
    %y : Tensor = aten::wait(%f)                      =>     return (%y)
    return (%y)
    with prim::fork_0 = graph(%x : Tensor): ...

If nodes other than `wait` use the future, the body is inlined, but the fork remains.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node, Value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def inline_fork_wait(graph: Graph) -> bool:
    """Inline forked tasks."""
    return _RULES.apply(graph)


def _inline(rewriter: Rewriter, fork: Node) -> list[Value] | None:
    waits = [use.user for use in fork.output().uses()]
    if any(user.kind() != "aten::wait" for user in waits):
        return None
    body: Graph = fork.get("Subgraph").copy()
    inline_fork_wait(body)
    with rewriter.graph.inserting_before(fork):
        results = rewriter.graph.insert_graph(body, fork.inputs())
    for wait in waits:
        wait.output().replace_all_uses_with(results[0])
        wait.destroy()
    return results


_RULES: Final = RuleSet("inline_fork_wait", Rule("prim::fork", _inline))
