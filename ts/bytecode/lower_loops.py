"""Lowering of loops: counters of range values (induction variables), and copies for the next iteration.

    %t : int = prim::Loop(%n, %true, %zero)           MOVE %s, %zero
      block0(%i : int, %s : int):                     JUMP_LE_I64 end, %n, %zero
        %u : int = aten::add(%s, %i)            =>    MOVE %i, %zero
        -> (%true, %u)                              head:
                                                      ADD_I64 %u, %s, %i
                                                      MOVE %s, %u
                                                      LOOP_STEP head, %i, %n
                                                    end:

Each loop-carried variable has one register, for all iterations and for the result of the loop.
"""

from __future__ import annotations

from ts.bytecode.instruction import Label
from ts.bytecode.lower_branches import branch, compute, copy_all, loop_branch
from ts.bytecode.lowering import Lowering, line_of, lowers
from ts.ir.graph import Block, Node, Value

INT64_MAX = 2**63 - 1


@lowers("prim::Loop")
def _lower_loop(low: Lowering, node: Node) -> None:
    """Lower `prim::Loop`. Emit a counter if the loop has a trip count or its body reads the index."""
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
    """Initialize the loop counter. Return the registers of counter, limit and step (None if the step is 1).

    Return the registers of counter, limit and step. A step of 1 has no register, but 0 as result. If the
    only use of the index is `__derive_index(i, start, step)`, the counter has the values of the range.
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
    """Insert the copies of results to loop variables, each behind the last read of its target.

    a, b = b, a + b                  ADD  %t, %a, %b
    ADD  %t, %a, %b          =>      MOVE %a, %b
    (%a, %b) := (%b, %t)             MOVE %b, %t          now %t and %b can share a register
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
    """Return the earliest index at which register `source` can be copied to register `target`.

    This index follows the last instruction of the loop body that uses `target` or writes `source`. The
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
    """Return the first index >= `position` over which no jump in `code[first:]` passes."""
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
