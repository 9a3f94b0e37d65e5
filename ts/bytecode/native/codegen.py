"""Native code generation, which translates the loops of verified bytecode to LLVM IR.

Input: a Code and its loops. Output: the text of an LLVM module with this function:

    define i64 @run(ptr %registers, ptr %budget, ptr %table, ptr %instructions, ptr %at)

The interpreter enters the function at the LOOP instruction at the end of a loop. The budget is the number of
steps until the next check of limits. Each backward jump uses budget, as in the interpreter. Therefore, fuel,
deadlines and suspension have the same effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.bytecode.native.bounds_check_elimination import HoistableChecks, find_hoistable_checks, is_simple
from ts.bytecode.native.ir_builder import MEMORY, FunctionBuilder
from ts.bytecode.native.liveness import live_before, reachable, reads_and_writes
from ts.bytecode.native.loop_prologue import enter
from ts.bytecode.native.opcode_codegen import BUILDERS, c_function
from ts.bytecode.native.range_analysis import ValueRanges
from ts.bytecode.native.side_exits import INTERPRETER_ONLY_OPCODES, Loop
from ts.bytecode.native.tensor_access_codegen import DENSE, TensorAccesses
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

_CALL_SCALAR = NUMBER["CALL_SCALAR"]


def translate(code: Code, loops: tuple[Loop, ...], layout: dict[str, int], forced: bool = False) -> str:
    """Return the text of an LLVM module with the code of each loop in `loops` whose `reason` is empty.

    If `forced`, each instruction first checks whether a test has requested a side exit there.
    """
    entries = [loop.end for loop in loops if not loop.reason]
    pcs = sorted(reachable(code, entries))
    live = live_before(code)
    dirty = 0
    registers: set[int] = set()
    for pc in pcs:
        reads, writes = reads_and_writes(code, pc)
        registers.update(reads, writes)
        for register in writes:
            dirty |= 1 << register
    w = FunctionBuilder(code, layout, live, dirty, ValueRanges(code))
    variables = [r for r in sorted(registers) if w.is_number(r) and not w.is_constant(r)]
    w.label("entry")
    w.emit("%left = alloca i64")
    for register in variables:
        w.emit(f"%r{register}.v = alloca {w.type(register)}")
        if w.type(register) == "double":
            w.emit(f"%r{register}.s = alloca float")
    w.tensors = TensorAccesses(w, pcs)
    for loop in loops:
        for name in ("base", "limit", "iteration", "iterations"):
            w.emit(f"%{name}.{loop.end} = alloca i64")
        for items in _hoisted_lists(find_hoistable_checks(code, loop)):
            w.emit(f"%items.{loop.end}.{items} = alloca ptr")
        if is_simple(code, loop):
            w.count(loop.end)
    w.emit("%call_result = alloca i64")
    initial = w.emit_value("load i64, ptr %budget")
    # clamped to 0, because `decrement_budget` requires a non-negative budget
    budget = w.emit_value(f"call i64 @llvm.smax.i64(i64 {initial}, i64 0)")
    w.emit(f"store i64 {budget}, ptr %left")
    _load_functions(w, {code.instructions[pc][1] for pc in pcs if code.instructions[pc][0] == _CALL_SCALAR})
    address, first = (w.emit_value(f"ptrtoint ptr {p} to i64") for p in ("%at", "%instructions"))
    offset = w.emit_value(f"sub i64 {address}, {first}")
    cases = " ".join(f"i64 {pc * layout['instruction']}, label %enter.{pc}" for pc in entries)
    w.emit(f"switch i64 {offset}, label %nowhere [{cases}]")
    for pc in entries:
        w.label(f"enter.{pc}")
        w.pc = pc
        for register in variables:
            if live[pc] >> register & 1:
                w.load(register)
        w.reload_tensors(pc)
        if w.tensors.versions:
            w.branch(w.tensors.are_dense(w, pc), f"begin.{pc}{DENSE}", f"begin.{pc}")
        else:
            w.jump(f"begin.{pc}")
    for version in (*w.tensors.versions, ""):
        w.version = version
        counted_loops = {
            loop.end: find_hoistable_checks(code, loop, version == DENSE) for loop in loops if loop.end in pcs
        }
        counted_loops = {end: checks for end, checks in counted_loops.items() if checks or w.counts(end)}
        w.loop_heads = frozenset(code.instructions[end][1] for end in counted_loops)
        for pc in entries:
            w.label(f"begin.{pc}{w.version}")
            _enter(w, pc, counted_loops)
        for pc in pcs:
            _instruction(w, pc, forced)
        for end, hoistable in counted_loops.items():
            _enter_from_loop_head(w, end, hoistable)
        # Generate a second version of each loop, without the checks that are hoisted. The first version above
        # has all checks.
        for w.unchecked_loop in filter(None, counted_loops.values()):
            for pc in range(w.unchecked_loop.head, w.unchecked_loop.end + 1):
                if pc in pcs:
                    _instruction(w, pc, forced)
        w.unchecked_loop = None
    w.write_exits()
    w.label("nowhere")
    w.emit("unreachable")
    return _MODULE.format(body="\n".join(w.lines), memory=MEMORY)


def _hoisted_lists(hoistable: HoistableChecks | None) -> list[int]:
    return [] if hoistable is None else hoistable.lists


def _load_functions(w: FunctionBuilder, operators: set[int]) -> None:
    """Emit loads of the addresses of the operators' C functions, which differ between processes."""
    for index in sorted(operators):
        function = c_function(w.code, index)
        if function is None:
            continue
        address = "%registers"
        for offset in (w.layout["code"], w.layout["operators"], 8 * index, w.layout["data"], function[0]):
            address = w.emit_value(f"getelementptr i8, ptr {address}, i64 {offset}")
            address = w.emit_value(f"load ptr, ptr {address}, !invariant.load !5")
        w.emit(f"%direct.{index} = getelementptr i8, ptr {address}, i64 0")


