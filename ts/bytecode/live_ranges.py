"""Live ranges (live intervals) of virtual registers, computed by backward data-flow analysis of linear code.

A range begins at the instruction that writes the register, or at a label that only jumps reach. It ends at
the last read. The right column shows the ranges of each register:

    0  ADD_I64   %a, %x, %x                 %x   [-1, 2)
    1  JUMP_LE   else, %a, %x               %a   [0, 1)   [4, 5)
    2  MOVE      %r, %x                     %r   [2, 6)
    3  JUMP      end
    4  else:
    5  MOVE      %r, %a
    6  end:

%x is a parameter, which is written before the code. %a is not read between instruction 1 and the label.

One backward pass finds all ranges of code without loops. Each nesting level of loops needs one more pass.
Memory is proportional to the number of simultaneously live registers plus the number of register operands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ts._core.thread import deadline
from ts.bytecode.instruction import TERMINATORS, Instruction, Label

_STEP_NS: Final = 1_000  # nanoseconds that each visit of an instruction charges to `ts.limits`
_STEP_BYTES: Final = 200
_CHECK_INTERVAL: Final = 64  # number of instructions after which the limits are checked
_LIVE_SET_BYTES: Final = 32  # bytes that each register in the live set of a label charges to `ts.limits`


class LiveRange:
    """Live ranges and write positions of a virtual register, or of several that share a real register."""

    __slots__ = ("ends", "starts", "writes")

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.writes: list[int] = []

    def end_at(self, index: int) -> int:
        """Return the end of the range around instruction `index`, or -1 if the register is not live there."""
        i = bisect_right(self.starts, index) - 1
        return self.ends[i] if i >= 0 and self.ends[i] > index else -1

    def writes_in(self, other: LiveRange) -> list[int]:
        """Return the indices of the writes of `self` at which `other` is live, or is written, too."""
        conflicts, writes = [], self.writes
        starts, ends, other_writes = other.starts, other.ends, other.writes
        if len(writes) <= len(starts) + len(other_writes):
            for index in writes:
                i, j = bisect_right(starts, index), bisect_left(other_writes, index)
                if (i and ends[i - 1] > index) or (j < len(other_writes) and other_writes[j] == index):
                    conflicts.append(index)
            return conflicts
        for start, end in zip(starts, ends, strict=True):
            conflicts += writes[bisect_left(writes, start) : bisect_left(writes, end)]
        for index in other_writes:
            i = bisect_left(writes, index)
            if i < len(writes) and writes[i] == index:
                conflicts.append(index)
        return conflicts

    def absorb(self, other: LiveRange) -> None:
        """Merge the live ranges and writes of `other` into this object."""
        for start, end in zip(other.starts, other.ends, strict=True):
            first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
            if first < last:
                start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
            self.starts[first:last] = [start]
            self.ends[first:last] = [end]
        for index in other.writes:
            insort(self.writes, index)


class LiveRanges:
    """Live ranges of all registers of `code`, except `constants`.

    lifetimes   maps a register to its LiveRange
    dying       maps an instruction to object registers that it reads or writes, and that are not live
                after it
    dead        maps the start of a path after a conditional jump to object registers that only the other path
                reads
    """

    def __init__(
        self,
        code: Sequence[Instruction],
        registers: int,
        parameters: int,
        constants: Collection[int],
        objects: frozenset[int],
    ) -> None:
        self.code = code
        self.parameters = parameters
        self.objects = objects
        self.variable = bytearray(b"\1") * registers
        for register in constants:
            self.variable[register] = 0
        self.jumps: dict[Label, int] = {}  # label -> number of forward jumps to it
        # label of a loop head -> registers known to be live there, which grow until a fixed point
        self.loop_heads: dict[Label, frozenset[int]] = {}
        # for each instruction: registers that it reads, without constants
        self.reads: list[Sequence[int]] = [()] * len(code)
        # for each instruction: the label to which it jumps, or None
        self.targets: list[Label | None] = [None] * len(code)
        self.with_objects: set[int] = set()  # indices of the instructions that read or write object registers
        self._find_jumps()
        if self.loop_heads:
            self.update_loop_heads()
        while self.collect_ranges():
            self.update_loop_heads()
        for lifetime in self.lifetimes:
            for indices in (lifetime.starts, lifetime.ends, lifetime.writes):
                indices.reverse()

    def _find_jumps(self) -> None:
        passed_labels: set[Label] = set()
        variable, objects = self.variable, self.objects
        for index, instruction in enumerate(self.code):
            if not instruction.name:
                passed_labels.add(instruction.a)
                continue
            reads = instruction.reads
            if reads:
                self.reads[index] = [register for register in reads if variable[register]]
            if objects and not (objects.isdisjoint(reads) and objects.isdisjoint(instruction.writes)):
                self.with_objects.add(index)
            target = instruction.target
            if target is None:
                continue
            self.targets[index] = target
            if target in passed_labels:
                self.loop_heads[target] = frozenset()
            else:
                self.jumps[target] = self.jumps.get(target, 0) + 1

    def update_loop_heads(self) -> None:
        """Update the live sets of loop heads in one backward pass over the code."""
        alive: set[int] = set()
        labels = _Labels(self.jumps, self.loop_heads)
        reads, targets = self.reads, self.targets
        for index in range(len(self.code) - 1, -1, -1):
            if not index % _CHECK_INTERVAL:
                deadline.charge(_CHECK_INTERVAL * _STEP_NS, _CHECK_INTERVAL * _STEP_BYTES)
            instruction = self.code[index]
            if not instruction.name:
                labels.reach(instruction.a, alive)
                continue
            if instruction.name in TERMINATORS:
                alive.clear()
            if targets[index] is not None:
                alive |= labels.alive_at(targets[index])
            alive.difference_update(instruction.writes)
            alive.update(reads[index])

    def collect_ranges(self) -> bool:
        """Collect all ranges in one backward pass over the code.

        Return True if the live set of a loop head grew. In this case, another pass is necessary.
        """
        self.lifetimes = lifetimes = [LiveRange() for _ in range(len(self.variable))]
        self.dying: dict[int, list[int]] = {}
        self.dead: dict[int | Label, set[int]] = {}
        # register that is live at the current instruction -> index of its last read
        self.alive = alive = dict[int, int]()
        labels = _Labels(self.jumps, self.loop_heads)
        code, reads, targets = self.code, self.reads, self.targets
        for index in range(len(code) - 1, -1, -1):
            if not index % _CHECK_INTERVAL:
                deadline.charge(_CHECK_INTERVAL * _STEP_NS, _CHECK_INTERVAL * _STEP_BYTES)
            instruction = code[index]
            if not instruction.name:
                labels.reach(instruction.a, alive)
                continue
            target = targets[index]
            if instruction.name in TERMINATORS:
                self.end_ranges(index, labels.alive_at(target))
            elif target is not None:
                self.join_paths(index, instruction, target, labels.alive_at(target))
            if index in self.with_objects:
                self.record_dying(index, instruction)
            for register in instruction.writes:
                lifetime = lifetimes[register]
                lifetime.writes.append(index)
                end = alive.pop(register, None)
                if end is not None:
                    lifetime.starts.append(index)
                    lifetime.ends.append(end)
            for register in reads[index]:
                if register not in alive:
                    alive[register] = index
        for register in range(self.parameters):
            lifetimes[register].writes.append(-1)
        # no register is live before index -1, at which the ranges of the parameters begin
        self.end_ranges(-2, frozenset())
        return labels.changed

    def record_dying(self, index: int, instruction: Instruction) -> None:
        """Record in `dying` the object registers of an instruction that are dead after it."""
        alive, objects = self.alive, self.objects
        dying = [r for r in (*instruction.writes, *instruction.reads) if r in objects and r not in alive]
        if dying:
            self.dying[index] = dying

    def end_ranges(self, index: int, live_at_target: frozenset[int]) -> None:
        """Replace the live registers by `live_at_target`, at the jump or return with index `index`.

        The ranges of registers that are not live at the target begin after the instruction.
        """
        alive = self.alive
        for register in alive.keys() - live_at_target:
            end = alive.pop(register)
            self.lifetimes[register].starts.append(index + 1)
            self.lifetimes[register].ends.append(end)
        for register in live_at_target.difference(alive):
            alive[register] = index + 1

    def join_paths(
        self, jump_index: int, instruction: Instruction, target: Label, live_at_target: frozenset[int]
    ) -> None:
        """Add the registers that are live at the target of a conditional jump to the live registers.

        An object that is live on only one path is released at the start of the other path (`dead`).
        """
        alive, objects = self.alive, self.objects
        if objects:
            read_objects = objects.intersection(instruction.reads)
            for index, dead in (
                (jump_index + 1, (objects & (live_at_target | read_objects)).difference(alive)),
                (target, objects & read_objects.union(alive) - live_at_target),
            ):
                if dead:
                    self.dead.setdefault(index, set()).update(dead)
        for register in live_at_target.difference(alive):
            alive[register] = jump_index + 1


class _Labels:
    """Live sets of labels in one backward pass, stored until all forward jumps to them are visited."""

    def __init__(self, jumps: dict[Label, int], loop_heads: dict[Label, frozenset[int]]) -> None:
        # label -> number of forward jumps to it that the backward pass has not visited yet
        self.jumps = dict(jumps)
        self.loop_heads = loop_heads
        self.live_at_labels: dict[Label, frozenset[int]] = {}
        self.changed = False

    def reach(self, label: Label, alive: Iterable[int]) -> None:
        """Store `alive` as the live registers at `label`.

        Set `changed` if `label` is a loop head and `alive` differs from the registers stored for it before.
        """
        jumps, loop_heads = self.jumps, self.loop_heads
        if label in jumps or label in loop_heads:
            live = frozenset(alive)
            deadline.charge(0, _LIVE_SET_BYTES * len(live))
            if label in jumps:
                self.live_at_labels[label] = live
            if label in loop_heads and loop_heads[label] != live:
                loop_heads[label] = live
                self.changed = True

    def alive_at(self, target: Label | None) -> frozenset[int]:
        """Return the registers that are live at a jump target, or an empty set for None.

        The set of a label is deleted after its last jump has been visited.
        """
        if target is None:
            return frozenset()
        if target not in self.jumps:
            return self.loop_heads[target]
        live_at_target = self.live_at_labels[target]
        self.jumps[target] -= 1
        if not self.jumps[target]:
            del self.jumps[target], self.live_at_labels[target]
        return live_at_target
