"""Opcode table, lowering of graphs, register allocation and disassembly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ts.ops.node_schema
from ts._core.assembler.encoding import encode, optimize
from ts._core.assembler.instruction import Instruction, Label
from ts._core.assembler.register_allocation import allocate_registers
from ts._core.value.spec import SPECS
from ts._core.vm.code import Code
from ts.bytecode.disasm import disassemble
from ts.bytecode.lower import lower
from ts.bytecode.opcodes import (
    BRANCHES,
    BY_NAME,
    NUMBER,
    OBJECTS_IN,
    OPCODES,
    PAIRS,
    cython_enum,
    interpreter_source,
)
from ts.errors import InternalError
from ts.ir.graph_parser import parse_ir

OPERANDS = {"-", "#", "T", "O", "F", "P", "<", ">", *"ifboxsvr", *OBJECTS_IN}
INT = SPECS["int"]


def names(text: str) -> list[str]:
    """Return the opcode names of a lowered graph."""
    return [OPCODES[row[0]].name for row in lower(parse_ir(text)).instructions]


def code(*rows: tuple, classes: str = "ii", parameters=(INT,), **tables) -> Code:
    return Code(
        "test",
        [(NUMBER[name], *operands, *[0] * (3 - len(operands))) for name, *operands in rows],
        classes,
        parameters,
        **tables,
    )


SUM = """graph(%n : int):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %t : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %s : int):
      %u : int = aten::add(%s, %i)
      -> (%true, %u)
  return (%t)
"""


# ---- the table ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", OPCODES, ids=lambda row: row.name)
def test_formats_are_known(row):
    """Opcodes have three operands in the table's notation, and only scalar opcodes are marked scalar."""
    assert len(row.operands) == 3
    assert {operand.lstrip("=+") for operand in row.operands} <= OPERANDS
    if row.name not in ("RAISE", "RETURN", "CALL") and row.scalar:
        assert not {"o", "v", "r", *OBJECTS_IN} & {operand.lstrip("=+") for operand in row.operands}


def test_names_and_operators_are_unique():
    assert len(BY_NAME) == len(OPCODES)
    operators = [operator for row in OPCODES for operator in row.operators]
    assert len(set(operators)) == len(operators)


def test_branches_exist():
    for comparison, outcomes in BRANCHES.items():
        assert comparison in BY_NAME
        for name, _ in outcomes:
            assert f"JUMP_{name}" in BY_NAME


def test_enum_lists_every_opcode():
    text = cython_enum()
    assert all(f"    {row.name} = {number}\n" in text for number, row in enumerate(OPCODES))


def test_interpreter_has_a_branch_for_every_opcode():
    """The generated interpreter has one branch for each opcode and superinstruction; written branches stay."""
    template = (Path(__file__).parent.parent / "ts/_core/vm/interp.pyx.in").read_text()
    text = interpreter_source(template)
    names = re.findall(r"(?m)^        (?:el)?if op == (\w+):", text)
    assert sorted(names) == sorted([*BY_NAME, *(f"{a}__{b}" for a, b in PAIRS), "ENTER_NATIVE"])
    assert set(re.findall(r"if op == (\w+):", template)) < set(names)


def test_interpreter_branches():
    """Branches come from the effects of the opcodes; a superinstruction reads each further instruction."""
    text = interpreter_source("while True:\n    if op == MOVE:\n        pass\n    @branches@\n")
    branches = dict(re.findall(r"(?m)^    elif op == (\w+):\n((?:        .*\n)+)", text))
    assert branches["ADD_F64"] == "        F(r, at.a)[0] = F(r, at.b)[0] + F(r, at.c)[0]\n"
    assert branches["LT_F64"] == "        I(r, at.a)[0] = F(r, at.b)[0] < F(r, at.c)[0]\n"
    assert branches["JUMP_NONE"] == "        if R(r, at.b).tag == TAG_NONE:\n            pc = target(at)\n"
    assert branches["LOOP_STEP"].startswith(
        "        I(r, at.b)[0] += 1\n        if I(r, at.b)[0] != I(r, at.c)[0]:\n"
    )
    assert "status = METER_ZERO" in branches["LOOP_STEP"] and "METER_ZERO" not in branches["JUMP_IF"]
    advance = "        at = pc\n        pc += 1\n"
    parts = ("MOD_I64", "ADD_I64", "LOOP_STEP")
    assert branches["__".join(parts)] == advance.join(branches[name] for name in parts)


