"""The text of a function of LLVM's IR, as the builders of instructions write it.

    w.value(2)                     the number in r2: an immediate, or the name of a loaded value
    w.set(1, w.new("add i64 …"))   r1 := a value
    w.leave(pc)                    the label of an exit at `pc`

A register that holds numbers is a variable of the function (an `alloca`, which LLVM makes a register of the
machine); all other registers are where they always are, in the frame.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ts.bytecode.native.exits import Exit
from ts.bytecode.native.ranges import Bounds
from ts.bytecode.native.singles import singles_before
from ts.bytecode.native.steady import Steady

if TYPE_CHECKING:
    from ts._core.vm.code import Code
    from ts.bytecode.native.elements import Tensors

# Machine code uses memory of these kinds, none of which is another's: LLVM may keep what it knows of one.
# !1 registers of the frame, !2 heads of lists, objects and tensors, !3 attributes of objects, !6 elements of
# tensors, !7 how often these were written, !8 !9 !10 items of lists of ints, floats, bools
_KINDS = {1: "frame", 2: "head", 3: "slot", 6: "element", 7: "writes", 8: "int", 9: "float", 10: "bool"}
MEMORY = '!0 = !{!"memory"}\n' + "".join(
    f'!{10 + k} = !{{!"{name}", !0}}\n!{k} = !{{!{10 + k}, !{10 + k}, i64 0}}\n' for k, name in _KINDS.items()
)
# Of the jump back of loops that are to be unrolled: four turns in a row.
MEMORY += '!30 = distinct !{!30, !31}\n!31 = !{!"llvm.loop.unroll.count", i32 4}\n'
FRAME, HEAD, SLOT, ELEMENT, WRITES = "!tbaa !1", "!tbaa !2", "!tbaa !3", "!tbaa !6", "!tbaa !7"
_ITEM = {"i": "!tbaa !8", "f": "!tbaa !9", "b": "!tbaa !10"}
_ITEM_TYPE = {"i": "i64", "f": "double", "b": "i8"}

_TYPE = {"i": "i64", "b": "i64", "f": "double"}


class Writer:
    """One function under way."""

    def __init__(
        self, code: Code, layout: dict[str, int], live: list[int], dirty: int, bounds: Bounds
    ) -> None:
        self.code = code
        self.layout = layout
        self.lines: list[str] = []
        self.tensors: Tensors | None = None
        self.heads: frozenset[int] = frozenset()  # of loops that are entered from the instruction before
        self.way = ""  # which copy of the instructions is written: see `elements`
        self._live = live
        self._dirty = dirty
        self._bounds = bounds
        self._singles = singles_before(code)
        self.pc = 0  # of the instruction under way
        self._block = ""  # that is written
        self._constants = self._immediates()
        self._exits: dict[str, tuple[Exit, Steady | None]] = {}  # by label
        self._names = 0
        self._counted: dict[int, tuple[int, int]] = {}  # by instruction: the end and the counter of its loop
        self.steady: Steady | None = None  # the loop that is written once more, not to look at indices

    # ---- text ----------------------------------------------------------------------------------------

    def do(self, line: str) -> None:
        """Add an instruction that has no result."""
        self.lines.append("  " + line)

    def new(self, expression: str) -> str:
        """Add one that has, and name it."""
        self._names += 1
        self.lines.append(f"  %t{self._names} = {expression}")
        return f"%t{self._names}"

    def label(self, name: str = "") -> str:
        """Begin a block; without a name, one that nobody else knows."""
        if not name:
            name = self.fresh()
        self.lines.append(f"{name}:")
        self._block = name
        return name

    def fresh(self) -> str:
        """The label of a block to come."""
        self._names += 1
        return f"b{self._names}"

    def at(self, pc: int, steady: Steady | None = None) -> str:
        """The label of an instruction in the copy that is written, or, of a loop, in its second one."""
        if pc in self.heads and pc == self.pc + 1:
            return f"into.{pc}{self.way}"
        steady = steady or self.steady
        inside = steady is not None and steady.head <= pc <= steady.end
        return f"{'steady' if inside else 'at'}.{pc}{self.way}"

    def go(self, label: str) -> None:
        """Jump."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Jump to one of two blocks."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def rarely(self, condition: str, label: str) -> None:
        """Jump to a block that is seldom needed, or go on behind."""
        after = self.fresh()
        self.do(f"br i1 {condition}, label %{label}, label %{after}, !prof !4")
        self.label(after)

    # ---- registers -----------------------------------------------------------------------------------

    def is_number(self, register: int) -> bool:
        """Whether a register is a variable, or an immediate."""
        return self.code.classes[register] in _TYPE

    def is_bool(self, register: int) -> bool:
        """Whether a register holds bools."""
        return self.code.classes[register] == "b"

    def type(self, register: int) -> str:
        """LLVM's type of a register of numbers."""
        return _TYPE[self.code.classes[register]]

    def is_constant(self, register: int) -> bool:
        """Whether the number in a register is known."""
        return register in self._constants

    def is_natural(self, pc: int, register: int) -> bool:
        """Whether an int is not negative before an instruction."""
        return self._bounds.of(pc, register)[0] >= 0

    def is_positive(self, pc: int, register: int) -> bool:
        """Whether it is neither that nor 0."""
        return self._bounds.of(pc, register)[0] > 0

    def is_single(self, register: int) -> bool:
        """Whether 32 bits can hold the float in a register, before the instruction under way."""
        return bool(self._singles[self.pc] >> register & 1)

    def single(self, register: int) -> str:
        """Such a float."""
        if register in self._constants:
            return self.new(f"fptrunc double {self._constants[register]} to float")
        return self.new(f"load float, ptr %r{register}.s")

    def set_single(self, register: int, value: str) -> None:
        """Write one: for those who read it as such, and for those who do not know."""
        self.do(f"store float {value}, ptr %r{register}.s")
        self.set(register, self.new(f"fpext float {value} to double"))

    def value(self, register: int) -> str:
        """The number in a register."""
        if register in self._constants:
            return self._constants[register]
        if self.is_single(register):
            return self.new(f"fpext float {self.single(register)} to double")
        return self.new(f"load {self.type(register)}, ptr %r{register}.v")

    def set(self, register: int, value: str) -> None:
        """Write a register of numbers."""
        self.do(f"store {self.type(register)} {value}, ptr %r{register}.v")

    def set_truth(self, register: int, condition: str) -> None:
        """Write a bool."""
        self.set(register, self.new(f"zext i1 {condition} to i64"))

    def place(self, register: int) -> str:
        """Where a register is in the frame."""
        return self.new(f"getelementptr i8, ptr %registers, i64 {register * self.layout['value']}")

    def tag(self, register: int) -> str:
        """The tag of a register in the frame."""
        offset = register * self.layout["value"] + self.layout["tag"]
        place = self.new(f"getelementptr i8, ptr %registers, i64 {offset}")
        return self.new(f"load i64, ptr {place}, {FRAME}")

    def load(self, register: int) -> None:
        """Take a number over from the frame, before the instruction under way."""
        value = self.new(f"load {self.type(register)}, ptr {self.place(register)}, {FRAME}")
        if self.is_single(register):
            self.set_single(register, self.new(f"fptrunc double {value} to float"))
        else:
            self.set(register, value)

    def store(self, register: int) -> None:
        """Bring the frame up to date."""
        self.do(f"store {self.type(register)} {self.value(register)}, ptr {self.place(register)}, {FRAME}")

    def object(self, register: int) -> str:
        """The object in a register."""
        return self.new(f"load ptr, ptr {self.place(register)}, {FRAME}")

    def field(self, object: str, name: str, type: str) -> str:
        """What the head of a list, an object or a tensor says."""
        return self.head(self.new(f"getelementptr i8, ptr {object}, i64 {self.layout[name]}"), type)

    def head(self, place: str, type: str) -> str:
        """The same by its place."""
        return self.new(f"load {type}, ptr {place}, {HEAD}")

    def item(self, items: str, index: str, number: int) -> str:
        """The place of an item in a list of such numbers as in a register."""
        type = _ITEM_TYPE[self.code.classes[number]]
        return self.new(f"getelementptr {type}, ptr {items}, i64 {index}")

    def kind_of_item(self, number: int) -> str:
        """The memory that such items are in."""
        return _ITEM[self.code.classes[number]]

    def put_item(self, place: str, number: int) -> None:
        """Write the number in a register to the place of an item."""
        type, value = _ITEM_TYPE[self.code.classes[number]], self.value(number)
        if self.is_bool(number):
            value = self.new(f"trunc i64 {value} to i8")
        self.do(f"store {type} {value}, ptr {place}, {self.kind_of_item(number)}")

    def index(self, pc: int, register: int, size: str) -> str:
        """An index as it counts from the start; a wrong one is the interpreter's.

        Whether one counts from the end is asked only when it is not there from the start.
        """
        i = self.value(register)
        if self.is_natural(pc, register):
            self.rarely(self.new(f"icmp uge i64 {i}, {size}"), self.leave(pc))
            return i
        start, odd, after = self._block, self.fresh(), self.fresh()
        beyond = self.new(f"icmp uge i64 {i}, {size}")
        self.do(f"br i1 {beyond}, label %{odd}, label %{after}, !prof !4")
        self.label(odd)
        j = self.new(f"add i64 {i}, {size}")
        self.rarely(self.new(f"icmp uge i64 {j}, {size}"), self.leave(pc))
        odd = self._block
        self.go(after)
        self.label(after)
        return self.new(f"phi i64 [ {i}, %{start} ], [ {j}, %{odd} ]")

    def tell_tensors(self) -> None:
        """Other code is to run, which may want to know how often tensors were written."""
        if self.tensors is not None:
            self.tensors.tell(self)

    def ask_tensors(self, pc: int) -> None:
        """Other code has run, or may have: what is known of tensors is asked for again."""
        if self.tensors is not None:
            self.tensors.ask(self, pc)

    def is_live(self, pc: int, register: int) -> bool:
        """Whether a register may be read before it is written, from an instruction on."""
        return bool(self._live[pc] >> register & 1)

    def element(self, place: str, type: str) -> str:
        """The element of a tensor that is there, which may be at any byte."""
        return self.new(f"load {type}, ptr {place}, align 1, {ELEMENT}")

    def put_element(self, place: str, type: str, value: str) -> None:
        """Write one."""
        self.do(f"store {type} {value}, ptr {place}, align 1, {ELEMENT}")

    def count_writes(self, place: str, more: str) -> None:
        """So many more writes to a tensor."""
        count = self.new(f"load i32, ptr {place}, {WRITES}")
        self.do(f"store i32 {self.new(f'add i32 {count}, {more}')}, ptr {place}, {WRITES}")

    def function(self, number: int) -> str:
        """A function of the machine, by its place in the table."""
        place = self.new(f"getelementptr ptr, ptr %table, i64 {number}")
        return self.new(f"load ptr, ptr {place}, !invariant.load !5")

    # ---- ways out ------------------------------------------------------------------------------------

    def leave(self, pc: int, status: int = 0, failed: bool = False) -> str:
        """The label of an exit; of one that `failed`, the frame is read no more."""
        steps = self._steps(pc)
        label = f"leave.{pc}.{status}{'.steps' if steps else ''}"
        if label not in self._exits:
            live = 0 if failed else self._live[pc] & self._dirty
            dirty = tuple(r for r in range(live.bit_length()) if live >> r & 1 and self.is_number(r))
            self._exits[label] = Exit(pc, status, dirty), steps
        return label

    def write_exits(self) -> None:
        """The blocks of all exits."""
        for label, (exit, steps) in self._exits.items():
            self.pc, self.steady = exit.pc, steps
            self.label(label)
            for register in exit.dirty:
                self.store(register)
            self.tell_tensors()
            self.give(exit.pc, exit.pc, f"{exit.status}")

    def give(self, source: int, pc: int, status: str) -> None:
        """Return to the loop from an instruction, to go on at another."""
        self.do(f"store i64 {self.left(source)}, ptr %budget")
        if status.isdigit():
            self.do(f"ret i64 {int(status) << 32 | pc}")
            return
        wide = self.new(f"shl i64 {self.new(f'zext i32 {status} to i64')}, 32")
        self.do(f"ret i64 {self.new(f'or i64 {wide}, {pc}')}")

    # ---- budget --------------------------------------------------------------------------------------

    def left(self, pc: int) -> str:
        """What is left of the budget before an instruction."""
        steps = self._steps(pc)
        if steps is not None:
            turn, base = (self.new(f"load i64, ptr %{name}.{steps.end}") for name in ("turn", "base"))
            return self.new(f"sub i64 {base}, {turn}")
        if pc not in self._counted:
            return self.new("load i64, ptr %left")
        end, counter = self._counted[pc]
        return self.new(f"sub i64 {self.new(f'load i64, ptr %base.{end}')}, {self.value(counter)}")

    def spend(self, pc: int, amount: int) -> str:
        """Take from the budget; what is left then."""
        left = self.new(f"sub i64 {self.left(pc)}, {amount}")
        self.do(f"store i64 {left}, ptr %left")
        return left

    def spend_one(self, pc: int) -> str:
        """Take one from the budget, which is never negative here; whether there was none."""
        both = self.new(f"call {{i64, i1}} @llvm.usub.with.overflow.i64(i64 {self.left(pc)}, i64 1)")
        self.do(f"store i64 {self.new(f'extractvalue {{i64, i1}} {both}, 0')}, ptr %left")
        return self.new(f"extractvalue {{i64, i1}} {both}, 1")

    def count(self, end: int) -> None:
        """From now on the counter of the loop that ends there says what is left: base - counter."""
        _, head, counter, _ = self.code.instructions[end]
        self._counted |= dict.fromkeys(range(head, end + 1), (end, counter))

    def counts_turns(self, pc: int) -> bool:
        """Whether a loop ends there whose turns are counted beside its counter."""
        steps = self._steps(pc)
        return steps is not None and steps.end == pc

    def asks_each_turn(self, pc: int) -> bool:
        """Whether a short loop ends there that LLVM does not unroll, as its turns look at indices."""
        steady = self.steady
        return steady is not None and steady.end == pc and steady.asks_each_turn

    def counts(self, pc: int) -> bool:
        """Whether an instruction is in such a loop."""
        return pc in self._counted

    def _steps(self, pc: int) -> Steady | None:
        """The loop that an instruction is in, if its turns are counted beside its counter."""
        steady = self.steady
        inside = steady is not None and steady.steps is not None and steady.head <= pc <= steady.end
        return steady if inside else None

    def is_known(self, pc: int, dimension: int = 0) -> bool:
        """Whether the index of an instruction need not be looked at."""
        return self.steady is not None and (pc, dimension) in self.steady.lines

    def known_items(self, register: int) -> str:
        """Where the items are of a list with such indices."""
        assert self.steady is not None
        return self.new(f"load ptr, ptr %items.{self.steady.end}.{register}")

    def _immediates(self) -> dict[int, str]:
        code, first = self.code, self.code.first_constant()
        found = {}
        for register, value in enumerate(code.constants, first):
            kind = code.classes[register]
            if kind == "f":
                found[register] = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
            elif kind in "ib":
                found[register] = str(int(value))
        return found
