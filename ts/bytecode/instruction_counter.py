"""Execution counts of instructions (basic-block profiling), from instrumentation of each basic block.

In the example, a BREAK at the start of each basic block counts the executions of the block:

    instructions          instrumented instructions          block
    0  ADD_I64            BREAK  block 0
    1  LOOP_STEP  to 0    0  ADD_I64                         0
                          1  LOOP_STEP  to the BREAK         0
                          BREAK  block 1
    2  RETURN             2  RETURN                          1

An instrumented program computes equal results, about a hundred times slower. The instructions of a called
function are counted only if the same `InstructionCounter` has instrumented this function.
"""

from __future__ import annotations

from collections import Counter as Bag
from collections.abc import Sequence

from ts._core.vm.breaks import Breakpoints, PausedProgram
from ts._core.vm.code import Code
from ts.bytecode.opcodes import NUMBER, OPCODES
from ts.bytecode.serialized_code import SerializedCode

_TERMINATORS = frozenset(NUMBER[name] for name in ("RETURN", "RAISE"))
_CALLS = frozenset(NUMBER[name] for name in ("CALL", "CALL_METHOD"))


class InstructionCounter:
    """Instrumentation of programs, with the execution counts of their instructions."""

    def __init__(self) -> None:
        self._breaks = Breakpoints(self._count_block, self._ignore_failure)
        self._breaks.request_stop(None)
        # for each basic block: its program, the index of its first instruction, and the index after its last
        self._blocks: list[tuple[SerializedCode, int, int]] = []
        self._counts: list[int] = []  # for each basic block: number of executions
        # (index of a block, index of the block executed next) -> number of such transitions
        self._steps: Bag[tuple[int, int]] = Bag()
        self._last = -1

    def instrument(self, program: SerializedCode) -> Code:
        """Return an instrumented `Code` of the program."""
        starts = leaders(program.rows)
        blocks = {}  # index of a block's first instruction -> stop point of the BREAK before the block
        for block_index, start in enumerate(starts):
            end = starts[block_index + 1] if block_index + 1 < len(starts) else len(program.rows)
            stop_point = self._breaks.add_stop_point()
            assert stop_point == len(self._blocks)
            self._blocks.append((program, start, end))
            self._counts.append(0)
            blocks[start] = stop_point
        return _with_breaks(program, blocks, self._breaks).code()

    def _count_block(self, program: PausedProgram, stop_point: int, is_breakpoint_set: bool) -> None:
        self._counts[stop_point] += 1
        self._steps[self._last, stop_point] += 1
        self._last = stop_point

    def _ignore_failure(self, program: PausedProgram, error: BaseException) -> None:
        """Ignore `error`.

        The instructions after the failing one in its block did not run, but are counted as executed.
        """

    def instructions(self) -> Bag[str]:
        """Return the number of executions of each opcode, keyed by its name."""
        counts: Bag[str] = Bag()
        for (program, start, end), count in zip(self._blocks, self._counts, strict=True):
            for row in program.rows[start:end]:
                counts[OPCODES[row[0]].name] += count
        return counts

    def pairs(self) -> Bag[tuple[str, str]]:
        """Return the number of executions of each pair of consecutive opcodes, keyed by (name, next name)."""
        counts: Bag[tuple[str, str]] = Bag()
        for (program, start, end), count in zip(self._blocks, self._counts, strict=True):
            for index in range(start, end - 1):
                counts[_name(program, index), _name(program, index + 1)] += count
        for (before, after), count in self._steps.items():
            if before >= 0:
                program, _, end = self._blocks[before]
                counts[_name(program, end - 1), _name(*self._blocks[after][:2])] += count
        return counts

    def programs(self) -> list[SerializedCode]:
        """Return the instrumented programs in the order in which they were instrumented."""
        return list({id(program): program for program, _, _ in self._blocks}.values())

    def counts_of(self, program: SerializedCode) -> list[int]:
        """Return the number of executions of each instruction of a program."""
        counts = [0] * len(program.rows)
        for (owner, start, end), count in zip(self._blocks, self._counts, strict=True):
            if owner is program:
                counts[start:end] = [count] * (end - start)
        return counts


def _name(program: SerializedCode, index: int) -> str:
    return OPCODES[program.rows[index][0]].name


def leaders(rows: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the indices of instructions that begin a basic block.

    These are the first instruction, jump targets, and the instructions after jumps, calls and returns.
    """
    indices = {0}
    for index, row in enumerate(rows):
        if OPCODES[row[0]].jumps:
            indices |= {row[1], index + 1}
        elif row[0] in _TERMINATORS or row[0] in _CALLS:
            indices.add(index + 1)
    return sorted(index for index in indices if index < len(rows))


def _with_breaks(program: SerializedCode, stop_points: dict[int, int], breaks: Breakpoints) -> SerializedCode:
    """Return `program` with BREAK instructions before the indices in `stop_points` (index -> stop point)."""
    # old index of an instruction -> new index of it, or of the BREAK inserted before it
    new_indices: dict[int, int] = {}
    for index in range(len(program.rows) + 1):
        new_indices[index] = index + sum(start < index for start in stop_points)
    rows: list[tuple[int, ...]] = []
    lines = []
    for index, row in enumerate(program.rows):
        if index in stop_points:
            rows.append(
                (NUMBER["BREAK"], len(program.functions), stop_points[index], len(program.operand_pool))
            )
            lines.append(program.lines[index] if program.lines else ())
        target = new_indices[row[1]] if OPCODES[row[0]].jumps else row[1]
        rows.append((row[0], target, *row[2:]))
        lines.append(program.lines[index] if program.lines else ())
    return program._replace(
        rows=rows,
        # a register list of length 0 for the operands of the BREAKs, which show no variables
        operand_pool=[*program.operand_pool, 0],
        functions=[*program.functions, breaks],
        lines=lines if program.lines else (),
        handlers=[(new_indices[start], new_indices[end], *rest) for start, end, *rest in program.handlers],
    )
