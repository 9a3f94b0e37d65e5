"""Loops: counters that count in the range's own numbers, and copies to the next iteration.

    %t : int = prim::Loop(%n, %true, %zero)           MOVE %s, %zero
      block0(%i : int, %s : int):                     JUMP_LE_I64 end, %n, %zero
        %u : int = aten::add(%s, %i)            =>    MOVE %i, %zero
        -> (%true, %u)                              head:
                                                      ADD_I64 %u, %s, %i
                                                      MOVE %s, %u
                                                      LOOP_STEP head, %i, %n
                                                    end:

The variables that a loop carries have one register each for all iterations and for the loop's results.
"""

from __future__ import annotations

from collections.abc import Iterable

from ts.bytecode.branches import Branches, line_of
from ts.bytecode.instruction import Label
from ts.ir.graph import Block, Graph, Node, Value

INT_MAX = 2**63 - 1


class Loops(Branches):
    """The part of the lowering that loops. `lower.Lowering` builds on it."""

    def __init__(self, graph: Graph, name: str) -> None:
        super().__init__(graph, name)
        self.counters: set[Value] = set()  # numbers of ranges that are counted in

    def lower_loop(self, node: Node) -> None:
        (body,) = node.blocks()
        trip, start, *initial = node.inputs()
        index, *carried = body.inputs()
        condition, *results = body.outputs()
        counted = self.number(trip) != INT_MAX
        variables = [self.define(v) for v in carried]
        for output, variable in zip(node.outputs(), variables, strict=True):
            self.register[output] = variable
        self.copy_all(zip(variables, [self.use(v) for v in initial], strict=True))
        head, end = Label(), Label()
        self.depth += 1
        self.branch(start, end, False)
        counter = limit = step = 0
        if counted or index.has_uses():
            counter, limit, step = self.start_counter(index, trip, body, end)
        self.place(head)
        first = len(self.code)
        self.lower_nodes(body)
        if not self.terminated:
            line = self.line
            self.settle_condition(condition, {*body.inputs()})
            self.copy_back(variables, [self.use(v) for v in results], first)
            self.line = line_of(node) or line
            if not counted:
                if index.has_uses():
                    self.emit("ADD_I64", counter, counter, self.constant(1, "i"))
                self.loop_branch(condition, head, end)
            else:
                self.branch(condition, end, False)
                self.close_counter(counter, limit, step, head)
        self.depth -= 1
        self.place(end)
        self.terminated = False

    def settle_condition(self, condition: Value, changing: set[Value]) -> None:
        """Compute a condition on the loop's variables before these change."""
        if not self.reads_any(condition, changing | self.counters):
            return
        if self.is_deferred_value(condition):
            self.compute(condition)
        else:  # a variable itself: its register will hold the next value
            kept = self.new_register("b")
            self.emit("MOVE", kept, self.use(condition))
            self.register[condition] = kept

    def start_counter(self, index: Value, trip: Value, body: Block, end: Label) -> tuple[int, int, int]:
        """Registers of the counter, its limit and its step (0: one); the loop is skipped when it has no turn.

        A loop over a range counts in the range's own numbers when only these are asked for:
        `__derive_index(i, start, step)` is the counter then.
        """
        derive = self.derived_index(index, body)
        zero, one = self.constant(0, "i"), self.constant(1, "i")
        if derive is None:
            counter, limit = self.define(index), self.use(trip)
            if self.number(trip) is None or self.number(trip) <= 0:
                self.emit("JUMP_LE_I64", end, limit, zero)
            self.emit("MOVE", counter, zero)
            return counter, limit, 0
        low, step = derive.input(1), derive.input(2)
        counter = self.define(derive.output())
        self.counters.add(derive.output())
        if self.is_deferred(trip.node()):
            start, limit = self.use(low), self.use(trip.node().input(1))
            self.emit("JUMP_LE_I64", end, limit, start)
            self.emit("MOVE", counter, start)
            return counter, limit, 0
        turns, start = self.use(trip), self.use(low)
        self.emit("JUMP_LE_I64", end, turns, zero)
        limit = self.new_register("i")
        if self.number(step) == 1:
            self.emit("ADD_I64", limit, turns, start)
        else:
            self.emit("MUL_I64", limit, turns, self.use(step))
            self.emit("ADD_I64", limit, limit, start)
        self.emit("MOVE", counter, start)
        return counter, limit, 0 if self.number(step) == 1 else self.use(step) or one

    def close_counter(self, counter: int, limit: int, step: int, head: Label) -> None:
        if step == 0:
            self.emit("LOOP_STEP", head, counter, limit)
        else:
            self.emit("ADD_I64", counter, counter, step)
            self.emit("LOOP_NE_I64", head, counter, limit)

    def copy_back(self, variables: list[int], results: list[int], first: int) -> None:
        """The copies at the end of a loop's body, each moved up to where its target is no longer read.

        a, b = b, a + b                  ADD  %t, %a, %b
        ADD  %t, %a, %b          =>      MOVE %a, %b
        (%a, %b) := (%b, %t)             MOVE %b, %t          %t and %b can be one register now
        """
        pending = [pair for pair in zip(variables, results, strict=True) if pair[0] != pair[1]]
        moved = True
        while moved and len(pending) > 1:
            moved = False
            for pair in pending:
                target, source = pair
                if any(target == other for _, other in pending) or source in self.constant_values:
                    continue
                at = self.last_mention(target, source, first)
                if at is None:
                    continue
                following = self.code[at:]
                del self.code[at:]
                self.move(target, source)
                self.code += following
                pending.remove(pair)
                moved = True
                break
        self.copy_all(pending)

    def last_mention(self, target: int, source: int, first: int) -> int | None:
        """The earliest place in the body's own code, behind its start, where `target` may become `source`."""
        for at in range(len(self.code) - 1, first - 1, -1):
            instruction = self.code[at]
            if target in instruction.reads or target in instruction.writes or source in instruction.writes:
                if instruction.depth != self.depth:
                    # Inside of a branch or an inner loop: behind the label that ends it, the only one
                    # of the depth here.
                    count = len(self.code)
                    while at < count and (self.code[at].name or self.code[at].depth != self.depth):
                        at += 1
                    return self.behind_jumps(first, at + 1) if at < len(self.code) else None
                return at + 1
        return first

    def behind_jumps(self, first: int, at: int) -> int:
        """The first place from `at` on that no jump passes over: every path goes through it."""
        while True:
            targets = {id(i.target) for i in self.code[first:at] if i.target is not None}
            passed = [
                place
                for place in range(at, len(self.code))
                if not self.code[place].name and id(self.code[place].a) in targets
            ]
            if not passed:
                return at
            at = passed[-1] + 1

    def copy_all(self, pairs: Iterable[tuple[int, int]]) -> None:
        """All copies at once: each source is read before any target is written."""
        pending = [(target, source) for target, source in pairs if target != source]
        while pending:
            sources = {source for _, source in pending}
            ready = next((pair for pair in pending if pair[0] not in sources), None)
            if ready is None:  # only cycles are left: one value waits aside
                target, source = pending[0]
                aside = self.new_register(self.classes[source])
                self.move(aside, source)
                pending[0] = (target, aside)
            else:
                self.move(*ready)
                pending.remove(ready)
