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

Instructions of the interpreter. An instruction has four 32-bit words: the opcode and the operands `a`, `b` and `c`. `r[a]` is the register that
operand `a` names. Constants are registers, too. `_I64` instructions handle 64-bit integers, `_F64` instructions 64-bit floats, `_SCALAR`
instructions any number. This page is generated from `ts/bytecode/opcodes.py` by `python -m tests.regenerate`.
[Reading graphs and bytecode](../explanation/reading-ir-and-bytecode.md) explains a listing.

| Operand format | Meaning |
|---|---|
| `i` `f` `b` `o` `x` | reads an integer, float, bool or object register, or a register of any value |
| `=i` `=f` ... | writes the register |
| `+i` | reads and writes the register |
| `list` `dict` `str` `tuple` `future` `tensor` `object` | reads an object register of this type |
| `s` `=s` | a number register; all of one instruction have the same type |
| `v` | reads an object register or a register of any value |
| `r` `=r` | a register of any type |
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
