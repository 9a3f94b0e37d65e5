"""Register allocation for linear code by register coalescing, then greedy graph coloring in a linear scan.

Input: code with one virtual register per value. Output: code with few real registers and few copies, and with
DROP instructions after the last uses of objects. In the example, three virtual registers become r3:

    MOVE  %total, %zero                      r3 := 0
  head:                                    head:
    ADD   %total.2, %total, %i        =>     r3 := r3 + r1
    MOVE  %total, %total.2                   step r1, r0, head
    STEP  %i, %n, head

Two registers interfere if one is written while the other is live (`live_ranges.py`), unless the write copies
the live register. The two registers of a copy are merged into a group if they do not interfere. Then each
group, in code order, gets the first real register that is free during the group's live ranges.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from ts._core.thread import deadline
from ts.bytecode.instruction import COPIES, TERMINATORS, Instruction
from ts.bytecode.live_ranges import LiveRange, LiveRanges

_STEP_NS: Final = 1_000  # nanoseconds counted by `ts.limits` for each instruction or copy that is visited


class RegisterAllocator:
    """Allocator that replaces the virtual registers of `code` by real registers, in place.

    `classes` are the classes of the virtual registers. The first `parameters` registers are the parameters,
    and keep their indices. Registers in `constants` get no real registers here, and registers in `strings`
    need no DROP.
    """

    def __init__(
        self,
        code: list[Instruction],
        classes: list[str],
        parameters: int,
        constants: set[int],
        strings: set[int],
    ) -> None:
        self.code = code
        self.classes = classes
        self.parameters = parameters
        self.constants = constants
        # registers of objects that are released after their last use. Strings may stay until the frame ends.
        self.objects = frozenset(
            r for r, kind in enumerate(classes) if kind in "ox" and r not in constants and r not in strings
        )
        live_ranges = LiveRanges(code, len(classes), parameters, constants, self.objects)
        self.dying, self.dead = live_ranges.dying, live_ranges.dead
        # leader of a group of coalesced registers -> live ranges of the group
        self.lifetimes = live_ranges.lifetimes
        self.leader = list(range(len(classes)))
        self.real = classes[:parameters]  # classes of the real registers
        # for each real register: live ranges of the groups to which it was assigned
        self.occupied_ranges: list[LiveRange] = []
        self.real_register: dict[int, int] = {}  # virtual register -> index of its real register

    def run(self) -> tuple[dict[int, int], list[str]]:
        """Return the real register of each virtual register, and the classes of the real registers."""
        self.coalesce()
        self.colour()
        self.insert_drops()
        return self.real_register, self.real

    def find(self, register: int) -> int:
        """Return the leader of the register's group (union-find)."""
        leader = self.leader
        while leader[register] != register:
            leader[register] = leader[leader[register]]  # path halving, for shorter searches
            register = leader[register]
        return register

    def coalesce(self) -> None:
        """Merge the registers of each copy (copy coalescing) if they do not interfere, inner loops first."""
        copies = [i for i in self.code if i.name in COPIES and i.b not in self.constants]
        for copy in sorted(copies, key=lambda i: -i.depth):
            deadline.charge(_STEP_NS)
            a, b = self.find(copy.a), self.find(copy.b)
            if a == b or self.classes[a] != self.classes[b]:
                continue
            if b < a:
                a, b = b, a
            if b < self.parameters or self.overwrites(a, b) or self.overwrites(b, a):
                continue
            self.leader[b] = a
            larger, smaller = self.lifetimes[a], self.lifetimes[b]
            if len(larger.writes) < len(smaller.writes):
                larger, smaller = smaller, larger
            larger.absorb(smaller)
            self.lifetimes[a] = self.lifetimes[b] = larger

    def overwrites(self, a: int, b: int) -> bool:
        """Return whether `a` interferes with `b`.

        The registers interfere if an instruction other than a copy of `b` writes `a` while `b` is live.
        """
        for index in self.lifetimes[a].writes_in(self.lifetimes[b]):
            if index < 0 or self.code[index].name not in COPIES or self.find(self.code[index].b) != b:
                return True
        return False

    def colour(self) -> None:
        """Assign physical registers to the groups by a linear scan of their live ranges in code order."""
        self.occupied_ranges = [self.lifetimes[self.find(register)] for register in range(self.parameters)]
        colour_of = {register: register for register in range(self.parameters)}
        real_registers, constants = self.real_register, self.constants
        free_colours: dict[str, list[int]] = {}
        # heap of (end of the current live range in a real register, the real register)
        occupied: list[tuple[int, int]] = [(0, colour) for colour in range(self.parameters)]
        for index, instruction in enumerate(self.code):
            deadline.charge(_STEP_NS)
            for register in (*instruction.writes, *instruction.reads):
                if register in real_registers or register in constants:
                    continue
                group = self.find(register)
                colour = colour_of.get(group)
                if colour is None:
                    self.release(index, free_colours, occupied)
                    colour = colour_of[group] = self.first_free(index, group, free_colours, occupied)
                real_registers[register] = colour

    def release(
        self, index: int, free_colours: dict[str, list[int]], occupied: list[tuple[int, int]]
    ) -> None:
        """Free the real registers whose occupation ends at or before instruction `index`."""
        while occupied and occupied[0][0] <= index:
            _, colour = heappop(occupied)
            end = self.occupied_ranges[colour].end_at(index)
            if end < 0:
                heappush(free_colours.setdefault(self.real[colour], []), colour)
            else:
                heappush(occupied, (end, colour))

    def first_free(
        self, index: int, group: int, free_colours: dict[str, list[int]], occupied: list[tuple[int, int]]
    ) -> int:
        """Return the first free real register that does not interfere with `group`, or a new register."""
        kind, lifetime = self.classes[group], self.lifetimes[group]
        candidates = free_colours.setdefault(kind, [])
        rejected = []
        while candidates:
            colour = heappop(candidates)
            occupied_ranges = self.occupied_ranges[colour]
            if not lifetime.writes_in(occupied_ranges) and not occupied_ranges.writes_in(lifetime):
                occupied_ranges.absorb(lifetime)
                break
            rejected.append(colour)
        else:
            colour = len(self.real)
            self.real.append(kind)
            self.occupied_ranges.append(lifetime)
        for candidate in (*rejected, colour):
            end = self.occupied_ranges[candidate].end_at(index)
            if end < 0:
                heappush(candidates, candidate)
            else:
                heappush(occupied, (end, candidate))
        return colour

    def insert_drops(self) -> None:
        """Insert DROPs after the last uses of objects.

        No DROP is needed before an instruction that overwrites the register or ends the frame.
        """
        if not self.objects:
            return
        code: list[Instruction] = []
        pending: list[int] = []  # registers that died since the previous label and are still to be dropped
        for index, instruction in enumerate(self.code):
            if not instruction.name:
                code += [_drop(register, self.code[index - 1]) for register in pending]
                code.append(instruction)
                pending = self.dead_at(index, self.dead.get(instruction.a))
                continue
            pending += self.dead_at(index, self.dead.get(index))
            code += self.drops(pending, instruction, instruction)
            pending = []
            code.append(instruction)
            if index in self.dying and instruction.target is None and instruction.name not in TERMINATORS:
                following = self.code[min(index + 1, len(self.code) - 1)]
                code += self.drops(self.dead_registers_at(index, instruction), instruction, following)
        code += [_drop(register, self.code[-1]) for register in pending]
        self.code[:] = code

    def dead_at(self, index: int, registers: set[int] | None) -> list[int]:
        """Return the real registers of `registers` that are free at the instruction `index`.

        A real register is free if the instruction does not read it and the register holds no live value
        there.
        """
        if not registers:
            return []
        read_registers = {self.real_register.get(register) for register in self.code[index].reads}
        dead = {
            self.real_register[register] for register in registers if register in self.real_register
        } - read_registers
        return sorted(register for register in dead if self.occupied_ranges[register].end_at(index) < 0)

    def dead_registers_at(self, index: int, instruction: Instruction) -> list[int]:
        """Return the real registers to drop after `instruction`.

        Change the opcode of a COPY from a dying register to TAKE, which needs no DROP.
        """
        real_registers = self.real_register
        dying = set(self.dying[index])
        written_registers = {
            real_registers[register] for register in instruction.writes if register not in dying
        }
        if instruction.name == "COPY" and instruction.b in dying:
            source = real_registers[instruction.b]
            if self.occupied_ranges[source].end_at(index) < 0:
                if source != real_registers[instruction.a]:
                    instruction.name = "TAKE"
                dying.discard(instruction.b)
        free_registers = {real_registers[register] for register in dying} - written_registers
        return sorted(
            register for register in free_registers if self.occupied_ranges[register].end_at(index) < 0
        )

    def drops(
        self, registers: list[int], instruction: Instruction, following: Instruction
    ) -> list[Instruction]:
        """Return a DROP for each of `registers`, except those that `following` makes unnecessary.

        The instruction `following` makes a DROP unnecessary if it ends the frame, or overwrites the register
        without reading it.
        """
        if not registers or following.name in ("RETURN", "RAISE"):
            return []
        written_registers = {self.real_register[register] for register in following.writes}
        written_registers -= {self.real_register.get(register) for register in following.reads}
        return [_drop(register, instruction) for register in registers if register not in written_registers]


def _drop(register: int, instruction: Instruction) -> Instruction:
    """Return a DROP of a real register, encoded as `~register` to distinguish it from virtual registers."""
    return Instruction("DROP", ~register, line=instruction.line)
