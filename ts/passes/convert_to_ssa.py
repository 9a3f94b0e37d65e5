"""Environment loads and stores, `break` and `continue` to SSA form.

In: the emitter's graph. Variables are written by `prim::Store[name="x"](%v)` and read by
`prim::Load[name="x"]()`, a loop carries nothing, its condition sits in a second block, and control leaves by
`prim::BreakStmt`, `prim::ContinueStmt` and `prim::ReturnStmt`. Out: structured SSA, where every value has one
definition and blocks have outputs. Five steps, each complete before the next:

1. `_CarryVariables` gives ifs and loops outputs for the variables that they assign, as loads and stores;
2. `_ContinueLoops` replaces `break` and `continue` by `prim::LoopContinuation(%again, %carried...)`;
3. `_inline_loop_conditions` copies the condition block before the loop and to the end of its body;
4. `_erase_loads_and_stores` replaces each load by the value in scope, and gives a `prim::Line` all of them;
5. `exit_transform` turns the remaining exits into block outputs.

    for i in range(n):        %y : int = prim::Loop(%n, %true, %y.1)
        y = y + i       =>      block0(%i : int, %y.5 : int):
    return y                      %y.3 : int = aten::add(%y.5, %i)
                                  -> (%true, %y.3)
                              return (%y)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ts.errors import InternalError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import Type, unify
from ts.passes.control_flow import inline_block_before, inserting_at_start, named
from ts.passes.exit_transform import exit_transform

_T = TypeVar("_T")


def convert_to_ssa(graph: Graph) -> bool:
    """Bring the emitter's graph into structured SSA form."""
    _CarryVariables().run(graph.block())
    _ContinueLoops(graph).run(graph.block())
    _inline_loop_conditions(graph.block())
    _erase_loads_and_stores(graph.block(), {})
    exit_transform(graph)
    return True


class _CarryVariables:
    """Adds the variables that a branch or a loop body assigns to what its node returns and carries."""

    def __init__(self) -> None:
        self._visible: dict[str, Type] = {}

    def run(self, block: Block) -> dict[str, Type]:
        """Process `block`; the result holds the type of each variable that the block itself assigns."""
        assigned: dict[str, Type] = {}
        before: dict[str, Type | None] = {}
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::Store":
                name = node.get("name")
                before.setdefault(name, self._visible.get(name))
                assigned[name] = self._visible[name] = node.input().type()
            elif kind == "prim::If":
                self._carry_if(node)
            elif kind == "prim::Loop":
                self._carry_loop(node)
            elif kind in ("prim::Closure", "prim::ComprehensionScope"):
                for inner in node.blocks():
                    self.run(inner)
        _restore(self._visible, before)
        return assigned

    def _carry_if(self, node: Node) -> None:
        then_block, else_block = node.blocks()
        then_types = self.run(then_block)
        else_types = self.run(else_block)
        for name in sorted(then_types.keys() | else_types.keys()):
            then_type = then_types.get(name) or self._visible.get(name)
            else_type = else_types.get(name) or self._visible.get(name)
            if then_type is None or else_type is None:
                continue  # defined on one side only: not visible after the if
            unified = unify(then_type, else_type, default_to_union=True)
            if unified is None:
                continue  # the emitter has refused any use of it
            _load_as_block_output(then_block, name, then_type)
            _load_as_block_output(else_block, name, else_type)
            _store_node_output(node, name, unified)

    def _carry_loop(self, node: Node) -> None:
        body = node.blocks()[0]
        for name, assigned in sorted(self.run(body).items()):
            outer = self._visible.get(name)
            if outer is None:
                continue  # local to one iteration
            # The body may run never or often, so a carried variable has the union of both types.
            # Types that only its annotation joins (`a: Any = 1`) are a union here, as after an `if`.
            unified = unify(outer, assigned) or unify(outer, assigned, default_to_union=True)
            if unified is None:
                raise InternalError(f"{name} is {outer} before a loop and {assigned} in it", "convert_to_ssa")
            graph = node.owning_graph()
            before = _create_load(graph, name, outer)
            before.insert_before(node)
            node.add_input(before.output())
            carried = body.add_input(name).set_type(unified)
            body.prepend_node(_create_store(graph, name, carried))
            _load_as_block_output(body, name, assigned)
            _store_node_output(node, name, unified)


def _create_load(graph: Graph, name: str, type: Type) -> Node:
    node = graph.create("prim::Load", (), 1)
    node.set("name", name, "s")
    node.output().set_type(type)
    return node


def _create_store(graph: Graph, name: str, value: Value) -> Node:
    node = graph.create("prim::Store", (value,), 0)
    node.set("name", name, "s")
    return node


def _load_as_block_output(block: Block, name: str, type: Type) -> None:
    load = _create_load(block.owning_graph(), name, type)
    block.append_node(load)
    block.register_output(load.output())


def _store_node_output(node: Node, name: str, type: Type) -> None:
    output = node.add_output().set_type(type)
    if named(name):
        output.set_debug_name(name)
    _create_store(node.owning_graph(), name, output).insert_after(node)


class _ContinueLoops:
    """Replaces `prim::BreakStmt` and `prim::ContinueStmt` by `prim::LoopContinuation`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        with inserting_at_start(graph):
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
        """`continue` evaluates the loop's condition on the spot."""
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
        """Load, at the continuation, what the loop's body loads as its outputs."""
        assert self._loop is not None
        for output in self._loop.blocks()[0].outputs():
            load = _create_load(self._graph, output.node().get("name"), output.type())
            load.insert_before(continuation)
            continuation.add_input(load.output())


def _same(value: Value) -> Value:
    return value


def _inline_loop_conditions(block: Block) -> None:
    for node in block.nodes():
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
    """Replace loads by the values in scope: `values`, which are as before when the block ends."""
    before: dict[str, Value | None] = {}
    for node in block.nodes():
        kind = node.kind()
        if kind == "prim::Store":
            name = node.get("name")
            before.setdefault(name, values.get(name))
            values[name] = node.input()
            node.destroy()
        elif kind == "prim::Load":
            node.output().replace_all_uses_with(values[node.get("name")])
            node.destroy()
        elif kind == "prim::ComprehensionScope":
            # Variables of a comprehension do not leak: its block has an environment of its own.
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
    """Give variables what they were `before` a block; None is what they were not."""
    for name, value in before.items():
        if value is None:
            del variables[name]
        else:
            variables[name] = value


def _attach_variables(line: Node, values: dict[str, Value]) -> None:
    """Let a place of the debugger read the variables in scope; what it reads already is what is returned."""
    names = ["return"] * line.inputs_size()
    for name, value in values.items():
        if name.isidentifier():
            names.append(name)
            line.add_input(value)
    line.set("names", names, "ss")
