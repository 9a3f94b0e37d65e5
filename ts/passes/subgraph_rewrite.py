"""Subgraph rewriting by pattern matching: replace each occurrence of a pattern graph by another graph.

The first argument is the pattern, and the second argument is the replacement:

    rewrite('''graph(%a, %b, %c):                  '''graph(%a, %b, %c):
                 %q = aten::mul(%a, %b)              %r = my::fused(%a, %b, %c)
                 %r = aten::mul(%q, %c)              return (%r)''', graph)
                 return (%r)''',

An occurrence is a set of nodes of one block with the kinds, attributes and data flow of the pattern.
Constants and attribute reads must be equal to those of the pattern. Nodes outside of the occurrence may use
only the outputs of the pattern. If occurrences overlap, the first one in program order is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cmp_to_key

from ts.analysis.alias import AliasDb
from ts.analysis.mutation import may_write
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.graph_parser import parse_ir
from ts.passes.constant_propagation import constant_key
from ts.passes.pass_logging import optimization_allowed, update

Values = Mapping[Value, Value]
Filter = Callable[[Values], bool]


def rewrite(
    pattern: str | Graph, replacement: str | Graph, graph: Graph, accept: Filter | None = None
) -> bool:
    """Replace the occurrences of `pattern` for which `accept`, called with the match, is true."""
    return _Rewriter(_graph(pattern), _graph(replacement), accept).visit(graph.block())


class SubgraphRewriter:
    """List of rewrite rules (pattern and replacement), applied in order, under PyTorch's class name."""

    def __init__(self) -> None:
        self._patterns: list[tuple[Graph, Graph]] = []

    def register_rewrite_pattern(self, pattern: str | Graph, replacement: str | Graph) -> None:
        """Add a pattern, whose occurrences `run_on_graph` replaces by `replacement`."""
        self._patterns.append((_graph(pattern), _graph(replacement)))

    def run_on_graph(self, graph: Graph, accept: Filter | None = None) -> bool:
        """Replace all occurrences of the registered patterns for which `accept` is true.

        Return whether the graph changed.
        """
        changed = False
        for pattern, replacement in self._patterns:
            changed |= _Rewriter(pattern, replacement, accept).visit(graph.block())
        return changed


def _graph(source: str | Graph) -> Graph:
    return parse_ir(source) if isinstance(source, str) else source


def find_matches(pattern: Graph, block: Block) -> list[dict[Value, Value]]:
    """Return the matches of a pattern in one block, in program order.

    A match maps the values of the pattern to values of the block.
    """
    matches: list[dict[Value, Value]] = []
    matched_nodes: set[Node] = set()
    for node in block.nodes():
        match = _Match(pattern, block)
        if match.match_at(node) and matched_nodes.isdisjoint(match.nodes.values()):
            matched_nodes.update(match.nodes.values())
            matches.append(match.values)
    return matches


class _Match:
    """Match of a pattern with given nodes as its last node, found backwards from this node."""

    def __init__(self, pattern: Graph, block: Block) -> None:
        self.pattern = pattern
        self.block = block
        self.values: dict[Value, Value] = {}
        self.nodes: dict[Node, Node] = {}

    def match_at(self, node: Node) -> bool:
        last = self.pattern.outputs()[0].node() if self.pattern.outputs() else None
        if last is None or not self._same_node(last, node):
            return False
        is_matched = all(value in self.values for value in self.pattern.outputs())
        return is_matched and self._has_no_outside_uses()

    def _same_value(self, pattern_value: Value, graph_value: Value) -> bool:
        bound = self.values.get(pattern_value)
        if bound is not None:
            return bound is graph_value
        if pattern_value.node() is self.pattern.param_node():
            self.values[pattern_value] = graph_value
            return True
        return (
            self._same_node(pattern_value.node(), graph_value.node())
            and self.values.get(pattern_value) is graph_value
        )

    def _same_node(self, pattern_node: Node, graph_node: Node) -> bool:
        if pattern_node in self.nodes:
            return self.nodes[pattern_node] is graph_node
        if pattern_node.kind() != graph_node.kind() or pattern_node.blocks() or graph_node.blocks():
            return False
        if graph_node.owning_block() is not self.block and pattern_node.kind() != "prim::Constant":
            return False
        if len(pattern_node.inputs()) != len(graph_node.inputs()) or len(pattern_node.outputs()) != len(
            graph_node.outputs()
        ):
            return False
        if pattern_node.has_attributes() and not _same_attributes(pattern_node, graph_node):
            return False
        self.nodes[pattern_node] = graph_node
        for value, other in zip(pattern_node.outputs(), graph_node.outputs(), strict=True):
            self.values[value] = other
        pairs = zip(pattern_node.inputs(), graph_node.inputs(), strict=True)
        return all(self._same_value(value, other) for value, other in pairs)

    def _has_no_outside_uses(self) -> bool:
        """Return whether all values of the occurrence, except the outputs, are used only inside of it."""
        matched_nodes = set(self.nodes.values())
        outputs = {self.values[value] for value in self.pattern.outputs()}
        computed_nodes = [node for node in matched_nodes if node.kind() != "prim::Constant"]
        return all(
            value in outputs or all(use.user in matched_nodes for use in value.uses())
            for node in computed_nodes
            for value in node.outputs()
        )


