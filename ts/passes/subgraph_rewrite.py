"""Pattern rewriting: replace each occurrence of one graph by another.

    rewrite('''graph(%a, %b, %c):                  '''graph(%a, %b, %c):
                 %q = aten::mul(%a, %b)              %r = my::fused(%a, %b, %c)
                 %r = aten::mul(%q, %c)              return (%r)''', graph)
                 return (%r)''',

An occurrence is a set of nodes of one block with the kinds, attributes and data flow of the pattern, whose
values are used outside only through the pattern's outputs. Constants and attribute reads must be equal to
those of the pattern. Occurrences do not overlap: the first one in program order is replaced.
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
    """List of rewrite patterns with replacements, applied in order; PyTorch has a class of this name."""

    def __init__(self) -> None:
        self._patterns: list[tuple[Graph, Graph]] = []

    def register_rewrite_pattern(self, pattern: str | Graph, replacement: str | Graph) -> None:
        """Add a pattern; `run_on_graph` replaces occurrences of `pattern` by `replacement`."""
        self._patterns.append((_graph(pattern), _graph(replacement)))

    def run_on_graph(self, graph: Graph, accept: Filter | None = None) -> bool:
        """Apply all patterns to the occurrences that `accept` accepts; return whether the graph changed."""
        changed = False
        for pattern, replacement in self._patterns:
            changed |= _Rewriter(pattern, replacement, accept).visit(graph.block())
        return changed


def _graph(text: str | Graph) -> Graph:
    return parse_ir(text) if isinstance(text, str) else text


def find_matches(pattern: Graph, block: Block) -> list[dict[Value, Value]]:
    """Return the matches of a pattern in one block, in program order.

    A match maps the values of the pattern to values of the block.
    """
    matches: list[dict[Value, Value]] = []
    taken: set[Node] = set()
    for node in block.nodes():
        match = _Match(pattern, block)
        if match.ends_at(node) and taken.isdisjoint(match.nodes.values()):
            taken.update(match.nodes.values())
            matches.append(match.values)
    return matches


class _Match:
    """Match of a pattern ending at a given node, found backwards from the pattern's last node."""

    def __init__(self, pattern: Graph, block: Block) -> None:
        self.pattern = pattern
        self.block = block
        self.values: dict[Value, Value] = {}
        self.nodes: dict[Node, Node] = {}

    def ends_at(self, node: Node) -> bool:
        last = self.pattern.outputs()[0].node() if self.pattern.outputs() else None
        if last is None or not self._same_node(last, node):
            return False
        found = all(value in self.values for value in self.pattern.outputs())
        return found and self._hides_the_inside()

    def _same_value(self, wanted: Value, found: Value) -> bool:
        known = self.values.get(wanted)
        if known is not None:
            return known is found
        if wanted.node() is self.pattern.param_node():
            self.values[wanted] = found
            return True
        return self._same_node(wanted.node(), found.node()) and self.values.get(wanted) is found

    def _same_node(self, wanted: Node, found: Node) -> bool:
        if wanted in self.nodes:
            return self.nodes[wanted] is found
        if wanted.kind() != found.kind() or wanted.blocks() or found.blocks():
            return False
        if found.owning_block() is not self.block and wanted.kind() != "prim::Constant":
            return False
        if len(wanted.inputs()) != len(found.inputs()) or len(wanted.outputs()) != len(found.outputs()):
            return False
        if wanted.has_attributes() and not _same_attributes(wanted, found):
            return False
        self.nodes[wanted] = found
        for value, other in zip(wanted.outputs(), found.outputs(), strict=True):
            self.values[value] = other
        pairs = zip(wanted.inputs(), found.inputs(), strict=True)
        return all(self._same_value(value, other) for value, other in pairs)

    def _hides_the_inside(self) -> bool:
        """Return whether all values of the occurrence, except the outputs, are used only inside of it."""
        inside = set(self.nodes.values())
        outputs = {self.values[value] for value in self.pattern.outputs()}
        hidden = [found for found in inside if found.kind() != "prim::Constant"]
        return all(
            value in outputs or all(use.user in inside for use in value.uses())
            for found in hidden
            for value in found.outputs()
        )


