"""Lowering of branches: comparisons and boolean chains become conditional jumps.

    %c : bool = aten::lt(%a, %b)
     = prim::If(%c)                         JUMP_LE_I64 else, %b, %a

    %c : bool = prim::If(%p)                a chain of `and`:
      block0():                             JUMP_IF_NOT else, %p
        %q : bool = ...                     ...
        -> (%q)                             JUMP_IF_NOT else, %q
      block1():
        -> (%false)
     = prim::If(%c)

A condition is deferred if a branch is its only use, and no node between condition and branch can change the
inputs of the condition.  The conditional jumps of the branch then evaluate the condition, and no instruction
computes its bool value.
"""

from __future__ import annotations

from typing import Any

from ts._core.builtin_ops.properties import names_with
from ts.bytecode.code_builder import CodeBuilder
from ts.bytecode.instruction import Label
from ts.bytecode.opcodes import BRANCHES, BY_NAME, BY_OPERATOR
from ts.bytecode.typespec import register_class
from ts.errors import InternalError
from ts.ir.graph import Block, Graph, Node, Value


def operator_of(node: Node) -> Any:
    """Return the operator of a node. Raise InternalError if the node's schema is not registered."""
    operator = node.operator()
    if operator is None:
        inputs = ", ".join(value.type().str() for value in node.inputs())
        message = f"unknown operator {node.kind()}({inputs})"
        raise InternalError(message, "lowering", str(node.owning_graph()))
    return operator


def line_of(node: Node) -> Any:
    """Return (stack of inlined calls, source range) of a node, or None if both are unknown."""
    return (node.callstack, node.range) if node.range is not None or node.callstack else None


