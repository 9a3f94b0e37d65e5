"""IR verifier (graph verifier): checks the structural invariants of a graph and its nodes.

A violation raises `InternalError` with the violated invariant and the graph text. Invariants:

* Every input is defined before its use, in the same or an enclosing block, and belongs to this graph.
* Uses and inputs are consistent, outputs refer to their node and index, and names are unique.
* The nodes of a block are linked both ways, and their positions ascend.
* ``prim::If`` takes a bool, and its blocks return its outputs.
* The inputs and outputs of a ``prim::Loop``'s body match the carried values.
* ``prim::Constant`` has no input and one output. Subgraphs are well formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.errors import InternalError
from ts.ir.types import BOOL, INT, NONE, FunctionType, TensorType

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph, Node, Value

# Kinds of nodes that exist only between emission and SSA conversion.
_BEFORE_SSA = frozenset(
    {"prim::Load", "prim::Store", "prim::ReturnStmt", "prim::BreakStmt", "prim::ContinueStmt"}
)


def verify(graph: Graph, pass_name: str = "") -> None:
    """Raise `InternalError` if `graph` violates an invariant."""
    try:
        _Verifier(graph).run()
    except InternalError as error:
        raise InternalError(error.message, pass_name, _format(graph)) from None


def _format(graph: Graph) -> str:
    try:
        return str(graph)
    except Exception as error:
        return f"<the graph cannot be printed: {error}>"


class _Verifier:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.defined: set[Value] = set()
        self.uses: dict[Value, int] = {}
        self.before_ssa = False

    def run(self) -> None:
        self.before_ssa = any(node.kind() in _BEFORE_SSA for node in self.graph.all_nodes())
        block = self.graph.block()
        self.require(block.owning_node() is None, "the top block is owned by a node")
        self.check_block(block)
        for name, value in self.graph._names.items():
            self.require(value._name == name, f"the name {name} belongs to %{value.debug_name()}")
        for value, count in self.uses.items():
            self.require(
                len(value._uses) == count,
                f"%{value.debug_name()} has {len(value._uses)} recorded uses, but {count} actual uses",
            )

    def require(self, condition: bool, message: str) -> None:
        if not condition:
            raise InternalError(message)

    def check_block(self, block: Block) -> None:
        self.check_outputs(block.param_node())
        visible = list(block.inputs())
        with_blocks = [node for node in block.nodes() if node.blocks()]
        self.require(
            block.nodes_with_blocks() == with_blocks, "the list of a block's ifs and loops is incorrect"
        )
        end = block.return_node()
        previous = end
        position: int | None = None
        node = end.next()
        while node is not end:
            self.require(
                node._block is block,
                f"{node.kind()} is in the node list of a block that it does not belong to",
            )
            self.require(node.prev() is previous, f"{node.kind()} is not linked to the node before it")
            self.require(position is None or node._position > position, f"{node.kind()} is out of order")
            position = node._position
            self.check_node(node)
            visible.extend(node.outputs())
            previous, node = node, node.next()
        self.require(end.prev() is previous, "the block's end is not linked to its last node")
        self.check_inputs(end)
        self.defined.difference_update(visible)

    def check_node(self, node: Node) -> None:
        self.check_inputs(node)
        for block in node.blocks():
            self.require(
                block.owning_node() is node, f"the owner of a block of {node.kind()} is another node"
            )
            self.check_block(block)
        self.check_outputs(node)
        if node.has_attribute("Subgraph"):
            _Verifier(node.get("Subgraph")).run()
        check = _CHECKS.get(node.kind())
        if check is not None:
            check(self, node)

    def check_inputs(self, node: Node) -> None:
        uses = len(node._input_uses)
        self.require(uses == node.inputs_size(), f"{node.kind()} has {uses} uses for its inputs")
        for i, (value, use) in enumerate(zip(node.inputs(), node._input_uses, strict=True)):
            self.require(
                value in self.defined,
                f"input {i} of {node.kind()}, %{value.debug_name()}, is not defined before it",
            )
            self.require(
                id(use) in value._uses and use.user is node and use.offset == i,
                f"%{value.debug_name()} does not list its use as input {i} of {node.kind()}",
            )
            self.uses[value] = self.uses.get(value, 0) + 1

    def check_outputs(self, node: Node) -> None:
        self.require(node.owning_graph() is self.graph, f"{node.kind()} belongs to another graph")
        for i, value in enumerate(node.outputs()):
            self.require(
                value.node() is node and value.offset() == i,
                f"output {i} of {node.kind()} has the wrong owner or offset",
            )
            self.defined.add(value)
            self.uses.setdefault(value, 0)

    # --- rules for single kinds of nodes ---

    def check_constant(self, node: Node) -> None:
        self.require(
            not node.inputs() and len(node.outputs()) == 1, "prim::Constant has inputs or several outputs"
        )
        type = node.output().type()
        is_none = type.is_subtype_of(NONE) or not isinstance(type, (TensorType, FunctionType))
        self.require(node.has_attributes() or is_none, f"a constant of type {type.str()} has no value")

    def check_if(self, node: Node) -> None:
        self.require(
            len(node.inputs()) == 1 and len(node.blocks()) == 2, "prim::If needs a condition and two blocks"
        )
        self.require(
            node.input().type() == BOOL,
            f"expected a bool as condition of prim::If, found {node.input().type().str()}",
        )
        for block in node.blocks():
            self.require(not block.inputs(), "a block of prim::If has inputs")
            if not self.before_ssa:
                self.check_yield(node, block.outputs(), "prim::If")

    def check_loop(self, node: Node) -> None:
        if self.before_ssa:
            return
        self.require(
            len(node.inputs()) >= 2 and len(node.blocks()) == 1,
            "prim::Loop needs trip count, condition, body",
        )
        count, condition, *carried = node.inputs()
        self.require(
            count.type() == INT, f"expected an int as trip count of prim::Loop, found {count.type().str()}"
        )
        self.require(
            condition.type() == BOOL,
            f"expected a bool as condition of prim::Loop, found {condition.type().str()}",
        )
        (body,) = node.blocks()
        self.require(
            len(body.inputs()) == len(carried) + 1,
            "the types of the inputs of prim::Loop and of its body differ",
        )
        self.require(
            bool(body.outputs()) and body.outputs()[0].type() == BOOL,
            "the body of prim::Loop does not return a condition",
        )
        self.check_yield(node, body.outputs()[1:], "prim::Loop")

    def check_yield(self, node: Node, yielded: list[Value], kind: str) -> None:
        self.require(
            len(yielded) == len(node.outputs()),
            f"a block of {kind} yields {len(yielded)} values for {len(node.outputs())} outputs",
        )
        for value, output in zip(yielded, node.outputs(), strict=True):
            self.require(
                value.type().is_subtype_of(output.type()),
                f"a block of {kind} yields {value.type().str()} "
                f"for %{output.debug_name()} : {output.type().str()}",
            )


_CHECKS = {
    "prim::Constant": _Verifier.check_constant,
    "prim::If": _Verifier.check_if,
    "prim::Loop": _Verifier.check_loop,
}
