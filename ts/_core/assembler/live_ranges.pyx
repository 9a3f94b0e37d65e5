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

from ts._core.assembler.instruction cimport LABEL, is_terminator
from ts._core.thread.allowance cimport limited, take_text
from ts._core.thread.deadline cimport charge_time, timed

from ts.errors import InternalError

cdef enum:
    STEP_NS = 1_000              # nanoseconds that each visit of an instruction charges to `ts.limits`
    STEP_BYTES = 200
    CHECK_INTERVAL = 64          # number of instructions after which the limits are checked
    LIVE_SET_BYTES = 32          # bytes that each register in the live set of a label charges to `ts.limits`

cdef frozenset NO_REGISTERS = frozenset()


cdef int charge_steps(int index) except -1:
    """Count the visits of `CHECK_INTERVAL` instructions for the limits, if `index` is a multiple of this number."""
    if index % CHECK_INTERVAL == 0:
        if timed:
            charge_time(CHECK_INTERVAL * STEP_NS)
        if limited:
            take_text(CHECK_INTERVAL * STEP_BYTES)
    return 0


cdef Py_ssize_t bisect_left(list indices, int index) noexcept:
    """Return the number of items of a sorted list that are less than `index`."""
    cdef Py_ssize_t low = 0, high = len(indices), middle
    while low < high:
        middle = (low + high) // 2
        if <int>indices[middle] < index:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t bisect_right(list indices, int index) noexcept:
    """Return the number of items of a sorted list that are at most `index`."""
    return bisect_left(indices, index + 1)


cdef class LiveRange:
    def __cinit__(self):
        self.starts, self.ends, self.writes = [], [], []

    cdef int end_at(self, int index) except -2:
        cdef Py_ssize_t i = len(self.starts) - 1
        if i >= 0 and <int>self.starts[i] > index:  # the range is usually the last one
            i = bisect_right(self.starts, index) - 1
        return <int>self.ends[i] if i >= 0 and <int>self.ends[i] > index else -1

    cdef bint precedes(self, LiveRange other) noexcept:
        cdef Py_ssize_t ranges = len(self.ends), writes = len(self.writes)
        cdef int last = <int>self.ends[ranges - 1] if ranges else -1
        if writes:
            last = max(last, <int>self.writes[writes - 1] + 1)
        return (not other.starts or last <= <int>other.starts[0]) and (not other.writes or last <= <int>other.writes[0])

    cdef list writes_in(self, LiveRange other):
        cdef list conflicts = [], writes = self.writes
        cdef list starts = other.starts, ends = other.ends, other_writes = other.writes
        cdef Py_ssize_t i, j
        cdef int index
        if len(writes) <= len(starts) + len(other_writes):
            for index in writes:
                i, j = bisect_right(starts, index), bisect_left(other_writes, index)
                if (i and <int>ends[i - 1] > index) or (j < len(other_writes) and <int>other_writes[j] == index):
                    conflicts.append(index)
            return conflicts
        for i in range(len(starts)):
            conflicts += writes[bisect_left(writes, starts[i]) : bisect_left(writes, ends[i])]
        for index in other_writes:
            i = bisect_left(writes, index)
            if i < len(writes) and <int>writes[i] == index:
                conflicts.append(index)
        return conflicts

    cdef int absorb(self, LiveRange other) except -1:
        cdef Py_ssize_t i, first, last
        cdef int start, end
        if self.precedes(other):
            self.starts += other.starts
            self.ends += other.ends
            self.writes += other.writes
            return 0
        for i in range(len(other.starts)):
            start, end = other.starts[i], other.ends[i]
            first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
            if first < last:
                start, end = min(start, <int>self.starts[first]), max(end, <int>self.ends[last - 1])
            self.starts[first:last] = [start]
            self.ends[first:last] = [end]
        for index in other.writes:
            self.writes.insert(bisect_right(self.writes, index), index)
        return 0


cdef LiveRanges find_live_ranges(list code, int parameters, bytearray is_constant, frozenset objects):
    """Return the live ranges of the registers of `code`. `is_constant` has one byte for each register.

    The first `parameters` registers are written before the code runs. `objects` are the registers that are
    reported in `dying` and `dead`.
    """
    cdef LiveRanges ranges = LiveRanges.__new__(LiveRanges)
    cdef LiveRange lifetime
    ranges.code, ranges.parameters, ranges.is_constant, ranges.objects = code, parameters, is_constant, objects
    ranges.jumps, ranges.loop_heads = {}, {}
    ranges.find_jumps()
    if ranges.loop_heads:
        ranges.update_loop_heads()
    while ranges.collect_ranges():
        ranges.update_loop_heads()
    for lifetime in ranges.lifetimes:
        if lifetime is not None:
            lifetime.starts.reverse()
            lifetime.ends.reverse()
            lifetime.writes.reverse()
    return ranges


