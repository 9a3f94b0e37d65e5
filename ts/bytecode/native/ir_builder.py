"""Builder of the LLVM IR of one function, which the code generators of instructions use.

Examples for a builder `w` and the registers r1 and r2 of the bytecode:

    w.value(2)                            returns the number in r2: a literal, or the name of a loaded value
    w.set(1, w.emit_value("add i64 …"))   writes a value to r1
    w.leave(pc)                           returns the label of a side exit at instruction `pc`

A register with numbers is a local variable (an `alloca`, which LLVM promotes to a machine register). All
other registers stay in the frame.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ts.bytecode.native.bounds_check_elimination import HoistableChecks
from ts.bytecode.native.float32_narrowing import singles_before
from ts.bytecode.native.range_analysis import ValueRanges
from ts.bytecode.native.side_exits import SideExit

if TYPE_CHECKING:
    from ts._core.vm.code import Code
    from ts.bytecode.native.tensor_access_codegen import TensorAccesses

# Alias classes (TBAA) of the memory that machine code accesses. Accesses of different classes never alias.
# !1: registers of the frame, !2: headers of lists, objects and tensors, !3: attributes of objects, !6:
# elements of tensors, !7: version counters, !8, !9, !10: items of lists of ints, floats, bools.
_KINDS = {1: "frame", 2: "head", 3: "slot", 6: "element", 7: "writes", 8: "int", 9: "float", 10: "bool"}
MEMORY = '!0 = !{!"memory"}\n' + "".join(
    f'!{10 + k} = !{{!"{name}", !0}}\n!{k} = !{{!{10 + k}, !{10 + k}, i64 0}}\n' for k, name in _KINDS.items()
)
# Metadata for the backward jumps of loops that LLVM is to unroll four times.
MEMORY += '!30 = distinct !{!30, !31}\n!31 = !{!"llvm.loop.unroll.count", i32 4}\n'
FRAME, HEADER, SLOT, ELEMENT, WRITES = "!tbaa !1", "!tbaa !2", "!tbaa !3", "!tbaa !6", "!tbaa !7"
_ITEM = {"i": "!tbaa !8", "f": "!tbaa !9", "b": "!tbaa !10"}
_ITEM_TYPE = {"i": "i64", "f": "double", "b": "i8"}

_TYPE = {"i": "i64", "b": "i64", "f": "double"}


class FunctionBuilder:
    """Builder of one LLVM function."""

    def __init__(
        self, code: Code, layout: dict[str, int], live: list[int], dirty: int, bounds: ValueRanges
    ) -> None:
        self.code = code
        self.layout = layout
        self.lines: list[str] = []
        self.tensors: TensorAccesses | None = None
        # indices of the first instructions of loops with a prologue. The instruction before such a loop jumps
        # to the prologue.
        self.loop_heads: frozenset[int] = frozenset()
        self.version = ""  # code version that is generated: "" or `DENSE`
        self._live = live
        self._dirty = dirty
        self._bounds = bounds
        self._singles = singles_before(code)
        self.pc = 0  # index of the current instruction
        self._block = ""  # label of the current basic block
        self._constants = self._immediates()
        # label -> (side exit, the loop that contains the exit if it has a separate iteration counter, else
        # None)
        self._exits: dict[str, tuple[SideExit, HoistableChecks | None]] = {}
        self._names = 0
        # index of an instruction in a counted loop -> (index of the loop's LOOP_STEP, counter register)
        self._counted: dict[int, tuple[int, int]] = {}
        # the loop whose version without hoisted checks is being generated
        self.unchecked_loop: HoistableChecks | None = None

    # ---- lines and labels of the LLVM IR -------------------------------------------------------------

    def emit(self, line: str) -> None:
        """Append an instruction that has no result."""
        self.lines.append("  " + line)

    def emit_value(self, expression: str) -> str:
        """Append an instruction with a result, and return the name of the result."""
        self._names += 1
        self.lines.append(f"  %t{self._names} = {expression}")
        return f"%t{self._names}"

    def label(self, name: str = "") -> str:
        """Begin a basic block, and return its label. The label is `name`, or a new one if `name` is ""."""
        if not name:
            name = self.new_label()
        self.lines.append(f"{name}:")
        self._block = name
        return name

    def new_label(self) -> str:
        """Return a new label."""
        self._names += 1
        return f"b{self._names}"

    def block_label(self, pc: int, loop: HoistableChecks | None = None) -> str:
        """Return the label of instruction `pc`, or of its copy without hoisted checks.

        Return the label of the copy if `loop` contains the instruction. The default of `loop` is the loop
        whose version without hoisted checks is being generated.
        """
        if pc in self.loop_heads and pc == self.pc + 1:
            return f"into.{pc}{self.version}"
        loop = loop or self.unchecked_loop
        in_loop = loop is not None and loop.head <= pc <= loop.end
        return f"{'unchecked' if in_loop else 'at'}.{pc}{self.version}"

    def jump(self, label: str) -> None:
        """Append an unconditional branch."""
        self.emit(f"br label %{label}")

    def branch(self, condition: str, true_label: str, false_label: str) -> None:
        """Append a conditional branch."""
        self.emit(f"br i1 {condition}, label %{true_label}, label %{false_label}")

    def branch_unlikely(self, condition: str, label: str) -> None:
        """Append a branch to `label`, marked as unlikely.

        Begin the block that runs if the condition is false.
        """
        after = self.new_label()
        self.emit(f"br i1 {condition}, label %{label}, label %{after}, !prof !4")
        self.label(after)

    # ---- access to registers and memory --------------------------------------------------------------

    def is_number(self, register: int) -> bool:
        """Return whether a register contains numbers. If so, it is a variable or literal in LLVM IR."""
        return self.code.classes[register] in _TYPE

    def is_bool(self, register: int) -> bool:
        """Return whether a register contains bools."""
        return self.code.classes[register] == "b"

    def type(self, register: int) -> str:
        """Return the LLVM type of a register with numbers."""
        return _TYPE[self.code.classes[register]]

    def is_constant(self, register: int) -> bool:
        """Return whether a register is a constant."""
        return register in self._constants

    def is_non_negative(self, pc: int, register: int) -> bool:
        """Return whether the int in `register` is provably non-negative before instruction `pc`."""
        return self._bounds.of(pc, register)[0] >= 0

    def is_positive(self, pc: int, register: int) -> bool:
        """Return whether the int in `register` is provably positive before instruction `pc`."""
        return self._bounds.of(pc, register)[0] > 0

    def is_single(self, register: int) -> bool:
        """Return whether a float register has a float32 value before the current instruction."""
        return bool(self._singles[self.pc] >> register & 1)

    def single(self, register: int) -> str:
        """Return the value of a register as LLVM `float`."""
        if register in self._constants:
            return self.emit_value(f"fptrunc double {self._constants[register]} to float")
        return self.emit_value(f"load float, ptr %r{register}.s")

    def set_single(self, register: int, value: str) -> None:
        """Set a register to a float32 value, which is stored in single and in double precision."""
        self.emit(f"store float {value}, ptr %r{register}.s")
        self.set(register, self.emit_value(f"fpext float {value} to double"))

    def value(self, register: int) -> str:
        """Return the value of a register with numbers."""
        if register in self._constants:
            return self._constants[register]
        if self.is_single(register):
            return self.emit_value(f"fpext float {self.single(register)} to double")
        return self.emit_value(f"load {self.type(register)}, ptr %r{register}.v")

    def set(self, register: int, value: str) -> None:
        """Set a register with numbers to `value`."""
        self.emit(f"store {self.type(register)} {value}, ptr %r{register}.v")

    def set_truth(self, register: int, condition: str) -> None:
        """Set a bool register to a condition of LLVM type i1."""
        self.set(register, self.emit_value(f"zext i1 {condition} to i64"))

    def register_address(self, register: int) -> str:
        """Return the address of a register in the frame."""
        return self.emit_value(f"getelementptr i8, ptr %registers, i64 {register * self.layout['value']}")

    def tag(self, register: int) -> str:
        """Load the type tag of the value in a register from the frame."""
        offset = register * self.layout["value"] + self.layout["tag"]
        address = self.emit_value(f"getelementptr i8, ptr %registers, i64 {offset}")
        return self.emit_value(f"load i64, ptr {address}, {FRAME}")

    def load(self, register: int) -> None:
        """Load a register with numbers from the frame, before the current instruction."""
        value = self.emit_value(f"load {self.type(register)}, ptr {self.register_address(register)}, {FRAME}")
        if self.is_single(register):
            self.set_single(register, self.emit_value(f"fptrunc double {value} to float"))
        else:
            self.set(register, value)

    def store(self, register: int) -> None:
        """Store a register with numbers to the frame."""
        self.emit(
            f"store {self.type(register)} {self.value(register)}, "
            f"ptr {self.register_address(register)}, {FRAME}"
        )

    def object(self, register: int) -> str:
        """Load the object in a register."""
        return self.emit_value(f"load ptr, ptr {self.register_address(register)}, {FRAME}")

    def field(self, object: str, name: str, type: str) -> str:
        """Load a field of the header of a list, object or tensor."""
        return self.load_header_field(
            self.emit_value(f"getelementptr i8, ptr {object}, i64 {self.layout[name]}"), type
        )

    def load_header_field(self, address: str, type: str) -> str:
        """Load a field of a header by its address."""
        return self.emit_value(f"load {type}, ptr {address}, {HEADER}")

    def item(self, items: str, index: str, register: int) -> str:
        """Return the address of a list item. Items have the register class of `register`."""
        type = _ITEM_TYPE[self.code.classes[register]]
        return self.emit_value(f"getelementptr {type}, ptr {items}, i64 {index}")

    def kind_of_item(self, register: int) -> str:
        """Return the alias class of list items that have the register class of `register`."""
        return _ITEM[self.code.classes[register]]

    def put_item(self, address: str, register: int) -> None:
        """Store the number in `register` to `address`, the address of a list item."""
        type, value = _ITEM_TYPE[self.code.classes[register]], self.value(register)
        if self.is_bool(register):
            value = self.emit_value(f"trunc i64 {value} to i8")
        self.emit(f"store {type} {value}, ptr {address}, {self.kind_of_item(register)}")

    def index(self, pc: int, register: int, size: str) -> str:
        """Return the index in `register` as an offset from the first item: `-1` becomes `size - 1`.

        The emitted code exits to the interpreter if the index is out of range.
        """
        i = self.value(register)
        if self.is_non_negative(pc, register):
            self.branch_unlikely(self.emit_value(f"icmp uge i64 {i}, {size}"), self.side_exit(pc))
            return i
        start, unlikely, after = self._block, self.new_label(), self.new_label()
        out_of_range = self.emit_value(f"icmp uge i64 {i}, {size}")
        self.emit(f"br i1 {out_of_range}, label %{unlikely}, label %{after}, !prof !4")
        self.label(unlikely)
        j = self.emit_value(f"add i64 {i}, {size}")
        self.branch_unlikely(self.emit_value(f"icmp uge i64 {j}, {size}"), self.side_exit(pc))
        unlikely = self._block
        self.jump(after)
        self.label(after)
        return self.emit_value(f"phi i64 [ {i}, %{start} ], [ {j}, %{unlikely} ]")

    def flush_write_counts(self) -> None:
        """Emit updates of the version counters of written tensors.

        Code outside of the loop reads the counters.
        """
        if self.tensors is not None:
            self.tensors.flush_writes(self)

    def reload_tensors(self, pc: int) -> None:
        """Emit loads of the tensor headers that code reachable from `pc` uses.

        Calls before `pc` may have changed the headers.
        """
        if self.tensors is not None:
            self.tensors.reload(self, pc)

    def is_live(self, pc: int, register: int) -> bool:
        """Return whether a register is live before an instruction."""
        return bool(self._live[pc] >> register & 1)

    def element(self, address: str, type: str) -> str:
        """Load a tensor element, which may be unaligned."""
        return self.emit_value(f"load {type}, ptr {address}, align 1, {ELEMENT}")

    def put_element(self, address: str, type: str, value: str) -> None:
        """Store a tensor element."""
        self.emit(f"store {type} {value}, ptr {address}, align 1, {ELEMENT}")

    def count_writes(self, address: str, increment: str) -> None:
        """Add `increment` to the version counter of a tensor."""
        count = self.emit_value(f"load i32, ptr {address}, {WRITES}")
        self.emit(f"store i32 {self.emit_value(f'add i32 {count}, {increment}')}, ptr {address}, {WRITES}")

    def function(self, index: int) -> str:
        """Load the address of a runtime function at `index` of the table."""
        address = self.emit_value(f"getelementptr ptr, ptr %table, i64 {index}")
        return self.emit_value(f"load ptr, ptr {address}, !invariant.load !5")

    # ---- side exits ----------------------------------------------------------------------------------

    def side_exit(self, pc: int, status: int = 0, failed: bool = False) -> str:
        """Return the label of a side exit at `pc`, whose code returns `status`.

        The code of the exit stores live registers to the frame, unless `failed` is True.
        """
        loop = self._stepped_loop(pc)
        label = f"leave.{pc}.{status}{'.steps' if loop else ''}"
        if label not in self._exits:
            live = 0 if failed else self._live[pc] & self._dirty
            dirty = tuple(r for r in range(live.bit_length()) if live >> r & 1 and self.is_number(r))
            self._exits[label] = SideExit(pc, status, dirty), loop
        return label

    def write_exits(self) -> None:
        """Append the blocks of all side exits."""
        for label, (exit, loop) in self._exits.items():
            self.pc, self.unchecked_loop = exit.pc, loop
            self.label(label)
            for register in exit.dirty:
                self.store(register)
            self.flush_write_counts()
            self.return_to_interpreter(exit.pc, exit.pc, f"{exit.status}")

    def return_to_interpreter(self, source: int, pc: int, status: str) -> None:
        """Emit the return from instruction `source` to the interpreter, which continues at `pc`."""
        self.emit(f"store i64 {self.budget_left(source)}, ptr %budget")
        if status.isdigit():
            self.emit(f"ret i64 {int(status) << 32 | pc}")
            return
        high_word = self.emit_value(f"shl i64 {self.emit_value(f'zext i32 {status} to i64')}, 32")
        self.emit(f"ret i64 {self.emit_value(f'or i64 {high_word}, {pc}')}")

    # ---- budget of steps and counted loops -----------------------------------------------------------

    def budget_left(self, pc: int) -> str:
        """Return the budget that remains before instruction `pc`, in backward jumps."""
        loop = self._stepped_loop(pc)
        if loop is not None:
            base = self.emit_value(f"load i64, ptr %base.{loop.end}")
            return self.emit_value(
                f"sub i64 {base}, {self.emit_value(f'load i64, ptr %iteration.{loop.end}')}"
            )
        if pc not in self._counted:
            return self.emit_value("load i64, ptr %left")
        end, counter = self._counted[pc]
        return self.emit_value(
            f"sub i64 {self.emit_value(f'load i64, ptr %base.{end}')}, {self.value(counter)}"
        )

    def subtract_budget(self, pc: int, amount: int) -> str:
        """Subtract `amount` from the budget and return the remaining budget."""
        left = self.emit_value(f"sub i64 {self.budget_left(pc)}, {amount}")
        self.emit(f"store i64 {left}, ptr %left")
        return left

    def decrement_budget(self, pc: int) -> str:
        """Emit a decrement of the non-negative budget. Return the condition that the budget was 0."""
        difference = self.emit_value(
            f"call {{i64, i1}} @llvm.usub.with.overflow.i64(i64 {self.budget_left(pc)}, i64 1)"
        )
        self.emit(f"store i64 {self.emit_value(f'extractvalue {{i64, i1}} {difference}, 0')}, ptr %left")
        return self.emit_value(f"extractvalue {{i64, i1}} {difference}, 1")

    def count(self, end: int) -> None:
        """Record that %base minus the loop counter is the remaining budget in the loop that ends at `end`."""
        _, loop_head, counter, _ = self.code.instructions[end]
        self._counted |= dict.fromkeys(range(loop_head, end + 1), (end, counter))

    def counts_iterations(self, pc: int) -> bool:
        """Return whether the instruction at `pc` ends a loop that has a separate iteration counter."""
        loop = self._stepped_loop(pc)
        return loop is not None and loop.end == pc

    def has_remaining_checks(self, pc: int) -> bool:
        """Return whether `pc` ends a loop that is unrolled: a short loop with remaining bounds checks."""
        loop = self.unchecked_loop
        return loop is not None and loop.end == pc and loop.has_remaining_checks

    def counts(self, pc: int) -> bool:
        """Return whether the instruction at `pc` is in a loop whose counter determines the budget."""
        return pc in self._counted

    def _stepped_loop(self, pc: int) -> HoistableChecks | None:
        """Return the loop that contains `pc` if it has a separate iteration counter, else None."""
        loop = self.unchecked_loop
        in_stepped_loop = loop is not None and loop.steps is not None and loop.head <= pc <= loop.end
        return loop if in_stepped_loop else None

    def is_hoisted(self, pc: int, dimension: int = 0) -> bool:
        """Return whether the bounds check of the index at `pc` was hoisted out of the loop."""
        return self.unchecked_loop is not None and (pc, dimension) in self.unchecked_loop.indices

    def hoisted_items(self, register: int) -> str:
        """Load the address of the items of a list whose bounds checks were hoisted."""
        assert self.unchecked_loop is not None
        return self.emit_value(f"load ptr, ptr %items.{self.unchecked_loop.end}.{register}")

    def _immediates(self) -> dict[int, str]:
        code, first = self.code, self.code.first_constant()
        immediates = {}
        for register, value in enumerate(code.constants, first):
            kind = code.classes[register]
            if kind == "f":
                immediates[register] = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
            elif kind in "ib":
                immediates[register] = str(int(value))
        return immediates
