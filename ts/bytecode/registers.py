"""Linear code over virtual registers, and the allocation of real ones.

In: instructions in order, whose register operands are virtual registers, one per value.  Out: the same
with few real registers, so that most copies are gone and objects are dropped after their last use.

    MOVE  %total, %zero                      r3 := 0
  head:                                    head:
    ADD   %total.2, %total, %i        =>     r3 := r3 + r1
    MOVE  %total, %total.2                   (one register: the copy is gone)
    STEP  %i, %n, head                       step r1, r0, head

Two registers interfere when one is written while the other is still to be read (`lifetimes.py`), unless the
write copies the other.  A copy between registers that do not interfere makes them one (`coalesce`); the rest
is greedy colouring: each takes the first real register that is free as long as it needs it.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from ts._core.thread import deadline
from ts.bytecode.instruction import COPIES, ENDS, Instruction
from ts.bytecode.lifetimes import Lifetime, Lifetimes

_STEP_NS: Final = 1_000  # what `ts.limits` count for a step, at least


class Allocator:
    """Gives real registers to the virtual ones of `code`, in place.

    `classes` are the classes of the virtual registers; the first `parameters` of them are the parameters
    and get the real registers of the same number; `constants` get none here.
    """

    def __init__(
        self,
        code: list[Instruction],
        classes: list[str],
        parameters: int,
        constants: set[int],
        kept: set[int],
    ) -> None:
        self.code = code
        self.classes = classes
        self.parameters = parameters
        self.constants = constants
        # Those to drop in time; of what is kept, strings, nobody minds when it goes.
        self.objects = frozenset(
            r for r, kind in enumerate(classes) if kind in "ox" and r not in constants and r not in kept
        )
        found = Lifetimes(code, len(classes), parameters, constants, self.objects)
        self.dying, self.dead = found.dying, found.dead
        self.lifetimes = found.lifetimes  # by leader: of its group
        self.leader = list(range(len(classes)))
        self.real = classes[:parameters]  # the classes of the real registers
        self.holds: list[Lifetime] = []  # by real register: when it is taken
        self.place: dict[int, int] = {}  # by register: the real one

    def run(self) -> tuple[dict[int, int], list[str]]:
        """The real register of each virtual one, and the classes of the real ones."""
        self.coalesce()
        self.colour()
        self.insert_drops()
        return self.place, self.real

    def find(self, register: int) -> int:
        leader = self.leader
        while leader[register] != register:
            leader[register] = leader[leader[register]]  # the next search is shorter
            register = leader[register]
        return register

    def coalesce(self) -> None:
        """Make one register of both sides of a copy wherever that is possible; inner loops first."""
        copies = [i for i in self.code if i.name in COPIES and i.b not in self.constants]
        for copy in sorted(copies, key=lambda i: -i.depth):
            deadline.spend(_STEP_NS)
            a, b = self.find(copy.a), self.find(copy.b)
            if a == b or self.classes[a] != self.classes[b]:
                continue
            if b < a:
                a, b = b, a
            if b < self.parameters or self.overwrites(a, b) or self.overwrites(b, a):
                continue
            self.leader[b] = a
            large, small = self.lifetimes[a], self.lifetimes[b]
            if len(large.writes) < len(small.writes):
                large, small = small, large
            large.absorb(small)
            self.lifetimes[a] = self.lifetimes[b] = large

    def overwrites(self, a: int, b: int) -> bool:
        """Whether one group is written while the other is alive, and not by a copy of it."""
        for at in self.lifetimes[a].writes_in(self.lifetimes[b]):
            if at < 0 or self.code[at].name not in COPIES or self.find(self.code[at].b) != b:
                return True
        return False

    def colour(self) -> None:
        """Go through the code, with the real registers that are free here and those that are not."""
        self.holds = [self.lifetimes[self.find(register)] for register in range(self.parameters)]
        colour_of = {register: register for register in range(self.parameters)}
        place, constants = self.place, self.constants
        free: dict[str, list[int]] = {}
        taken: list[tuple[int, int]] = [(0, colour) for colour in range(self.parameters)]  # until when
        for at, instruction in enumerate(self.code):
            deadline.spend(_STEP_NS)
            for register in (*instruction.writes, *instruction.reads):
                if register in place or register in constants:
                    continue
                group = self.find(register)
                colour = colour_of.get(group)
                if colour is None:
                    self.release(at, free, taken)
                    colour = colour_of[group] = self.first_free(at, group, free, taken)
                place[register] = colour

    def release(self, at: int, free: dict[str, list[int]], taken: list[tuple[int, int]]) -> None:
        """Free what is not taken behind an instruction any more."""
        while taken and taken[0][0] <= at:
            _, colour = heappop(taken)
            end = self.holds[colour].end_at(at)
            if end < 0:
                heappush(free.setdefault(self.real[colour], []), colour)
            else:
                heappush(taken, (end, colour))

    def first_free(
        self, at: int, group: int, free: dict[str, list[int]], taken: list[tuple[int, int]]
    ) -> int:
        """The first real register that the group can have, of those that are free here, or a new one."""
        kind, lifetime = self.classes[group], self.lifetimes[group]
        candidates = free.setdefault(kind, [])
        passed = []
        while candidates:
            colour = heappop(candidates)
            held = self.holds[colour]
            if not lifetime.writes_in(held) and not held.writes_in(lifetime):
                held.absorb(lifetime)
                break
            passed.append(colour)
        else:
            colour = len(self.real)
            self.real.append(kind)
            self.holds.append(lifetime)
        for each in (*passed, colour):
            end = self.holds[each].end_at(at)
            if end < 0:
                heappush(candidates, each)
            else:
                heappush(taken, (end, each))
        return colour

    def insert_drops(self) -> None:
        """Give objects back after their last use, unless the register is written there or the frame ends."""
        if not self.objects:
            return
        code: list[Instruction] = []
        waiting: list[int] = []  # what is dead since the label before
        for at, instruction in enumerate(self.code):
            if not instruction.name:
                code += [_drop(register, self.code[at - 1]) for register in waiting]
                code.append(instruction)
                waiting = self.dead_at(at, self.dead.get(instruction.a))
                continue
            waiting += self.dead_at(at, self.dead.get(at))
            code += self.drops(waiting, instruction, instruction)
            waiting = []
            code.append(instruction)
            if at in self.dying and instruction.target is None and instruction.name not in ENDS:
                following = self.code[min(at + 1, len(self.code) - 1)]
                code += self.drops(self.dying_at(at, instruction), instruction, following)
        code += [_drop(register, self.code[-1]) for register in waiting]
        self.code[:] = code

    def dead_at(self, at: int, registers: set[int] | None) -> list[int]:
        """The real registers to drop before an instruction, or at a label: no other register needs them."""
        if not registers:
            return []
        read = {self.place.get(register) for register in self.code[at].reads}
        dead = {self.place[register] for register in registers if register in self.place} - read
        return sorted(register for register in dead if self.holds[register].end_at(at) < 0)

    def dying_at(self, at: int, instruction: Instruction) -> list[int]:
        """Those to drop behind an instruction; a copy of what is dying takes it."""
        place = self.place
        dying = set(self.dying[at])
        written = {place[register] for register in instruction.writes if register not in dying}
        if instruction.name == "COPY" and instruction.b in dying:
            source = place[instruction.b]
            if self.holds[source].end_at(at) < 0:
                if source != place[instruction.a]:
                    instruction.name = "TAKE"
                dying.discard(instruction.b)
        free = {place[register] for register in dying} - written
        return sorted(register for register in free if self.holds[register].end_at(at) < 0)

    def drops(self, registers: list[int], near: Instruction, following: Instruction) -> list[Instruction]:
        """Drops that `following` does not make needless, by ending the frame or writing the register."""
        if not registers or following.name in ("RETURN", "RAISE"):
            return []
        written = {self.place[register] for register in following.writes}
        written -= {self.place.get(register) for register in following.reads}
        return [_drop(register, near) for register in registers if register not in written]


def _drop(register: int, near: Instruction) -> Instruction:
    """A DROP of a real register: marked as such by a negative number, as nothing else is real yet."""
    return Instruction("DROP", ~register, line=near.line)
