"""SSA construction (static single assignment, phi functions) from loads and stores of variables.

Input: the emitter's graph, in which nodes `prim::Load` and `prim::Store` access variables and early exits are
nodes. Output: a graph in which every value has one definition, and blocks have outputs. This example shows a
program and the result:

    for i in range(n):        %y : int = prim::Loop(%n, %true, %y.1)
        y = y + i       =>      block0(%i : int, %y.5 : int):
    return y                      %y.3 : int = aten::add(%y.5, %i)
                                  -> (%true, %y.3)
                              return (%y)

The pass has five steps:

1. `_CarryVariables` adds an output to each `if` and loop for each variable that its blocks assign.
2. `_ContinueLoops` replaces `break` and `continue` by `prim::LoopContinuation(%again, %carried...)`.
3. `_inline_loop_conditions` copies the condition block before the loop and to the end of its body.
4. `_erase_loads_and_stores` replaces each load by the current value of the variable.
5. `exit_transform` converts the remaining exits to block outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from ts.errors import InternalError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import Type, unify
from ts.ir.value import is_program_name
from ts.passes.exit_transform import exit_transform
from ts.passes.pass_utils import inline_block_before

_T = TypeVar("_T")
_CONTINUING: Final = ("prim::BreakStmt", "prim::ContinueStmt")
# Kinds of nodes that access or carry variables. A graph without them is in SSA form, except for exits.
_VARIABLES: Final = frozenset(
    {"prim::Load", "prim::Store", "prim::Loop", "prim::If", "prim::ComprehensionScope", "prim::Line"}
)
_SCOPES: Final = ("prim::Closure", "prim::ComprehensionScope")


def convert_to_ssa(graph: Graph) -> bool:
    """Convert the emitter's graph to structured SSA form."""
    has_variables = not graph.kinds().isdisjoint(_VARIABLES)
    if has_variables:
        _CarryVariables().run(graph.block())
    continuing = _ContinueLoops(graph)  # inserts a constant, which PyTorch's value numbers count
    if not graph.kinds().isdisjoint(_CONTINUING):
        continuing.run(graph.block())
    if has_variables:
        _inline_loop_conditions(graph.block())
        _erase_loads_and_stores(graph.block(), {})
    graph.remove_names("prim::Load")  # names of loads that the emitter has replaced by assigned values
    exit_transform(graph)
    return True


class _CarryVariables:
    """Transformation that adds phi nodes: inputs and outputs of loops, and outputs of ifs.

    An `if` or loop gets them for each variable that its blocks assign.
    """

    def __init__(self) -> None:
        self._visible: dict[str, Type] = {}

    def run(self, block: Block) -> dict[str, Type]:
        """Add the outputs and inputs in `block`, and return the types of the variables that it assigns."""
        visible = self._visible
        assigned: dict[str, Type] = {}
        before: dict[str, Type | None] = {}
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::Store":
                stored = {node["name"]: node.input().type()}
            elif kind == "prim::If":
                stored = self._carry_if(node)
            elif kind == "prim::Loop":
                stored = self._carry_loop(node)
            else:
                if kind in _SCOPES:
                    for inner in node.blocks():
                        self.run(inner)
                continue
            for name, type in stored.items():
                before.setdefault(name, visible.get(name))
                assigned[name] = visible[name] = type
        _restore(visible, before)
        return assigned

    def _carry_if(self, node: Node) -> dict[str, Type]:
        then_block, else_block = node.blocks()
        then_types, else_types = self.run(then_block), self.run(else_block)
        carried = {}
        for name in sorted(then_types.keys() | else_types.keys()):
            then_type = then_types.get(name) or self._visible.get(name)
            else_type = else_types.get(name) or self._visible.get(name)
            if then_type is None or else_type is None:
                continue  # a variable that only one branch defines is undefined after the `if`
            unified = unify(then_type, else_type, default_to_union=True)
            if unified is None:
                # The types of the two branches do not unify. No output is needed, because the emitter has
                # rejected all later uses of the variable.
                continue
            then_block.register_output(_load(name, then_type, then_block.return_node()))
            else_block.register_output(_load(name, else_type, else_block.return_node()))
            _store_output(node, name, unified)
            carried[name] = unified
        return carried

    def _carry_loop(self, node: Node) -> dict[str, Type]:
        body = node.blocks()[0]
        carried = {}
        for name, assigned in sorted(self.run(body).items()):
            outer = self._visible.get(name)
            if outer is None:
                continue  # the variable is local to an iteration
            # A carried variable can have its type before the loop (no iteration runs) or its type at the end
            # of the body. Types that unify only because of an annotation (`a: Any = 1`) become a union.
            unified = unify(outer, assigned) or unify(outer, assigned, default_to_union=True)
            if unified is None:
                raise InternalError(
                    f"{name} is {outer.str()} before a loop and {assigned.str()} in it", "convert_to_ssa"
                )
            node.add_input(_load(name, outer, node))
            body.prepend_node(_create_store(name, body.add_input(name, unified)))
            body.register_output(_load(name, assigned, body.return_node()))
            _store_output(node, name, unified)
            carried[name] = unified
        return carried


