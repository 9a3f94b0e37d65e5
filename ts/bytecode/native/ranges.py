"""Between which bounds the ints of a program are, so that machine code need not ask.

    for i in range(n):            i is at least 0 here: `i % 7` needs no correction,
        total += xs[i % 7]        and `xs[i]` does not count from the end

Everything is proved from the instructions themselves, from the function's start on: what a file says is not
believed here either.  A register that is not named may be any int.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ts.bytecode.native.liveness import reads_and_writes, successors
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

Range = tuple[int, int]  # both included
Ranges = dict[int, Range]  # by register

LEAST: Final = -(1 << 63)
MOST: Final = (1 << 63) - 1
ANY: Final = (LEAST, MOST)
_LONGEST: Final = 1 << 59  # `lists.pyx` makes none of more than 2 ** 58 items
_PATIENCE: Final = 4  # how often a bound may grow before it is given up
_SWEEPS: Final = 3

_NEGATED = {"EQ": "NE", "NE": "EQ", "LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}


class Bounds:
    """The ranges before each instruction."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._first = code.first_constant()
        self._values = {
            register: value
            for register, value in enumerate(code.constants, self._first)
            if code.classes[register] == "i"
        }
        self._targets = jumps_to(code)
        self._before: list[Ranges | None] = [None] * code.size
        self._visits = [0] * code.size
        self._run()

    def of(self, pc: int, register: int) -> Range:
        """Of a register before an instruction."""
        return self._get(self._before[pc] or {}, register)

    def _get(self, ranges: Ranges, register: int) -> Range:
        if register >= self._first:
            value = self._values.get(register)
            return ANY if value is None else (value, value)
        return ranges.get(register, ANY)

    def _run(self) -> None:
        code = self._code
        start = range(code.parameter_count, self._first)
        self._before[0] = {register: (0, 0) for register in start if code.classes[register] == "i"}
        waiting = {0}
        while waiting:
            pc = min(waiting)
            waiting.discard(pc)
            for successor in successors(code, pc):
                if successor < code.size and self._meet(successor, self._after(pc, successor)):
                    waiting.add(successor)
        for _ in range(_SWEEPS):
            self._look_again()

    def _look_again(self) -> None:
        """What was given up may be bounded by what came behind it: `a, b = b, (a + b) % p`."""
        ways: list[list[int]] = [[] for _ in range(self._code.size)]
        for pc, before in enumerate(self._before):
            for successor in successors(self._code, pc) if before is not None else ():
                if successor < self._code.size:
                    ways[successor].append(pc)
        for pc in range(1, self._code.size):
            coming = [self._after(source, pc) for source in ways[pc]]
            if coming:
                joined = coming[0]
                for ranges in coming[1:]:
                    joined = _join(joined, ranges)
                self._before[pc] = joined

    def _meet(self, pc: int, ranges: Ranges) -> bool:
        """One more way leads here; whether that says anything new."""
        before = self._before[pc]
        if before is None:
            self._before[pc] = ranges
            return True
        self._visits[pc] += 1
        impatient = self._visits[pc] > _PATIENCE
        joined: Ranges = {}
        for register, (low, high) in before.items():
            found = ranges.get(register)
            if found is None:
                continue
            least, most = min(low, found[0]), max(high, found[1])
            if impatient:
                least, most = (low if least == low else LEAST), (high if most == high else MOST)
            if (least, most) != ANY:
                joined[register] = least, most
        self._before[pc] = joined
        return joined != before

    def _after(self, pc: int, successor: int) -> Ranges:
        """What holds on the way from an instruction to one of those behind it."""
        code = self._code
        op, a, b, c = code.instructions[pc]
        row = OPCODES[op]
        ranges = dict(self._before[pc] or {})
        if row.jumps:
            self._along(ranges, pc, row.name.partition("_")[2], successor == a != pc + 1)
            return ranges
        _, writes = reads_and_writes(code, pc)
        found = self._result(ranges, row.name, b, c) if writes == [a] and code.classes[a] == "i" else ANY
        for register in writes:
            ranges.pop(register, None)
        if found != ANY:
            ranges[a] = found
        return ranges

    def _result(self, ranges: Ranges, name: str, b: int, c: int) -> Range:
        """Of what an instruction writes."""
        if name in ("LIST_LEN", "STR_LEN"):
            return 0, _LONGEST
        if name == "BOOL_TO_INT":
            return 0, 1
        if not name.endswith("_I64") and name != "MOVE":
            return ANY
        x = self._get(ranges, b)
        if name in ("MOVE", "ABS_I64", "NEG_I64"):
            least, most = x
            if name == "MOVE" or (least >= 0 and name == "ABS_I64"):
                return x
            return _fitting(-most, -least) if name == "NEG_I64" else ANY
        y = self._get(ranges, c)
        return _of_two(name, x, y)

    def _along(self, ranges: Ranges, pc: int, name: str, taken: bool) -> None:
        """Narrow by what a jump that is taken, or is not, has found."""
        _, _, b, c = self._code.instructions[pc]
        if name == "STEP":
            least, most = self._get(ranges, b)
            if is_counted(self._code, pc, self._targets):
                _put(ranges, b, (least + 1, self._get(ranges, c)[1] - (1 if taken else 0)))
            else:
                _put(ranges, b, _fitting(least + 1, most + 1))
            return
        relation, _, type = name.partition("_")
        if type != "I64":
            return
        relation = relation if taken else _NEGATED[relation]
        if relation in ("GT", "GE"):
            b, c, relation = c, b, {"GT": "LT", "GE": "LE"}[relation]
        (low, high), (least, most) = self._get(ranges, b), self._get(ranges, c)
        apart = 1 if relation == "LT" else 0
        if relation in ("LT", "LE"):
            self._narrow(ranges, b, (low, min(high, most - apart)))
            self._narrow(ranges, c, (max(least, low + apart), most))
        elif relation == "EQ":
            both = max(low, least), min(high, most)
            self._narrow(ranges, b, both)
            self._narrow(ranges, c, both)

    def _narrow(self, ranges: Ranges, register: int, found: Range) -> None:
        # A way that cannot be gone says nothing: it may be thought about as long as it is not gone.
        if register < self._first and found[0] <= found[1]:
            _put(ranges, register, found)


