"""Register allocation for linear code by register coalescing, then greedy graph coloring in a linear scan.

Input: code with one virtual register per value. Output: code with few real registers and few copies, and with
DROP instructions after the last uses of objects. In the example, three virtual registers become r3:

    MOVE  %total, %zero                      r3 := 0
  head:                                    head:
    ADD   %total.2, %total, %i        =>     r3 := r3 + r1
    MOVE  %total, %total.2                   step r1, r0, head
    STEP  %i, %n, head

Two registers interfere if one is written while the other is live (`live_ranges.pyx`), unless the write copies
the live register. The two registers of a copy are merged into a group if they do not interfere. Then each
group, in code order, gets the first real register that is free during the group's live ranges.
"""

from heapq import heappop, heappush

from ts._core.assembler.instruction cimport LABEL, Instruction, check_instructions, is_terminator
from ts._core.assembler.live_ranges cimport LiveRange, LiveRanges, find_live_ranges
from ts._core.thread.deadline cimport charge_time, timed
from ts._core.vm.opcodes cimport COPY, DROP, MOVE, RAISE, RETURN, TAKE

cdef enum:
    STEP_NS = 1_000              # nanoseconds counted by `ts.limits` for each instruction or copy that is visited


def allocate_registers(list code, str classes, int parameters, set constants, set strings):
    """Insert DROP instructions into `code`, and return (real registers, their classes).

    The first result contains the real register of each virtual register, or -1 for registers without one.
    The second result is a string. `classes` are the classes of the virtual registers. The first `parameters`
    registers are the parameters, and keep their indices. Registers in `constants` get no real registers here,
    and registers in `strings` need no DROP.
    """
    check_instructions(code)
    cdef RegisterAllocator allocator = RegisterAllocator(code, classes, parameters, constants, strings)
    allocator.coalesce()
    allocator.color()
    allocator.insert_drops()
    return allocator.real_registers, "".join(allocator.real)


cdef bint is_copy(Instruction instruction) noexcept:
    return instruction.op == MOVE or instruction.op == COPY


