"""Disassembler of bytecode, which prints the instructions with their source lines.

An example of the text, with the effect of each instruction on the right:

    code of total: 4 registers
      parameters: r0 int        locals: r1 int, r2 int        constants: r3 = 0

    # sum.py:4    for i in range(n):
       0  MOVE         r1, r3             r1 := r3
       1  JUMP_LE_I64  -> 4, r0, r3       if r0 <= r3 goto 4
"""

from __future__ import annotations

from typing import Any

from ts.bytecode.opcodes import OPCODES
from ts.ir.source import in_program

_CLASS_NAMES = {"i": "int", "f": "float", "b": "bool", "o": "object", "x": "any"}


def disassemble(code: Any) -> str:
    """Return the disassembly of a `Code`."""
    first = code.first_constant()
    names = [f"r{i} {_CLASS_NAMES[kind]}" for i, kind in enumerate(code.classes)]
    lines = [f"code of {code.name}"]
    for title, items in (
        ("parameters", names[: code.parameter_count]),
        ("locals", names[code.parameter_count : first]),
        ("constants", [f"r{i} = {_shorten(value)}" for i, value in enumerate(code.constants, first)]),
    ):
        if items:
            lines.append(f"  {title}: {', '.join(items)}")
    targets = {row[1] for row in code.instructions if OPCODES[row[0]].jumps}
    last_line = None
    for index, row in enumerate(code.instructions):
        line = source_line(code.lines[index] if code.lines else None)
        if line and line != last_line:
            lines += ["", f"# {line}"]
            last_line = line
        mark = ">" if index in targets else " "
        name, operands, effect = instruction_text(code, row)
        lines.append(f"{mark}{index:4}  {name:<16} {operands:<22} {effect}".rstrip())
    return "\n".join(lines) + "\n"


def instruction_text(code: Any, row: tuple[int, int, int, int]) -> tuple[str, str, str]:
    """Return the texts of an instruction's name, operands and effect."""
    opcode = OPCODES[row[0]]
    operand_texts = []
    effect = opcode.effect
    for letter, operand, format in zip("abc", row[1:], opcode.operands, strict=True):
        match format:
            case "-":
                continue
            case "<" | ">":
                operand_text = f"{operand}"
                effect = effect.replace(f"goto {letter}", f"goto {operand}")
            case "O":
                operand_text = code.operators[operand].key
                effect = effect.replace(f"operator {letter}", operand_text)
            case "F":
                # the operand of BREAK is a `Breakpoints` object, which has no name
                operand_text = getattr(code.functions[operand], "name", "breaks")
                effect = effect.replace(f"function {letter}", operand_text)
            case "T":
                operand_text = code.types[operand].annotation_str
                effect = effect.replace(f"type {letter}", operand_text)
            case "P":
                operand_text = f"({', '.join(f'r{r}' for r in code.operand_pool_list(operand))})"
                effect = effect.replace(f"pool[{letter}]", operand_text)
            case "#":
                operand_text = str(operand)
                effect = effect.replace(f" {letter} of", f" {operand} of")
                effect = effect.replace(f"= {letter}", f"= {operand}")
            case _:
                operand_text = f"r{operand}"
        effect = effect.replace(f"r[{letter}]", operand_text)
        operand_texts.append(operand_text)
    return opcode.name, ", ".join(operand_texts), effect


def source_line(stack: Any) -> str:
    """Return `file.py:3    text of the line` for the innermost call of a call stack."""
    range = in_program(stack[-1][1]) if stack else None
    if range is None:
        return ""
    source_text = str(range.source.text)
    begin = source_text.rfind("\n", 0, range.start) + 1
    end = source_text.find("\n", range.start)
    line = source_text[begin : end if end >= 0 else len(source_text)].strip()
    return f"{range.location()}    {line}"


def _shorten(value: Any) -> str:
    rendered = repr(value).encode(errors="backslashreplace").decode()  # lone surrogates cannot be printed
    return rendered if len(rendered) <= 40 else rendered[:37] + "..."
