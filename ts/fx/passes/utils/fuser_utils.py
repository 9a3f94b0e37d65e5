"""Fusion of nodes: each set of nodes is replaced by a call of a submodule.

After `fuse_by_partitions(module, [{relu: None, add: None}])`, the submodule `module.fused_0` computes the
nodes `relu` and `add`.
"""

from __future__ import annotations

import copy

from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.fx.passes.tools_common import stable_topological_sort
from ts.fx.passes.utils.common import lift_subgraph_as_module
from ts.fx.passes.utils.partitions import topo_sort, validate_partition
from ts.fx.proxy import Proxy
from ts.unsupported import names_for

__all__ = [
    "erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm", "topo_sort",
    "validate_partition",
]  # fmt: skip


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: list[Node],
    module_name: str,
    partition_lookup_table: dict[Node, int | None] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Create a module that computes the given nodes.

    Return the module, the nodes whose values are its inputs, and the nodes that it returns.
    """
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
        if node not in gm.graph._find_nodes_lookup_table:
            raise AssertionError(f"{node} is not found in graph module {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = dict.fromkeys(nodes) if partition_lookup_table is None else partition_lookup_table
    graph = Graph()
    placeholders: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def within(node: Node) -> Node:
        if node in inside:
            return copies[node]
        if node not in placeholders:
            placeholders[node] = graph.placeholder(node.name, type_expr=node.type)
            placeholders[node].meta = copy.copy(node.meta)
        return placeholders[node]

    for node in nodes:
        copies[node] = graph.node_copy(node, within)
    returned = {node: copies[node] for node in nodes if any(user not in inside for user in node.users)}
    results = tuple(returned.values())
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    graph.lint()
    module, _ = lift_subgraph_as_module(gm, graph, comp_name="", class_name=module_name)
    return module, tuple(placeholders), tuple(returned)


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Insert a call of `sub_gm`, and use its results instead of `orig_outputs` everywhere."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        insertion_point = next((node for node in reversed(gm.graph.nodes) if node in orig_outputs), None)
        if insertion_point is None:
            raise AssertionError(
                "Cannot determine insertion point: no insertion_point provided and orig_outputs is empty. "
                "Pass the last partition node as insertion_point."
            )
    with gm.graph.inserting_after(insertion_point):
        call = gm.graph.call_module(name, args=orig_inputs, kwargs=None)
    if not orig_outputs:
        return gm
    with gm.graph.inserting_before(call.next):
        if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
            orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        else:
            for i, output in enumerate(orig_outputs):
                item = Proxy(call)[i].node  # type: ignore[index]
                output.replace_all_uses_with(item, propagate_meta=True)
            call.meta["val"] = tuple(output.meta.get("val") for output in orig_outputs)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Erase nodes, last node first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: list[dict[Node, int | None]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Replace each set of nodes by a call of a submodule, and return the module."""
    for index, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        module, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{index}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, module, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm


__getattr__ = names_for(__name__)