cdef class LiveRanges:
    cdef LiveRange lifetime_of(self, int register):
        """Return the live ranges of a register. Create the object at the first call."""
        cdef LiveRange lifetime = self.lifetimes[register]
        if lifetime is None:
            lifetime = self.lifetimes[register] = LiveRange()
        return lifetime

    cdef int find_jumps(self) except -1:
        cdef set passed_labels = set()
        cdef Instruction instruction
        cdef Label target
        for instruction in self.code:
            self.check_registers(instruction, instruction.reads)
            self.check_registers(instruction, instruction.writes)
            if instruction.op == LABEL:
                passed_labels.add(instruction.a)
                continue
            target = instruction.jump_target()
            if target is None:
                continue
            if target in passed_labels:
                self.loop_heads[target] = NO_REGISTERS
            else:
                self.jumps[target] = self.jumps.get(target, 0) + 1
        return 0

    cdef int check_registers(self, Instruction instruction, tuple registers) except -1:
        cdef int register
        for register in registers:
            if not 0 <= register < len(self.is_constant):
                raise InternalError(f"{instruction.name} uses the unknown register {register}", "register allocation")
        return 0

    cdef int update_loop_heads(self) except -1:
        """Update the live sets of loop heads in one backward pass over the code."""
        cdef set alive = set()
        cdef LiveSets labels = LiveSets(self.jumps, self.loop_heads)
        cdef Instruction instruction
        cdef Label target
        cdef int index
        for index in range(len(self.code) - 1, -1, -1):
            charge_steps(index)
            instruction = self.code[index]
            if instruction.op == LABEL:
                labels.reach(instruction.a, alive)
                continue
            if is_terminator(instruction.op):
                alive.clear()
            target = instruction.jump_target()
            if target is not None:
                alive |= labels.alive_at(target)
            alive.difference_update(instruction.writes)
            alive.update([register for register in instruction.reads if not self.is_constant[<int>register]])
        return 0

    cdef bint collect_ranges(self) except -1:
        """Collect all ranges in one backward pass over the code.

        Return True if the live set of a loop head grew. In this case, another pass is necessary.
        """
        cdef dict alive = {}
        cdef LiveSets labels = LiveSets(self.jumps, self.loop_heads)
        cdef Instruction instruction
        cdef Label target
        cdef LiveRange lifetime
        cdef int index, register
        self.alive, self.dying, self.dead = alive, {}, {}
        self.lifetimes = [None] * len(self.is_constant)
        for index in range(len(self.code) - 1, -1, -1):
            charge_steps(index)
            instruction = self.code[index]
            if instruction.op == LABEL:
                labels.reach(instruction.a, alive)
                continue
            target = instruction.jump_target()
            if is_terminator(instruction.op):
                self.end_ranges(index, labels.alive_at(target))
            elif target is not None:
                self.join_paths(index, instruction, target, labels.alive_at(target))
            self.record_dying(index, instruction)
            for register in instruction.writes:
                lifetime = self.lifetime_of(register)
                lifetime.writes.append(index)
                end = alive.pop(register, None)
                if end is not None:
                    lifetime.starts.append(index)
                    lifetime.ends.append(end)
            for register in instruction.reads:
                if not self.is_constant[register]:
                    alive.setdefault(register, index)
        for register in range(self.parameters):
            self.lifetime_of(register).writes.append(-1)
        # no register is live before index -1, at which the ranges of the parameters begin
        self.end_ranges(-2, NO_REGISTERS)
        return labels.changed

    cdef int record_dying(self, int index, Instruction instruction) except -1:
        """Record in `dying` the object registers of an instruction that are dead after it."""
        cdef list dying = None
        for registers in (instruction.writes, instruction.reads):
            for register in <tuple>registers:
                if register not in self.alive and register in self.objects:
                    if dying is None:
                        dying = self.dying[index] = []
                    dying.append(register)
        return 0

    cdef int end_ranges(self, int index, frozenset live_at_target) except -1:
        """Replace the live registers by `live_at_target`, at the jump or return with index `index`.

        The ranges of registers that are not live at the target begin after the instruction.
        """
        cdef dict alive = self.alive
        cdef LiveRange lifetime
        for register in alive.keys() - live_at_target:
            lifetime = self.lifetime_of(register)
            lifetime.starts.append(index + 1)
            lifetime.ends.append(alive.pop(register))
        for register in live_at_target.difference(alive):
            alive[register] = index + 1
        return 0

    cdef int join_paths(self, int jump_index, Instruction instruction, Label target, frozenset live_at_target) except -1:
        """Add the registers that are live at the target of a conditional jump to the live registers.

        An object that is live on only one path is released at the start of the other path (`dead`).
        """
        cdef dict alive = self.alive
        cdef frozenset objects = self.objects
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
        return 0


cdef class LiveSets:
    """Live sets of labels in one backward pass, stored until all forward jumps to them are visited."""
    cdef dict jumps                   # label -> number of forward jumps to it that the backward pass has not visited yet
    cdef dict loop_heads
    cdef dict live_at_labels
    cdef bint changed                 # True if the live set of a loop head differs from the stored one

    def __cinit__(self, dict jumps, dict loop_heads):
        self.jumps, self.loop_heads, self.live_at_labels = dict(jumps), loop_heads, {}

    cdef int reach(self, Label label, object alive) except -1:
        """Store `alive` as the live registers at `label`.

        Set `changed` if `label` is a loop head and `alive` differs from the registers stored for it before.
        """
        cdef frozenset live
        if label in self.jumps or label in self.loop_heads:
            live = frozenset(alive)
            if limited:
                take_text(LIVE_SET_BYTES * len(live))
            if label in self.jumps:
                self.live_at_labels[label] = live
            if label in self.loop_heads and self.loop_heads[label] != live:
                self.loop_heads[label] = live
                self.changed = True
        return 0

    cdef frozenset alive_at(self, Label target):
        """Return the registers that are live at a jump target, or an empty set for None.

        The set of a label is deleted after its last jump has been visited.
        """
        cdef frozenset live_at_target
        if target is None:
            return NO_REGISTERS
        if target not in self.jumps:
            return self.loop_heads[target]
        live_at_target = self.live_at_labels[target]
        self.jumps[target] -= 1
        if not self.jumps[target]:
            del self.jumps[target], self.live_at_labels[target]
        return live_at_target
