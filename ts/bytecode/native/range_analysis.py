"""Value-range analysis (abstract interpretation with intervals) of int registers, to omit checks.

In the example, i >= 0 holds. Therefore, `i % 7` needs no sign correction, and the index no check for negative
values:

    for i in range(n):
        total += xs[i % 7]

All ranges follow from the instructions alone, so untrusted code cannot declare wrong ranges. A register
without a range may hold any int.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ts.bytecode.native.liveness import reads_and_writes, successors
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

Range = tuple[int, int]  # smallest and largest value
Ranges = dict[int, Range]  # register number -> range

INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1
ANY: Final = (INT64_MIN, INT64_MAX)
_MAX_LENGTH: Final = 1 << 59  # upper bound of lengths (lists have at most 2 ** 58 items, see `lists.pyx`)
# number of joins at an instruction after which a bound that still grows is set to its extreme value
_MAX_BOUND_WIDENINGS: Final = 4
# number of passes that make the ranges smaller again after the fixed point is reached
_NARROWING_PASSES: Final = 3

_NEGATED = {"EQ": "NE", "NE": "EQ", "LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}


class ValueRanges:
    """Value ranges of int registers before each instruction, by fixpoint iteration with widening."""

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
        """Return the range of `register` before the instruction at `pc`."""
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
        pending = {0}
        while pending:
            pc = min(pending)
            pending.discard(pc)
            for successor in successors(code, pc):
                if successor < code.size and self._join_into(successor, self._after(pc, successor)):
                    pending.add(successor)
        for _ in range(_NARROWING_PASSES):
            self._narrow_all()

    def _narrow_all(self) -> None:
        """Recompute the ranges of each instruction from its predecessors (narrowing after widening).

        Example: in `a, b = b, (a + b) % p`, the range of `a` becomes the range of `b`.
        """
        predecessors: list[list[int]] = [[] for _ in range(self._code.size)]
        for pc, before in enumerate(self._before):
            for successor in successors(self._code, pc) if before is not None else ():
                if successor < self._code.size:
                    predecessors[successor].append(pc)
        for pc in range(1, self._code.size):
            incoming_ranges = [self._after(source, pc) for source in predecessors[pc]]
            if incoming_ranges:
                joined = incoming_ranges[0]
                for ranges in incoming_ranges[1:]:
                    joined = _join(joined, ranges)
                self._before[pc] = joined

    def _join_into(self, pc: int, ranges: Ranges) -> bool:
        """Extend the ranges before the instruction at `pc` by `ranges`.

        Return True if the extended ranges differ.
        """
        before = self._before[pc]
        if before is None:
            self._before[pc] = ranges
            return True
        self._visits[pc] += 1
        must_widen = self._visits[pc] > _MAX_BOUND_WIDENINGS
        joined: Ranges = {}
        for register, (low, high) in before.items():
            other = ranges.get(register)
            if other is None:
                continue
            min_value, max_value = min(low, other[0]), max(high, other[1])
            if must_widen:
                min_value, max_value = (
                    (low if min_value == low else INT64_MIN),
                    (high if max_value == high else INT64_MAX),
                )
            if (min_value, max_value) != ANY:
                joined[register] = min_value, max_value
        self._before[pc] = joined
        return joined != before

    def _after(self, pc: int, successor: int) -> Ranges:
        """Return the ranges after the instruction at `pc` if `successor` runs next (transfer function)."""
        code = self._code
        op, a, b, c = code.instructions[pc]
        row = OPCODES[op]
        ranges = dict(self._before[pc] or {})
        if row.jumps:
            self._narrow_by_jump(ranges, pc, row.name.partition("_")[2], successor == a != pc + 1)
            return ranges
        _, writes = reads_and_writes(code, pc)
        result = self._result(ranges, row.name, b, c) if writes == [a] and code.classes[a] == "i" else ANY
        for register in writes:
            ranges.pop(register, None)
        if result != ANY:
            ranges[a] = result
        return ranges

    def _result(self, ranges: Ranges, name: str, b: int, c: int) -> Range:
        """Return the range of the result of the opcode `name` with operands `b` and `c`."""
        if name in ("LIST_LEN", "STR_LEN"):
            return 0, _MAX_LENGTH
        if name == "BOOL_TO_INT":
            return 0, 1
        if not name.endswith("_I64") and name != "MOVE":
            return ANY
        x = self._get(ranges, b)
        if name in ("MOVE", "ABS_I64", "NEG_I64"):
            min_value, max_value = x
            if name == "MOVE" or (min_value >= 0 and name == "ABS_I64"):
                return x
            return _range_or_any(-max_value, -min_value) if name == "NEG_I64" else ANY
        y = self._get(ranges, c)
        return _binary_range(name, x, y)

    def _narrow_by_jump(self, ranges: Ranges, pc: int, name: str, is_taken: bool) -> None:
        """Narrow register ranges by the condition of the jump at `pc`, which is true if `is_taken` is True.

        If `is_taken` is False, the negated condition is true.
        """
        _, _, b, c = self._code.instructions[pc]
        if name == "STEP":
            min_value, max_value = self._get(ranges, b)
            if is_counted(self._code, pc, self._targets):
                _set_range(ranges, b, (min_value + 1, self._get(ranges, c)[1] - (1 if is_taken else 0)))
            else:
                _set_range(ranges, b, _range_or_any(min_value + 1, max_value + 1))
            return
        relation, _, type = name.partition("_")
        if type != "I64":
            return
        relation = relation if is_taken else _NEGATED[relation]
        if relation in ("GT", "GE"):
            b, c, relation = c, b, {"GT": "LT", "GE": "LE"}[relation]
        (low, high), (min_value, max_value) = self._get(ranges, b), self._get(ranges, c)
        gap = 1 if relation == "LT" else 0
        if relation in ("LT", "LE"):
            self._narrow(ranges, b, (low, min(high, max_value - gap)))
            self._narrow(ranges, c, (max(min_value, low + gap), max_value))
        elif relation == "EQ":
            intersection = max(low, min_value), min(high, max_value)
            self._narrow(ranges, b, intersection)
            self._narrow(ranges, c, intersection)

    def _narrow(self, ranges: Ranges, register: int, range: Range) -> None:
        # An empty range means that control never takes this path, so the old range is kept.
        if register < self._first and range[0] <= range[1]:
            _set_range(ranges, register, range)


def is_counted(code: Code, end: int, targets: dict[int, list[int]]) -> bool:
    """Return whether the counter of the LOOP_STEP at `end` is below its bound in every iteration.

    The counter starts below the bound, and the body writes neither of them. In the example, r2 < r0 holds at
    instruction 3 in every iteration:

         1  JUMP_LE_I64  6, r0, 0       skips the loop unless 0 < r0
         2  MOVE         r2, 0
      >  3  …
         5  LOOP_STEP    3, r2, r0
    """
    rows = code.instructions
    _, loop_head, counter, bound = rows[end]
    if loop_head < 2 or loop_head > end:
        return False
    guard, start = rows[loop_head - 2], rows[loop_head - 1]
    if guard[0] != NUMBER["JUMP_LE_I64"] or start[0] != NUMBER["MOVE"]:
        return False
    in_loop = loop_head <= guard[1] <= end
    if in_loop or (guard[2], start[1]) != (bound, counter):
        return False
    if guard[3] != start[2] or start[2] < code.first_constant():
        return False
    for pc in range(loop_head - 1, end + 1):
        if any(not loop_head <= source <= end for source in targets.get(pc, ())):
            return False
    return not any({counter, bound} & set(reads_and_writes(code, pc)[1]) for pc in range(loop_head, end))


def jumps_to(code: Code) -> dict[int, list[int]]:
    """Return a dictionary from each jump target to the indices of the instructions that jump to it."""
    sources: dict[int, list[int]] = {}
    for pc, row in enumerate(code.instructions):
        if OPCODES[row[0]].jumps:
            sources.setdefault(row[1], []).append(pc)
    return sources


def _set_range(ranges: Ranges, register: int, range: Range) -> None:
    if range == ANY:
        ranges.pop(register, None)
    else:
        ranges[register] = range


def _join(x: Ranges, y: Ranges) -> Ranges:
    """Return the join of the ranges `x` and `y` (least upper bound in the lattice of intervals)."""
    union = {r: (min(x[r][0], y[r][0]), max(x[r][1], y[r][1])) for r in x.keys() & y.keys()}
    return {register: range for register, range in union.items() if range != ANY}


def _range_or_any(min_value: int, max_value: int) -> Range:
    """Return the range from `min_value` to `max_value`, or ANY if a bound exceeds int64."""
    return (min_value, max_value) if min_value >= INT64_MIN and max_value <= INT64_MAX else ANY


def _binary_range(name: str, x: Range, y: Range) -> Range:
    if name == "ADD_I64":
        return _range_or_any(x[0] + y[0], x[1] + y[1])
    if name == "SUB_I64":
        return _range_or_any(x[0] - y[1], x[1] - y[0])
    if name == "MUL_I64":
        corners = [p * q for p in x for q in y]
        return _range_or_any(min(corners), max(corners))
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
