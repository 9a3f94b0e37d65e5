"""Subgraph matching (subgraph isomorphism): `SubgraphMatcher` searches for a pattern graph in a graph.

`match` returns an `InternalMatch` for each occurrence of the pattern. Example:

    pattern = symbolic_trace(lambda x, y: ts.relu(x + y)).graph
    match = SubgraphMatcher(pattern).match(graph)[0]
    match.nodes_map                # dict from nodes of the pattern to nodes of the graph

A placeholder of the pattern matches any node. Only nodes that the pattern returns may have users outside of
the match.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.fx.graph import Graph
from ts.fx.graph_module import _get_attr
from ts.fx.node import Node
from ts.fx.op_locations import is_one_overload
from ts.fx.passes.utils.partitions import validate_partition
from ts.unsupported import names_for

__all__ = ["InternalMatch", "SubgraphMatcher"]

_BOUNDARY_KINDS = ("placeholder", "output")


@dataclass
class InternalMatch:
    """Occurrence of a pattern.

    anchors            pattern nodes at which the search starts
    nodes_map          dict from nodes of the pattern to nodes of the graph
    placeholder_nodes  nodes of the graph that match the placeholders of the pattern
    returning_nodes    nodes of the graph that match the results of the pattern
    name_node_map      dict from names that the pattern returns to nodes of the graph
    """

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


class SubgraphMatcher:
    """Searches a graph for a pattern.

    match_output                the output node of the pattern must match that of the graph
    match_placeholder           placeholders match only placeholders
    remove_overlapping_matches  keep only disjoint matches
    ignore_literals             literal arguments may differ
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if not len(pattern.nodes):
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = (
            [output] if match_output else [n for n in output.all_input_nodes if len(n.users) == 1]
        )

    # ---- comparison of two nodes ---------------------------------------------------------------------

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        """Return True if graph node `gn` matches pattern node `pn` by kind and target, without arguments."""
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in _BOUNDARY_KINDS:
            return True
        return self._match_attributes(pn, gn) if pn.op == "get_attr" else bool(pn.target == gn.target)

    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        for node, name in ((pn, "pn"), (gn, "gn")):
            if node.graph.owning_module is None:
                raise AssertionError(f"{name}.graph.owning_module must not be None")
        value = _get_attr(pn.graph.owning_module, pn.target)
        if type(value) is not type(_get_attr(gn.graph.owning_module, gn.target)):
            return False
        if isinstance(value, Tensor):
            return True
        raise RuntimeError(f"Unsupported type {value} when matching attributes")

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Return True if graph node `gn` and its inputs match pattern node `pn` and its inputs.

        Add the matching pairs of nodes to `match`.
        """
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        if any(gn is each for each in match.nodes_map.values()):
            return False
        if not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        ours, theirs = self._all_arguments(pn, gn)
        return ours is not None and self._match_arguments(ours, theirs, match)

    def _all_arguments(self, pn: Node, gn: Node) -> tuple[Any, Any]:
        if len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs):
            return [*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()]
        if pn.op == "call_function" and hasattr(pn.target, "operators") and is_one_overload(pn.target):
            arguments = pn.target.operators()[0].schema.arguments
            return _with_defaults(pn, arguments), _with_defaults(gn, arguments)
        return None, None

    def _match_arguments(self, ours: Any, theirs: Any, match: InternalMatch) -> bool:
        if len(ours) != len(theirs):
            return False
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(a, Node) and isinstance(b, Node):
                same = self._match_nodes(a, b, match)
            elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
                same = self._match_arguments(a, b, match)
            else:
                same = self._match_literals(a, b, match) or self.ignore_literals
            if not same:
                return False
        return True

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        if isinstance(pn, Node):  # a placeholder of the pattern also matches literals
            if pn.op != "placeholder":
                return False
            if pn in match.nodes_map:
                return bool(match.nodes_map[pn] == gn)
            match.nodes_map[pn] = gn
            return True
        return not isinstance(gn, Node) and type(gn) is type(pn) and bool(gn == pn)

    # ---- search for all matches ----------------------------------------------------------------------

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return all matches of the pattern in a graph.

        node_name_match   text. A graph node with this text in its name matches any anchor of the pattern
        """
        candidates: list[tuple[Node, list[Node]]] = []
        for anchor in self.pattern_anchors:
            matching_nodes = [
                node for node in graph.nodes if self._nodes_are_equal(anchor, node, node_name_match)
            ]
            if matching_nodes:
                candidates.append((anchor, matching_nodes))
        matches: list[InternalMatch] = []
        if candidates:
            self._extend(candidates, 0, InternalMatch(self.pattern_anchors), node_name_match, matches)
        matches = [m for m in matches if self._is_contained(m.nodes_map)]
        if not self.remove_overlapping_matches:
            return matches
        return self._remove_overlapping_matches([m for m in matches if validate_partition(_inner(m))])

    def _extend(
        self,
        candidates: list[tuple[Node, list[Node]]],
        at: int,
        match: InternalMatch,
        name: str,
        matches: list[InternalMatch],
    ) -> None:
        """Extend the partial match `match` by graph nodes for the anchors in `candidates[at:]`.

        Append each complete match to `matches`.
        """
        if at == len(candidates):
            match.placeholder_nodes = [match.nodes_map[n] for n in self.pattern_placeholder_nodes]
            match.returning_nodes = [match.nodes_map[n] for n in self.pattern_returning_nodes]
            matches.append(match)
            return
        anchor, nodes = candidates[at]
        for node in nodes:
            attempt = match.__copy__()
            if self._match_nodes(anchor, node, attempt, name):
                self._extend(candidates, at + 1, attempt, name, matches)

    def _is_contained(self, nodes_map: dict[Node, Node]) -> bool:
        """Return True if only nodes that the pattern returns have users outside of the match."""
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            pn in self.pattern_returning_nodes or all(user in inside for user in gn.users)
            for gn, pn in inside.items()
        )

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        disjoint_matches: list[InternalMatch] = []
        covered_nodes: set[Node] = set()
        for match in matches:
            inner = _inner(match)
            if covered_nodes.isdisjoint(inner):
                disjoint_matches.append(match)
                covered_nodes.update(inner)
        return disjoint_matches


def _inner(match: InternalMatch) -> list[Node]:
    """Return the graph nodes of a match, without those matched with placeholders and outputs."""
    return [gn for pn, gn in match.nodes_map.items() if pn.op not in _BOUNDARY_KINDS]


def _with_defaults(node: Node, arguments: Any) -> list[Any]:
    """Return the arguments of a node in the order of the schema's `arguments`, with default values."""
    values = []
    for i, argument in enumerate(arguments):
        if argument.name in node.kwargs:
            values.append(node.kwargs[argument.name])
        elif not argument.kwarg_only and i < len(node.args):
            values.append(node.args[i])
        else:
            values.append(argument.default_value)
    return values


__getattr__ = names_for(__name__)
