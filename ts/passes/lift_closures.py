"""Closure conversion (lambda lifting): the closures of forks become subgraphs.

The pass replaces the nodes on the left by the node on the right, with a subgraph:

    %c : Function = prim::Closure()                  %f : Future[Tensor] = prim::fork_0(%x)
      block0():                                      with prim::fork_0 = graph(%x : Tensor):
        %y : Tensor = aten::neg(%x)           =>       %y : Tensor = aten::neg(%x)
        -> (%y)                                        return (%y)
    %f : Future[Tensor] = prim::forkClosure(%c)

The subgraph's inputs are the outer values that the closure uses, in order of use.
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.pass_utils import applies_to


@applies_to("prim::forkClosure")
def lift_closures(graph: Graph) -> bool:
    """Replace each `prim::forkClosure` by a `prim::fork`."""
    closures = graph.find_all_nodes("prim::forkClosure")
    for _ in closures:
        # The outputs of this unused node get the value numbers that PyTorch gives to the outputs of temporary
        # nodes.
        graph.create("prim::TupleConstruct", (), 3)
    for node in closures:
        _lift(node)
    return bool(closures)


def _lift(fork_closure: Node) -> None:
    graph = fork_closure.owning_graph()
    closure = fork_closure.input().node()
    captured, subgraph = _subgraph(closure.blocks()[0])
    fork = graph.create("prim::fork", captured).insert_after(fork_closure)
    fork.range = fork_closure.range
    fork.set("Subgraph", subgraph, "g")
    fork.output().copy_metadata(fork_closure.output())
    fork_closure.output().replace_all_uses_with(fork.output())
    fork_closure.destroy()
    closure.destroy()


def _subgraph(block: Block) -> tuple[list[Value], Graph]:
    """Copy a block to a graph, and return the captured outer values and the graph."""
    subgraph = Graph()
    context = subgraph.add_input()
    # In PyTorch, the first node unpacks the captured values from a tuple. Create this node here, too, so that
    # all values get the same numbers as in PyTorch.
    unpack = subgraph.append_node(subgraph.create("prim::TupleUnpack", (context,), 0))
    captured: dict[Value, Value] = {}
    copies: dict[Value, Value] = {}

    def lookup(value: Value) -> Value:
        unpacked = copies.get(value)
        if unpacked is None:
            unpacked = captured[value] = copies[value] = unpack.add_output().copy_metadata(value)
        return unpacked

    for node in block.nodes():
        for value in node.inputs():
            lookup(value)
        copy = subgraph.append_node(subgraph.create_clone(node, lookup))
        for old, new in zip(node.outputs(), copy.outputs(), strict=True):
            copies[old] = new
    for value in block.outputs():
        subgraph.register_output(lookup(value))
    for i, (outer, inner) in enumerate(captured.items()):
        parameter = subgraph.insert_input(i).copy_metadata(outer)
        inner.replace_all_uses_with(parameter)
    unpack.destroy()
    subgraph.erase_input(len(captured))
    lift_closures(subgraph)
    return list(captured), subgraph