class BranchLowering(CodeBuilder):
    """Lowering of branches, the base class of `LoopLowering` and `lower.Lowering`."""

    def __init__(self, graph: Graph, name: str) -> None:
        super().__init__(graph, name)
        self._deferred: dict[Node, bool] = {}
        self._computed: set[Node] = set()

    def lower_nodes(self, block: Block) -> None:
        """Lower the nodes of a block. `lower.Lowering` implements this method."""
        raise NotImplementedError

    # ---- deferred conditions ---------------------------------------------------------------------------

    def is_deferred_value(self, value: Value) -> bool:
        """Return whether the computation of a value is deferred to the branch or loop that uses it."""
        return self.is_deferred(value.node())

    def is_deferred(self, node: Node) -> bool:
        """Return whether the lowering of a node is deferred to the branch or loop that uses it."""
        if node in self._computed:
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
        if kind != "prim::If" and kind != "aten::__not__" and self.comparison(node) is None:
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

    def comparison(self, node: Node) -> str | None:
        """Return the opcode name of the comparison `node`, or None if no conditional jumps exist for it."""
        if node.kind() not in names_with("comparison"):
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

    def _range_is_counted(self, node: Node) -> bool:
        """Return whether the loop over `range(start, stop)` can count from `start`. `node` is its length."""
        use = node.output().uses()[0]
        if use.user.kind() != "prim::Loop" or use.offset != 0 or self.constant_value(node.input(2)) != 1:
            return False
        body = use.user.blocks()[0]
        derive = self.derived_index(body.inputs()[0], body)
        return (
            derive is not None
            and derive.input(1) is node.input(0)
            and self.constant_value(derive.input(2)) == 1
        )

    def derived_index(self, index: Value, body: Block) -> Node | None:
        """Return the `__derive_index` node whose values a loop can count instead of `index`, or None.

        The node must be the only user of `index` and have loop-invariant operands. Mark it as deferred.
        """
        uses = index.uses()
        if len(uses) != 1 or uses[0].user.kind() != "aten::__derive_index" or uses[0].offset != 0:
            return None
        node = uses[0].user
        if node.owning_block() is not body:
            return None
        for value in node.inputs()[1:]:
            block: Block | None = value.owning_block()
            if self.is_constant(value):
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

    def compute(self, condition: Value) -> None:
        """Emit code that computes a deferred condition as a bool value."""
        target = self.define(condition)
        false, end = Label(), Label()
        self.depth += 1
        self.branch(condition, false, False)
        self.move(target, self.constant(True, "b"))
        self.emit("JUMP", end)
        self.bind_label(false)
        self.move(target, self.constant(False, "b"))
        self.depth -= 1
        self.bind_label(end)
        self._computed.add(condition.node())

    # ---- emission of conditional jumps -----------------------------------------------------------------

    def branch(self, condition: Value, label: Label, when: bool) -> None:
        """Emit a forward jump to `label`, which is taken if the condition equals `when`."""
        if self.is_constant(condition):
            if bool(self.constant_value(condition)) == when:
                self.emit("JUMP", label)
            return
        node = condition.node()
        if not self.is_deferred(node):
            self.emit("JUMP_IF" if when else "JUMP_IF_NOT", label, self.use(condition))
        elif node.kind() == "aten::__not__":
            self.branch(node.input(), label, not when)
        elif node.kind() == "prim::If":
            self._branch_on_if(node, label, when)
        else:
            name, b, c = self._operands(node, when)
            self.emit(f"JUMP_{name}", label, b, c)

    def _operands(self, node: Node, when: bool) -> tuple[str, int, int]:
        """Return (suffix of the opcode, b, c) of a jump that is taken if comparison `node` equals `when`."""
        opcode = self.comparison(node)
        assert opcode is not None
        name, swapped = BRANCHES[opcode][0 if when else 1]
        if opcode.startswith("IS_"):
            optional = next(v for v in node.inputs() if v.type().kind() != "NoneType")
            return name, self.use(optional), 0
        b, c = (self.use(v) for v in node.inputs())
        return (name, c, b) if swapped else (name, b, c)

    def _branch_on_if(self, node: Node, label: Label, when: bool) -> None:
        """Emit the jumps for a condition that is a deferred `prim::If`."""
        then_block, else_block = node.blocks()
        (then_value,), (else_value,) = then_block.outputs(), else_block.outputs()
        end = Label()
        if self._is_constant_block(else_block):  # `p and q`
            self.branch(node.input(), label if bool(self.constant_value(else_value)) == when else end, False)
            self._branch_in(then_block, then_value, label, when)
        elif self._is_constant_block(then_block):  # `p or q`
            self.branch(node.input(), label if bool(self.constant_value(then_value)) == when else end, True)
            self._branch_in(else_block, else_value, label, when)
        else:
            otherwise = Label()
            self.branch(node.input(), otherwise, False)
            self._branch_in(then_block, then_value, label, when)
            if not self.terminated:
                self.emit("JUMP", end)
            self.bind_label(otherwise)
            self._branch_in(else_block, else_value, label, when)
        self.bind_label(end)

    def _branch_in(self, block: Block, value: Value, label: Label, when: bool) -> None:
        """Lower a block, and emit a jump to `label`, taken if the block's result `value` equals `when`."""
        self.depth += 1
        self.lower_nodes(block)
        if not self.terminated:
            self.branch(value, label, when)
        self.depth -= 1

    def _is_constant_block(self, block: Block) -> bool:
        """Return whether a block contains only constants and returns one of them."""
        only_constants = all(n.kind() == "prim::Constant" for n in block.nodes())
        return only_constants and self.is_constant(block.outputs()[0])

    def _is_and(self, node: Node) -> bool:
        """Return whether a `prim::If` is an `and`: its false branch returns the constant False."""
        otherwise = node.blocks()[1]
        return self._is_constant_block(otherwise) and not self.constant_value(otherwise.outputs()[0])

    def loop_branch(self, condition: Value, loop_head: Label, end: Label) -> None:
        """Emit a jump to `loop_head`, taken if the condition is true.

        Label `end` is placed after the jump.
        """
        node = condition.node()
        if self.is_constant(condition):
            if self.constant_value(condition):
                self.emit("LOOP", loop_head)
        elif not self.is_deferred(node):
            self.emit("LOOP_IF", loop_head, self.use(condition))
        elif node.kind() == "prim::If" and self._is_and(node):
            then_block = node.blocks()[0]
            self.branch(node.input(), end, False)
            self.depth += 1
            self.lower_nodes(then_block)
            self.depth -= 1
            if not self.terminated:
                self.loop_branch(then_block.outputs()[0], loop_head, end)
        else:
            name, b, c = self._operands(node, True) if self.comparison(node) else ("", 0, 0)
            if f"LOOP_{name}" in BY_NAME:
                self.emit(f"LOOP_{name}", loop_head, b, c)
            else:
                self.branch(condition, end, False)
                self.emit("LOOP", loop_head)
