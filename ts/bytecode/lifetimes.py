"""When registers hold what is still to be read.

In: instructions in order, over virtual registers.  Out: a `Lifetime` for each register, and where objects
die.

    0  ADD_I64   %a, %x, %x                 %x   [-1, 2)            a parameter: written before the code
    1  JUMP_LE   else, %a, %x               %a   [0, 1)   [4, 5)    nobody reads it between 1 and the label
    2  MOVE      %r, %x                     %r   [2, 6)
    3  JUMP      end
    4  else:
    5  MOVE      %r, %a
    6  end:

A register is alive after the instructions of its ranges: from the one that writes it up to that which reads
it, or from a label that is only reached by jumps.  All of it is found in one walk over the code, backwards,
with the registers that are alive; what was alive at a label waits for the jumps to it.  At the end of a loop
that is not known yet, and so code with loops is walked through again until nothing is added: once more for
each level of nesting.  Memory is in proportion to what is alive at the same time, and to the mentions of
registers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ts._core.thread import deadline
from ts.bytecode.instruction import ENDS, Instruction, Label

_STEP_NS: Final = 1_000  # what `ts.limits` count for a step, at least
_STEP_BYTES: Final = 200
_STEPS: Final = 64  # between two looks
_HELD_BYTES: Final = 32  # of a register in the set of a label


class Lifetime:
    """Where a register, or several that share one, are alive: ranges in order, and where they are written."""

    __slots__ = ("ends", "starts", "writes")

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.writes: list[int] = []

    def end_at(self, place: int) -> int:
        """Where the range ends in which it is alive after an instruction; -1 where it is not."""
        i = bisect_right(self.starts, place) - 1
        return self.ends[i] if i >= 0 and self.ends[i] > place else -1

    def writes_in(self, other: Lifetime) -> list[int]:
        """Where it is written while the other is alive, or is written as well."""
        found, writes = [], self.writes
        starts, ends, written = other.starts, other.ends, other.writes
        if len(writes) <= len(starts) + len(written):
            for place in writes:
                i, j = bisect_right(starts, place), bisect_left(written, place)
                if (i and ends[i - 1] > place) or (j < len(written) and written[j] == place):
                    found.append(place)
            return found
        for start, end in zip(starts, ends, strict=True):
            found += writes[bisect_left(writes, start) : bisect_left(writes, end)]
        for place in written:
            i = bisect_left(writes, place)
            if i < len(writes) and writes[i] == place:
                found.append(place)
        return found

    def absorb(self, other: Lifetime) -> None:
        """Be alive where either is."""
        for start, end in zip(other.starts, other.ends, strict=True):
            first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
            if first < last:
                start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
            self.starts[first:last] = [start]
            self.ends[first:last] = [end]
        for place in other.writes:
            insort(self.writes, place)


class Lifetimes:
    """The lifetimes of all registers of `code`; `constants` have none.

    lifetimes   by register
    dying       by instruction: the objects that it is the last to read, or writes for nobody
    dead        by label, or place behind a jump: the objects that were alive before, and are dead there
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
        self.jumps: dict[Label, int] = {}  # how many go forwards to a label
        self.heads: dict[Label, frozenset[int]] = {}  # what is alive where loops begin, as far as it is known
        self.reads: list[Sequence[int]] = [()] * len(code)  # registers that each instruction reads
        self.targets: list[Label | None] = [None] * len(code)  # where it jumps
        self.with_objects: set[int] = set()  # instructions that read or write some
        self.find_jumps()
        if self.heads:
            self.settle_heads()
        while self.walk():
            self.settle_heads()
        for lifetime in self.lifetimes:
            for places in (lifetime.starts, lifetime.ends, lifetime.writes):
                places.reverse()

    def find_jumps(self) -> None:
        behind: set[Label] = set()
        variable, objects = self.variable, self.objects
        for at, instruction in enumerate(self.code):
            if not instruction.name:
                behind.add(instruction.a)
                continue
            reads = instruction.reads
            if reads:
                self.reads[at] = [register for register in reads if variable[register]]
            if objects and not (objects.isdisjoint(reads) and objects.isdisjoint(instruction.writes)):
                self.with_objects.add(at)
            target = instruction.target
            if target is None:
                continue
            self.targets[at] = target
            if target in behind:
                self.heads[target] = frozenset()
            else:
                self.jumps[target] = self.jumps.get(target, 0) + 1

    def settle_heads(self) -> None:
        """Once through the code, for what is alive where loops begin: nothing else is kept."""
        alive: set[int] = set()
        labels = _Labels(self.jumps, self.heads)
        reads, targets = self.reads, self.targets
        for at in range(len(self.code) - 1, -1, -1):
            if not at % _STEPS:
                deadline.spend(_STEPS * _STEP_NS, _STEPS * _STEP_BYTES)
            instruction = self.code[at]
            if not instruction.name:
                labels.reach(instruction.a, alive)
                continue
            if instruction.name in ENDS:
                alive.clear()
            if targets[at] is not None:
                alive |= labels.alive_at(targets[at])
            alive.difference_update(instruction.writes)
            alive.update(reads[at])

    def walk(self) -> bool:
        """Once through the code; whether more is alive where a loop begins than was known at its end."""
        self.lifetimes = lifetimes = [Lifetime() for _ in range(len(self.variable))]
        self.dying: dict[int, list[int]] = {}
        self.dead: dict[int | Label, set[int]] = {}
        self.alive = alive = dict[int, int]()  # registers, with the end of their range
        labels = _Labels(self.jumps, self.heads)
        code, reads, targets = self.code, self.reads, self.targets
        for at in range(len(code) - 1, -1, -1):
            if not at % _STEPS:
                deadline.spend(_STEPS * _STEP_NS, _STEPS * _STEP_BYTES)
            instruction = code[at]
            if not instruction.name:
                labels.reach(instruction.a, alive)
                continue
            target = targets[at]
            if instruction.name in ENDS:
                self.leave(at, labels.alive_at(target))
            elif target is not None:
                self.branch(at, instruction, target, labels.alive_at(target))
            if at in self.with_objects:
                self.note_dying(at, instruction)
            for register in instruction.writes:
                lifetime = lifetimes[register]
                lifetime.writes.append(at)
                end = alive.pop(register, None)
                if end is not None:
                    lifetime.starts.append(at)
                    lifetime.ends.append(end)
            for register in reads[at]:
                if register not in alive:
                    alive[register] = at
        for register in range(self.parameters):
            lifetimes[register].writes.append(-1)
        self.leave(-2, frozenset())  # a range that begins before the code begins at -1
        return labels.learnt

    def note_dying(self, at: int, instruction: Instruction) -> None:
        """The objects that are not alive behind an instruction that reads or writes them."""
        alive, objects = self.alive, self.objects
        dying = [r for r in (*instruction.writes, *instruction.reads) if r in objects and r not in alive]
        if dying:
            self.dying[at] = dying

    def leave(self, at: int, there: frozenset[int]) -> None:
        """Before a jump, or what ends the frame: nothing is alive but what is alive `there`."""
        alive = self.alive
        for register in alive.keys() - there:
            end = alive.pop(register)
            self.lifetimes[register].starts.append(at + 1)
            self.lifetimes[register].ends.append(end)
        for register in there.difference(alive):
            alive[register] = at + 1

    def branch(self, at: int, instruction: Instruction, target: Label, there: frozenset[int]) -> None:
        """Before a jump that may go on: what is alive on either way; objects may die on one of them."""
        alive, objects = self.alive, self.objects
        if objects:
            read = objects.intersection(instruction.reads)
            for place, lost in (
                (at + 1, (objects & (there | read)).difference(alive)),
                (target, objects & read.union(alive) - there),
            ):
                if lost:
                    self.dead.setdefault(place, set()).update(lost)
        for register in there.difference(alive):
            alive[register] = at + 1


class _Labels:
    """What is alive at labels, in one walk backwards: it waits there for the jumps from before."""

    def __init__(self, jumps: dict[Label, int], heads: dict[Label, frozenset[int]]) -> None:
        self.jumps = dict(jumps)  # those from before that are still to come
        self.heads = heads
        self.here: dict[Label, frozenset[int]] = {}
        self.learnt = False

    def reach(self, label: Label, alive: Iterable[int]) -> None:
        """A label; where a loop begins, all that is alive there is known now."""
        jumps, heads = self.jumps, self.heads
        if label in jumps or label in heads:
            here = frozenset(alive)
            deadline.spend(0, _HELD_BYTES * len(here))
            if label in jumps:
                self.here[label] = here
            if label in heads and heads[label] != here:
                heads[label] = here
                self.learnt = True

    def alive_at(self, target: Label | None) -> frozenset[int]:
        """What is alive where a jump goes; nothing for what is none. Forgotten with the first of them."""
        if target is None:
            return frozenset()
        if target not in self.jumps:
            return self.heads[target]
        there = self.here[target]
        self.jumps[target] -= 1
        if not self.jumps[target]:
            del self.jumps[target], self.here[target]
        return there
