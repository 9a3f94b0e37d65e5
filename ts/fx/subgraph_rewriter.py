"""Subgraph rewriting (pattern replacement): each occurrence of a pattern is replaced by another function.

The example returns the replaced occurrences as a list of `Match`:

    def pattern(x, y):
        return ts.cat([x, y]).sum()

    def replacement(x, y):
        return x.sum() + y.sum()

    replace_pattern(module, pattern, replacement)
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ts.fx._symbolic_trace import symbolic_trace
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

MatchFilter = Callable[[InternalMatch, Graph, Graph], bool]


class Match(NamedTuple):
    """Occurrence of a pattern in a graph.

    `anchor` is the pattern node at which matching started. `nodes_map` maps pattern nodes to graph nodes.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """Replaced occurrence of a pattern, and the nodes that replace the occurrence."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule,
) -> list[Match]:
    """Replace all disjoint occurrences of a pattern, and return the replaced occurrences."""
    return [Match(r.anchor, r.nodes_map) for r in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[MatchFilter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """Replace a pattern as `replace_pattern` does, with filters for the matches.

    match_filters          functions of (match, graph, pattern graph). A match is replaced if all return True
    ignore_literals        let a literal in the pattern match any literal
    replacement_callback   function of (match, graph, pattern graph). It returns the replacement graph of the
                           match, which is used instead of `replacement`
    node_name_match        see `SubgraphMatcher.match`
    """
    original, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    matches = [
        match
        for match in matcher.match(original, node_name_match=node_name_match)
        if all(accepts(match, original, pattern_graph) for accepts in match_filters or ())
    ]
    common = _graph_of(replacement) if callable(replacement) or isinstance(replacement, Graph) else None
    if common is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    # result node of a replaced match -> node that replaces it. Later matches that contain the result node use
    # its replacement.
    changed: dict[Node, Node] = {}
    replaced = []
    for match in matches:
        if replacement_callback is not None:
            new = replacement_callback(match, original, pattern_graph)
        else:
            assert common is not None
            new = common
        nodes = _replace(gm, match, pattern_graph, new, changed)
        replaced.append(ReplacedPatterns(match.anchors[0], match.nodes_map, nodes))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return replaced


_replace_pattern = replace_pattern_with_filters


def _graph_of(function: Callable[..., Any] | Graph | GraphModule) -> Graph:
    if isinstance(function, GraphModule):
        return function.graph
    return function if isinstance(function, Graph) else symbolic_trace(function).graph


def _replace(
    gm: GraphModule, match: InternalMatch, pattern: Graph, new: Graph, changed: dict[Node, Node]
) -> list[Node]:
    """Replace a match by a copy of the graph `new`, and return the new nodes."""
    placeholders = [n for n in new.nodes if n.op == "placeholder"]
    if len(match.placeholder_nodes) != len(placeholders):
        raise AssertionError(
            f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(placeholders)}"
        )
    for node, matched_node in list(match.nodes_map.items()):
        if node.op == "placeholder" and isinstance(matched_node, Node) and matched_node in changed:
            match.nodes_map[node] = changed[matched_node]
    for i, matched_node in enumerate(match.placeholder_nodes):
        match.placeholder_nodes[i] = (
            changed.get(matched_node, matched_node) if isinstance(matched_node, Node) else matched_node
        )
    values: dict[Node, Any] = dict(zip(placeholders, match.placeholder_nodes, strict=True))
    with gm.graph.inserting_before(_find_insertion_point(gm.graph, match.returning_nodes)):
        results = gm.graph.graph_copy(new, values)
    if isinstance(results, Node):
        results = (results,)
    nodes = [v for v in values.values() if not any(v is each for each in match.placeholder_nodes)]
    if len(match.returning_nodes) != len(results):
        raise AssertionError(
            f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}"
        )
    for old, result in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(result)
        changed[old] = result
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            gm.graph.erase_node(match.nodes_map[node])
    return nodes


def _find_insertion_point(graph: Graph, returning: list[Node]) -> Node:
    """Return the node before which the replacement is inserted: the first node that uses a match's result.

    `returning` are the result nodes of the match. If no node uses them, return the node after the last one.
    """
    users = {user for node in returning for user in node.users}
    if users:
        return min(users)
    last = max(returning, default=None)
    if last is None or last.next is graph._root:
        raise AssertionError("The insert point can't be None")
    return last.next


def _replace_attributes(gm: GraphModule, replacement: Module) -> None:
    """Copy the attributes that inserted nodes use from the replacement module."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _find_attribute(gm, node.target) is not None:
            continue
        value = _find_attribute(replacement, node.target)
        if value is None:
            raise RuntimeError(
                'Attempted to create a "',
                node.op,
                f'" node during subgraph rewriting with target {node.target}, but the referenced attribute '
                "does not "
                "exist in the replacement GraphModule",
            )
        if isinstance(value, Module):
            gm.add_submodule(node.target, copy.deepcopy(value))
        else:
            setattr(gm, node.target, copy.deepcopy(value))
    gm.graph.lint()


def _find_attribute(module: Module, target: str) -> Any:
    path, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(path), name, None)
    except AttributeError:
        return None


__getattr__ = names_for(__name__)
