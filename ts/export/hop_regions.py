"""Conversion of grad-mode regions and autocast regions (`with` blocks) of a program to subgraphs.

A block of the program (left) becomes the subgraph `submod_1` and a call (right):

    with ts.no_grad():              submod_1: linear = aten.linear(x, w), return (linear,)
        h = self.a(x)               linear = wrap_with_set_grad_enabled(False, submod_1, x, w)
    self.b(h)                       getitem = linear[0], aten.linear(getitem, ...)

Nested blocks are recorded with all autocast blocks outside of all grad-mode blocks.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ts._higher_order_ops.wrap_ops import autocast_op, set_grad_op
from ts.export.node_arguments import origin_of
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node, map_arg

Block = tuple[Any, ...]  # (operator that replaces the block, its arguments before the subgraph)
WRAPPERS = (set_grad_op.name, autocast_op.name)


def block_of_grad(enabled: bool) -> Block:
    """Return the `Block` for `with ts.no_grad()` or `with ts.enable_grad()`."""
    return set_grad_op, enabled


def block_of_autocast(device: str, dtype: Any, enabled: bool) -> Block:
    """Return the `Block` for `with ts.autocast(...)`, with the autocast argument `cache_enabled` False."""
    return autocast_op, device, dtype, enabled, False


@dataclass
class _Region:
    """Consecutive nodes in the same block, which become one subgraph."""

    block: Block | None
    index: int
    nodes: list[Node] = field(default_factory=list)


def wrap(graph: Graph, blocks: dict[Node, tuple[Block, ...]], submodules: dict[str, Any]) -> dict[str, str]:
    """Replace each block of `graph` by a call of a subgraph, which is added to `submodules`.

    Return a dictionary: old name of a renamed result -> new name.
    """
    return _RegionExtractor(graph, blocks, submodules, 0).run()


class _RegionExtractor:
    """Extractor of the blocks of one graph.

    The first `depth` blocks of a node contain the whole graph. They are not extracted again.
    """

    def __init__(
        self,
        graph: Graph,
        blocks: dict[Node, tuple[Block, ...]],
        submodules: dict[str, Any],
        depth: int,
    ) -> None:
        self.graph = graph
        self.blocks = blocks
        self.submodules = submodules
        self.depth = depth
        self.renamed: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        """Replace each region by a call of its subgraph.

        Return a dictionary: old name of a renamed result -> new name.
        """
        regions, last = self._regions()
        for index, region in enumerate(regions, last + 1):
            self._wrap(region, f"submod_{index}")
        return self.renamed

    def _regions(self) -> tuple[list[_Region], int]:
        """Return (regions that are in blocks, number of the last region of the graph).

        A sequence of nodes outside all blocks also counts as a region, but it is not returned. A node without
        an entry in `blocks`, such as an assertion, belongs to a region if it is between two nodes of the
        region.
        """
        regions: list[_Region] = []
        now = _Region(None, 0)
        # Nodes after the last node that is in `blocks`. If the next node in `blocks` belongs to the region
        # `now`, these nodes belong to it, too.
        undecided: list[Node] = []
        for node in self.graph.nodes:
            if node.op != "call_function":
                continue
            if node not in self.blocks:
                undecided.append(node)
                continue
            around = self.blocks[node]
            block = around[self.depth] if len(around) > self.depth else None
            if block != now.block:
                now = _Region(block, now.index + 1)
                if block is not None:
                    regions.append(now)
            else:
                now.nodes += undecided
            undecided = []
            now.nodes.append(node)
        return regions, now.index + (now.block is not None)

    def _wrap(self, region: _Region, name: str) -> None:
        """Replace a region by a call of its subgraph, with a `getitem` node for each result.

        Erase the region if it has neither results nor side effects.
        """
        assert region.block is not None
        inside = set(region.nodes)
        outputs = [n for n in region.nodes if any(user not in inside for user in n.users)]
        if not outputs and not any(n.is_impure() for n in region.nodes):
            for node in reversed(region.nodes):
                self.graph.erase_node(node)
            return
        operands, module = self._module(region, outputs)
        attribute = f"submod_{region.index}"
        self.submodules[attribute] = module
        values = tuple(n.meta.get("val") for n in outputs)
        target, *switches = region.block
        with self.graph.inserting_before(region.nodes[0]):
            subgraph_node = self.graph.create_node("get_attr", attribute, name=name)
            call = self.graph.create_node(
                "call_function", target, (*switches, subgraph_node, *operands), {}, name=target.name
            )
            call.meta["val"] = values
            items = [
                self.graph.create_node("call_function", operator.getitem, (call, k), {}, name="getitem")
                for k in range(len(outputs))
            ]
        call.meta |= {k: v for k, v in origin_of(region.nodes[0]).items() if k != "stack_trace"}
        for node, item in zip(outputs, items, strict=True):
            item.meta = dict(node.meta)
            node.replace_all_uses_with(item)
        names = [n.name for n in outputs]
        for node in reversed(region.nodes):
            self.graph.erase_node(node)
        self._drop_attributes()
        if len(outputs) == 1:
            call.name = names[0]
            self.renamed[names[0]] = items[0].name
        else:
            for item, output_name in zip(items, names, strict=True):
                item.name = output_name

    def _module(self, region: _Region, outputs: Sequence[Node]) -> tuple[list[Node], GraphModule]:
        """Return (operands of the call, module of the subgraph).

        The operands are the outer nodes whose values the region uses.
        """
        graph, nodes = Graph(), region.nodes
        # Outer node -> name of the input in the subgraph, if it is not the name of the node. In an outermost
        # autocast block, the inputs of the graph get numbered names.
        names: dict[Node, str] = {}
        if region.block is not None and region.block[0] is autocast_op and self.depth == 0:
            inputs = [n for n in self.graph.nodes if n.op == "placeholder"]
            names = {node: f"arg{i}_1" for i, node in enumerate(inputs)}
        copies: dict[Node, Node] = {}
        operands: list[Node] = []
        attributes: dict[str, Any] = {}
        inside = set(nodes)
        for node in nodes:
            for x in node.all_input_nodes:
                if x in inside or x in copies or x.op == "get_attr":
                    continue
                operands.append(x)
                copies[x] = graph.placeholder(x.name)
                copies[x].name = names.get(x, x.name)
                copies[x].meta = dict(x.meta)
        for node in nodes:
            for x in node.all_input_nodes:
                if x.op == "get_attr" and x not in copies:
                    attributes[str(x.target)] = self.submodules[str(x.target)]
                    copies[x] = graph.create_node("get_attr", x.target, name=x.name)
                    copies[x].meta = dict(x.meta)
            args, kwargs = (map_arg(x, copies.__getitem__) for x in (node.args, node.kwargs))
            copy = copies[node] = graph.create_node(node.op, node.target, args, kwargs, name=node.name)
            copy.meta = dict(node.meta)
            if node in self.blocks:
                self.blocks[copy] = self.blocks[node]
        graph.output(tuple(copies[n] for n in outputs))
        _RegionExtractor(graph, self.blocks, attributes, self.depth + 1).run()
        return operands, GraphModule(attributes, graph)

    def _drop_attributes(self) -> None:
        """Remove `get_attr` nodes without users, and submodules that no `get_attr` node refers to."""
        for node in reversed([n for n in self.graph.nodes if n.op == "get_attr" and not n.users]):
            self.graph.erase_node(node)
        named = {n.target for n in self.graph.nodes if n.op == "get_attr"}
        for name in [name for name in self.submodules if name not in named]:
            del self.submodules[name]


__all__ = ["WRAPPERS", "Block", "block_of_autocast", "block_of_grad", "wrap"]