def _load(name: str, type: Type, before: Node) -> Value:
    load = before.owning_graph().create("prim::Load").set("name", name, "s").insert_before(before)
    return load.output().set_type(type)


def _create_store(name: str, value: Value) -> Node:
    return value.owning_graph().create("prim::Store", (value,), 0).set("name", name, "s")


def _store_output(node: Node, name: str, type: Type) -> None:
    """Add an output to `node`, and store it in variable `name`."""
    output = node.add_output(name if is_program_name(name) else None, type)
    _create_store(name, output).insert_after(node)


class _ContinueLoops:
    """Replacement of break and continue statements by `prim::LoopContinuation`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        with graph.inserting_at_start():
            self._false = graph.insert_constant(False)
        self._loop: Node | None = None

    def run(self, block: Block) -> None:
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::If":
                for branch in node.blocks():
                    self.run(branch)
            elif kind in ("prim::Loop", "prim::Closure"):
                enclosing = self._loop
                self._loop = node if kind == "prim::Loop" else None
                self.run(node.blocks()[0])
                self._loop = enclosing
            elif kind == "prim::ContinueStmt":
                self._replace_continue(node)
            elif kind == "prim::BreakStmt":
                continuation = self._graph.create("prim::LoopContinuation", (), 0)
                continuation.insert_after(node)
                continuation.add_input(self._false)
                self._add_carried(continuation)
                node.destroy()

    def _replace_continue(self, node: Node) -> None:
        """Replace `continue` by a copy of the loop's condition."""
        assert self._loop is not None
        continuation = self._graph.create("prim::LoopContinuation", (), 0)
        continuation.insert_after(node)
        condition = continuation.add_block()
        condition.clone_from(self._loop.blocks()[1], _same)
        inline_block_before(condition, node)
        continuation.add_input(condition.outputs()[0])
        continuation.erase_block(0)
        self._add_carried(continuation)
        node.destroy()

    def _add_carried(self, continuation: Node) -> None:
        """Load the carried variables of the current loop as additional inputs of `continuation`."""
        assert self._loop is not None
        for output in self._loop.blocks()[0].outputs():
            continuation.add_input(_load(output.node()["name"], output.type(), continuation))


def _same(value: Value) -> Value:
    return value


def _inline_loop_conditions(block: Block) -> None:
    """Copy the condition block of each loop before the loop and to the end of its body (loop inversion)."""
    for node in block.nodes_with_blocks():
        for inner in node.blocks():
            _inline_loop_conditions(inner)
        if node.kind() == "prim::Loop":
            body, condition = node.blocks()
            start = node.add_block()
            start.clone_from(condition, _same)
            inline_block_before(start, node)
            node.insert_input(1, start.outputs()[0])
            node.erase_block(2)
            inline_block_before(condition, body.return_node())
            body.insert_output(0, condition.outputs()[0])
            node.erase_block(1)


def _erase_loads_and_stores(block: Block, values: dict[str, Value]) -> None:
    """Replace loads in `block` by the values of their variables in `values` (reaching definitions).

    `values` is restored after the block.
    """
    before: dict[str, Value | None] = {}
    for node in block.nodes():
        kind = node.kind()
        if kind == "prim::Store":
            name = node["name"]
            before.setdefault(name, values.get(name))
            values[name] = node.input()
            node.destroy()
        elif kind == "prim::Load":
            node.output().replace_all_uses_with(values[node["name"]])
            node.destroy()
        elif kind == "prim::ComprehensionScope":
            # Variables of a comprehension are not visible after it.
            scope = node.blocks()[0]
            _erase_loads_and_stores(scope, values)
            inline_block_before(scope, node)
            node.destroy()
        elif kind == "prim::Line":
            _attach_variables(node, values)
        else:
            for inner in node.blocks():
                _erase_loads_and_stores(inner, values)
    _restore(values, before)


def _restore(variables: dict[str, _T], before: Mapping[str, _T | None]) -> None:
    """Restore `variables` to the state that `before` contains.

    `before` maps the variables that a block changed to their previous values, or to None if they were
    undefined.
    """
    for name, value in before.items():
        if value is None:
            del variables[name]
        else:
            variables[name] = value


def _attach_variables(line: Node, values: dict[str, Value]) -> None:
    """Append the values of the variables in scope to the inputs of the stop point `line`.

    If the stop point is at a `return`, its first input is already the returned value.
    """
    names = ["return"] * line.inputs_size()
    for name, value in values.items():
        if name.isidentifier():
            names.append(name)
            line.add_input(value)
    line.set("names", names, "ss")