# ---- verification ------------------------------------------------------------------------------------


def test_valid_code_is_accepted():
    assert code(("ADD_I64", 1, 0, 0), ("RETURN", 1)).scalar


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("ADD_I64", 1, 0, 9), ("RETURN", 1)], "register number"),
        ([("ADD_I64", 1, 0, -1), ("RETURN", 1)], "register number"),
        ([("ADD_F64", 1, 0, 0), ("RETURN", 1)], "register class"),
        ([("ADD_I64", 2, 0, 0), ("RETURN", 1)], "constant, and cannot be written"),
        ([("JUMP", 7), ("RETURN", 1)], "jump target"),
        ([("JUMP", 0), ("RETURN", 1)], "jump target"),
        ([("LOOP", 1), ("RETURN", 1)], "jump target"),
        ([("CALL", 1, 0, 0), ("RETURN", 1)], "function number"),
        ([("CALL_OPERATOR", 0, 0), ("RETURN", 1)], "operator number"),
        ([("PRINT", 4), ("RETURN", 1)], "pool offset"),
        ([("PRINT", 0), ("RETURN", 1)], "pool record"),
        ([("ADD_I64", 1, 0, 0)], "reaches the end of the code"),
        ([], "no instructions"),
    ],
)
def test_invalid_code_is_rejected(rows, message):
    """The verifier rejects code that the interpreter loop could not run safely."""
    with pytest.raises(InternalError, match=message):
        code(*rows, classes="iii", constants=[5], operand_pool=[3, 0])


def test_unknown_opcode_is_rejected():
    with pytest.raises(InternalError, match="unknown opcode"):
        Code("test", [(len(OPCODES), 0, 0, 0)], "i", [INT])


def test_constant_must_have_its_class():
    with pytest.raises(InternalError, match="class"):
        code(("RETURN", 0), classes="if", constants=["text"])


# ---- lowering ----------------------------------------------------------------------------------------


def test_counted_loop_has_no_copies():
    """A counted loop has one register per carried value and one loop instruction."""
    assert names(SUM) == ["MOVE", "JUMP_LE_I64", "MOVE", "ADD_I64", "LOOP_STEP", "RETURN"]


def test_comparison_becomes_branch():
    text = """graph(%a : int, %b : int):
      %c : bool = aten::lt(%a, %b)
      %m : int = prim::If(%c)
        block0():
          -> (%a)
        block1():
          -> (%b)
      return (%m)
    """
    assert "LT_I64" not in names(text)
    assert [name for name in names(text) if name.startswith("JUMP")] in (["JUMP_LE_I64"], ["JUMP_LT_I64"])


def test_while_with_and_branches_twice():
    """`while a < n and b < n` compiles to two branches without a bool."""
    text = """graph(%n : int):
      %max : int = prim::Constant[value=9223372036854775807]()
      %false : bool = prim::Constant[value=0]()
      %zero : int = prim::Constant[value=0]()
      %one : int = prim::Constant[value=1]()
      %start : bool = aten::lt(%zero, %n)
      %r : int = prim::Loop(%max, %start, %zero)
        block0(%i : int, %x : int):
          %y : int = aten::add(%x, %one)
          %p : bool = aten::lt(%y, %n)
          %c : bool = prim::If(%p)
            block0():
              %q : bool = aten::ne(%y, %n)
              -> (%q)
            block1():
              -> (%false)
          -> (%c, %y)
      return (%r)
    """
    assert names(text)[1:] == ["JUMP_LE_I64", "ADD_I64", "JUMP_LE_I64", "LOOP_NE_I64", "RETURN"]


def test_fibonacci_needs_one_copy():
    """In `a, b = b, a + b`, the copy of `b` is moved to the last read of `a`."""
    text = """graph(%n : int):
      %true : bool = prim::Constant[value=1]()
      %zero : int = prim::Constant[value=0]()
      %one : int = prim::Constant[value=1]()
      %x : int, %y : int = prim::Loop(%n, %true, %zero, %one)
        block0(%i : int, %a : int, %b : int):
          %s : int = aten::add(%a, %b)
          %t : int = aten::mul(%s, %one)
          -> (%true, %b, %t)
      return (%x)
    """
    body = names(text)[names(text).index("JUMP_LE_I64") + 2 : -1]
    assert body == ["ADD_I64", "MOVE", "MUL_I64", "LOOP_STEP"]


