"""Opcode table (instruction set, instruction format) of all bytecode instructions and superinstructions.

Each row defines one opcode. The table determines the opcodes that the lowering selects, the disassembly, and
the formats that the verifier checks. Two functions generate code from the table: `cython_enum` generates
`ts/_core/vm/opcodes.pxd`, and `interpreter_source` generates branches of the interpreter.

An instruction is four 32-bit words: the opcode and the operands a, b, c. The example assigns r[2] + r[3] to
r[4]:

    +--------+--------+--------+--------+
    |   op   |   a    |   b    |   c    |        ADD_I64 4 2 3
    +--------+--------+--------+--------+

Every register has a class: i(nt), f(loat), b(ool), o(bject) or x (any value, None included). An instruction
on numbers writes only the payload of a register, because the type tag is already set. The format of an opcode
has one word for each operand:

Every register has a class: i(nt), f(loat), b(ool), o(bject), x (any value, None included). An instruction on
numbers writes only the payload of a register, because the type tag is already set. The format of an opcode
has one word for each operand:

The build runs this module alone. Therefore, it imports only the standard library.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "BRANCHES", "BY_NAME", "BY_OPERATOR", "NUMBER", "OBJECTS_IN", "OPCODES", "PAIRS", "Opcode", "cython_enum",
    "interpreter_source", "register_format",
]  # fmt: skip

# format of an object operand -> name of its type kind (KIND_...) in the core
OBJECTS_IN = {
    "list": "LIST", "dict": "DICT", "tuple": "TUPLE", "object": "CLASS", "future": "FUTURE", "str": "STR",
    "tensor": "TENSOR",
}  # fmt: skip


def register_format(format: str) -> str:
    """Return the register class that an operand format denotes (i, f, b, o, x, s, v or r).

    Return "" if the operand is not a register.
    """
    register_kind = format.lstrip("=+")
    return "o" if register_kind in OBJECTS_IN else register_kind if register_kind in "ifboxsvr" else ""


class Opcode(NamedTuple):
    """One opcode. `operators` lists operator overloads that it implements. Its operands are their inputs."""

    name: str
    format: str
    effect: str
    operators: tuple[str, ...] = ()
    scalar: bool = True  # True for an instruction without Python objects, which can run without the GIL

    @property
    def operands(self) -> tuple[str, ...]:
        """Formats of operands a, b and c."""
        return tuple(self.format.split())

    @property
    def jumps(self) -> bool:
        """True if operand a is a jump target."""
        return self.format[0] in "<>"


def op(name: str, format: str, effect: str, *operators: str) -> Opcode:
    """Return an opcode that uses only numbers."""
    return Opcode(name, format, effect, operators)


def obj(name: str, format: str, effect: str, *operators: str) -> Opcode:
    """Return an opcode that uses Python objects."""
    return Opcode(name, format, effect, operators, scalar=False)


MOVES = [
    op("MOVE", "=s s -", "r[a] := r[b]"),
    obj("COPY", "=r r -", "r[a] := new reference to r[b]"),
    obj("TAKE", "=v v -", "r[a] := r[b]; r[b] := unset"),
    obj("DROP", "+v - -", "r[a] := unset"),
    op("CAST", "=s x -", "r[a] := r[b], which must hold that class"),
    obj("CAST_OBJECT", "=o x -", "r[a] := r[b], which must not be None or a number"),
    obj("CAST_TO", "=r r T", "r[a] := r[b], which must be of type c"),
    obj("IS_INSTANCE", "=b x T", "r[a] := isinstance(r[b], type c)"),
    op("IS_NONE", "=b x -", "r[a] := r[b] is None", "aten::__is__"),
    op("IS_NOT_NONE", "=b x -", "r[a] := r[b] is not None", "aten::__isnot__"),
]

INTS = [
    op("ADD_I64", "=i i i", "r[a] := r[b] + r[c]", "aten::add.int"),
    op("SUB_I64", "=i i i", "r[a] := r[b] - r[c]", "aten::sub.int"),
    op("MUL_I64", "=i i i", "r[a] := r[b] * r[c]", "aten::mul.int"),
    op("FLOORDIV_I64", "=i i i", "r[a] := r[b] // r[c]", "aten::floordiv.int"),
    op("MOD_I64", "=i i i", "r[a] := r[b] % r[c]", "aten::remainder.int"),
    op("AND_I64", "=i i i", "r[a] := r[b] & r[c]", "aten::__and__.int"),
    op("OR_I64", "=i i i", "r[a] := r[b] | r[c]", "aten::__or__.int"),
    op("XOR_I64", "=i i i", "r[a] := r[b] ^ r[c]", "aten::__xor__.int"),
    op("SHL_I64", "=i i i", "r[a] := r[b] << r[c]", "aten::__lshift__.int"),
    op("SHR_I64", "=i i i", "r[a] := r[b] >> r[c]", "aten::__rshift__.int"),
    op("MIN_I64", "=i i i", "r[a] := min(r[b], r[c])", "prim::min.int"),
    op("MAX_I64", "=i i i", "r[a] := max(r[b], r[c])", "prim::max.int"),
    op("NEG_I64", "=i i -", "r[a] := -r[b]", "aten::neg.int"),
    op("ABS_I64", "=i i -", "r[a] := abs(r[b])", "prim::abs.int"),
    op("EQ_I64", "=b i i", "r[a] := r[b] == r[c]", "aten::eq.int"),
    op("NE_I64", "=b i i", "r[a] := r[b] != r[c]", "aten::ne.int"),
    op("LT_I64", "=b i i", "r[a] := r[b] < r[c]", "aten::lt.int"),
    op("LE_I64", "=b i i", "r[a] := r[b] <= r[c]", "aten::le.int"),
    op("GT_I64", "=b i i", "r[a] := r[b] > r[c]", "aten::gt.int"),
    op("GE_I64", "=b i i", "r[a] := r[b] >= r[c]", "aten::ge.int"),
    op("DIV_I64", "=f i i", "r[a] := r[b] / r[c]", "aten::div.int"),
]

FLOATS = [
    op("ADD_F64", "=f f f", "r[a] := r[b] + r[c]", "aten::add.float"),
    op("SUB_F64", "=f f f", "r[a] := r[b] - r[c]", "aten::sub.float"),
    op("MUL_F64", "=f f f", "r[a] := r[b] * r[c]", "aten::mul.float"),
    op("DIV_F64", "=f f f", "r[a] := r[b] / r[c]", "aten::div.float"),
    op("FLOORDIV_F64", "=f f f", "r[a] := r[b] // r[c]", "aten::floordiv.float"),
    op("MOD_F64", "=f f f", "r[a] := r[b] % r[c]", "aten::remainder.float"),
    op("MIN_F64", "=f f f", "r[a] := min(r[b], r[c])", "prim::min.float"),
    op("MAX_F64", "=f f f", "r[a] := max(r[b], r[c])", "prim::max.float"),
    op("NEG_F64", "=f f -", "r[a] := -r[b]", "aten::neg.float"),
    op("ABS_F64", "=f f -", "r[a] := abs(r[b])", "prim::abs.float"),
    op("EQ_F64", "=b f f", "r[a] := r[b] == r[c]", "aten::eq.float"),
    op("NE_F64", "=b f f", "r[a] := r[b] != r[c]", "aten::ne.float"),
    op("LT_F64", "=b f f", "r[a] := r[b] < r[c]", "aten::lt.float"),
    op("LE_F64", "=b f f", "r[a] := r[b] <= r[c]", "aten::le.float"),
    op("GT_F64", "=b f f", "r[a] := r[b] > r[c]", "aten::gt.float"),
    op("GE_F64", "=b f f", "r[a] := r[b] >= r[c]", "aten::ge.float"),
]

BOOLS_AND_CONVERSIONS = [
    op("NOT", "=b b -", "r[a] := not r[b]", "aten::__not__"),
    op("AND", "=b b b", "r[a] := r[b] and r[c]", "aten::__and__.bool"),
    op("OR", "=b b b", "r[a] := r[b] or r[c]", "aten::__or__.bool"),
    op("XOR", "=b b b", "r[a] := r[b] != r[c]", "aten::__xor__.bool", "aten::ne.bool"),
    op("EQ_BOOL", "=b b b", "r[a] := r[b] == r[c]", "aten::eq.bool"),
    op("INT_TO_FLOAT", "=f i -", "r[a] := float(r[b])", "aten::Float.int"),
    op("FLOAT_TO_INT", "=i f -", "r[a] := int(r[b])", "aten::Int.float"),
    op("BOOL_TO_INT", "=i b -", "r[a] := int(r[b])", "aten::Int.bool"),
    op("INT_TO_BOOL", "=b i -", "r[a] := r[b] != 0", "aten::Bool.int"),
    op("FLOAT_TO_BOOL", "=b f -", "r[a] := r[b] != 0.0", "aten::Bool.float"),
]

CONTAINERS = [
    obj("LIST_LEN", "=i list -", "r[a] := len(r[b])", "aten::len.t"),
    obj("LIST_GET_SCALAR", "=s list i", "r[a] := r[b][r[c]]"),
    obj("LIST_GET", "=r list i", "r[a] := new reference to r[b][r[c]]"),
    obj("LIST_SET_SCALAR", "list i s", "r[a][r[b]] := r[c]"),
    obj("LIST_SET", "list i r", "r[a][r[b]] := new reference to r[c]"),
    obj("LIST_APPEND", "list r -", "r[a].append(r[b])"),
    obj("LIST_CHECK_LEN", "list # -", "fail unless len(r[a]) = b"),
    obj("LIST_NEW", "=o T P", "r[a] := list of pool[c]"),
    obj("DICT_LEN", "=i dict -", "r[a] := len(r[b])"),
    obj("DICT_GET_SCALAR", "=s dict r", "r[a] := r[b][r[c]]"),
    obj("DICT_GET", "=r dict r", "r[a] := new reference to r[b][r[c]]"),
    obj("DICT_FIND", "+r dict r", "r[a] := new reference to r[b][r[c]], if r[c] in r[b]"),
    obj("DICT_SET_SCALAR", "dict r s", "r[a][r[b]] := r[c]"),
    obj("DICT_SET", "dict r r", "r[a][r[b]] := new reference to r[c]"),
    obj("DICT_CONTAINS", "=b dict r", "r[a] := r[c] in r[b]"),
    obj("DICT_NEW", "=o T P", "r[a] := dict of pool[c]: key, value, key, value ..."),
    obj("TUPLE_NEW", "=o T P", "r[a] := tuple of pool[c]"),
    obj("TUPLE_GET", "=r tuple #", "r[a] := new reference to item c of r[b]"),
    obj("STR_LEN", "=i str -", "r[a] := len(r[b])", "aten::len.str"),
    obj("STR_GET", "=o str i", "r[a] := r[b][r[c]]", "aten::__getitem__.str", "prim::StringIndex"),
    obj("STR_EQ", "=b str str", "r[a] := r[b] == r[c]", "aten::eq.str"),
    obj("STR_NE", "=b str str", "r[a] := r[b] != r[c]", "aten::ne.str"),
]

OBJECTS = [
    obj("OBJECT_NEW", "=o T -", "r[a] := new object of class b"),
    obj("ATTR_GET_SCALAR", "=s object #", "r[a] := slot c of r[b]"),
    obj("ATTR_GET", "=r object #", "r[a] := new reference to slot c of r[b]"),
    obj("ATTR_SET_SCALAR", "object # s", "slot b of r[a] := r[c]"),
    obj("ATTR_SET", "object # r", "slot b of r[a] := new reference to r[c]"),
]

ELEMENTS = [
    obj("HAS_ELEMENTS", "=b tensor #", "r[a] := dtype, rank and layout of r[b] match the encoded c"),
    obj("LOAD_FLOAT", "=f P #", "r[a] := the element at pool[b]: tensor and indices; its dtype is c"),
    obj("LOAD_INT", "=i P #", "r[a] := the element at pool[b]: tensor and indices; its dtype is c"),
    obj("STORE_FLOAT", "P f #", "the element at pool[a], of dtype c, := r[b]"),
    obj("STORE_INT", "P i #", "the element at pool[a], of dtype c, := r[b]"),
    op("ROUND_F32", "=f f -", "r[a] := r[b] rounded to float32"),
]

CALLS = [
    obj("CALL_OPERATOR", "O P -", "operator a on pool[b]: arguments, then results"),
    op("CALL_SCALAR", "O P -", "operator a, of numbers only, on pool[b]"),
    op("CALL", "=r F P", "r[a] := function b called with pool[c]"),
    obj("CALL_METHOD", "=r F P", "r[a] := method b of the first of pool[c] called with pool[c]"),
    obj("ENTER_SPECIALIZATION", "F - -", "continue in the specialization of function a for these arguments"),
    op("RETURN", "r - -", "leave the function with r[a]"),
    op("RAISE", "r r -", "raise an exception with message r[a], of the class that r[b] names"),
    obj("PRINT", "P - -", "print pool[a]"),
    obj("FORK", "=o F P", "r[a] := future of function b, started with pool[c]"),
    obj("WAIT", "=r future T", "r[a] := the value, of type c, of the future r[b], once it is set"),
    obj("BREAK", "F # P", "stop point b of the debugger a; pool[c] are the variables"),
]


JUMPS = [
    op("JUMP", "> - -", "goto a"),
    op("JUMP_IF", "> b -", "if r[b] goto a"),
    op("JUMP_IF_NOT", "> b -", "if not r[b] goto a"),
    op("JUMP_EQ_I64", "> i i", "if r[b] == r[c] goto a"),
    op("JUMP_NE_I64", "> i i", "if r[b] != r[c] goto a"),
    op("JUMP_LT_I64", "> i i", "if r[b] < r[c] goto a"),
    op("JUMP_LE_I64", "> i i", "if r[b] <= r[c] goto a"),
    op("JUMP_EQ_F64", "> f f", "if r[b] == r[c] goto a"),
    op("JUMP_NE_F64", "> f f", "if r[b] != r[c] goto a"),
    op("JUMP_LT_F64", "> f f", "if r[b] < r[c] goto a"),
    op("JUMP_LE_F64", "> f f", "if r[b] <= r[c] goto a"),
    op("JUMP_NOT_LT_F64", "> f f", "if not r[b] < r[c] goto a"),
    op("JUMP_NOT_LE_F64", "> f f", "if not r[b] <= r[c] goto a"),
    op("JUMP_NONE", "> x -", "if r[b] is None goto a"),
    op("JUMP_NOT_NONE", "> x -", "if r[b] is not None goto a"),
    op("LOOP", "< - -", "goto a"),
    op("LOOP_IF", "< b -", "if r[b] goto a"),
    op("LOOP_IF_NOT", "< b -", "if not r[b] goto a"),
    op("LOOP_EQ_I64", "< i i", "if r[b] == r[c] goto a"),
    op("LOOP_NE_I64", "< i i", "if r[b] != r[c] goto a"),
    op("LOOP_LT_I64", "< i i", "if r[b] < r[c] goto a"),
    op("LOOP_LE_I64", "< i i", "if r[b] <= r[c] goto a"),
    op("LOOP_LT_F64", "< f f", "if r[b] < r[c] goto a"),
    op("LOOP_LE_F64", "< f f", "if r[b] <= r[c] goto a"),
    op("LOOP_STEP", "< +i i", "r[b] += 1; if r[b] != r[c] goto a"),
]

OPCODES: tuple[Opcode, ...] = (
    *MOVES,
    *INTS,
    *FLOATS,
    *BOOLS_AND_CONVERSIONS,
    *CONTAINERS,
    *OBJECTS,
    *ELEMENTS,
    *CALLS,
    *JUMPS,
)

BY_NAME: dict[str, Opcode] = {row.name: row for row in OPCODES}
NUMBER: dict[str, int] = {row.name: number for number, row in enumerate(OPCODES)}
BY_OPERATOR: dict[str, Opcode] = {operator: row for row in OPCODES for operator in row.operators}

# Superinstructions. If the two instructions of a pair are adjacent, the assembler replaces the first opcode
# by the pair's opcode. This opcode executes both instructions with their operands. The second instruction
# is kept, because jumps may lead to it. It may get the opcode of another pair. The verifier, error stacks
# and the disassembly see only the single instructions.
PAIRS: tuple[tuple[str, str], ...] = (
    ("ADD_I64", "LOOP_STEP"),
    ("ADD_I64", "LOOP_NE_I64"),
    ("ADD_I64", "LOOP_LT_I64"),
    ("MUL_I64", "ADD_I64"),
    ("MOD_I64", "ADD_I64__LOOP_STEP"),
    ("AND_I64", "JUMP_NE_I64"),
    ("AND_I64", "JUMP_EQ_I64"),
    ("MUL_F64", "ADD_F64"),
    ("MUL_F64", "SUB_F64"),
    ("MUL_F64", "MUL_F64__ADD_F64"),
    ("MUL_F64", "MUL_F64__SUB_F64"),
    ("LIST_GET_SCALAR", "JUMP_IF_NOT"),
    ("DICT_CONTAINS", "JUMP_IF_NOT"),
    ("LIST_GET", "DICT_CONTAINS__JUMP_IF_NOT"),
    ("ADD_I64", "DICT_SET_SCALAR"),
    ("DICT_GET_SCALAR", "ADD_I64__DICT_SET_SCALAR"),
    ("LIST_SET_SCALAR", "ADD_I64__LOOP_NE_I64"),
)

# Comparison -> (jump if it is true, jump if it is false). Each jump is (name, whether the operands are
# swapped). Comparisons with nan are false. Therefore, `not a < b` of floats differs from `a >= b` and has a
# separate jump.
BRANCHES: dict[str, tuple[tuple[str, bool], tuple[str, bool]]] = {
    "EQ_I64": (("EQ_I64", False), ("NE_I64", False)),
    "NE_I64": (("NE_I64", False), ("EQ_I64", False)),
    "LT_I64": (("LT_I64", False), ("LE_I64", True)),
    "LE_I64": (("LE_I64", False), ("LT_I64", True)),
    "GT_I64": (("LT_I64", True), ("LE_I64", False)),
    "GE_I64": (("LE_I64", True), ("LT_I64", False)),
    "EQ_F64": (("EQ_F64", False), ("NE_F64", False)),
    "NE_F64": (("NE_F64", False), ("EQ_F64", False)),
    "LT_F64": (("LT_F64", False), ("NOT_LT_F64", False)),
    "LE_F64": (("LE_F64", False), ("NOT_LE_F64", False)),
    "GT_F64": (("LT_F64", True), ("NOT_LT_F64", True)),
    "GE_F64": (("LE_F64", True), ("NOT_LE_F64", True)),
    "IS_NONE": (("NONE", False), ("NOT_NONE", False)),
    "IS_NOT_NONE": (("NOT_NONE", False), ("NONE", False)),
}


# ---- source code of the interpreter ----------------------------------------------------------------------

# Opcodes that call a function of `instruction_helpers.pxd` or `tensor_element_access.pxd`. The function
# returns an exit status, which is 0 after success.
FUNCTIONS: dict[str, str] = {
    "COPY": "copy", "TAKE": "take", "DROP": "drop", "CAST_OBJECT": "cast_object", "CAST_TO": "cast_to",
    "IS_INSTANCE": "test_instance",
    "LIST_GET_SCALAR": "list_get_number", "LIST_GET": "list_get", "LIST_SET_SCALAR": "list_put_number",
    "LIST_SET": "list_put", "LIST_APPEND": "append", "LIST_NEW": "new_list",
    "DICT_LEN": "dict_length", "DICT_GET_SCALAR": "dict_get_number", "DICT_GET": "dict_get",
    "DICT_FIND": "dict_lookup", "DICT_SET_SCALAR": "dict_put_number", "DICT_SET": "dict_put",
    "DICT_CONTAINS": "dict_has", "DICT_NEW": "new_dict", "TUPLE_NEW": "new_tuple", "TUPLE_GET": "tuple_get",
    "STR_LEN": "str_length", "STR_GET": "str_get", "STR_EQ": "str_equal", "STR_NE": "str_not_equal",
    "OBJECT_NEW": "new_object", "ATTR_GET": "attribute_get", "ATTR_SET": "attribute_put",
    "HAS_ELEMENTS": "has_elements", "LOAD_FLOAT": "load_float", "LOAD_INT": "load_int",
    "STORE_FLOAT": "store_float", "STORE_INT": "store_int", "CALL_SCALAR": "operate_scalar",
}  # fmt: skip

# Results of opcodes on numbers whose `effect` is not an expression in Cython, because C operators differ from
# Python's in rounding, shifts and conversions. `b` and `c` are the operands.
EXPRESSIONS: dict[str, str] = {
    "FLOORDIV_I64": "floordiv_int(b, c)", "FLOORDIV_F64": "floordiv_float(b, c)",
    "MOD_I64": "mod_int(b, c)", "MOD_F64": "mod_float(b, c)",
    "SHL_I64": "shift_left(b, c)", "SHR_I64": "shift_right(b, c)",
    "MIN_I64": "min_int(b, c)", "MIN_F64": "min_float(b, c)",
    "MAX_I64": "max_int(b, c)", "MAX_F64": "max_float(b, c)",
    "ABS_I64": "abs_int(b)", "ABS_F64": "fabs(b)", "DIV_I64": "<double>b / <double>c",
    "NOT": "b ^ 1", "AND": "b & c", "OR": "b | c", "XOR": "b ^ c", "ROUND_F32": "<double><float>b",
    "INT_TO_FLOAT": "<double>b", "FLOAT_TO_INT": "int_from_float(b)", "BOOL_TO_INT": "b",
}  # fmt: skip
BRANCHES_MARK = "@branches@"


def _register(row: Opcode, operand: str) -> str:
    """Return the expression for operand "a", "b" or "c" of an instruction, a register."""
    kind = register_format(row.operands["abc".index(operand)])
    return f"{'F' if kind == 'f' else 'I'}(r, at.{operand})[0]"


def _number_expression(row: Opcode, text: str) -> str:
    """Return an expression of the operands, such as "r[b] + r[c]" or "mod_int(b, c)", in Cython."""
    if match := re.fullmatch(r"r\[b\] is (not )?None", text):
        return f"R(r, at.b).tag {'!=' if match[1] else '=='} TAG_NONE"
    return re.sub(r"\br\[([bc])\]|\b([bc])\b", lambda m: _register(row, m[1] or m[2]), text)


def _branch(row: Opcode) -> list[str]:
    """Return the statements of the interpreter that execute an opcode."""
    if row.name in FUNCTIONS:
        return [f"status = {FUNCTIONS[row.name]}(r, at)", "if status:", "    break"]
    if row.jumps:
        jump = ["pc = target(at)"]
        if row.name.startswith("LOOP"):
            jump += ["budget -= 1", "if budget < 0:", "    status = METER_ZERO", "    break"]
        step, _, condition = row.effect.removesuffix("goto a").rpartition("if ")
        lines = [f"{_register(row, 'b')} += 1"] if step else []
        if not condition.strip():
            return jump
        test = f"if {_number_expression(row, condition.strip())}:"
        return [*lines, test, *(f"    {line}" for line in jump)]
    checks = []
    if row.name in ("FLOORDIV_I64", "MOD_I64"):
        checks = [f"if {_register(row, 'c')} == 0:", "    status = DIVISION_BY_ZERO", "    break"]
    text = EXPRESSIONS.get(row.name) or row.effect.removeprefix("r[a] := ")
    return [*checks, f"{_register(row, 'a')} = {_number_expression(row, text)}"]


def interpreter_source(template: str) -> str:
    """Return the source of `ts/_core/vm/interp.pyx`: `template` with the branches of all other opcodes.

    The branch of a superinstruction consists of the branches of its instructions. Each instruction but the
    first is read before it is executed.
    """
    written = set(re.findall(r"\bop == (\w+):", template))
    branches = {row.name: _branch(row) for row in OPCODES if row.name not in written}
    for first, second in sorted(PAIRS, key=lambda pair: pair[1].count("__")):
        branches[f"{first}__{second}"] = [*branches[first], "at = pc", "pc += 1", *branches[second]]
    mark = re.search(rf"^( *){BRANCHES_MARK}\n", template, re.MULTILINE)
    assert mark is not None
    lines = [
        line
        for name, body in branches.items()
        for line in (f"{mark[1]}elif op == {name}:", *(f"{mark[1]}    {line}" for line in body))
    ]
    head = "# Written by the build from interp.pyx.in and ts/bytecode/opcodes.py: edit these files.\n"
    return head + template.replace(mark[0], "\n".join(lines) + "\n")


def cython_enum() -> str:
    """Return the source of `ts/_core/vm/opcodes.pxd`: the enum, and the formats for the verifier."""
    lines = [
        '"""The opcodes, written by the build from ts/bytecode/opcodes.py: edit the table, not this."""',
        "",
        "cdef enum Opcode:",
    ]
    lines += [f"    {row.name} = {opcode}" for opcode, row in enumerate(OPCODES)]
    lines += [f"    OPCODE_COUNT = {len(OPCODES)}"]  # the verifier rejects this opcode and larger ones
    pairs = {f"{a}__{b}": opcode for opcode, (a, b) in enumerate(PAIRS, len(OPCODES))}
    lines += [f"    {name} = {opcode}" for name, opcode in pairs.items()]
    lines += [f"    PAIR_COUNT = {len(PAIRS)}"]
    # ENTER_NATIVE occurs only in assembled code: it replaces the LOOP at the end of a loop that has machine
    # code.
    lines += [f"    ENTER_NATIVE = {len(OPCODES) + len(PAIRS)}", "", "cdef extern from *:", '    """']
    lines.append("    typedef struct { const char *name, *format; int scalar; } OpcodeInfo;")
    lines.append("    static const OpcodeInfo OPCODE_INFO[] = {")
    lines += [f'        {{"{row.name}", "{row.format}", {int(row.scalar)}}},' for row in OPCODES]
    lines += ["    };", "    static const int PAIR_OF[][2] = {"]
    lines += [f"        {{{NUMBER[a]}, {(NUMBER | pairs)[b]}}}," for a, b in PAIRS]
    lines += ["    };", '    """']
    lines += [
        "    ctypedef struct OpcodeInfo:",
        "        const char *name",
        "        const char *format",
        "        int scalar",
        "    const OpcodeInfo OPCODE_INFO[]",
        "    const int PAIR_OF[][2]",
        "",
    ]
    return "\n".join(lines)