cdef class RegisterAllocator:
    cdef list code
    cdef str classes
    cdef int parameters
    cdef bytearray is_constant        # for each virtual register: 1 if it contains a constant, else 0
    # registers of objects that are released after their last use. Strings may stay until the frame ends.
    cdef frozenset objects
    cdef dict dying, dead             # see `LiveRanges`
    cdef list lifetimes               # leader of a group of coalesced registers -> LiveRange of the group
    cdef list leader                  # register -> another register of its group (union-find)
    cdef list real                    # classes of the real registers
    # for each real register: LiveRange of the groups to which it was assigned
    cdef list occupied_ranges
    cdef list real_registers          # virtual register -> index of its real register, or -1
    cdef dict free_colors             # register class -> heap of the real registers that are free
    cdef list occupied                # heap of (end of the current live range in a real register, the real register)

    def __cinit__(self, list code, str classes, int parameters, set constants, set strings):
        cdef LiveRanges live_ranges
        self.code, self.classes, self.parameters = code, classes, parameters
        self.is_constant = bytearray(len(classes))
        for register in constants:
            self.is_constant[register] = 1
        self.objects = frozenset([
            r for r, kind in enumerate(classes) if (kind == "o" or kind == "x") and not self.is_constant[<int>r] and r not in strings
        ])
        live_ranges = find_live_ranges(code, parameters, self.is_constant, self.objects)
        self.dying, self.dead, self.lifetimes = live_ranges.dying, live_ranges.dead, live_ranges.lifetimes
        self.leader = list(range(len(classes)))
        self.real = list(classes[:parameters])
        self.real_registers = [-1] * len(classes)

    cdef int find(self, int register) except -1:
        """Return the leader of the register's group (union-find)."""
        cdef list leader = self.leader
        while <int>leader[register] != register:
            leader[register] = leader[<int>leader[register]]  # path halving, for shorter searches
            register = leader[register]
        return register

    cdef LiveRange lifetime_of(self, int register):
        """Return the live ranges of the register's group."""
        return <LiveRange>self.lifetimes[self.find(register)]

    cdef int coalesce(self) except -1:
        """Merge the registers of each copy (copy coalescing) if they do not interfere, inner loops first."""
        cdef Instruction copy
        cdef LiveRange larger, smaller
        cdef int a, b
        cdef list copies = [copy for copy in self.code if is_copy(copy) and not self.is_constant[<int>copy.b]]
        copies.sort(key=depth_of, reverse=True)
        for copy in copies:
            if timed:
                charge_time(STEP_NS)
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
        return 0

    cdef bint overwrites(self, int a, int b) except -1:
        """Return whether `a` interferes with `b`.

        The registers interfere if an instruction other than a copy of `b` writes `a` while `b` is live.
        """
        cdef int index
        for index in (<LiveRange>self.lifetimes[a]).writes_in(<LiveRange>self.lifetimes[b]):
            if index < 0 or not is_copy(self.code[index]) or self.find((<Instruction>self.code[index]).b) != b:
                return True
        return False

    cdef int color(self) except -1:
        """Assign physical registers to the groups by a linear scan of their live ranges in code order."""
        cdef Instruction instruction
        cdef dict color_of = {register: register for register in range(self.parameters)}
        cdef int index, register
        self.occupied_ranges = [self.lifetime_of(register) for register in range(self.parameters)]
        self.free_colors = {}
        self.occupied = [(0, color) for color in range(self.parameters)]
        for index, instruction in enumerate(self.code):
            if timed:
                charge_time(STEP_NS)
            for register in instruction.writes:
                self.color_register(register, index, color_of)
            for register in instruction.reads:
                self.color_register(register, index, color_of)
        return 0

    cdef int color_register(self, int register, int index, dict color_of) except -1:
        """Set the real register of a virtual register that instruction `index` uses, unless it is set already.

        `color_of` maps groups to real registers.
        """
        if <int>self.real_registers[register] >= 0 or self.is_constant[register]:
            return 0
        group = self.find(register)
        color = color_of.get(group)
        if color is None:
            self.release(index)
            color = color_of[group] = self.first_free(index, group)
        self.real_registers[register] = color
        return 0

    cdef int release(self, int index) except -1:
        """Free the real registers whose occupation ends at or before instruction `index`."""
        while self.occupied and <int>(<tuple>self.occupied[0])[0] <= index:
            color = heappop(self.occupied)[1]
            self.occupy(color, index, self.free_colors.setdefault(self.real[color], []))
        return 0

    cdef int occupy(self, int color, int index, list free_colors) except -1:
        """Add a real register to the free registers of its class, or to `occupied` if it is live at `index`."""
        cdef int end = (<LiveRange>self.occupied_ranges[color]).end_at(index)
        if end < 0:
            heappush(free_colors, color)
        else:
            heappush(self.occupied, (end, color))
        return 0

    cdef int first_free(self, int index, int group) except -1:
        """Return the first free real register that does not interfere with `group`, or a new register."""
        cdef LiveRange lifetime = self.lifetimes[group], occupied_ranges
        cdef int color
        kind = self.classes[group]
        cdef list candidates = self.free_colors.setdefault(kind, []), rejected = []
        while candidates:
            color = heappop(candidates)
            occupied_ranges = self.occupied_ranges[color]
            if occupied_ranges.precedes(lifetime) or not (
                lifetime.writes_in(occupied_ranges) or occupied_ranges.writes_in(lifetime)
            ):
                occupied_ranges.absorb(lifetime)
                break
            rejected.append(color)
        else:
            color = len(self.real)
            self.real.append(kind)
            self.occupied_ranges.append(lifetime)
        rejected.append(color)
        for candidate in rejected:
            self.occupy(candidate, index, candidates)
        return color

    cdef int insert_drops(self) except -1:
        """Insert DROPs after the last uses of objects.

        No DROP is needed before an instruction that overwrites the register or ends the frame.
        """
        if not self.objects:
            return 0
        cdef list code = []
        cdef list pending = []  # registers that died since the previous label and are still to be dropped
        cdef Instruction instruction, following
        cdef int index
        for index, instruction in enumerate(self.code):
            if instruction.op == LABEL:
                code += [drop(register, self.code[index - 1]) for register in pending]
                code.append(instruction)
                pending = self.dead_at(index, self.dead.get(instruction.a))
                continue
            if self.dead:
                pending += self.dead_at(index, self.dead.get(index))
            if pending:
                code += self.drops(pending, instruction, instruction)
                pending = []
            code.append(instruction)
            if index in self.dying and instruction.jump_target() is None and not is_terminator(instruction.op):
                following = self.code[min(index + 1, len(self.code) - 1)]
                code += self.drops(self.dead_registers_at(index, instruction), instruction, following)
        code += [drop(register, self.code[len(self.code) - 1]) for register in pending]
        self.code[:] = code
        return 0

    cdef list dead_at(self, int index, set registers):
        """Return the real registers of `registers` that are free at the instruction `index`.

        A real register is free if the instruction does not read it and the register holds no live value
        there.
        """
        cdef list dead = []
        cdef int register
        if registers:
            for register in registers:
                self.add_dead(dead, register, index, (<Instruction>self.code[index]).reads)
            dead.sort()
        return dead

    cdef int add_dead(self, list dead, int register, int index, tuple used) except -1:
        """Add the real register of `register` to `dead` if it holds no live value after instruction `index`.

        Real registers that are in the list already, or that belong to one of the virtual registers `used`,
        are not added.
        """
        cdef int real = self.real_registers[register]
        if real >= 0 and (<LiveRange>self.occupied_ranges[real]).end_at(index) < 0:
            if real not in dead and not self.is_assigned_to(real, used):
                dead.append(real)
        return 0

    cdef bint is_assigned_to(self, int real, tuple registers) except -1:
        """Return whether one of the virtual registers `registers` has the real register `real`."""
        cdef int register
        for register in registers:
            if <int>self.real_registers[register] == real:
                return True
        return False

    cdef list dead_registers_at(self, int index, Instruction instruction):
        """Return the real registers to drop after `instruction`.

        Change the opcode of a COPY from a dying register to TAKE, which needs no DROP.
        """
        cdef list dying = self.dying[index], dead = []
        cdef tuple written = tuple([r for r in instruction.writes if r not in dying])
        cdef int register, source = -1, real
        if instruction.op == COPY and instruction.b in dying:
            real = self.real_registers[instruction.b]
            if (<LiveRange>self.occupied_ranges[real]).end_at(index) < 0:
                source = instruction.b
                if real != <int>self.real_registers[instruction.a]:
                    instruction.op = TAKE
        for register in dying:
            if register != source:
                self.add_dead(dead, register, index, written)
        dead.sort()
        return dead

    cdef list drops(self, list registers, Instruction instruction, Instruction following):
        """Return a DROP for each of `registers`, except those that `following` makes unnecessary.

        The instruction `following` makes a DROP unnecessary if it ends the frame, or overwrites the register
        without reading it.
        """
        cdef list result = []
        cdef int real
        if following.op == RETURN or following.op == RAISE:
            return result
        for real in registers:
            if not self.is_assigned_to(real, following.writes) or self.is_assigned_to(real, following.reads):
                result.append(drop(real, instruction))
        return result


def depth_of(Instruction instruction not None):
    """Return the number of branches and loops around an instruction."""
    return instruction.depth


cdef Instruction drop(int register, Instruction instruction):
    """Return a DROP of a real register, encoded as `~register` to distinguish it from virtual registers."""
    cdef Instruction created = Instruction.__new__(Instruction)
    created.op = DROP
    created.a, created.b, created.c = ~register, 0, 0
    created.reads = created.writes = created.register_list = ()
    created.line = instruction.line
    return created
