"""Deferred runtime assertions on unbacked symbols, inserted after the nodes that define the symbols.

Example:

    program   n = x.item(); torch._check(n >= 2); torch._check(n <= 10)
    graph     item = aten.item(x); ge = item >= 2; aten._assert_scalar(ge, ...); le = item <= 10; ...
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.sym_types import SymBool, SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.export import sympy_functions
from ts.export.decision_policy import Requirement
from ts.export.node_arguments import origin_of
from ts.export.shape_env import MAX_UNBACKED_SIZE, ShapeEnv
from ts.export.size_operations import TARGETS
from ts.export.sym_node import SymNode, symbol_of
from ts.export.sympy_import import sympy
from ts.export.tracer import ExportTracer
from ts.fx.node import Node
from ts.ops.namespace import OpOverload, overload_named


def insert(recorder: ExportTracer) -> dict[str, str]:
    """Insert the assertions into the finished graph, each after the definition of its last symbol.

    If a node computes the same number as an earlier node of an assertion, erase the node. Return a
    dictionary: name of an erased node -> name of the node that replaces it.

    Conditions on symbols of a branch or loop body stay in `environment.requirements`. They are asserted in
    the graph of that body.
    """
    return _Insertion(recorder, recorder.environment.requirements).run()


def reinsert(recorder: ExportTracer) -> dict[str, str]:
    """Insert the assertions of the exported graph into the decomposed graph. Return a dict as `insert` does.

    A replayed assertion is erased if a new assertion has an identical condition. As in PyTorch, `u0 > 2` and
    `2 < u0` are not identical. PyTorch also keeps replayed assertions on booleans, and on symbols that equal
    numbers or sizes of arguments.
    """
    return _Insertion(recorder, list(recorder.environment.asserted), is_first=False).run()


class _Insertion:
    """Insertion of assertions into one graph. Inserted conditions are removed from `requirements`."""

    def __init__(
        self, recorder: ExportTracer, requirements: list[Requirement], is_first: bool = True
    ) -> None:
        self.recorder = recorder
        self.environment: ShapeEnv = recorder.environment
        self.pending = requirements
        self.is_first = is_first
        self.required_symbols = {
            s for requirement in self.pending for s in requirement.condition.free_symbols
        }
        self.defined: dict[Any, Node] = {}  # expression of a size or number -> node that computes it
        self.asserted: set[Any] = set()  # conditions that the graph asserts
        self.replaced: dict[str, Node] = {}  # name of an erased node -> node that replaces it
        # symbol of a boolean -> expression whose value is 1 if the boolean is true, and 0 if it is false
        self.number_by_symbol: dict[Any, Any] = {}
        # Node after which assertions are inserted. The nodes of the assertions get a copy of its metadata.
        self.origin: Node | None = None

    def run(self) -> dict[str, str]:
        """Insert the assertions. Return a dict from names of erased nodes to names of their replacements."""
        graph, recorder = self.recorder.graph, self.recorder
        before, recorder._size_nodes = recorder._size_nodes, self.defined
        notes, recorder.notes_blocks = recorder.notes_blocks, False
        on_sizes = False  # True after the assertions on argument sizes have been inserted
        try:
            for node in list(graph.nodes):
                if self._erase_duplicate(node):
                    continue
                truth = _truth_of_data(node)
                if (
                    truth is not None
                    and truth not in self.defined
                    and (node.users or truth in self.required_symbols)
                ):
                    self.define(self._as_number(node, truth), truth, None)
                for symbol, dim in _new_symbols(node, self.defined):
                    self.define(node, symbol, dim)
                if node.op == "call_function" and not on_sizes and not is_size_of_input(node):
                    on_sizes = True
                    self._insert_on_sizes(node)
        finally:
            recorder._size_nodes = before | self.defined
            recorder.notes_blocks = notes
        return {name: node.name for name, node in self.replaced.items()}

    def _insert_on_sizes(self, node: Node) -> None:
        """Insert the assertions on sizes of arguments after `node`.

        `node` is the first call in the graph that does not compute the size of an argument.
        """
        on_sizes = [
            r for r in self.pending if not any(map(sympy_functions.is_of_data, r.condition.free_symbols))
        ]
        self.origin = node
        with self.recorder.graph.inserting_before(_next_node(node)):
            for requirement in on_sizes:
                self.pending.remove(requirement)
                if self.is_first:
                    self.environment.asserted.append(requirement)
                self.insert_assertion(requirement.condition)

    def _erase_duplicate(self, node: Node) -> bool:
        """Erase `node` if an inserted node computes the same number or asserts the same condition.

        Return True if `node` was erased.
        """
        value = node.meta.get("val")
        if str(node.target) == "aten._assert_scalar.default":
            tested = node.args[0]
            condition = tested.meta.get("val") if isinstance(tested, Node) else None
            if isinstance(condition, SymBool) and condition.node.expression in self.asserted:
                self.recorder.graph.erase_node(node)
                return True
        elif node.op == "call_function" and isinstance(value, SymNumber):
            expression = value.node.expression
            # Equal sizes of arguments have one node. Data-dependent numbers keep their own symbols.
            if not any(map(sympy_functions.is_of_data, expression.free_symbols)):
                expression = value.node.expr
            existing = self.defined.get(expression)
            if existing is None and isinstance(value, SymInt) and not sympy_functions.is_of_data(expression):
                self.defined[expression] = node
            elif self._is_replaced(expression):
                return False
            elif existing is not None and existing is not node:
                node.replace_all_uses_with(existing)
                self.replaced[node.name] = existing
                self.recorder.graph.erase_node(node)
                return True
        return False

    def _is_replaced(self, symbol: Any) -> bool:
        """Return True if an expression has replaced `symbol`, so that nodes of `symbol` are not reused."""
        equal = self.environment.replaced.get(symbol)
        return equal is not None and (equal.is_number or not self.is_first)

    def define(self, node: Node, symbol: Any, dim: int | None) -> None:
        """Insert, after `node`, the assertions whose symbols are all defined after `node`.

        `node` defines `symbol`, as a number if `dim` is None, else as size `dim` of a tensor.
        """
        last = self.origin = node
        if dim is not None:
            last = self._size(node, dim, symbol)
        equal = self.environment.replaced.get(symbol)
        is_new = self.is_first or (equal is None and _truth_of_data_number(node) is None)
        defined_before, asserted = dict(self.defined), set(self.asserted)
        self.defined[symbol] = last
        graph = self.recorder.graph
        with graph.inserting_before(_next_node(last)):
            value_range = self.environment.ranges[symbol]
            if not math.isinf(value_range.low):
                self.insert_assertion(
                    sympy.Ge(symbol, sympy_functions.to_sympy(value_range.low), evaluate=False)
                )
            if not math.isinf(value_range.high) and value_range.high != MAX_UNBACKED_SIZE:
                self.insert_assertion(
                    sympy.Le(symbol, sympy_functions.to_sympy(value_range.high), evaluate=False)
                )
            for requirement in list(self.pending):
                condition = requirement.condition
                if all(s in self.defined or s in self.environment.hints for s in condition.free_symbols):
                    self.pending.remove(requirement)
                    if self.is_first:
                        self.environment.asserted.append(requirement)
                    elif equal is not None and equal.is_number:
                        continue
                    if not _is_range_bound(condition):
                        self.insert_assertion(condition, requirement.signed_remainders)
        # An earlier node defines an equal symbol, but PyTorch creates another symbol for `node`. Later nodes
        # must not reuse the expressions and assertions that were added here.
        if not is_new:
            self.defined = self.recorder._size_nodes = defined_before | {symbol: last}
            self.asserted = asserted

    def _as_number(self, node: Node, symbol: Any) -> Node:
        """Insert a `sym_ite` node that converts a boolean to 0 or 1."""
        with self.recorder.graph.inserting_after(node):
            symbolic_number = symbol_of(_number_of_truth(symbol), self.environment)
            number_node = self.recorder._call(TARGETS["sym_ite"], (node, 1, 0), symbolic_number)
        number_node.meta |= origin_of(node)
        self.number_by_symbol[symbol] = symbolic_number.node.expression
        return number_node

    def _size(self, node: Node, dim: int, symbol: Any) -> Node:
        """Return a `sym_size` node directly after the node of the tensor."""
        for user in [] if self._is_replaced(symbol) else node.users:
            if str(user.target) == "aten.sym_size.int" and user.args == (node, dim):
                node.append(user)
                return user
        with self.recorder.graph.inserting_after(node):
            return self.recorder._call(
                overload_named("aten::sym_size", "int"), (node, dim), symbol_of(symbol, self.environment)
            )

    def insert_assertion(self, condition: Any, signed_remainders: Sequence[Any] = ()) -> None:
        """Insert nodes that assert the condition at run time."""
        recorder = self.recorder
        fixed = {s: n for s, n in self.environment.replaced.items() if s in self.environment.hints}
        # Some sizes became constants after the condition was recorded.
        condition = condition.xreplace(fixed)
        defined_before = dict(self.defined)
        condition_node = self._condition_node(condition)
        # PyTorch writes signed remainders as `PythonMod`, and other remainders as `Mod`. Therefore, later
        # conditions with `Mod` cannot reuse the nodes for signed remainders.
        if signed_remainders:
            self.defined = recorder._size_nodes = defined_before
        self.asserted.add(condition)
        if isinstance(condition_node, Node):
            printed_condition = condition.xreplace(
                {m: sympy.Function("PythonMod")(*m.args) for m in signed_remainders}
            )
            message = (
                f"Runtime assertion failed for expression {printed_condition} on node '{condition_node.name}'"
            )
            assertion_node = recorder._call(
                overload_named("aten::_assert_scalar", ""),
                (condition_node, message),
                None,
                name="_assert_scalar_default",
            )
            for each in (condition_node, assertion_node):
                each.meta |= origin_of(self.origin)
            if any(s in self.number_by_symbol for s in condition.free_symbols):
                value = condition.xreplace(self.number_by_symbol)
                condition_node.meta["val"] = SymBool(SymNode(value, self.environment))

    def _condition_node(self, condition: Any) -> Any:
        """Return the node that computes `condition`.

        For example, the inequality `2 < u0` is computed as `u0 > 2`.
        """
        recorder, normalized_condition = self.recorder, condition
        if isinstance(condition, sympy.Ne):
            operands = (self._uncached_node(sympy.Eq(condition.lhs, condition.rhs, evaluate=False)),)
            function = "sym_not"
        elif isinstance(condition, sympy.And | sympy.Or) and len(condition.args) == 2:
            operands = tuple(map(self._condition_node, condition.args))
            function = "and" if isinstance(condition, sympy.And) else "or"
            operand_expressions = [operand.meta["val"].node.expression for operand in operands]
            normalized_condition = condition.func(*operand_expressions, evaluate=False)
        elif isinstance(condition, sympy.Lt | sympy.Le) and condition.lhs.is_number:
            mirrored = sympy.Gt if isinstance(condition, sympy.Lt) else sympy.Ge
            return self._uncached_node(mirrored(condition.rhs, condition.lhs, evaluate=False))
        else:
            return recorder._size_node(condition)
        node = recorder._call(TARGETS[function], operands, symbol_of(normalized_condition, self.environment))
        self.defined[condition] = node
        return node

    def _uncached_node(self, condition: Any) -> Any:
        """Create a node for `condition` which equal conditions do not reuse."""
        cached_node = self.defined.pop(condition, None)
        node = self.recorder._size_node(condition)
        self.defined.pop(condition, None)
        if cached_node is not None:
            self.defined[condition] = cached_node
        return node


def _is_range_bound(condition: Any) -> bool:
    """Return True for `symbol <= number` or `number <= symbol`, which the range of the symbol implies."""
    if not isinstance(condition, sympy.Le):
        return False
    return any(
        a.is_Symbol and a.is_integer and b.is_number for a, b in (condition.args, condition.args[::-1])
    )


def _next_node(node: Node) -> Node:
    return node.next


def is_size_of_input(node: Node) -> bool:
    """Return True if the node computes the size of an argument."""
    source = node.args[0] if str(node.target) == "aten.sym_size.int" else None
    return isinstance(source, Node) and source.op == "placeholder"


def _truth_of_data(node: Node) -> Any:
    """Return the symbol, with value 0 or 1, of a node with a data-dependent boolean.

    Return None for other nodes.
    """
    value = node.meta.get("val")
    if not isinstance(node.target, OpOverload) or not isinstance(value, SymBool):
        return None
    expression = value.node.expression
    return expression.lhs if isinstance(expression, sympy.Eq) and expression.lhs.is_Symbol else None


def _number_of_truth(symbol: Any) -> Any:
    """Return an expression whose value is 1 if `symbol` is 1, and 0 otherwise."""
    return sympy.Piecewise((1, sympy.Eq(symbol, 1)), (0, True))


def _truth_of_data_number(node: Node) -> Any:
    """Return the symbol of the data-dependent boolean that a `sym_ite` node converts, or None."""
    tested = node.args[0] if node.target is TARGETS["sym_ite"] else None
    return _truth_of_data(tested) if isinstance(tested, Node) else None


def _new_symbols(node: Node, defined: dict[Any, Node]) -> list[tuple[Any, int | None]]:
    """Return (symbol, dimension) for each unbacked symbol that `node` defines and that is not in `defined`.

    The dimension is None if the symbol is a number instead of a tensor size.
    """
    value = node.meta.get("val")
    symbols: list[tuple[Any, int | None]] = []
    if isinstance(value, SymNumber):
        # In `expr`, an equal symbol may replace this one.
        expression = value.node.expression
        if isinstance(expression, sympy.Eq) and expression.lhs.is_Symbol and node.op == "call_function":
            return []
        if (
            sympy_functions.is_of_data(expression)
            and expression not in defined
            and "sym_size" not in str(node.target)
        ):
            symbols.append((expression, None))
    elif isinstance(value, Tensor):
        for dim, n in enumerate(value.array.shape):
            expression = n.node.expression if isinstance(n, SymInt) else None
            if expression is None or not sympy_functions.is_of_data(expression):
                continue
            if expression not in defined and expression not in [s for s, _ in symbols]:
                symbols.append((expression, dim))
    return symbols
