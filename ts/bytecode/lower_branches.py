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
"""

from __future__ import annotations

from collections.abc import Iterable

from ts.bytecode.deferred_conditions import comparison, is_constant
from ts.bytecode.instruction import Label
from ts.bytecode.lowering import Lowering, lowers
from ts.bytecode.opcodes import BRANCHES, BY_NAME
from ts.ir.graph import Block, Node, Value


@lowers("prim::If")
def _lower_if(low: Lowering, node: Node) -> None:
    """Lower `prim::If` to a conditional jump and two branches."""
    then_block, else_block = node.blocks()
    outputs = [low.define(v) for v in node.outputs()]
    otherwise, end = Label(), Label()
    low.depth += 1
    branch(low, node.input(), otherwise, False)
    lower_branch(low, then_block, outputs)
    both_terminated = low.terminated
    if not both_terminated:
        low.emit("JUMP", end)
    low.bind_label(otherwise)
    lower_branch(low, else_block, outputs)
    both_terminated = both_terminated and low.terminated
    low.depth -= 1
    low.bind_label(end)
    low.terminated = both_terminated


def lower_branch(low: Lowering, block: Block, outputs: list[int]) -> None:
    """Lower a branch and copy its results to the output registers."""
    low.lower_nodes(block)
    if not low.terminated:
        copy_all(low, zip(outputs, low.use_all(block.outputs()), strict=True))


def compute(low: Lowering, condition: Value) -> None:
    """Emit code that computes a deferred condition as a bool value."""
    target = low.define(condition)
    false, end = Label(), Label()
    low.depth += 1
    branch(low, condition, false, False)
    low.move(target, low.constant(True, "b"))
    low.emit("JUMP", end)
    low.bind_label(false)
    low.move(target, low.constant(False, "b"))
    low.depth -= 1
    low.bind_label(end)
    low.deferred.computed.add(condition.node())


def branch(low: Lowering, condition: Value, label: Label, when: bool) -> None:
    """Emit a forward jump to `label`, which is taken if the condition equals `when`."""
    if is_constant(condition):
        if bool(condition.to_ivalue()) == when:
            low.emit("JUMP", label)
        return
    node = condition.node()
    if not low.deferred.is_deferred(node):
        low.emit("JUMP_IF" if when else "JUMP_IF_NOT", label, low.use(condition))
    elif node.kind() == "aten::__not__":
        branch(low, node.input(), label, not when)
    elif node.kind() == "prim::If":
        _branch_on_if(low, node, label, when)
    else:
        name, b, c = _operands(low, node, when)
        low.emit(f"JUMP_{name}", label, b, c)


def _operands(low: Lowering, node: Node, when: bool) -> tuple[str, int, int]:
    """Return (suffix of the opcode, b, c) of a jump that is taken if comparison `node` equals `when`."""
    opcode = comparison(node)
    assert opcode is not None
    name, swapped = BRANCHES[opcode][0 if when else 1]
    if opcode.startswith("IS_"):
        optional = next(v for v in node.inputs() if v.type().kind() != "NoneType")
        return name, low.use(optional), 0
    b, c = low.use_all(node.inputs())
    return (name, c, b) if swapped else (name, b, c)


def _branch_on_if(low: Lowering, node: Node, label: Label, when: bool) -> None:
    """Emit the jumps for a condition that is a deferred `prim::If`."""
    then_block, else_block = node.blocks()
    end = Label()
    then_constant, else_constant = _constant_result(then_block), _constant_result(else_block)
    if else_constant is not None:  # `p and q`
        branch(low, node.input(), label if else_constant == when else end, False)
        _branch_in(low, then_block, label, when)
    elif then_constant is not None:  # `p or q`
        branch(low, node.input(), label if then_constant == when else end, True)
        _branch_in(low, else_block, label, when)
    else:
        otherwise = Label()
        branch(low, node.input(), otherwise, False)
        _branch_in(low, then_block, label, when)
        if not low.terminated:
            low.emit("JUMP", end)
        low.bind_label(otherwise)
        _branch_in(low, else_block, label, when)
    low.bind_label(end)


def _branch_in(low: Lowering, block: Block, label: Label, when: bool) -> None:
    """Lower a block, and emit a jump to `label`, taken if the block's result equals `when`."""
    low.depth += 1
    low.lower_nodes(block)
    if not low.terminated:
        branch(low, block.outputs()[0], label, when)
    low.depth -= 1


def _constant_result(block: Block) -> bool | None:
    """Return the constant result of a block without other nodes than constants, or None for other blocks."""
    result = block.outputs()[0]
    only_constants = is_constant(result) and all(n.kind() == "prim::Constant" for n in block.nodes())
    return bool(result.to_ivalue()) if only_constants else None


def loop_branch(low: Lowering, condition: Value, loop_head: Label, end: Label) -> None:
    """Emit a jump to `loop_head`, taken if the condition is true. Label `end` is placed after the jump."""
    node = condition.node()
    if is_constant(condition):
        if condition.to_ivalue():
            low.emit("LOOP", loop_head)
    elif not low.deferred.is_deferred(node):
        low.emit("LOOP_IF", loop_head, low.use(condition))
    elif node.kind() == "prim::If" and _constant_result(node.blocks()[1]) is False:  # `p and q`
        then_block = node.blocks()[0]
        branch(low, node.input(), end, False)
        low.depth += 1
        low.lower_nodes(then_block)
        low.depth -= 1
        if not low.terminated:
            loop_branch(low, then_block.outputs()[0], loop_head, end)
    else:
        name, b, c = _operands(low, node, True) if comparison(node) else ("", 0, 0)
        if f"LOOP_{name}" in BY_NAME:
            low.emit(f"LOOP_{name}", loop_head, b, c)
        else:
            branch(low, condition, end, False)
            low.emit("LOOP", loop_head)


def copy_all(low: Lowering, pairs: Iterable[tuple[int, int]]) -> None:
    """Emit a parallel copy: each source is read before any target is written."""
    pending = [(target, source) for target, source in pairs if target != source]
    while pending:
        sources = {source for _, source in pending}
        ready = next((pair for pair in pending if pair[0] not in sources), None)
        # only cyclic copies such as a, b = b, a are left: save one source in a temporary register
        if ready is None:
            target, source = pending[0]
            temporary = low.new_register(low.registers.classes[source])
            low.move(temporary, source)
            pending[0] = (target, temporary)
        else:
            low.move(*ready)
            pending.remove(ready)
