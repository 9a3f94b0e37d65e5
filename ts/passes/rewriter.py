"""Worklist engine for local rewrites: rules by node kind, applied until no rule matches.

A rule has a pattern and a replacement, or a list of node kinds and a function:

    SIMPLIFY = RuleSet(
        "simplify",
        Rule("aten::mul(x, 1)", "x", has_number_type),
        Rule("aten::addmm(b, x, w, 1, 1)", "aten::add(b, aten::mm(x, w), 1)"),
        Rule("aten::neg aten::abs", fold_sign),
    )
    SIMPLIFY.apply(graph)

In a pattern, a name matches any value, and a literal matches an equal constant. A call matches the output of
a node of the called kind. All occurrences of a name must match the same value, except those of `_`.

A function is called for each node of the listed kinds. It returns the values that replace the node's outputs,
or None. It returns True if it changed the graph itself, and the node is visited again.

After a change, the engine visits the users of the new values and their users again. It also visits nodes
again that a rule skipped because of a write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

from ts.analysis.alias import AliasDb
from ts.analysis.mutation import is_directly_written
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import Type
from ts.passes.pass_logging import enabled, is_exhausted, optimization_allowed, update
from ts.passes.pass_utils import constant_value

Replacement = Value | Sequence[Value] | bool | None
RuleFunction = Callable[["Rewriter", Node], Replacement]

_TOKEN: Final = re.compile(r"-?[\w:]+|[(),]")
_LITERALS: Final = {"True": True, "False": False, "None": None}


class Rule(NamedTuple):
    """Rewrite rule: a pattern, its replacement and a condition on the matched node."""

    pattern: str
    replacement: str | RuleFunction
    condition: Callable[[Node], bool] | None = None


class RuleSet:
    """Rules of the pass `name`. Changes are logged and limited under this name (`pass_logging`).

    By default, replaced nodes are destroyed. If `leaves_dead_nodes` is True, `dce` removes them later, and
    nodes without uses are not visited. `preserves_aliases` must be False if a replacement may change which
    values are aliases.
    """

    def __init__(
        self, name: str, *rules: Rule, leaves_dead_nodes: bool = False, preserves_aliases: bool = True
    ) -> None:
        self.name = name
        self.leaves_dead_nodes = leaves_dead_nodes
        self.preserves_aliases = preserves_aliases
        self.by_kind: dict[str, list[RuleFunction]] = {}
        for rule in rules:
            kinds, function = _compile(rule)
            for kind in kinds:
                self.by_kind.setdefault(kind, []).append(function)

    def apply(self, graph: Graph) -> bool:
        """Apply the rules until no rule matches, and return whether the graph changed."""
        return not graph.kinds().isdisjoint(self.by_kind) and Rewriter(graph, self).run()


class Rewriter:
    """One application of a rule set to a graph. Rules call its methods to insert nodes and query aliases."""

    def __init__(self, graph: Graph, rules: RuleSet) -> None:
        self.graph = graph
        self._rules = rules
        self._next: dict[Node, None] = {}  # nodes for the next round
        # nodes for which `is_written` returned True, visited again after a change
        self._written: list[Node] = []
        self._aliases: AliasDb | None = None
        self._current: Node | None = None

    def run(self) -> bool:
        """Visit nodes until the worklist is empty, and return whether the graph changed."""
        changed = False
        worklist = list(self._candidates(self.graph.block()))
        while worklist:
            self._aliases, self._written = None, []
            has_changed = False
            for node in worklist:
                self._next.pop(node, None)
                if node.in_block() and (node.has_uses() or not self._rules.leaves_dead_nodes):
                    has_changed |= self._visit(node)
            if not has_changed:
                break
            changed = True
            self._enqueue(self._written)
            worklist = sorted((node for node in self._next if node.in_block()), key=Node.path)
            self._next.clear()
        return changed

    def rewrite(self, node: Node) -> bool:
        """Apply the first rule that matches `node`, and return whether a rule matched."""
        if node.kind() not in self._rules.by_kind or not (
            node.has_uses() or not self._rules.leaves_dead_nodes
        ):
            return False
        has_changed = self._visit(node)
        self._next.clear()
        return has_changed

    # -- methods that rules call -----------------------------------------------------------------------

    @property
    def aliases(self) -> AliasDb:
        """Alias analysis, created on first use."""
        if self._aliases is None:
            self._aliases = self.graph.analysis(AliasDb)
        return self._aliases

    def is_written(self, value: Value) -> bool:
        """Return whether a node of the graph writes to `value`. Writes to elements of `value` do not count.

        If True, also remember to visit the node that the current rule is applied to again after a change of
        the graph.
        """
        written = is_directly_written(value) or self.aliases.has_direct_writers(value)
        if written and self._current is not None:
            self._written.append(self._current)
        return written

    def constant(self, node: Node, value: Any) -> Value:
        """Insert a constant before `node`."""
        with self.graph.inserting_before(node):
            return self.graph.insert_constant(value)

    def call(self, node: Node, kind: str, inputs: Sequence[Value], type: Type | None = None) -> Value:
        """Insert a node of `kind` before `node`, with the metadata of `node`. Return its result.

        The result has the type `type`, or by default the type in the operator's schema.
        """
        with self.graph.inserting_before(node):
            result = self.graph.insert(kind, inputs, type)
        result.node().copy_metadata(node)
        self._enqueue((result.node(),))
        return result

    def replace_kind(self, node: Node, kind: str, inputs: Iterable[Value] | None = None) -> list[Value]:
        """Insert a node of `kind` before `node`. Its outputs get the types and names of `node.outputs()`."""
        new_node = self.graph.create(kind, node.inputs() if inputs is None else inputs, len(node.outputs()))
        new_node.copy_metadata(node).insert_before(node)
        self._enqueue((new_node,))
        return [new.copy_metadata(old) for new, old in zip(new_node.outputs(), node.outputs(), strict=True)]

    # -- worklist of nodes -----------------------------------------------------------------------------

    def _candidates(self, block: Block) -> Iterator[Node]:
        """Yield in program order the nodes whose kind has rules.

        Nodes in the blocks of a node precede this node.
        """
        by_kind = self._rules.by_kind
        for node in block.nodes():
            for inner in node.blocks():
                yield from self._candidates(inner)
            if node.kind() in by_kind:
                yield node

    def _enqueue(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            owner = node.owning_block().owning_node() if node.kind() == "prim::Return" else node
            if owner is not None and owner.kind() in self._rules.by_kind:
                self._next[owner] = None

    def _enqueue_users(self, values: Iterable[Value]) -> None:
        users = [use.user for value in values for use in value.uses()]
        self._enqueue(users)
        self._enqueue(use.user for user in users for value in user.outputs() for use in value.uses())

    def _visit(self, node: Node) -> bool:
        """Apply the first rule that matches, and return whether a rule matched."""
        name = self._rules.name
        if is_exhausted(name):
            return False
        self._current = node
        text = str(node) if enabled(name) else ""
        for rule in self._rules.by_kind[node.kind()]:
            results = rule(self, node)
            if results is None or results is False:
                continue
            optimization_allowed(name)
            update(name, "Replacing {}", text)
            if results is True:
                self._enqueue((node,) if node.in_block() else ())
                self._enqueue_users(node.outputs())
            else:
                self._replace(node, (results,) if isinstance(results, Value) else results)
            if not self._rules.preserves_aliases:
                self._aliases = None
            return True
        return False

    def _replace(self, node: Node, results: Sequence[Value]) -> None:
        for output, result in zip(node.outputs(), results, strict=True):
            self._enqueue_users((output,))
            output.replace_all_uses_with(result)
        if not self._rules.leaves_dead_nodes:
            node.destroy()


# -- parsing and matching of patterns ------------------------------------------------------------------


# Term of a pattern: a name (str), a literal, or a call. A call is a tuple of a node kind and one term for
# each input of the node.
_Term = Any


def _compile(rule: Rule) -> tuple[list[str], RuleFunction]:
    """Return the kinds of nodes that `rule` may match, and a function that applies `rule` to a node."""
    replacement, condition = rule.replacement, rule.condition
    if not isinstance(replacement, str):
        assert condition is None, "a rule with a function has no separate condition"
        return rule.pattern.split(), replacement
    pattern, result = _parse(rule.pattern), _parse(replacement)

    def apply(rewriter: Rewriter, node: Node) -> Value | None:
        values: dict[str, Value] = {}
        if not _matches_inputs(pattern, node, values) or (condition is not None and not condition(node)):
            return None
        return _build(result, values, rewriter, node)

    return [pattern[0]], apply


def _parse(text: str) -> _Term:
    return _parse_term(_TOKEN.findall(text)[::-1])


def _parse_term(tokens: list[str]) -> _Term:
    """Parse one term from the end of `tokens`, which are in reverse order, and remove its tokens."""
    token = tokens.pop()
    if not tokens or tokens[-1] != "(":
        return int(token) if token.lstrip("-").isdigit() else _LITERALS.get(token, token)
    tokens.pop()
    term: list[_Term] = [token]
    while tokens[-1] != ")":
        term.append(_parse_term(tokens))
        if tokens[-1] == ",":
            tokens.pop()
    tokens.pop()
    return tuple(term)


def _matches(term: _Term, value: Value, values: dict[str, Value]) -> bool:
    if isinstance(term, str):
        return term == "_" or values.setdefault(term, value) is value
    if isinstance(term, tuple):
        return value.node().kind() == term[0] and _matches_inputs(term, value.node(), values)
    constant = constant_value(value)
    if term is None or isinstance(term, bool):
        return constant is term
    return isinstance(constant, (int, float)) and constant == term


def _matches_inputs(call: _Term, node: Node, values: dict[str, Value]) -> bool:
    inputs = node.inputs()
    return len(inputs) == len(call) - 1 and all(map(_matches, call[1:], inputs, repeat(values)))


def _build(term: _Term, values: dict[str, Value], rewriter: Rewriter, node: Node) -> Value:
    if isinstance(term, str):
        return values[term]
    if isinstance(term, tuple):
        return rewriter.call(node, term[0], [_build(inner, values, rewriter, node) for inner in term[1:]])
    return rewriter.constant(node, term)