def _same_attributes(pattern_node: Node, graph_node: Node) -> bool:
    if pattern_node.kind() == "prim::Constant":
        return constant_key(pattern_node) == constant_key(graph_node)
    names = pattern_node.attribute_names()
    return all(
        graph_node.has_attribute(name) and graph_node.get(name) == pattern_node.get(name) for name in names
    )


class _Rewriter:
    def __init__(self, pattern: Graph, replacement: Graph, accept: Filter | None) -> None:
        self.pattern = pattern
        self.replacement = replacement
        self.accept = accept
        self.replaced: dict[Value, Value] = {}  # result of a replaced occurrence -> new value

    def visit(self, block: Block) -> bool:
        changed = False
        matches = find_matches(self.pattern, block)
        insertion_points = self._insertion_points(matches, block)
        for match, insertion_point in zip(matches, insertion_points, strict=True):
            current_values = {
                pattern_value: self.replaced.get(graph_value, graph_value)
                for pattern_value, graph_value in match.items()
            }
            is_accepted = insertion_point is not None and (self.accept is None or self.accept(current_values))
            if is_accepted and optimization_allowed("subgraph_rewrite"):
                assert insertion_point is not None
                self._replace(match, current_values, insertion_point)
                changed = True
        for node in block.nodes():
            for inner in node.blocks():
                changed |= self.visit(inner)
        return changed

    def _insertion_points(self, matches: list[dict[Value, Value]], block: Block) -> list[Node | None]:
        """Return for each match the insertion point of its replacement.

        It is None if writes forbid to move the matched nodes there.
        """
        graph = block.owning_graph()
        writes = graph.analysis(AliasDb) if matches and may_write(graph) else None
        return [self._insertion_point(match, writes) for match in matches]

    def _insertion_point(self, match: Values, writes: AliasDb | None) -> Node | None:
        wanted_nodes = (pattern_node for pattern_node in self.pattern.nodes() if pattern_node.outputs())
        pairs = [(pattern_node, match[pattern_node.output()].node()) for pattern_node in wanted_nodes]
        computed = [(pattern_node, node) for pattern_node, node in pairs if node.kind() != "prim::Constant"]
        in_order = sorted((node for _, node in computed), key=cmp_to_key(_order))
        first, last = in_order[0], in_order[-1]
        if writes is None:
            return last

        def written_between(pattern_node: Node, one: Node, other: Node) -> bool:
            values = [match[x] for x in pattern_node.inputs()]
            return one is not other and writes.has_writes_between(values, one, other)

        if not any(written_between(pattern_node, node, last) for pattern_node, node in computed):
            return last
        are_inputs_defined = all(_is_defined_before(match[x], first) for x in self.pattern.inputs())
        if are_inputs_defined and not any(
            written_between(pattern_node, first, node) for pattern_node, node in computed
        ):
            return first
        return None

    def _replace(self, match: Values, current_values: Values, insertion_point: Node) -> None:
        update("subgraph_rewrite", "Rewriting the occurrence at {}", insertion_point)
        graph = insertion_point.owning_graph()
        inputs = [current_values[value] for value in self.pattern.inputs()]
        with graph.inserting_before(insertion_point):
            results = graph.insert_graph(self.replacement, inputs)
        _remove_names(results, inputs)
        for value, result in zip(self.pattern.outputs(), results, strict=True):
            result.set_type(match[value].type())
            match[value].replace_all_uses_with(result)
            self.replaced[match[value]] = result
        for pattern_node in reversed(list(self.pattern.nodes())):
            node = match[pattern_node.output()].node() if pattern_node.outputs() else None
            if node is not None and not node.has_uses():
                node.destroy()


def _remove_names(results: list[Value], inputs: list[Value]) -> None:
    """Remove the names of the values of an inserted replacement, as PyTorch does."""
    pending = [value for value in results if value not in inputs]
    while pending:
        value = pending.pop()
        value.set_debug_name("")
        pending += [x for x in value.node().inputs() if x not in inputs and x.has_debug_name()]


def _is_defined_before(value: Value, node: Node) -> bool:
    """Return whether a value is defined before `node`."""
    block, maker = node.owning_block(), value.node()
    return maker.owning_block() is not block or maker.is_before(node)


def _order(node: Node, other: Node) -> int:
    return 0 if node is other else -1 if node.is_before(other) else 1
