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

from collections.abc import Iterable

from ts.bytecode.instruction import Label
from ts.bytecode.lower_branches import BranchLowering, line_of
from ts.ir.graph import Block, Graph, Node, Value

INT64_MAX = 2**63 - 1


class LoopLowering(BranchLowering):
    """Lowering of loops, the base class of `lower.Lowering`."""

    def __init__(self, graph: Graph, name: str) -> None:
        super().__init__(graph, name)
        # outputs of `__derive_index` (start + index * step) that are used as loop counters
        self.counters: set[Value] = set()

    def lower_loop(self, node: Node) -> None:
        """Lower `prim::Loop`. Emit a counter if the loop has a trip count or its body reads the index."""
        (body,) = node.blocks()
        trip, start, *initial = node.inputs()
        index, *carried_values = body.inputs()
        condition, *results = body.outputs()
        counted = self.constant_value(trip) != INT64_MAX
        variables = [self.define(v) for v in carried_values]
        for output, variable in zip(node.outputs(), variables, strict=True):
            self.register[output] = variable
        self.copy_all(zip(variables, [self.use(v) for v in initial], strict=True))
        loop_head, end = Label(), Label()
        self.depth += 1
        self.branch(start, end, False)
        counter = limit = increment = 0
        if counted or index.has_uses():
            counter, limit, increment = self.start_counter(index, trip, body, end)
        self.bind_label(loop_head)
        first = len(self.code)
        self.lower_nodes(body)
        if not self.terminated:
            line = self.line
            self.compute_condition_early(condition, {*body.inputs()})
            self.copy_back(variables, [self.use(v) for v in results], first)
            self.line = line_of(node) or line
            if not counted:
                if index.has_uses():
                    self.emit("ADD_I64", counter, counter, self.constant(1, "i"))
                self.loop_branch(condition, loop_head, end)
            else:
                self.branch(condition, end, False)
                self.close_counter(counter, limit, increment, loop_head)
        self.depth -= 1
        self.bind_label(end)
        self.terminated = False

    def compute_condition_early(self, condition: Value, changing_values: set[Value]) -> None:
        """Emit the computation of a condition that reads loop variables, before these get new values."""
        if not self.reads_any(condition, changing_values | self.counters):
            return
        if self.is_deferred_value(condition):
            self.compute(condition)
        else:  # the condition is a loop variable: copy it for the jump
            copy = self.new_register("b")
            self.emit("MOVE", copy, self.use(condition))
            self.register[condition] = copy

    def start_counter(self, index: Value, trip: Value, body: Block, end: Label) -> tuple[int, int, int]:
        """Emit the start of a counter, and a jump to `end` that skips a loop without iterations.

        Return the registers of counter, limit and step. A step of 1 has no register, but 0 as result. If the
        only use of the index is `__derive_index(i, start, step)`, the counter has the values of the range.
        """
        derive = self.derived_index(index, body)
        zero, one = self.constant(0, "i"), self.constant(1, "i")
        if derive is None:
            counter, limit = self.define(index), self.use(trip)
            if self.constant_value(trip) is None or self.constant_value(trip) <= 0:
                self.emit("JUMP_LE_I64", end, limit, zero)
            self.emit("MOVE", counter, zero)
            return counter, limit, 0
        low, increment = derive.input(1), derive.input(2)
        counter = self.define(derive.output())
        self.counters.add(derive.output())
        if self.is_deferred(trip.node()):
            start, limit = self.use(low), self.use(trip.node().input(1))
            self.emit("JUMP_LE_I64", end, limit, start)
            self.emit("MOVE", counter, start)
            return counter, limit, 0
        trip_count, start = self.use(trip), self.use(low)
        self.emit("JUMP_LE_I64", end, trip_count, zero)
        limit = self.new_register("i")
        if self.constant_value(increment) == 1:
            self.emit("ADD_I64", limit, trip_count, start)
        else:
            self.emit("MUL_I64", limit, trip_count, self.use(increment))
            self.emit("ADD_I64", limit, limit, start)
        self.emit("MOVE", counter, start)
        return counter, limit, 0 if self.constant_value(increment) == 1 else self.use(increment) or one

    def close_counter(self, counter: int, limit: int, increment: int, loop_head: Label) -> None:
        """Emit the increment of the counter and the jump back to `loop_head`."""
        if increment == 0:
            self.emit("LOOP_STEP", loop_head, counter, limit)
        else:
            self.emit("ADD_I64", counter, counter, increment)
            self.emit("LOOP_NE_I64", loop_head, counter, limit)

    def copy_back(self, variables: list[int], results: list[int], first: int) -> None:
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
                if any(target == other for _, other in pending) or source in self.constant_values:
                    continue
                index = self.last_mention(target, source, first)
                if index is None:
                    continue
                rest = self.code[index:]
                del self.code[index:]
                self.move(target, source)
                self.code += rest
                pending.remove(pair)
                changed = True
                break
        self.copy_all(pending)

    def last_mention(self, target: int, source: int, first: int) -> int | None:
        """Return the earliest index at which register `source` can be copied to register `target`.

        This index follows the last instruction of the loop body that uses `target` or writes `source`. The
        body starts at index `first`. Return None if only the end of the code is possible.
        """
        for index in range(len(self.code) - 1, first - 1, -1):
            instruction = self.code[index]
            if target in instruction.reads or target in instruction.writes or source in instruction.writes:
                if instruction.depth != self.depth:
                    # The instruction is in a branch or an inner loop. The first label with the depth of the
                    # loop body follows this branch or loop.
                    count = len(self.code)
                    while index < count and (self.code[index].name or self.code[index].depth != self.depth):
                        index += 1
                    return self.after_jumps(first, index + 1) if index < len(self.code) else None
                return index + 1
        return first

    def after_jumps(self, first: int, position: int) -> int:
        """Return the first index >= `position` over which no jump in `code[first:]` passes."""
        while True:
            targets = {id(i.target) for i in self.code[first:position] if i.target is not None}
            crossing_jumps = [
                index
                for index in range(position, len(self.code))
                if not self.code[index].name and id(self.code[index].a) in targets
            ]
            if not crossing_jumps:
                return position
            position = crossing_jumps[-1] + 1

    def copy_all(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Emit a parallel copy: each source is read before any target is written."""
        pending = [(target, source) for target, source in pairs if target != source]
        while pending:
            sources = {source for _, source in pending}
            ready = next((pair for pair in pending if pair[0] not in sources), None)
            # only cyclic copies such as a, b = b, a are left: save one source in a temporary register
            if ready is None:
                target, source = pending[0]
                temporary = self.new_register(self.classes[source])
                self.move(temporary, source)
                pending[0] = (target, temporary)
            else:
                self.move(*ready)
                pending.remove(ready)