def _same_attributes(wanted: Node, found: Node) -> bool:
    if wanted.kind() == "prim::Constant":
        return constant_key(wanted) == constant_key(found)
    names = wanted.attribute_names()
    return all(found.has_attribute(name) and found.get(name) == wanted.get(name) for name in names)


class _Rewriter:
    def __init__(self, pattern: Graph, replacement: Graph, accept: Filter | None) -> None:
        self.pattern = pattern
        self.replacement = replacement
        self.accept = accept
        self.replaced: dict[Value, Value] = {}  # result of a replaced occurrence -> new value

    def visit(self, block: Block) -> bool:
        changed = False
        matches = find_matches(self.pattern, block)
        places = self._insertion_points(matches, block)
        for match, place in zip(matches, places, strict=True):
            now = {wanted: self.replaced.get(found, found) for wanted, found in match.items()}
            accepted = place is not None and (self.accept is None or self.accept(now))
            if accepted and optimization_allowed("subgraph_rewrite"):
                assert place is not None
                self._replace(match, now, place)
                changed = True
        for node in block.nodes():
            for inner in node.blocks():
                changed |= self.visit(inner)
        return changed

    def _insertion_points(self, matches: list[dict[Value, Value]], block: Block) -> list[Node | None]:
        """Return the insertion point of each match's replacement; None if writes prevent the replacement."""
        writes = AliasDb(block.owning_graph()) if matches and may_write(block.owning_graph()) else None
        return [self._insertion_point(match, writes) for match in matches]

    def _insertion_point(self, match: Values, writes: AliasDb | None) -> Node | None:
        wanted_nodes = (wanted for wanted in self.pattern.nodes() if wanted.outputs())
        made = [(wanted, match[wanted.output()].node()) for wanted in wanted_nodes]
        found = [(wanted, node) for wanted, node in made if node.kind() != "prim::Constant"]
        in_order = sorted((node for _, node in found), key=cmp_to_key(_order))
        first, last = in_order[0], in_order[-1]
        if writes is None:
            return last

        def written_between(wanted: Node, one: Node, other: Node) -> bool:
            values = [match[x] for x in wanted.inputs()]
            return one is not other and writes.has_writes_between(values, one, other)

        if not any(written_between(wanted, node, last) for wanted, node in found):
            return last
        early = all(_stands_before(match[x], first) for x in self.pattern.inputs())
        if early and not any(written_between(wanted, first, node) for wanted, node in found):
            return first
        return None

    def _replace(self, match: Values, now: Values, place: Node) -> None:
        update("subgraph_rewrite", "Rewriting the occurrence at {}", place)
        graph = place.owning_graph()
        inputs = [now[value] for value in self.pattern.inputs()]
        with graph.inserting_before(place):
            results = graph.insert_graph(self.replacement, inputs)
        _remove_names(results, inputs)
        for value, result in zip(self.pattern.outputs(), results, strict=True):
            result.set_type(match[value].type())
            match[value].replace_all_uses_with(result)
            self.replaced[match[value]] = result
        for wanted in reversed(list(self.pattern.nodes())):
            node = match[wanted.output()].node() if wanted.outputs() else None
            if node is not None and not node.has_uses():
                node.destroy()


def _remove_names(results: list[Value], inputs: list[Value]) -> None:
    """Remove the names of the values of an inserted replacement, as PyTorch does."""
    pending = [value for value in results if value not in inputs]
    while pending:
        value = pending.pop()
        value.set_debug_name("")
        pending += [x for x in value.node().inputs() if x not in inputs and x.has_debug_name()]


def _stands_before(value: Value, node: Node) -> bool:
    """Return whether a value is defined before `node`."""
    block, maker = node.owning_block(), value.node()
    return maker.owning_block() is not block or maker.is_before(node)


def _order(node: Node, other: Node) -> int:
    return 0 if node is other else -1 if node.is_before(other) else 1
