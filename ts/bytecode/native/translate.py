"""Code generation from verified bytecode to LLVM IR: the loops of a Code become one function.

    text = translate(code, loops)         the module's text, which is also the key of the disk cache

    define i64 @run(ptr %registers, ptr %budget, ptr %table, ptr %instructions, ptr %at)

The function is entered at the end of a loop.  `builders` defines the IR of each opcode.  Every backward jump
spends budget, as in the interpreter, so that fuel, deadlines and suspension work alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.bytecode.native.builders import BUILDERS, c_function
from ts.bytecode.native.elements import DENSE, Tensors
from ts.bytecode.native.entering import enter
from ts.bytecode.native.exits import LEFT_ALONE, Loop
from ts.bytecode.native.liveness import live_before, reachable, reads_and_writes
from ts.bytecode.native.ranges import Bounds
from ts.bytecode.native.steady import Steady, is_simple, steady
from ts.bytecode.native.writer import MEMORY, Writer
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

_CALL_SCALAR = NUMBER["CALL_SCALAR"]


def translate(code: Code, loops: tuple[Loop, ...], layout: dict[str, int], forced: bool = False) -> str:
    """Return the LLVM module of the loops that have no refusal.

    With `forced`, each instruction first checks whether to exit there, for tests.
    """
    entries = [loop.end for loop in loops if not loop.refusal]
    within = sorted(reachable(code, entries))
    live = live_before(code)
    dirty = 0
    numbers: set[int] = set()
    for pc in within:
        reads, writes = reads_and_writes(code, pc)
        numbers.update(reads, writes)
        for register in writes:
            dirty |= 1 << register
    w = Writer(code, layout, live, dirty, Bounds(code))
    variables = [r for r in sorted(numbers) if w.is_number(r) and not w.is_constant(r)]
    w.label("entry")
    w.do("%left = alloca i64")
    for register in variables:
        w.do(f"%r{register}.v = alloca {w.type(register)}")
        if w.type(register) == "double":
            w.do(f"%r{register}.s = alloca float")
    w.tensors = Tensors(w, within)
    for loop in loops:
        for name in ("base", "limit", "turn", "turns"):
            w.do(f"%{name}.{loop.end} = alloca i64")
        for items in _lists(steady(code, loop)):
            w.do(f"%items.{loop.end}.{items} = alloca ptr")
        if is_simple(code, loop):
            w.count(loop.end)
    w.do("%given = alloca i64")
    given = w.new("load i64, ptr %budget")
    budget = w.new(f"call i64 @llvm.smax.i64(i64 {given}, i64 0)")  # `spend_one` requires that
    w.do(f"store i64 {budget}, ptr %left")
    _load_functions(
        w, {code.instructions[pc][1] for pc in within if code.instructions[pc][0] == _CALL_SCALAR}
    )
    at, first = (w.new(f"ptrtoint ptr {p} to i64") for p in ("%at", "%instructions"))
    offset = w.new(f"sub i64 {at}, {first}")
    cases = " ".join(f"i64 {pc * layout['instruction']}, label %enter.{pc}" for pc in entries)
    w.do(f"switch i64 {offset}, label %nowhere [{cases}]")
    for pc in entries:
        w.label(f"enter.{pc}")
        w.pc = pc
        for register in variables:
            if live[pc] >> register & 1:
                w.load(register)
        w.ask_tensors(pc)
        if w.tensors.ways:
            w.branch(w.tensors.are_dense(w, pc), f"begin.{pc}{DENSE}", f"begin.{pc}")
        else:
            w.go(f"begin.{pc}")
    for way in (*w.tensors.ways, ""):
        w.way = way
        counted = {loop.end: steady(code, loop, way == DENSE) for loop in loops if loop.end in within}
        counted = {end: twice for end, twice in counted.items() if twice or w.counts(end)}
        w.heads = frozenset(code.instructions[end][1] for end in counted)
        for pc in entries:
            w.label(f"begin.{pc}{w.way}")
            _enter(w, pc, counted)
        for pc in within:
            _instruction(w, pc, forced)
        for end, twice in counted.items():
            _go_into(w, end, twice)
        for w.steady in filter(None, counted.values()):  # second version, without the hoisted checks
            for pc in range(w.steady.head, w.steady.end + 1):
                if pc in within:
                    _instruction(w, pc, forced)
        w.steady = None
    w.write_exits()
    w.label("nowhere")
    w.do("unreachable")
    return _MODULE.format(body="\n".join(w.lines), memory=MEMORY)


def _lists(twice: Steady | None) -> list[int]:
    return [] if twice is None else twice.lists


def _load_functions(w: Writer, operators: set[int]) -> None:
    """Load the addresses of C functions of this process from the operators."""
    for number in sorted(operators):
        function = c_function(w.code, number)
        if function is None:
            continue
        place = "%registers"
        for offset in (w.layout["code"], w.layout["operators"], 8 * number, w.layout["data"], function[0]):
            address = w.new(f"getelementptr i8, ptr {place}, i64 {offset}")
            place = w.new(f"load ptr, ptr {address}, !invariant.load !5")
        w.do(f"%direct.{number} = getelementptr i8, ptr {place}, i64 0")


def _enter(w: Writer, pc: int, counted: dict[int, Steady | None]) -> None:
    """Emit a copy of the LOOP for the entry, so that the loop proper has a single entry, its head.

    LLVM only recognizes natural loops.
    """
    w.pc = pc
    op, a, b, c = w.code.instructions[pc]
    build = BUILDERS[OPCODES[op].name]
    if pc in counted:
        twice = counted[pc]
        holds = enter(w, pc, twice, 1)
        if twice:
            known, unknown = w.fresh(), w.fresh()
            w.branch(holds, known, unknown)
            w.label(known)
            w.steady = twice
            build(w, pc, a, b, c)
            w.steady = None
            w.label(unknown)
    build(w, pc, a, b, c)


def _go_into(w: Writer, end: int, twice: Steady | None) -> None:
    """Emit the edge from the code before a loop to its first instruction, with the loop's prologue."""
    head = w.code.instructions[end][1]
    w.label(f"into.{head}{w.way}")
    w.pc = head
    holds = enter(w, end, twice, 0)
    if twice:
        w.branch(holds, w.at(head, twice), w.at(head))
    else:
        w.go(w.at(head))


def _instruction(w: Writer, pc: int, forced: bool) -> None:
    op, a, b, c = w.code.instructions[pc]
    row = OPCODES[op]
    w.pc = pc
    w.label(w.at(pc))
    if row.name in LEFT_ALONE:
        w.go(w.leave(pc))
        return
    if forced:
        counter = w.function(w.layout["until_exit"])
        count = w.new(f"load i64, ptr {counter}")
        w.do(f"store i64 {w.new(f'sub i64 {count}, 1')}, ptr {counter}")
        w.rarely(w.new(f"icmp eq i64 {count}, 0"), w.leave(pc))
    BUILDERS[row.name](w, pc, a, b, c)
    if not row.jumps:
        w.go(w.at(pc + 1))


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
