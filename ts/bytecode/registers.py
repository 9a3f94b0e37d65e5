"""Linear code over virtual registers, and the allocation of real ones.

In: instructions in order, whose register operands are virtual registers, one per value.  Out: the same
with few real registers, so that most copies are gone and objects are dropped after their last use.

    MOVE  %total, %zero                      r3 := 0
  head:                                    head:
    ADD   %total.2, %total, %i        =>     r3 := r3 + r1
    MOVE  %total, %total.2                   (one register: the copy is gone)
    STEP  %i, %n, head                       step r1, r0, head

Liveness is computed on the code itself, where loops, branches and copies are what they will be.  Two
virtual registers interfere when one is written while the other is still to be read, unless the write
copies the other.  A copy between registers that do not interfere makes them one (`coalesce`); the rest is
greedy colouring.  Sets of registers are Python integers, one bit each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ts._core.thread import deadline
from ts.bytecode.opcodes import BY_NAME, register_format

SCALARS = "ifb"
COPIES = ("MOVE", "COPY")


@dataclass(slots=True, eq=False)
class Label:
    """A place in the code."""

    uses: int = 0


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction, or a label (`name` is ""). `pool` holds the registers of a list operand; its last
    `results` are written."""

    name: str
    a: Any = 0
    b: Any = 0
    c: Any = 0
    pool: list[int] | None = None
    results: int = 0
    line: Any = None
    depth: int = 0  # how many blocks around it
    keeps: tuple[int, ...] = ()  # registers that must hold their value here, though nothing reads them
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()

    def refresh(self) -> None:
        """Find out anew which registers are read and written."""
        if not self.name:
            return
        reads, writes = [], []
        for operand, format in zip((self.a, self.b, self.c), _FORMATS[self.name], strict=True):
            if format == "P":
                assert self.pool is not None
                split = len(self.pool) - self.results
                reads += self.pool[:split]
                writes += self.pool[split:]
            elif format[0] == "=":
                writes.append(operand)
            elif format[0] == "+":
                reads.append(operand)
                writes.append(operand)
            elif format in _REGISTERS:
                reads.append(operand)
        self.reads, self.writes = (*reads, *self.keeps), tuple(writes)

    @property
    def target(self) -> Label | None:
        """Where it jumps."""
        return self.a if self.name and _FORMATS[self.name][0] in "<>" else None


_FORMATS = {name: row.operands for name, row in BY_NAME.items()}
_REGISTERS = {format for formats in _FORMATS.values() for format in formats if register_format(format)}
_ENDS = ("JUMP", "LOOP", "RETURN", "RAISE")


