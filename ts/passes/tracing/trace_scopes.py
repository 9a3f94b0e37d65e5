"""Conversion of the blocks of a trace to methods and forked tasks.

In the graph of a trace, submodule calls and forks are nodes with a block. A node `prim::TracedAttr` reads a
module attribute by its path. The example shows a trace, and the converted graph of the outer module:

    %w = prim::TracedAttr[scope="__module.sub.w"]()
    %s = prim::TracedAttr[scope="__module.sub"]()
     = prim::TracedModuleForward[scope="__module.sub"](%s)
      block0():                                               %sub = prim::GetAttr[name="sub"](%self)
        %y = aten::mul(%x, %w)                          =>    %y = prim::CallMethod[name="forward"](%sub, %x)
    return (%y)                                               return (%y)

Each block becomes a method or task. The outer values that the block uses become parameters, in order of use.
The values of the block that other blocks use become results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import NONE, TupleType, Type, erase_shape

Declare = Callable[[str, Graph], tuple[str, Type]]
"""Function that declares a method with a given graph in the module at a path.

It returns the method's name and result type.
"""

_BLOCKS: Final = ("prim::TracedModuleForward", "prim::TracedFork")


def convert_scopes(graph: Graph, path: str | None, declare: Declare) -> bool:
    """Convert blocks of a trace to methods and tasks.

    `path` is the module path of the first input, None for a function.
    """
    for node in _blocks_of(graph.block()):
        _add_scope_outputs(node)
    _convert_block(graph.block(), declare)
    _erase_call_shapes(graph)
    if path is not None:
        attributes = _Attributes(graph, graph.block(), path, graph.inputs()[0])
        for node in (*graph.all_nodes(), graph.return_node()):
            for i, value in enumerate(node.inputs()):
                if value.node().kind() == "prim::TracedAttr":
                    node.replace_input(i, attributes.of(value))
    for node in graph.find_all_nodes("prim::TracedAttr", recurse=False):
        node.destroy()
    return True


def _blocks_of(block: Block) -> Iterator[Node]:
    """Yield the nodes of a trace that record a call or a fork as a block, with inner nodes first."""
    for node in block.nodes():
        for inner in node.blocks():
            yield from _blocks_of(inner)
        if node.kind() in _BLOCKS:
            yield node


def _is_inside(node: Node, block: Block) -> bool:
    while True:
        current = node.owning_block()
        if current is block:
            return True
        owner = current.owning_node()
        if owner is None:
            return False
        node = owner


def _add_scope_outputs(node: Node) -> None:
    """Add an output to call node `node` for each value of its block that is used outside of the block."""
    block = node.blocks()[0]
    for inner in block.nodes():
        for value in inner.outputs():
            outside_uses = [use for use in value.uses() if not _is_inside(use.user, block)]
            if not outside_uses:
                continue
            if node.kind() == "prim::TracedFork":
                raise RuntimeError(
                    "a value computed in a fork is used without `wait`; return it from the forked function"
                )
            result = node.add_output(type=value.type())
            block.register_output(value)
            for use in outside_uses:
                use.user.replace_input(use.offset, result)


def _convert_block(block: Block, declare: Declare) -> None:
    for node in block.nodes():
        for inner in node.blocks():
            _convert_block(inner, declare)
        if node.kind() == "prim::TracedModuleForward":
            _convert_to_call(node, declare)
        elif node.kind() == "prim::TracedFork":
            _convert_to_fork(node)


def _convert_to_call(node: Node, declare: Declare) -> None:
    graph = node.owning_graph()
    module = node.inputs()[0]
    path = node.get("scope")
    body = _Body(node.blocks()[0], path, module)
    results = body.graph.outputs()
    if len(results) != 1:
        inner = body.graph
        with inner.inserting_at_end(inner.block()):
            packed_result = inner.insert_node(inner.create("prim::TupleConstruct", list(results))).output()
            packed_result.set_type(TupleType([value.type() for value in results]) if results else NONE)
            if not results:
                packed_result = inner.insert_constant(None)
        for i in reversed(range(len(results))):
            inner.erase_output(i)
        inner.register_output(packed_result)
    _erase_call_shapes(body.graph)
    name, type = declare(path, body.graph)
    with graph.inserting_before(node):
        call = graph.create("prim::CallMethod", (module, *body.captured)).set("name", name)
        call.range, call.scope = None, ""
        result = graph.insert_node(call).output().set_type(type)
        outputs = node.outputs()
        if len(outputs) == 1:
            result.set_type(outputs[0].type())
            outputs[0].replace_all_uses_with(result)
        elif outputs:
            unpack = graph.insert_node(graph.create("prim::TupleUnpack", (result,), 0))
            for output in outputs:
                output.replace_all_uses_with(unpack.add_output(type=output.type()))
    node.destroy()


def _erase_call_shapes(graph: Graph) -> None:
    """Set the types of the results of method calls to their types without shapes."""
    for call in graph.find_all_nodes("prim::CallMethod"):
        call.output().set_type(erase_shape(call.output().type()))


def _convert_to_fork(node: Node) -> None:
    graph = node.owning_graph()
    body = _Body(node.blocks()[0], None, None)
    with graph.inserting_before(node):
        fork = graph.insert_node(graph.create("prim::fork", body.captured))
        fork.range, fork.scope = None, node.scope
        fork.set("Subgraph", body.graph, "g")
        fork.output().copy_metadata(node.output())
        node.output().replace_all_uses_with(fork.output())
    node.destroy()


class _Attributes:
    """Module attributes that a block reads. Each is loaded once, at the beginning of the block."""

    def __init__(self, graph: Graph, block: Block, path: str, module: Value) -> None:
        self.graph = graph
        self.block = block
        self.path = path
        self.read: dict[str, Value] = {path: module}

    def has(self, value: Value) -> bool:
        """Return whether `value` is the block's module or a member of it.

        `value` is the output of a `prim::TracedAttr` node.
        """
        scope: str = value.node().get("scope")
        return scope == self.path or scope.startswith(f"{self.path}.")

    def of(self, value: Value) -> Value:
        """Return the value in the block that stands for `value`, the output of a `prim::TracedAttr` node.

        It is loaded on first use.
        """
        scope = value.node().get("scope")
        module_value = self.read.get(scope)
        if module_value is not None:
            return module_value
        module_value = self.read[self.path]
        last: Node | None = None
        for name in scope[len(self.path) + 1 :].split("."):
            type = module_value.type().attributes[name]  # type: ignore[attr-defined]  # a ModuleType
            node = self.graph.create("prim::GetAttr", (module_value,)).set("name", name)
            node.range = None
            last = self.block.prepend_node(node) if last is None else node.insert_after(last)
            module_value = node.output().set_type(type)
            module_value.set_debug_name(f"_{name}" if name.isdigit() else name)
        module_value.set_type(erase_shape(value.type()))
        self.read[scope] = module_value
        return module_value


class _Body:
    """Copy of a block as a separate graph, with its captured outer values."""

    def __init__(self, block: Block, path: str | None, module: Value | None) -> None:
        self.graph = Graph()
        self.captured: list[Value] = []
        self._block = block
        self._copies: dict[Value, Value] = {}
        self._attributes: _Attributes | None = None
        if path is not None and module is not None:
            self_value = self.graph.add_input("self", module.type())
            self._copies[module] = self_value
            self._attributes = _Attributes(self.graph, self.graph.block(), path, self_value)
        for node in block.nodes():
            copy = self.graph.append_node(self.graph.create_clone(node, self._lookup))
            for old, new in zip(node.outputs(), copy.outputs(), strict=True):
                self._copies[old] = new.copy_metadata(old)
        for value in block.outputs():
            self.graph.register_output(self._lookup(value))

    def _lookup(self, value: Value) -> Value:
        copied = self._copies.get(value)
        if copied is not None:
            return copied
        # Values defined inside the block, also in nested blocks, map to themselves, because blocks are copied
        # as a whole.
        if _is_inside(value.node(), self._block):
            return value
        attributes = self._attributes
        if attributes is not None and value.node().kind() == "prim::TracedAttr" and attributes.has(value):
            return attributes.of(value)
        self.captured.append(value)
        graph_input = self._copies[value] = self.graph.add_input().copy_metadata(value)
        return graph_input