def test_range_loop_counts_in_range_values():
    text = """graph(%lo : int, %hi : int):
      %true : bool = prim::Constant[value=1]()
      %zero : int = prim::Constant[value=0]()
      %one : int = prim::Constant[value=1]()
      %n : int = aten::__range_length(%lo, %hi, %one)
      %t : int = prim::Loop(%n, %true, %zero)
        block0(%i : int, %s : int):
          %j : int = aten::__derive_index(%i, %lo, %one)
          %u : int = aten::add(%s, %j)
          -> (%true, %u)
      return (%t)
    """
    assert "CALL_SCALAR" not in names(text)


def test_objects_are_dropped_after_last_use():
    text = """graph(%x : int):
      %l : int[] = prim::ListConstruct(%x, %x)
      %n : int = aten::len(%l)
      %m : int = aten::add(%n, %x)
      return (%m)
    """
    assert names(text) == ["LIST_NEW", "LIST_LEN", "DROP", "ADD_I64", "RETURN"]


def test_mixed_arithmetic_converts():
    text = """graph(%x : float, %n : int):
      %y : float = aten::mul(%x, %n)
      return (%y)
    """
    assert names(text) == ["INT_TO_FLOAT", "MUL_F64", "RETURN"]


def test_disassembly_names_effects():
    text = disassemble(lower(parse_ir(SUM), "total"))
    assert text.startswith("code of total\n  parameters: r0 int\n")
    assert "LOOP_STEP" in text and "+= 1; if" in text


def test_breakpoints_are_shown():
    """Breakpoints appear in the function table of a code, without being functions."""
    unit = ts.jit.CompilationUnit("def f() -> int:\n    breakpoint()\n    return 1\n")
    assert "breaks" in str(unit.f.bytecode)


# ---- assembler ---------------------------------------------------------------------------------------------


def assembled(
    code: list[Instruction], classes: str, parameters: int, strings: set[int] | None = None
) -> list[tuple]:
    """Return the (opcode name, a, b, c) of assembled instructions without constants."""
    real_registers, _ = allocate_registers(code, classes, parameters, set(), strings or set())
    rows, _, _ = encode(optimize(code, real_registers), real_registers, lambda line: line)
    return [(OPCODES[op].name, *operands) for op, *operands in rows]


def test_instructions_name_the_registers_they_read_and_write():
    call = Instruction("CALL_OPERATOR", 0, register_list=[4, 5, 6], results=1, keeps=(9,))
    assert (call.reads, call.writes, call.target) == ((4, 5, 9), (6,), None)
    label = Label()
    step = Instruction("LOOP_STEP", label, 1, 2)
    assert (step.reads, step.writes, step.target) == ((1, 2), (1,), label)
    assert Instruction("", label).name == ""
    with pytest.raises(KeyError):
        Instruction("UNKNOWN")


def test_copies_are_coalesced_and_jumps_inverted():
    """The copy of a result needs no instruction, and a jump over a JUMP is inverted."""
    body, end = Label(), Label()
    code = [
        Instruction("JUMP_LT_I64", body, 0, 1),
        Instruction("JUMP", end),
        Instruction("", body),
        Instruction("ADD_I64", 2, 0, 1),
        Instruction("MOVE", 3, 2),
        Instruction("RETURN", 3),
        Instruction("", end),
        Instruction("RETURN", 1),
    ]
    assert assembled(code, "iiii", 2) == [
        ("JUMP_LE_I64", 3, 1, 0),
        ("ADD_I64", 0, 0, 1),
        ("RETURN", 0, 0, 0),
        ("RETURN", 1, 0, 0),
    ]


def test_objects_are_dropped_on_the_path_that_does_not_read_them():
    """Strings need no DROP, because they may stay alive until the frame ends."""
    other = Label()

    def program() -> list[Instruction]:
        return [
            Instruction("COPY", 2, 0),
            Instruction("JUMP_IF", other, 1),
            Instruction("RETURN", 2),
            Instruction("", other),
            Instruction("NOT", 3, 1),
            Instruction("RETURN", 3),
        ]

    assert [row[0] for row in assembled(program(), "obob", 2)].count("DROP") == 1
    assert [row[0] for row in assembled(program(), "obob", 2, strings={0, 2})].count("DROP") == 0


def test_unknown_registers_are_rejected():
    for code in ([Instruction("RETURN", 2)], [Instruction("MOVE", -1, 0)]):
        with pytest.raises(InternalError, match="unknown register"):
            allocate_registers(code, "ii", 2, set(), set())
