"""Inlining of forked tasks: replace `fork` by its body and `wait` by the body's results.

    %f : Future[Tensor] = prim::fork_0(%x)                   %y : Tensor = aten::neg(%x)
    %y : Tensor = aten::wait(%f)                      =>     return (%y)
    return (%y)
    with prim::fork_0 = graph(%x : Tensor): ...

If the future has other uses (returned, stored in a list), the fork remains and a copy of its body is inlined.
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node


def inline_fork_wait(graph: Graph) -> bool:
    """Inline forked tasks."""
    return _visit(graph.block())


def _visit(block: Block) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner)
        if node.kind() == "prim::fork":
            changed |= _inline(node)
    return changed


def _inline(fork: Node) -> bool:
    graph = fork.owning_graph()
    future = fork.output()
    waits = [use.user for use in future.uses()]
    if any(user.kind() != "aten::wait" for user in waits):
        return False
    body: Graph = fork.get("Subgraph").copy()
    _visit(body.block())
    with graph.inserting_before(fork):
        (result,) = graph.insert_graph(body, fork.inputs())
    for wait in waits:
        wait.output().replace_all_uses_with(result)
        wait.destroy()
    fork.destroy()
    return True
