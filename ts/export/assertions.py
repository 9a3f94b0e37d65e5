"""What has to hold of numbers that follow from data: nodes that look at it, behind those that give them.

n = x.item(); torch._check(n >= 2); torch._check(n <= 10)

item = aten.item(x); ge = item >= 2; aten._assert_scalar(ge, "Runtime assertion failed for ..."); le = ...
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sympy

from ts._core.tensor.symbols import Symbolic, SymBool, SymInt
from ts._core.tensor.tensor import Tensor
from ts.export import expressions
from ts.export.environment import MOST_UNBACKED, Environment, Requirement
from ts.export.node_values import origin_of
from ts.export.nodes import FUNCTIONS, symbol_of
from ts.export.recorder import Recorder
from ts.fx.node import Node
from ts.ops.namespace import OpOverload, overload_named


def insert(recorder: Recorder) -> None:
    """Put assertions into a recording that is over, each where the last of its numbers is there.

    What is asked of numbers that a branch or loop makes is looked at there.
    """
    _Insertion(recorder).run()


class _Insertion:
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.environment: Environment = recorder.environment
        self.left: list[Requirement] = self.environment.requirements  # those that are looked at leave it
        self.asked = {s for requirement in self.left for s in requirement.condition.free_symbols}
        self.defined: dict[Any, Node] = {}
        self.origin: Node | None = None  # the node that gives the number that is looked at

    def run(self) -> None:
        graph, recorder = self.recorder.graph, self.recorder
        before, recorder._numbers = recorder._numbers, self.defined
        notes, recorder.notes_blocks = recorder.notes_blocks, False
        try:
            for node in list(graph.nodes):
                truth = _truth_of_data(node)
                if truth is not None and truth not in self.defined and (node.users or truth in self.asked):
                    self.define(self._as_number(node, truth), truth, None)
                for symbol, dim in _new_symbols(node, self.defined):
                    self.define(node, symbol, dim)
        finally:
            recorder._numbers = before | self.defined
            recorder.notes_blocks = notes

    def define(self, node: Node, symbol: Any, dim: int | None) -> None:
        """From here on there is a number for a symbol: what is asked of it, and of it and those before."""
        last = self.origin = node
        if dim is not None:
            last = self._size(node, dim, symbol)
        self.defined[symbol] = last
        graph = self.recorder.graph
        with graph.inserting_before(_behind(last)):
            ends = self.environment.ranges[symbol]
            if not math.isinf(ends.low):
                self.insert_assertion(sympy.Ge(symbol, expressions.lifted(ends.low), evaluate=False))
            if not math.isinf(ends.high) and ends.high != MOST_UNBACKED:
                self.insert_assertion(sympy.Le(symbol, expressions.lifted(ends.high), evaluate=False))
            for requirement in list(self.left):
                condition = requirement.condition
                if all(s in self.defined or s in self.environment.hints for s in condition.free_symbols):
                    self.left.remove(requirement)
                    if not _is_end_of_symbol(condition):
                        self.insert_assertion(condition, requirement.signed_remainders)

    def _as_number(self, node: Node, symbol: Any) -> Node:
        """The node that makes a number of a truth, right behind it."""
        with self.recorder.graph.inserting_after(node):
            number = symbol_of(symbol, self.environment)
            made = self.recorder._call(FUNCTIONS["sym_ite"], (node, 1, 0), number)
        made.meta |= origin_of(node)
        return made

    def _size(self, node: Node, dim: int, symbol: Any) -> Node:
        """The node that asks for a size, right behind the tensor's."""
        for user in node.users:
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
        condition = condition.xreplace(fixed)  # of sizes that were found out later on
        if isinstance(condition, sympy.Ne):
            equal = recorder._number_node(sympy.Eq(condition.lhs, condition.rhs, evaluate=False))
            made = recorder._call(FUNCTIONS["sym_not"], (equal,), symbol_of(condition, self.environment))
        elif isinstance(condition, sympy.Lt | sympy.Le) and condition.lhs.is_number:
            mirrored = sympy.Gt if isinstance(condition, sympy.Lt) else sympy.Ge
            made = recorder._number_node(mirrored(condition.rhs, condition.lhs, evaluate=False))
        else:
            made = recorder._number_node(condition)
        if isinstance(made, Node):
            shown = condition.xreplace({m: sympy.Function("PythonMod")(*m.args) for m in signed_remainders})
            told = f"Runtime assertion failed for expression {shown} on node '{made.name}'"
            said = recorder._call(
                overload_named("aten::_assert_scalar", ""), (made, told), None, name="_assert_scalar_default"
            )
            for each in (made, said):
                each.meta |= origin_of(self.origin)


def _is_end_of_symbol(condition: Any) -> bool:
    """Return whether a condition only bounds one symbol by a number, which the symbol's range implies."""
    if not isinstance(condition, sympy.Le):
        return False
    return any(
        a.is_Symbol and a.is_integer and b.is_number for a, b in (condition.args, condition.args[::-1])
    )


def _behind(node: Node) -> Node:
    return node.next


def _truth_of_data(node: Node) -> Any:
    """The symbol of a truth that follows from data, which is 1 or 0, where a node gives one; or None."""
    value = node.meta.get("val")
    if not isinstance(node.target, OpOverload) or not isinstance(value, SymBool):
        return None
    expression = value.node.expression
    return expression.lhs if isinstance(expression, sympy.Eq) and expression.lhs.is_Symbol else None


def _new_symbols(node: Node, defined: dict[Any, Node]) -> list[tuple[Any, int | None]]:
    """Symbols of data that a node is the first to give: itself, or as a size."""
    value = node.meta.get("val")
    found: list[tuple[Any, int | None]] = []
    if isinstance(value, Symbolic):
        expression = value.node.expression  # as it was given: the symbol may be known to be another number
        if isinstance(expression, sympy.Eq) and expression.lhs.is_Symbol and node.op == "call_function":
            return []
        if (
            expressions.is_of_data(expression)
            and expression not in defined
            and "sym_size" not in str(node.target)
        ):
            found.append((expression, None))
    elif isinstance(value, Tensor):
        for dim, n in enumerate(value.array.shape):
            expression = n.node.expression if isinstance(n, SymInt) else None
            if expression is None or not expressions.is_of_data(expression):
                continue
            if expression not in defined and expression not in [s for s, _ in found]:
                found.append((expression, dim))
    return found
