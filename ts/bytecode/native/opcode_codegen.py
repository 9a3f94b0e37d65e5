"""LLVM IR code generation for each opcode.

In the example, the builder `w` gets the code of the instruction at `pc` with the operands a, b and c:

    BUILDERS["ADD_I64"](w, pc, a, b, c)

Int operations wrap around. Floating-point operations are never contracted or reordered. An operation that
would raise exits to the interpreter instead (`side_exits`). Only the builders of jumps end the current basic
block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ts._core.builtin_ops.math import c_function as unary_function
from ts._core.builtin_ops.scalar import c_function as binary_function
from ts.bytecode.native.ir_builder import FRAME, HEADER, SLOT, FunctionBuilder
from ts.bytecode.native.liveness import reads_and_writes
from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

# emits one instruction. Parameters: w (the function builder), pc, a, b, c
Builder = Callable[[FunctionBuilder, int, int, int, int], None]

_OPERATOR_COST = 16

BUILDERS: dict[str, Builder] = {}


def builds(*names: str) -> Callable[[Builder], Builder]:
    """Return a decorator that registers the code generator of the opcodes `names`."""

    def register(builder: Builder) -> Builder:
        BUILDERS.update(dict.fromkeys(names, builder))
        return builder

    return register


# ---------------------------------------------------------------- arithmetic

_BINARY = {
    "ADD_I64": "add i64", "SUB_I64": "sub i64", "MUL_I64": "mul i64", "AND_I64": "and i64",
    "OR_I64": "or i64", "XOR_I64": "xor i64", "ADD_F64": "fadd double", "SUB_F64": "fsub double",
    "MUL_F64": "fmul double", "DIV_F64": "fdiv double", "AND": "and i64", "OR": "or i64", "XOR": "xor i64",
}  # fmt: skip
_COMPARISONS = {
    "EQ_I64": "icmp eq i64", "NE_I64": "icmp ne i64", "LT_I64": "icmp slt i64", "LE_I64": "icmp sle i64",
    "GT_I64": "icmp sgt i64", "GE_I64": "icmp sge i64", "EQ_F64": "fcmp oeq double",
    "NE_F64": "fcmp une double", "LT_F64": "fcmp olt double", "LE_F64": "fcmp ole double",
    "GT_F64": "fcmp ogt double", "GE_F64": "fcmp oge double", "EQ_BOOL": "icmp eq i64",
    "NOT_LT_F64": "fcmp uge double", "NOT_LE_F64": "fcmp ugt double",
}  # fmt: skip
# Opcode -> comparison of the opcode's two operands. The result of the opcode is the first operand if the
# comparison is true, else the second.
_SELECT_COMPARISONS = {
    "MIN_I64": "icmp slt i64", "MAX_I64": "icmp sgt i64", "MIN_F64": "fcmp olt double",
    "MAX_F64": "fcmp ogt double",
}  # fmt: skip
_UNARY = {
    "NEG_I64": "sub i64 0, {}", "NEG_F64": "fneg double {}",
    "ABS_F64": "call double @llvm.fabs.f64(double {})", "NOT": "xor i64 {}, 1",
    "INT_TO_FLOAT": "sitofp i64 {} to double", "BOOL_TO_INT": "add i64 {}, 0",
}  # fmt: skip


def _binary(expression: str) -> Builder:
    return lambda w, pc, a, b, c: w.set(a, w.emit_value(f"{expression} {w.value(b)}, {w.value(c)}"))


def _comparison(expression: str) -> Builder:
    return lambda w, pc, a, b, c: w.set_truth(a, w.emit_value(f"{expression} {w.value(b)}, {w.value(c)}"))


def _select(expression: str) -> Builder:
    def build(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
        x, y = w.value(b), w.value(c)
        condition = w.emit_value(f"{expression} {x}, {y}")
        w.set(a, w.emit_value(f"select i1 {condition}, {w.type(a)} {x}, {w.type(a)} {y}"))

    return build


def _unary(expression: str) -> Builder:
    return lambda w, pc, a, b, c: w.set(a, w.emit_value(expression.format(w.value(b))))


BUILDERS |= {name: _binary(expression) for name, expression in _BINARY.items()}
BUILDERS |= {name: _comparison(expression) for name, expression in _COMPARISONS.items() if name in NUMBER}
BUILDERS |= {name: _select(expression) for name, expression in _SELECT_COMPARISONS.items()}
BUILDERS |= {name: _unary(expression) for name, expression in _UNARY.items()}


@builds("MOVE")
def _move(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    if w.is_single(b):
        w.set_single(a, w.single(b))
    else:
        w.set(a, w.value(b))


@builds("FLOORDIV_I64", "MOD_I64")
def _division(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    """Emit the floor division or the remainder of two ints.

    The code exits to the interpreter for a zero divisor. A divisor of -1 is replaced by 1 before `sdiv`,
    because INT64_MIN / -1 traps.
    """
    x, y = w.value(b), w.value(c)
    remainder = w.code.instructions[pc][0] == NUMBER["MOD_I64"]
    if w.is_positive(pc, c) and w.is_non_negative(pc, b):
        if w.is_constant(c) and not _is_power(int(y)):
            quotient = _quotient(w, x, int(y))
            w.set(
                a,
                w.emit_value(f"sub i64 {x}, {w.emit_value(f'mul i64 {quotient}, {y}')}")
                if remainder
                else quotient,
            )
        else:
            w.set(a, w.emit_value(f"{'urem' if remainder else 'udiv'} i64 {x}, {y}"))
        return
    if w.is_positive(pc, c):
        rest = w.emit_value(f"srem i64 {x}, {y}")
        negative = w.emit_value(f"icmp slt i64 {rest}, 0")
        if remainder:
            w.set(
                a,
                w.emit_value(f"select i1 {negative}, i64 {w.emit_value(f'add i64 {rest}, {y}')}, i64 {rest}"),
            )
        else:
            quotient = w.emit_value(f"sdiv i64 {x}, {y}")
            w.set(a, w.emit_value(f"sub i64 {quotient}, {w.emit_value(f'zext i1 {negative} to i64')}"))
        return
    w.branch_unlikely(w.emit_value(f"icmp eq i64 {y}, 0"), w.side_exit(pc))
    minus = w.emit_value(f"icmp eq i64 {y}, -1")
    divisor = w.emit_value(f"select i1 {minus}, i64 1, i64 {y}")
    rest = w.emit_value(f"srem i64 {x}, {divisor}")
    inexact = w.emit_value(f"icmp ne i64 {rest}, 0")
    signs_differ = w.emit_value(f"icmp slt i64 {w.emit_value(f'xor i64 {x}, {y}')}, 0")
    adjusts = w.emit_value(f"and i1 {inexact}, {signs_differ}")
    if remainder:
        w.set(a, w.emit_value(f"add i64 {rest}, {w.emit_value(f'select i1 {adjusts}, i64 {y}, i64 0')}"))
        return
    quotient = w.emit_value(f"sdiv i64 {x}, {divisor}")
    floor = w.emit_value(f"sub i64 {quotient}, {w.emit_value(f'zext i1 {adjusts} to i64')}")
    negative = w.emit_value(f"sub i64 0, {x}")
    w.set(a, w.emit_value(f"select i1 {minus}, i64 {negative}, i64 {floor}"))


def _is_power(x: int) -> bool:
    return x & (x - 1) == 0


def _quotient(w: FunctionBuilder, x: str, divisor: int) -> str:
    """Emit the division by a constant as a multiplication (magic number, upper half of a 128-bit product).

    With 2**s < d < 2**(s+1) and m = 2**(64+s) // d + 1, x * m / 2**(64+s) exceeds x / d by less than
    x / 2**(64+s). This difference is less than 1 / d because x < 2**63, so both have the same floor.
    """
    shift = 64 + divisor.bit_length() - 1
    factor = (1 << shift) // divisor + 1
    product = w.emit_value(f"mul nuw i128 {w.emit_value(f'zext i64 {x} to i128')}, {factor}")
    return w.emit_value(f"trunc i128 {w.emit_value(f'lshr i128 {product}, {shift}')} to i64")


@builds("SHL_I64", "SHR_I64")
def _shift(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    count = w.emit_value(f"and i64 {w.value(c)}, 63")
    operation = "shl" if w.code.instructions[pc][0] == NUMBER["SHL_I64"] else "ashr"
    w.set(a, w.emit_value(f"{operation} i64 {w.value(b)}, {count}"))


@builds("ABS_I64")
def _absolute(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    x = w.value(b)
    negative = w.emit_value(f"icmp slt i64 {x}, 0")
    w.set(a, w.emit_value(f"select i1 {negative}, i64 {w.emit_value(f'sub i64 0, {x}')}, i64 {x}"))


@builds("DIV_I64")
def _true_division(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    x, y = (w.emit_value(f"sitofp i64 {w.value(r)} to double") for r in (b, c))
    w.set(a, w.emit_value(f"fdiv double {x}, {y}"))


@builds("FLOORDIV_F64")
def _floor_division(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    quotient = w.emit_value(f"fdiv double {w.value(b)}, {w.value(c)}")
    w.set(a, w.emit_value(f"call double @llvm.floor.f64(double {quotient})"))


@builds("MOD_F64")
def _float_remainder(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    x, y = w.value(b), w.value(c)
    w.set(a, w.emit_value(f"call double {w.function(NUMBER['MOD_F64'])}(double {x}, double {y})"))


@builds("FLOAT_TO_INT")
def _to_int(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    x = w.value(b)
    # In LLVM's hexadecimal notation, 0xC3E0000000000000 is -2.0 ** 63 and 0x43E0000000000000 is 2.0 ** 63.
    in_lower_bound = w.emit_value(f"fcmp oge double {x}, 0xC3E0000000000000")
    below = w.emit_value(f"fcmp olt double {x}, 0x43E0000000000000")
    fits = w.emit_value(f"and i1 {in_lower_bound}, {below}")
    w.set(
        a,
        w.emit_value(f"select i1 {fits}, i64 {w.emit_value(f'fptosi double {x} to i64')}, i64 {-(1 << 63)}"),
    )


@builds("INT_TO_BOOL")
def _int_truth(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.set_truth(a, w.emit_value(f"icmp ne i64 {w.value(b)}, 0"))


@builds("FLOAT_TO_BOOL")
def _float_truth(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.set_truth(a, w.emit_value(f"fcmp une double {w.value(b)}, 0.0"))


# ---------------------------------------------------------------- runtime objects and calls


@builds("IS_NONE", "IS_NOT_NONE")
def _is_none(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    relation = "eq" if w.code.instructions[pc][0] == NUMBER["IS_NONE"] else "ne"
    w.set_truth(a, w.emit_value(f"icmp {relation} i64 {w.tag(b)}, {w.layout['tag_none']}"))


@builds("CAST")
def _cast(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.branch_unlikely(
        w.emit_value(f"icmp ne i64 {w.tag(b)}, {w.layout['tag_' + w.code.classes[a]]}"), w.side_exit(pc)
    )
    w.set(a, w.emit_value(f"load {w.type(a)}, ptr {w.register_address(b)}, {FRAME}"))


def _item(w: FunctionBuilder, pc: int, items: int, index: int, register: int) -> str:
    """Return the address of the item with the index in register `index` of the list in register `items`.

    Emit a side exit for an index out of range. The items have the class of `register`.
    """
    if w.is_hoisted(pc):
        return w.item(w.hoisted_items(items), w.value(index), register)
    x = w.object(items)
    i = w.index(pc, index, w.field(x, "size", "i64"))
    return w.item(w.field(x, "items", "ptr"), i, register)


@builds("LIST_LEN")
def _length(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.set(a, w.field(w.object(b), "size", "i64"))


@builds("LIST_GET_SCALAR")
def _get_number(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    address = _item(w, pc, b, c, a)
    if w.is_bool(a):
        w.set(
            a, w.emit_value(f"zext i8 {w.emit_value(f'load i8, ptr {address}, {w.kind_of_item(a)}')} to i64")
        )
    else:
        w.set(a, w.emit_value(f"load {w.type(a)}, ptr {address}, {w.kind_of_item(a)}"))


@builds("LIST_SET_SCALAR")
def _set_number(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.put_item(_item(w, pc, a, b, c), c)


@builds("LIST_CHECK_LEN")
def _check_length(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.branch_unlikely(
        w.emit_value(f"icmp ne i64 {w.field(w.object(a), 'size', 'i64')}, {b}"), w.side_exit(pc)
    )


def _slot(w: FunctionBuilder, object: int, index: int) -> str:
    offset = index * w.layout["value"]
    return w.emit_value(f"getelementptr i8, ptr {w.field(w.object(object), 'slots', 'ptr')}, i64 {offset}")


@builds("ATTR_GET_SCALAR")
def _get_attribute(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.set(a, w.emit_value(f"load {w.type(a)}, ptr {_slot(w, b, c)}, {SLOT}"))


@builds("ATTR_SET_SCALAR")
def _set_attribute(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    w.emit(f"store {w.type(c)} {w.value(c)}, ptr {_slot(w, a, b)}, {SLOT}")


@builds(
    "TAKE", "DROP", "CAST_OBJECT", "CAST_TO", "IS_INSTANCE", "LIST_GET", "LIST_SET", "LIST_NEW",
    "DICT_LEN", "DICT_GET", "DICT_GET_SCALAR", "DICT_FIND", "DICT_SET", "DICT_SET_SCALAR", "DICT_CONTAINS",
    "DICT_NEW", "TUPLE_NEW", "TUPLE_GET",
    "STR_LEN", "STR_GET", "STR_EQ", "STR_NE", "OBJECT_NEW", "ATTR_GET", "ATTR_SET", "HAS_ELEMENTS",
)  # fmt: skip
def _call_runtime(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    """Emit a call of the interpreter's C function for the opcode.

    The function accesses registers in the frame. Before the call, the emitted code stores the number
    registers that the function reads. After the call, it loads those that the function writes. A nonzero
    status is returned to the interpreter.
    """
    reads, writes = reads_and_writes(w.code, pc)
    for register in dict.fromkeys(reads):
        if w.is_number(register) and not w.is_constant(register):
            w.store(register)
    w.flush_write_counts()
    instruction = w.emit_value(f"getelementptr i8, ptr %instructions, i64 {pc * w.layout['instruction']}")
    status = w.emit_value(
        f"call i32 {w.function(w.code.instructions[pc][0])}(ptr %registers, ptr {instruction})"
    )
    failed, after = w.new_label(), w.new_label()
    w.emit(f"br i1 {w.emit_value(f'icmp ne i32 {status}, 0')}, label %{failed}, label %{after}, !prof !4")
    w.label(failed)
    w.return_to_interpreter(pc, pc + 1, status)
    w.label(after)
    w.pc = pc + 1
    for register in dict.fromkeys(writes):
        if w.is_number(register):
            w.load(register)
    w.reload_tensors(w.pc)
    w.pc = pc


@builds("LIST_APPEND")
def _append(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    """Emit an append: inline if the list stores numbers of this class and has room, otherwise a call."""
    if not w.is_number(b):
        _call_runtime(w, pc, a, b, c)
        return
    x = w.object(a)
    size = w.field(x, "size", "i64")
    full, room, after = w.new_label(), w.new_label(), w.new_label()
    fits = w.emit_value(f"icmp ne i64 {size}, {w.field(x, 'capacity', 'i64')}")
    same_tag = w.emit_value(
        f"icmp eq i32 {w.field(x, 'item', 'i32')}, {w.layout['tag_' + w.code.classes[b]]}"
    )
    w.branch(w.emit_value(f"and i1 {fits}, {same_tag}"), room, full)
    w.label(full)
    _call_runtime(w, pc, a, b, c)
    w.jump(after)
    w.label(room)
    w.put_item(w.item(w.field(x, "items", "ptr"), size, b), b)
    address = w.emit_value(f"getelementptr i8, ptr {x}, i64 {w.layout['size']}")
    w.emit(f"store i64 {w.emit_value(f'add i64 {size}, 1')}, ptr {address}, {HEADER}")
    w.jump(after)
    w.label(after)


@builds("CALL_SCALAR")
def _scalar(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    """Emit a call of the C function of a scalar operator.

    If the operator has no C function, emit a call of the runtime function for the opcode instead.
    """
    function = c_function(w.code, a)
    if function is None:
        _call_runtime(w, pc, a, b, c)
        return
    _, result, argument_type, checked = function
    *arguments, out = w.code.operand_pool_list(b)
    values = []
    for register in arguments:
        value = w.value(register)
        values.append(
            value if w.type(register) == argument_type else w.emit_value(f"sitofp i64 {value} to double")
        )
    argument_list = ", ".join(f"{argument_type} {value}" for value in values)
    if checked:
        w.branch_unlikely(
            w.emit_value(
                f"icmp ne i32 {w.emit_value(f'call i32 %direct.{a}({argument_list}, ptr %call_result)')}, 0"
            ),
            w.side_exit(pc),
        )
        w.set(out, w.emit_value(f"load {result}, ptr %call_result"))
    else:
        w.set(out, w.emit_value(f"call {result} %direct.{a}({argument_list})"))


def c_function(code: Code, index: int) -> tuple[int, str, str, bool] | None:
    """Return the C function of scalar operator `index`, or None if the operator has none.

    The result is (offset of the function's address, result type, argument type, whether it can fail).
    """
    operator = code.operators[index]
    return unary_function(operator) or binary_function(operator)


@builds("COPY")
def _copy(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    if w.is_number(a) and w.is_number(b):
        w.set(a, w.value(b))
    else:
        _call_runtime(w, pc, a, b, c)


@builds("CALL_OPERATOR")
def _operator(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    left = w.subtract_budget(pc, _OPERATOR_COST)
    _call_runtime(w, pc, a, b, c)
    w.branch_unlikely(w.emit_value(f"icmp slt i64 {left}, 0"), w.side_exit(pc + 1, w.layout["meter_zero"]))


# ---------------------------------------------------------------- jumps


def _condition(w: FunctionBuilder, name: str, b: int, c: int) -> str:
    """Emit the condition of a jump, and return the LLVM value of the condition.

    `name` is the name of the opcode without the prefix JUMP_ or LOOP_.
    """
    if name in ("IF", "IF_NOT"):
        return w.emit_value(f"icmp {'ne' if name == 'IF' else 'eq'} i64 {w.value(b)}, 0")
    if name in ("NONE", "NOT_NONE"):
        return w.emit_value(f"icmp {'eq' if name == 'NONE' else 'ne'} i64 {w.tag(b)}, {w.layout['tag_none']}")
    return w.emit_value(f"{_COMPARISONS[name]} {w.value(b)}, {w.value(c)}")


def _jump(name: str) -> Builder:
    def build(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
        if name:
            w.branch(_condition(w, name, b, c), w.block_label(a), w.block_label(pc + 1))
        else:
            w.jump(w.block_label(a))

    return build


def _loop(name: str) -> Builder:
    def build(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
        if w.counts_iterations(pc):
            _end_iteration(w, pc, a)
            return
        if name:
            again = w.new_label()
            w.branch(_condition(w, name, b, c), again, w.block_label(pc + 1))
            w.label(again)
        w.branch_unlikely(w.decrement_budget(pc), w.side_exit(a, w.layout["meter_zero"]))
        w.jump(w.block_label(a))

    return build


def _end_iteration(w: FunctionBuilder, pc: int, a: int) -> None:
    """Emit the end of an iteration of a loop with a separate iteration counter.

    A single comparison in each iteration detects that the loop has ended or that the budget is spent.
    """
    iteration = w.emit_value(f"add i64 {w.emit_value(f'load i64, ptr %iteration.{pc}')}, 1")
    w.emit(f"store i64 {iteration}, ptr %iteration.{pc}")
    last_iteration, loop_end = w.new_label(), w.new_label()
    w.branch(
        w.emit_value(f"icmp ne i64 {iteration}, {w.emit_value(f'load i64, ptr %limit.{pc}')}"),
        w.block_label(a),
        last_iteration,
    )
    w.label(last_iteration)
    is_last = w.emit_value(f"icmp eq i64 {iteration}, {w.emit_value(f'load i64, ptr %iterations.{pc}')}")
    w.branch(is_last, loop_end, w.side_exit(a, w.layout["meter_zero"]))
    w.label(loop_end)
    w.subtract_budget(pc, -1)
    w.jump(w.block_label(pc + 1))


@builds("LOOP_STEP")
def _step(w: FunctionBuilder, pc: int, a: int, b: int, c: int) -> None:
    """Emit a LOOP_STEP.

    In a counted loop, a single comparison detects that the loop has ended or that the budget is spent.
    """
    w.set(b, w.emit_value(f"add i64 {w.value(b)}, 1"))
    if not w.counts(pc):
        _loop("NE_I64")(w, pc, a, b, c)
        return
    limit_reached, loop_end = w.new_label(), w.new_label()
    continues = w.emit_value(f"icmp ne i64 {w.value(b)}, {w.emit_value(f'load i64, ptr %limit.{pc}')}")
    loop_metadata = ", !llvm.loop !30" if w.has_remaining_checks(pc) else ""
    w.emit(f"br i1 {continues}, label %{w.block_label(a)}, label %{limit_reached}{loop_metadata}")
    w.label(limit_reached)
    w.branch(
        w.emit_value(f"icmp eq i64 {w.value(b)}, {w.value(c)}"),
        loop_end,
        w.side_exit(a, w.layout["meter_zero"]),
    )
    w.label(loop_end)
    w.subtract_budget(pc, -1)  # the counter includes a jump that the last iteration does not take
    w.jump(w.block_label(pc + 1))


for _row in OPCODES:
    if _row.jumps and _row.name not in BUILDERS:
        _kind, _, _name = _row.name.partition("_")
        BUILDERS[_row.name] = (_jump if _kind == "JUMP" else _loop)(_name)
