"""Compare-and-branch fusion, which defers conditions to the conditional jumps of a branch or loop.

In the example, the jump evaluates the comparison. Therefore, %c needs no register:

    %c : bool = aten::lt(%a, %b)
     = prim::If(%c)                         JUMP_LE_I64 else, %b, %a

A condition is deferred to its branch if it has no other use, and no node in between can change its inputs.
The length of a `range` is deferred to the loop that counts its elements.
"""

from __future__ import annotations

from typing import Any, Final

from ts._core.builtin_ops.properties import names_with
from ts.bytecode.opcodes import BRANCHES, BY_NAME, BY_OPERATOR
from ts.bytecode.typespec import register_class
from ts.errors import InternalError
from ts.ir.graph import Block, Node, Value

_COMPARISONS: Final = names_with("comparison")
# kinds of the nodes whose lowering may be deferred
DEFERRABLE: Final = names_with("deferrable") | {"prim::If"}


def operator_of(node: Node) -> Any:
    """Return the operator of a node. Raise InternalError if the node's schema is not registered."""
    operator = node.operator()
    if operator is None:
        inputs = ", ".join(value.type().str() for value in node.inputs())
        message = f"unknown operator {node.kind()}({inputs})"
        raise InternalError(message, "lowering", str(node.owning_graph()))
    return operator


def is_constant(value: Value) -> bool:
    """Return whether a value is the output of a constant node."""
    return value.node().kind() == "prim::Constant"


def comparison(node: Node) -> str | None:
    """Return the opcode name of `node` if it is a comparison that a conditional jump can test, else None."""
    if node.kind() not in _COMPARISONS:
        return None
    operator = operator_of(node)
    row = BY_OPERATOR.get(operator.key)
    if row is None or row.name not in BRANCHES:
        return None
    if row.name.startswith("IS_"):
        values = [v for v in node.inputs() if v.type().kind() != "NoneType"]
        if len(values) != 1 or register_class(values[0].type()) != "x":
            return None
    else:
        kinds = [register_class(v.type()) for v in node.inputs()]
        if list(BY_NAME[row.name].operands[1:]) != kinds:
            return None
    return row.name


class DeferredConditions:
    """Nodes of a graph whose lowering is deferred to the branch or loop that uses their result."""

    def __init__(self, defers_conditions: bool = True) -> None:
        """Defer only the lengths of ranges if `defers_conditions` is False."""
        self._defers_conditions = defers_conditions
        self._deferred: dict[Node, bool] = {}
        self.computed: set[Node] = set()  # deferred nodes whose bool values were computed nevertheless

    def is_deferred(self, node: Node) -> bool:
        """Return whether the lowering of a node is deferred to the branch or loop that uses it."""
        if node.kind() not in DEFERRABLE or node in self.computed:
            return False
        deferred = self._deferred.get(node)
        if deferred is None:
            deferred = self._deferred[node] = self._may_be_deferred(node)
        return deferred

    def _may_be_deferred(self, node: Node) -> bool:
        kind = node.kind()
        if node.outputs_size() != 1 or node.output().use_count() != 1:
            return False
        if kind == "aten::__range_length":
            return self._range_is_counted(node)
        if not self._defers_conditions:
            return False
        if kind != "prim::If" and kind != "aten::__not__" and comparison(node) is None:
            return False
        use = node.output().uses()[0]
        if not self._is_condition(use.user, use.offset, node.owning_block()):
            return False
        return kind != "prim::If" or self._only_constants_between(node, use.user)

    def _is_condition(self, user: Node, offset: int, block: Block) -> bool:
        """Return whether input `offset` of `user` is the condition of a branch or loop in `block`.

        Operands of deferred `not` nodes, and results of blocks of deferred ifs, are conditions, too.
        """
        if user.kind() == "prim::If":
            return user.owning_block() is block
        if user.kind() == "prim::Loop":
            return offset == 1 and user.owning_block() is block
        if user.kind() == "aten::__not__":
            return user.owning_block() is block and self.is_deferred(user)
        if user is block.return_node() and offset == 0:
            owner = block.owning_node()
            if owner is None:
                return False
            return owner.kind() == "prim::Loop" or (owner.kind() == "prim::If" and self.is_deferred(owner))
        return False

    def _only_constants_between(self, node: Node, user: Node) -> bool:
        """Return whether all nodes between `node` and `user` are constants or deferred."""
        node = node.next()
        while node is not user:
            if node.kind() != "prim::Constant" and not self.is_deferred(node):
                return False
            node = node.next()
        return True

    def _range_is_counted(self, node: Node) -> bool:
        """Return whether the counter of a loop over a range can begin at the start of the range instead of 0.

        `node` computes the length of the range.
        """
        use = node.output().uses()[0]
        if use.user.kind() != "prim::Loop" or use.offset != 0 or node.input(2).to_ivalue() != 1:
            return False
        body = use.user.blocks()[0]
        derive = self.derived_index(body.inputs()[0], body)
        return derive is not None and derive.input(1) is node.input(0) and derive.input(2).to_ivalue() == 1

    def derived_index(self, index: Value, body: Block) -> Node | None:
        """Return the `__derive_index` node whose output can be the loop counter instead of `index`, or None.

        The node must be the only user of `index`, and its other operands must be loop-invariant. Mark the
        node as deferred.
        """
        uses = index.uses()
        if len(uses) != 1 or uses[0].user.kind() != "aten::__derive_index" or uses[0].offset != 0:
            return None
        node = uses[0].user
        if node.owning_block() is not body:
            return None
        for value in node.inputs()[1:]:
            block: Block | None = value.owning_block()
            if is_constant(value):
                continue
            while block is not None and block is not body:
                owner = block.owning_node()
                block = None if owner is None else owner.owning_block()
            if block is body:
                return None
        # `node` needs no code: its output is the loop counter
        self._deferred[node] = True
        return node

    def reads_any(self, condition: Value, values: set[Value]) -> bool:
        """Return whether the evaluation of `condition`, which may be deferred, reads one of `values`."""
        if condition in values:
            return True
        node = condition.node()
        if not self.is_deferred(node):
            return False
        if node.kind() != "prim::If":
            return any(self.reads_any(value, values) for value in node.inputs())
        inner = [n for block in node.blocks() for n in block.nodes()]
        if any(n.blocks() for n in inner):
            return True
        reads = {v for n in inner for v in n.inputs()}
        reads.update(v for block in node.blocks() for v in block.outputs())
        return bool(reads & values) or self.reads_any(node.input(), values)
