"""Bounds-check elimination for counted loops, which checks affine indices once before the loop.

The right column shows each index as a function of the loop counter r9. The registers r0, r5 and r7 do not
change in the loop:

    for k in range(n):
        s += a[i * n + k]            r5 + r9
             * b[k * n + j]          r9 * r0 + r7

An affine index is always between its values in the first and the last iteration, so only these two values are
checked. They are computed in 128 bits, because 64-bit ints could wrap around. No instruction of the loop may
change the length or the memory of the list. If a check fails, a version of the loop with all checks runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ts.bytecode.native.liveness import reads_and_writes
from ts.bytecode.native.range_analysis import is_counted, jumps_to
from ts.bytecode.native.side_exits import Loop
from ts.bytecode.native.tensor_operands import TensorOperand, access_registers, tensor_operands_of
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

# Opcodes that change neither the length of a list nor the address of its items. All opcodes of arithmetic,
# comparisons and jumps also have this property.
_LIST_PRESERVING_OPCODES: Final = frozenset(
    (
        *("MOVE", "CAST", "IS_NONE", "IS_NOT_NONE", "NOT", "AND", "OR", "XOR", "EQ_BOOL"),
        *("RETURN", "RAISE", "LIST_LEN", "LIST_GET_SCALAR", "LIST_SET_SCALAR", "LIST_CHECK_LEN"),
        *("ATTR_GET_SCALAR", "ATTR_SET_SCALAR", "LOAD_FLOAT", "LOAD_INT", "STORE_FLOAT", "STORE_INT"),
        "ROUND_F32",
        *("CALL_SCALAR", "INT_TO_FLOAT", "FLOAT_TO_INT", "BOOL_TO_INT", "INT_TO_BOOL", "FLOAT_TO_BOOL"),
    )
)
_SWAPPED_RELATION: Final = str.maketrans("LG", "GL")
_CONSTANT_INDEX: Final = -1  # key of the constant term in a `Sum`, whose other keys are numbers of registers
_MAX_TERMS: Final = 4
_MAX_FACTOR: Final = 1 << 20
# maximum number of instructions of a loop whose checks are hoisted. Such a loop is compiled twice.
_MAX_INSTRUCTIONS: Final = 100
_SHORT_LOOP_INSTRUCTIONS: Final = 12  # maximal number of instructions of a short loop body

# Sum of registers times factors: loop-invariant register -> factor, and `_CONSTANT_INDEX` -> constant term
Sum = dict[int, int]
Holder = int | tuple[TensorOperand, int]  # indexed object: register of a list, or (tensor, dimension)


@dataclass(frozen=True)
class AffineIndex:
    """Index that is an affine function of the loop counter (derived induction variable)."""

    slope: Sum
    offset: Sum


@dataclass(frozen=True)
class LoopStep:
    """Update of the induction variable of a loop whose step is not one, such as `i += 2`."""

    counter: int
    relation: str  # the loop continues while the comparison `counter relation bound` is true
    bound: int
    step: int  # register of the step. Like the register of the bound, it is loop-invariant.
    is_subtracted: bool  # True if the update is `counter -= step`, not `counter += step`


@dataclass(frozen=True)
class HoistableChecks:
    """Loop with bounds checks that can be hoisted before its start."""

    head: int
    end: int
    steps: LoopStep | None
    # (index of the instruction, dimension of the tensor) -> (indexed object, affine index into it)
    indices: dict[tuple[int, int], tuple[Holder, AffineIndex]]
    # True if the loop also has bounds checks that cannot be hoisted
    has_other_indices: bool

    @property
    def lists(self) -> list[int]:
        """Registers of the lists whose bounds checks are hoisted."""
        return sorted({holder for holder, _ in self.indices.values() if isinstance(holder, int)})

    @property
    def has_remaining_checks(self) -> bool:
        """True if the loop body is short and has bounds checks that are not hoisted."""
        return self.has_other_indices and self.end - self.head <= _SHORT_LOOP_INSTRUCTIONS

    @property
    def lengths(self) -> list[tuple[TensorOperand, int]]:
        """(tensor, dimension) pairs whose bounds checks are hoisted."""
        return sorted({holder for holder, _ in self.indices.values() if not isinstance(holder, int)})


def is_simple(code: Code, loop: Loop) -> bool:
    """Return whether only the LOOP_STEP of a loop changes its counter, leaves the loop and spends budget."""
    if code.instructions[loop.end][0] != NUMBER["LOOP_STEP"] or not _is_closed(code, loop):
        return False
    return is_counted(code, loop.end, jumps_to(code))


def _is_closed(code: Code, loop: Loop) -> bool:
    for op, a, *_ in code.instructions[loop.head : loop.end]:
        row = OPCODES[op]
        if row.name == "CALL_OPERATOR" or row.format[0] == "<" or (row.jumps and a > loop.end):
            return False
    return True


def _steps(code: Code, loop: Loop, written_registers: set[int]) -> LoopStep | None:
    """Return the update of the loop counter.

    Return None if the step changes in the loop, or if an iteration can skip or repeat the update.
    """
    rows, span = code.instructions, range(loop.head, loop.end)
    op, _, counter, bound = rows[loop.end]
    relation, _, type = OPCODES[op].name.removeprefix("LOOP_").partition("_")
    if type != "I64" or relation == "EQ" or not _is_closed(code, loop):
        return None
    if counter not in written_registers:
        counter, bound, relation = bound, counter, relation.translate(_SWAPPED_RELATION)
    increments = [pc for pc in span if counter in reads_and_writes(code, pc)[1]]
    if len(increments) != 1 or bound in written_registers:
        return None
    (increment,) = increments
    op, _, augend, amount = rows[increment]
    name = OPCODES[op].name
    if name not in ("ADD_I64", "SUB_I64") or augend != counter or amount in written_registers:
        return None
    if any(OPCODES[rows[pc][0]].jumps and rows[pc][1] > increment for pc in range(loop.head, increment)):
        return None
    return LoopStep(counter, relation, bound, amount, name == "SUB_I64")


def find_hoistable_checks(code: Code, loop: Loop, tensors: bool = False) -> HoistableChecks | None:
    """Return the hoistable bounds checks of a loop, or None if no check is hoistable.

    Checks of tensor indices are included only if `tensors` is True.
    """
    rows = code.instructions
    span = range(loop.head, loop.end)
    if len(span) > _MAX_INSTRUCTIONS or not all(_is_safe_opcode(OPCODES[rows[pc][0]].name) for pc in span):
        return None
    written_registers = {register for pc in (*span, loop.end) for register in reads_and_writes(code, pc)[1]}
    steps = None if is_simple(code, loop) else _steps(code, loop, written_registers)
    if steps is None and not is_simple(code, loop):
        return None
    indices: dict[tuple[int, int], tuple[Holder, AffineIndex]] = {}
    has_other_indices = False
    counter = steps.counter if steps else rows[loop.end][2]
    affine: dict[int, AffineIndex] = {counter: AffineIndex({_CONSTANT_INDEX: 1}, {})}
    sources = jumps_to(code)
    for pc in span:
        # A jump to this instruction skips the writes in between, so the registers written there may have
        # other values.
        for source in sources.get(pc, ()):
            for between in range(source, pc):
                for register in reads_and_writes(code, between)[1]:
                    affine.pop(register, None)
        operands = _indexed_operands(code, pc, tensors)
        for k, (holder, index) in enumerate(operands):
            line = _affine_form(code, affine, written_registers, index)
            register = holder if isinstance(holder, int) else holder[0].register
            if line is not None and register not in written_registers:
                indices[pc, k] = holder, line
            else:
                has_other_indices = True
        result = _affine_result(code, affine, written_registers, pc)
        for register in reads_and_writes(code, pc)[1]:
            affine.pop(register, None)
        if result is not None:
            affine[rows[pc][1]] = result
    return HoistableChecks(loop.head, loop.end, steps, indices, has_other_indices) if indices else None


def _indexed_operands(code: Code, pc: int, tensors: bool) -> list[tuple[Holder, int]]:
    """Return (indexed object, index register) for each index of an instruction."""
    op, a, b, c = code.instructions[pc]
    if op == NUMBER["LIST_GET_SCALAR"]:
        return [(b, c)]
    if op == NUMBER["LIST_SET_SCALAR"]:
        return [(a, b)]
    tensor = tensor_operands_of(code, pc) if tensors else None
    if tensor is None:
        return []
    return [((tensor, k), index) for k, index in enumerate(access_registers(code, pc)[1:])]


def _is_safe_opcode(name: str) -> bool:
    return name.endswith(("_I64", "_F64")) or name.startswith("JUMP") or name in _LIST_PRESERVING_OPCODES


def _affine_form(
    code: Code, affine: dict[int, AffineIndex], written_registers: set[int], register: int
) -> AffineIndex | None:
    """Return the value of `register` as an affine function of the loop counter, or None if not affine."""
    if register in affine:
        return affine[register]
    first = code.first_constant()
    if register >= first:
        value = code.constants[register - first]
        if type(value) is not int or abs(value) > _MAX_FACTOR:
            return None
        return AffineIndex({}, {_CONSTANT_INDEX: value} if value else {})
    return AffineIndex({}, {register: 1}) if register not in written_registers else None


def _affine_result(
    code: Code, affine: dict[int, AffineIndex], written_registers: set[int], pc: int
) -> AffineIndex | None:
    """Return the result of the instruction at `pc` as an affine function of the counter, or None."""
    op, _, b, c = code.instructions[pc]
    name = OPCODES[op].name
    if name not in ("MOVE", "ADD_I64", "SUB_I64", "MUL_I64") or code.classes[b] != "i":
        return None
    x = _affine_form(code, affine, written_registers, b)
    if x is None or name == "MOVE":
        return x
    y = _affine_form(code, affine, written_registers, c)
    if y is None:
        return None
    if name == "MUL_I64":
        return _product(x, y) or _product(y, x)
    sign = 1 if name == "ADD_I64" else -1
    return _bounded(_sum(x.slope, y.slope, sign), _sum(x.offset, y.offset, sign))


def _sum(x: Sum, y: Sum, sign: int) -> Sum:
    factors = {register: x.get(register, 0) + sign * y.get(register, 0) for register in (*x, *y)}
    return {register: factor for register, factor in factors.items() if factor}


def _product(x: AffineIndex, y: AffineIndex) -> AffineIndex | None:
    """Return the product of two affine functions of the loop counter, or None if it is not supported.

    `y` must be a constant, or a multiple of one loop-invariant register. If `y` is not a constant, `x` must
    not depend on registers other than the counter.
    """
    if y.slope or len(y.offset) > 1:
        return None
    (register, factor), *_ = y.offset.items() or [(_CONSTANT_INDEX, 0)]
    if register != _CONSTANT_INDEX and (set(x.slope) | set(x.offset)) - {_CONSTANT_INDEX}:
        return None

    def times(sum: Sum) -> Sum:
        return {
            (register if term == _CONSTANT_INDEX else term): coefficient * factor
            for term, coefficient in sum.items()
            if factor
        }

    return _bounded(times(x.slope), times(x.offset))


def _bounded(slope: Sum, offset: Sum) -> AffineIndex | None:
    """Return the affine function `slope` * counter + `offset`, or None if its value may overflow 128 bits.

    The values of an accepted function are below 2**63 * 2**62 plus a few terms of at most 2**84.
    """
    if len(slope) > 1 or len(offset) > _MAX_TERMS or any(abs(f) > _MAX_FACTOR for f in offset.values()):
        return None
    if any(abs(factor) > (_MAX_FACTOR if term == _CONSTANT_INDEX else 1) for term, factor in slope.items()):
        return None
    return AffineIndex(slope, offset)