@dataclass(slots=True)
class BasicBlock:
    """Instructions `start` to `stop`, entered at the start and left at the stop."""

    start: int
    stop: int
    successors: list[int] = field(default_factory=list)
    live_in: int = 0
    live_out: int = 0


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
        self.kept = kept  # objects that need no drop: strings
        # What `ts.limits` count for a step, at least; a set has a bit for each virtual register.
        self.step_ns = 1_000 + len(classes) / 16
        deadline.spend(0, bytes=len(code) * len(classes) // 8)
        self.mask: dict[str, int] = dict.fromkeys("ifbox", 0)
        for register, kind in enumerate(classes):
            if register not in constants:
                self.mask[kind] |= 1 << register
        self.variables = sum(self.mask.values())
        self.objects = self.mask["o"] | self.mask["x"]
        self.leader = list(range(len(classes)))
        # By leader: what interferes with one of its group.  Of two that interfere, one knows it.
        self.conflicts = [0] * len(classes)
        self.members = [0 if register in constants else 1 << register for register in range(len(classes))]
        self.blocks = find_blocks(code)
        # By instruction: what it reads and writes, as sets.
        self.reads = [_set_of(instruction.reads) for instruction in code]
        self.writes = [_set_of(instruction.writes) for instruction in code]

    def run(self) -> tuple[dict[int, int], list[str]]:
        """The real register of each virtual one, and the classes of the real ones."""
        self.find_liveness()
        self.find_conflicts()
        self.coalesce()
        place, real = self.colour()
        self.insert_drops(place)
        return place, real

    def find_liveness(self) -> None:
        """Which registers are still to be read at the start and the end of each block."""
        variables = self.variables
        effects = []
        for block in self.blocks:
            deadline.spend((block.stop - block.start) * self.step_ns)
            reads = writes = 0
            for at in range(block.stop - 1, block.start - 1, -1):
                writes |= self.writes[at]
                reads = reads & ~self.writes[at] | self.reads[at]
            effects.append((reads & variables, writes))
        changed = True
        while changed:
            changed = False
            deadline.spend(len(self.blocks) * self.step_ns)
            for block, (reads, writes) in zip(reversed(self.blocks), reversed(effects), strict=True):
                out = 0
                for successor in block.successors:
                    out |= self.blocks[successor].live_in
                live_in = reads | (out & ~writes)
                if live_in != block.live_in or out != block.live_out:
                    block.live_in, block.live_out = live_in, out
                    changed = True

    def live_after(self, block: BasicBlock) -> Iterator[tuple[int, int]]:
        """The instructions of a block backwards, with what is still to be read after each."""
        live = block.live_out
        for at in range(block.stop - 1, block.start - 1, -1):
            deadline.spend(self.step_ns)
            yield at, live
            live = (live & ~self.writes[at] | self.reads[at]) & self.variables

    def find_conflicts(self) -> None:
        conflicts, classes, mask = self.conflicts, self.classes, self.mask
        for block in self.blocks:
            for at, live in self.live_after(block):
                instruction = self.code[at]
                writes = instruction.writes
                if not writes:
                    continue
                if instruction.name in COPIES:
                    live &= ~(1 << instruction.b)
                for register in writes:
                    others = live | self.writes[at]
                    conflicts[register] |= others & mask[classes[register]] & ~(1 << register)
        entry = (1 << self.parameters) - 1
        for register in range(self.parameters):
            live = (self.blocks[0].live_in | entry) & mask[classes[register]]
            conflicts[register] |= live & ~(1 << register)

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
            deadline.spend(self.step_ns)
            a, b = self.find(copy.a), self.find(copy.b)
            if a == b or self.classes[a] != self.classes[b]:
                continue
            if self.conflicts[a] & self.members[b] or self.conflicts[b] & self.members[a]:
                continue
            if b < a:
                a, b = b, a
            if b < self.parameters:
                continue
            self.leader[b] = a
            self.members[a] |= self.members[b]
            self.conflicts[a] |= self.conflicts[b]

    def colour(self) -> tuple[dict[int, int], list[str]]:
        real = self.classes[: self.parameters]
        # By real register: the virtual ones that it holds, and what interferes with those.
        groups = [self.find(register) for register in range(self.parameters)]
        holders = [self.members[group] for group in groups]
        rivals = [self.conflicts[group] for group in groups]
        place: dict[int, int] = {}
        colour_of = {register: register for register in range(self.parameters)}
        for instruction in self.code:
            deadline.spend(self.step_ns)
            for register in (*instruction.writes, *instruction.reads):
                if register in place or register in self.constants:
                    continue
                group = self.find(register)
                colour = colour_of.get(group)
                if colour is None:
                    kind, members, conflicts = self.classes[group], self.members[group], self.conflicts[group]
                    for colour, holder in enumerate(holders):
                        if real[colour] == kind and not holder & conflicts and not rivals[colour] & members:
                            holders[colour] |= members
                            rivals[colour] |= conflicts
                            break
                    else:
                        colour = len(real)
                        real.append(kind)
                        holders.append(members)
                        rivals.append(conflicts)
                    colour_of[group] = colour
                place[register] = colour
        return place, real

    def insert_drops(self, place: dict[int, int]) -> None:
        """Give objects back after their last use, unless the register is written there or the frame ends."""
        code: list[Instruction] = []
        objects = self.objects & ~sum(1 << register for register in self.kept)
        if not objects:
            return
        coming: list[int] = [0] * len(self.blocks)  # what was alive in a block before
        for block in self.blocks:
            alive = block.live_out
            if block.stop > block.start:
                alive |= self.reads[block.stop - 1]
            for successor in block.successors:
                coming[successor] |= alive
        for number, block in enumerate(self.blocks):
            inserted: dict[int, list[int]] = {}
            for at, live in self.live_after(block):
                dying = (self.reads[at] | self.writes[at]) & objects & ~live
                if not dying:
                    continue
                instruction = self.code[at]
                if instruction.name in ("RETURN", "RAISE", "TAKE") or instruction.target is not None:
                    continue
                held = {place[register] for register in bits(live)}
                source = place.get(instruction.b, -1) if instruction.name == "COPY" else -1
                if source >= 0 and dying >> instruction.b & 1 and source not in held:
                    if source != place[instruction.a]:
                        instruction.name = "TAKE"
                    dying &= ~(1 << instruction.b)
                written = {place[register] for register in instruction.writes if not dying >> register & 1}
                free = {place[register] for register in bits(dying)} - held - written
                if free:
                    inserted[at] = sorted(free)
            dead = coming[number] & objects & ~block.live_in
            at_start: list[int] = []
            if dead:
                held = {place[register] for register in bits(block.live_in)}
                at_start = sorted({place[register] for register in bits(dead) if register in place} - held)
            for at in range(block.start, block.stop):
                instruction = self.code[at]
                if at_start and instruction.name:
                    code += self.drops(at_start, instruction, instruction, place)
                    at_start = []
                code.append(instruction)
                if at in inserted:
                    following = self.code[min(at + 1, len(self.code) - 1)]
                    code += self.drops(inserted[at], instruction, following, place)
            code += [_drop(register, self.code[block.stop - 1]) for register in at_start]
        self.code[:] = code

    def drops(
        self, registers: list[int], near: Instruction, following: Instruction, place: dict[int, int]
    ) -> list[Instruction]:
        """Drops that `following` does not make needless, by ending the frame or writing the register."""
        if following.name in ("RETURN", "RAISE"):
            return []
        written = {place[register] for register in following.writes}
        written -= {place.get(register) for register in following.reads}
        return [_drop(register, near) for register in registers if register not in written]


def _drop(register: int, near: Instruction) -> Instruction:
    """A DROP of a real register: marked as such by a negative number, as nothing else is real yet."""
    return Instruction("DROP", ~register, line=near.line)


def _set_of(registers: tuple[int, ...]) -> int:
    found = 0
    for register in registers:
        found |= 1 << register
    return found


def bits(number: int) -> Iterator[int]:
    """The positions of the ones."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def find_blocks(code: list[Instruction]) -> list[BasicBlock]:
    """Cut the code at labels and after jumps."""
    starts = {0}
    for at, instruction in enumerate(code):
        if not instruction.name:
            starts.add(at)
        elif instruction.target is not None or instruction.name in _ENDS:
            starts.add(at + 1)
    starts.discard(len(code))
    order = sorted(starts)
    blocks = [BasicBlock(a, b) for a, b in zip(order, [*order[1:], len(code)], strict=True)]
    number = {block.start: i for i, block in enumerate(blocks)}
    place = {id(instruction.a): at for at, instruction in enumerate(code) if not instruction.name}
    for i, block in enumerate(blocks):
        last = code[block.stop - 1]
        if last.target is not None:
            block.successors.append(number[place[id(last.target)]])
        if last.name not in _ENDS and i + 1 < len(blocks):
            block.successors.append(i + 1)
    return blocks
