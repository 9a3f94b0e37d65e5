"""Page `docs/reference/bytecode.md`: the instructions, generated from the opcode table.

Input: `ts.bytecode.opcodes`. Output: the page. `python -m tests.regenerate` writes it; `tests/test_docs.py` checks it.
"""

from __future__ import annotations

from pathlib import Path

from ts.bytecode.opcodes import OPCODES

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "bytecode.md"
NAMES_PER_ROW = 3  # number of operator names in a table row

HEAD = """\
# Bytecode

This page lists the instructions of the interpreter. An instruction has four 32-bit words: the opcode and the operands `a`, `b` and `c`.
`r[a]` is the register with the number in operand `a`. Each constant also has a register. `pool[a]` is the list of registers with the index
in operand `a`. Instructions with the suffix `_I64` operate on 64-bit integers, those with `_F64` on 64-bit floats, and those with `_SCALAR`
on numbers of any type. This page is generated from `ts/bytecode/opcodes.py` by `python -m tests.regenerate`.
[Reading graphs and bytecode](../explanation/reading-ir-and-bytecode.md) explains a listing.

| Operand format | Meaning |
|---|---|
| `i` `f` `b` `o` `x` | reads an integer, float, bool or object register, or a register of any value |
| `=i` `=f` ... | writes a register of this type |
| `+i` `+r` | reads and writes a register of this type |
| `list` `dict` `str` `tuple` `future` `tensor` `object` | reads an object register of this type |
| `s` `=s` | reads, writes a register of a number. All `s` operands of an instruction have the same type |
| `v` | reads an object register or a register of any value |
| `r` `=r` | reads, writes a register of any type |
| `>` `<` | jump target, forwards or backwards |
| `#` `T` `O` `F` `P` | a number; an index of a type, operator, function or register list |
| `-` | unused |

| Opcode | Operands | Effect | Operators |
|---|---|---|---|
"""


def page() -> str:
    """Return the text of docs/reference/bytecode.md."""
    lines = []
    for opcode in OPCODES:
        names = [f"`{name}`" for name in opcode.operators[:NAMES_PER_ROW]]
        more = ["..."] if len(opcode.operators) > NAMES_PER_ROW else []
        cells = (f"`{opcode.name}`", f"`{opcode.format}`", opcode.effect, ", ".join(names + more))
        lines.append("| {} |".format(" | ".join(cell.replace("|", "\\|") for cell in cells)))
    return HEAD + "\n".join(lines) + "\n"
