"""Lowering of branches and loops, with SSA deconstruction (out-of-SSA translation) by copies.

Comparisons become conditional jumps (`deferred_conditions`). In a chain of `and` or `or`, each operand
becomes a jump. A loop and its instructions:

    %t : int = prim::Loop(%n, %true, %zero)           MOVE %s, %zero
      block0(%i : int, %s : int):                     JUMP_LE_I64 end, %n, %zero
        %u : int = aten::add(%s, %i)            =>    MOVE %i, %zero
        -> (%true, %u)                              head:
                                                      ADD_I64 %u, %s, %i
                                                      MOVE %s, %u
                                                      LOOP_STEP head, %i, %n
                                                    end:

A loop-carried variable and the result of the loop share one register, here %s.
"""

from __future__ import annotations

from collections.abc import Iterable

from ts._core.assembler.instruction import Label
from ts.bytecode.deferred_conditions import comparison, is_constant
from ts.bytecode.lowering import Lowering, line_of, lowers
from ts.bytecode.opcodes import BRANCHES, BY_NAME
from ts.ir.graph import Block, Node, Value

INT64_MAX = 2**63 - 1


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
    """Return (suffix of the opcode, operand b, operand c) of a jump that evaluates the comparison `node`.

    The jump is taken if the result of the comparison equals `when`.
    """
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
    """Emit code that jumps to `loop_head` if the condition is true, and continues at `end` otherwise.

    The caller must bind `end` directly after this code.
    """
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


@lowers("prim::Loop")
def _lower_loop(low: Lowering, node: Node) -> None:
    """Lower `prim::Loop` (loop inversion: the condition is tested at the end of the body).

    Emit a counter if the loop has a trip count or its body reads the index.
    """
    (body,) = node.blocks()
    trip, start, *initial = node.inputs()
    index, *carried_values = body.inputs()
    condition, *results = body.outputs()
    counted = trip.to_ivalue() != INT64_MAX
    variables = [low.define(v) for v in carried_values]
    for output, variable in zip(node.outputs(), variables, strict=True):
        low.registers.values[output] = variable
    copy_all(low, zip(variables, low.use_all(initial), strict=True))
    loop_head, end = Label(), Label()
    low.depth += 1
    branch(low, start, end, False)
    has_counter = counted or index.has_uses()
    counter, limit, step = _start_counter(low, index, trip, body, end) if has_counter else (0, 0, None)
    low.bind_label(loop_head)
    first = len(low.code)
    low.lower_nodes(body)
    if not low.terminated:
        line = low.lines.line
        _compute_condition_early(low, condition, {*body.inputs()})
        _copy_back(low, variables, low.use_all(results), first)
        low.lines.line = line_of(node) or line
        if not counted:
            if has_counter:
                low.emit("ADD_I64", counter, counter, low.constant(1, "i"))
            loop_branch(low, condition, loop_head, end)
        else:
            branch(low, condition, end, False)
            if step is None:
                low.emit("LOOP_STEP", loop_head, counter, limit)
            else:
                low.emit("ADD_I64", counter, counter, step)
                low.emit("LOOP_NE_I64", loop_head, counter, limit)
    low.depth -= 1
    low.bind_label(end)
    low.terminated = False


def _compute_condition_early(low: Lowering, condition: Value, changing_values: set[Value]) -> None:
    """Emit the computation of a condition that reads loop variables, before these get new values."""
    if not low.deferred.reads_any(condition, changing_values | low.counters):
        return
    if low.deferred.is_deferred(condition.node()):
        compute(low, condition)
    else:  # the condition is a loop variable: copy it for the jump
        copy = low.new_register("b")
        low.emit("MOVE", copy, low.use(condition))
        low.registers.values[condition] = copy


def _start_counter(
    low: Lowering, index: Value, trip: Value, body: Block, end: Label
) -> tuple[int, int, int | None]:
    """Initialize the loop counter. Return the registers of counter, limit and step.

    If the step is 1, the third result is None. If the only use of the index is
    `__derive_index(i, start, step)`, the counter has the values of the range.
    """
    derive = low.deferred.derived_index(index, body)
    zero = low.constant(0, "i")
    if derive is None:
        counter, limit = low.define(index), low.use(trip)
        if trip.to_ivalue() is None or trip.to_ivalue() <= 0:
            low.emit("JUMP_LE_I64", end, limit, zero)
        low.emit("MOVE", counter, zero)
        return counter, limit, None
    counter, step = low.define(derive.output()), derive.input(2)
    low.counters.add(derive.output())
    if low.deferred.is_deferred(trip.node()):
        start, limit = low.use(derive.input(1)), low.use(trip.node().input(1))
        low.emit("JUMP_LE_I64", end, limit, start)
        low.emit("MOVE", counter, start)
        return counter, limit, None
    trip_count, start = low.use(trip), low.use(derive.input(1))
    low.emit("JUMP_LE_I64", end, trip_count, zero)
    limit = low.new_register("i")
    step_register = None if step.to_ivalue() == 1 else low.use(step)
    if step_register is None:
        low.emit("ADD_I64", limit, trip_count, start)
    else:
        low.emit("MUL_I64", limit, trip_count, step_register)
        low.emit("ADD_I64", limit, limit, start)
    low.emit("MOVE", counter, start)
    return counter, limit, step_register


def _copy_back(low: Lowering, variables: list[int], results: list[int], first: int) -> None:
    """Insert the copies of results to loop variables, each after the last read of its target.

    The code before and after, for the source line `a, b = b, a + b`:

        ADD  %t, %a, %b                  ADD  %t, %a, %b
        (%a, %b) := (%b, %t)     =>      MOVE %a, %b
                                         MOVE %b, %t
    """
    pending = [pair for pair in zip(variables, results, strict=True) if pair[0] != pair[1]]
    changed = True
    while changed and len(pending) > 1:
        changed = False
        for pair in pending:
            target, source = pair
            if any(target == other for _, other in pending) or source in low.registers.constant_values:
                continue
            index = _last_mention(low, target, source, first)
            if index is None:
                continue
            rest = low.code[index:]
            del low.code[index:]
            low.move(target, source)
            low.code += rest
            pending.remove(pair)
            changed = True
            break
    copy_all(low, pending)


def _last_mention(low: Lowering, target: int, source: int, first: int) -> int | None:
    """Return the earliest index of the code at which a copy of register `source` to `target` can be inserted.

    The index is after the last instruction of the loop body that uses `target` or writes `source`. The
    body starts at index `first`. Return None if only the end of the code is possible.
    """
    for index in range(len(low.code) - 1, first - 1, -1):
        instruction = low.code[index]
        if target in instruction.reads or target in instruction.writes or source in instruction.writes:
            if instruction.depth != low.depth:
                # The instruction is in a branch or an inner loop. The first label with the depth of the
                # loop body follows this branch or loop.
                count = len(low.code)
                while index < count and (low.code[index].name or low.code[index].depth != low.depth):
                    index += 1
                return _after_jumps(low, first, index + 1) if index < len(low.code) else None
            return index + 1
    return first


def _after_jumps(low: Lowering, first: int, position: int) -> int:
    """Return the first index >= `position` that no jump from `code[first:]` crosses in forward direction."""
    while True:
        targets = {id(i.target) for i in low.code[first:position] if i.target is not None}
        crossing_jumps = [
            index
            for index in range(position, len(low.code))
            if not low.code[index].name and id(low.code[index].a) in targets
        ]
        if not crossing_jumps:
            return position
        position = crossing_jumps[-1] + 1