def is_counted(code: Code, end: int, targets: dict[int, list[int]]) -> bool:
    """Whether a LOOP_STEP's counter begins below its bound, and nothing else changes either.

       1  JUMP_LE_I64  6, r0, 0       not entered unless 0 < r0
       2  MOVE         r2, 0
    >  3  …                           r2 < r0 here, at every turn
       5  LOOP_STEP    3, r2, r0
    """
    rows = code.instructions
    _, head, counter, bound = rows[end]
    if head < 2 or head > end:
        return False
    guard, start = rows[head - 2], rows[head - 1]
    if guard[0] != NUMBER["JUMP_LE_I64"] or start[0] != NUMBER["MOVE"]:
        return False
    inside = head <= guard[1] <= end
    if inside or (guard[2], start[1]) != (bound, counter):
        return False
    if guard[3] != start[2] or start[2] < code.first_constant():
        return False
    for pc in range(head - 1, end + 1):
        if any(not head <= source <= end for source in targets.get(pc, ())):
            return False
    return not any({counter, bound} & set(reads_and_writes(code, pc)[1]) for pc in range(head, end))


def jumps_to(code: Code) -> dict[int, list[int]]:
    """Where jumps come from, by where they go to."""
    found: dict[int, list[int]] = {}
    for pc, row in enumerate(code.instructions):
        if OPCODES[row[0]].jumps:
            found.setdefault(row[1], []).append(pc)
    return found


def _put(ranges: Ranges, register: int, found: Range) -> None:
    if found == ANY:
        ranges.pop(register, None)
    else:
        ranges[register] = found


def _join(x: Ranges, y: Ranges) -> Ranges:
    """What holds whichever way was gone."""
    both = {r: (min(x[r][0], y[r][0]), max(x[r][1], y[r][1])) for r in x.keys() & y.keys()}
    return {register: range for register, range in both.items() if range != ANY}


def _fitting(least: int, most: int) -> Range:
    """A range, unless some of it would wrap around."""
    return (least, most) if least >= LEAST and most <= MOST else ANY


def _of_two(name: str, x: Range, y: Range) -> Range:
    if name == "ADD_I64":
        return _fitting(x[0] + y[0], x[1] + y[1])
    if name == "SUB_I64":
        return _fitting(x[0] - y[1], x[1] - y[0])
    if name == "MUL_I64":
        corners = [p * q for p in x for q in y]
        return _fitting(min(corners), max(corners))
    if name == "MOD_I64" and y[0] > 0:
        return (0, min(x[1], y[1] - 1)) if x[0] >= 0 else (0, y[1] - 1)
    if name == "FLOORDIV_I64" and y[0] > 0 and x[0] >= 0:
        return 0, x[1] // y[0]
    if name == "AND_I64" and (x[0] >= 0 or y[0] >= 0):
        return 0, min(bound[1] for bound in (x, y) if bound[0] >= 0)
    if name == "SHR_I64" and x[0] >= 0:
        return 0, x[1]
    if name == "MIN_I64":
        return min(x[0], y[0]), min(x[1], y[1])
    if name == "MAX_I64":
        return max(x[0], y[0]), max(x[1], y[1])
    return ANY