def _enter(w: FunctionBuilder, pc: int, counted_loops: dict[int, HoistableChecks | None]) -> None:
    """Emit a copy of the LOOP instruction at `pc`, at which the interpreter enters the function.

    Without the copy, the loop would have two entries. LLVM optimizes only loops with one entry.
    """
    w.pc = pc
    op, a, b, c = w.code.instructions[pc]
    build = BUILDERS[OPCODES[op].name]
    if pc in counted_loops:
        hoistable = counted_loops[pc]
        condition = enter(w, pc, hoistable, 1)
        if hoistable:
            accepted, rejected = w.new_label(), w.new_label()
            w.branch(condition, accepted, rejected)
            w.label(accepted)
            w.unchecked_loop = hoistable
            build(w, pc, a, b, c)
            w.unchecked_loop = None
            w.label(rejected)
    build(w, pc, a, b, c)


def _enter_from_loop_head(w: FunctionBuilder, end: int, hoistable: HoistableChecks | None) -> None:
    """Emit a loop prologue and a jump to the loop's first instruction.

    The interpreter can enter the function at this prologue.
    """
    loop_head = w.code.instructions[end][1]
    w.label(f"into.{loop_head}{w.version}")
    w.pc = loop_head
    condition = enter(w, end, hoistable, 0)
    if hoistable:
        w.branch(condition, w.block_label(loop_head, hoistable), w.block_label(loop_head))
    else:
        w.jump(w.block_label(loop_head))


def _instruction(w: FunctionBuilder, pc: int, forced: bool) -> None:
    op, a, b, c = w.code.instructions[pc]
    row = OPCODES[op]
    w.pc = pc
    w.label(w.block_label(pc))
    if row.name in INTERPRETER_ONLY_OPCODES:
        w.jump(w.side_exit(pc))
        return
    if forced:
        counter = w.function(w.layout["until_exit"])
        count = w.emit_value(f"load i64, ptr {counter}")
        w.emit(f"store i64 {w.emit_value(f'sub i64 {count}, 1')}, ptr {counter}")
        w.branch_unlikely(w.emit_value(f"icmp eq i64 {count}, 0"), w.side_exit(pc))
    BUILDERS[row.name](w, pc, a, b, c)
    if not row.jumps:
        w.jump(w.block_label(pc + 1))


_MODULE = """\
define i64 @run(
  ptr noalias %registers, ptr noalias %budget, ptr %table, ptr %instructions, ptr %at
) nounwind "no-builtins" {{
{body}
}}
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare i64 @llvm.sadd.sat.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare {{i64, i1}} @llvm.usub.with.overflow.i64(i64, i64)
{memory}!4 = !{{!"branch_weights", i32 1, i32 2000}}
!5 = !{{}}
"""
