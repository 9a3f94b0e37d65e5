"""A fused group as a backend gets it: rows, each an operator over values.

    tanh(x * y + x)        Program("tt", (Row(mul, (0, 1)), Row(add, (2, 0)), Row(tanh, (3,))), (4,))

Values are numbered: the group's inputs first (t: a tensor, n: a number, o: None, a bool or
a text), then the result of each row.
`operator_of` makes the operator that the code calls.  It says whether the group ran:

    ran, *results = prim::FusionGroup(x, y)

Where it did not, for a dtype, a layout or a shape that the backend has no way for, or where somebody wants to
see every operator, nothing has happened, and the nodes of the group run one by one: what they compute is the
same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ts._core.dispatch.operator import Operator
from ts._core.tensor.tensor import wrap_array
from ts._core.thread.context import is_limited
from ts.backends import at as backend_at
from ts.ops.registry import Kernel, Record

TENSOR: Final = "t"
NUMBER: Final = "n"
OTHER: Final = "o"
KIND: Final = "prim::FusionGroup"
_PARAMETERS: Final = {TENSOR: "Tensor", NUMBER: "Scalar", OTHER: "Any"}


class Row(NamedTuple):
    """One operator of a group."""

    operator: Any  # the overload
    operands: tuple[int, ...]  # values: the first of its arguments; the others have their defaults


class Program:
    """A group; ValueError where rows read what is not computed yet."""

    def __init__(self, inputs: str, rows: tuple[Row, ...], outputs: tuple[int, ...]) -> None:
        first = len(inputs)
        if TENSOR not in inputs or set(inputs) - {TENSOR, NUMBER, OTHER}:
            raise ValueError(f"no inputs of a group: {inputs!r}")
        for at, row in enumerate(rows, first):
            if not row.operands or not all(0 <= operand < at for operand in row.operands):
                raise ValueError(f"a row reads what is not computed before it: {row.operands}")
        if not outputs or not all(first <= out < first + len(rows) for out in outputs):
            raise ValueError(f"no results of a group: {outputs}")
        self.inputs = inputs  # a letter for each: t, n, o
        self.rows = rows
        self.outputs = outputs  # values, each the result of a row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.inputs, self.rows, self.outputs))

    def data(self, name_of: Callable[[Any], Any]) -> list[Any]:
        """The program as texts and numbers; `name_of` gives what an operator is found by."""
        rows = [[name_of(row.operator), *row.operands] for row in self.rows]
        return [self.inputs, rows, list(self.outputs)]


def program_of(data: Sequence[Any], operator_named: Callable[[Any], Any]) -> Program:
    """The program that `Program.data` gave; TypeError or ValueError for what it cannot have given."""
    inputs, rows, outputs = data
    return Program(
        str(inputs),
        tuple(Row(operator_named(name), tuple(map(int, operands))) for name, *operands in rows),
        tuple(map(int, outputs)),
    )


class GroupRecord(Record):
    """The record of a group's operator."""

    group: Any = None  # what the CPU's kernel keeps for it, once it has run: its plans

    def __init__(self, schema_text: str, kernel: Kernel, program: Program) -> None:
        super().__init__(schema_text, kernel, "fusion", loop=KIND, whole=True)
        self.program = program
        self.elsewhere: dict[Any, Any] = {}  # what runs it on another backend


def operator_of(program: Program) -> Operator:
    """The operator of a group; every group has its own, which keeps what it found out about its inputs."""
    parameters = ", ".join(f"{_PARAMETERS[kind]} x{i}" for i, kind in enumerate(program.inputs))
    results = ", ".join(["bool", *("Tensor" for _ in program.outputs)])

    first = program.inputs.index(TENSOR)

    def run(*args: Any) -> tuple[Any, ...]:
        """On another backend than the CPU's, whose kernel stands before this one."""
        backend = backend_at(args[first].backend)
        if backend not in record.elsewhere:
            record.elsewhere[backend] = backend.group(program)
        group = record.elsewhere[backend]
        made = None if group is None or is_limited() else group(args)
        if made is None:
            return (False, *(args[first] for _ in program.outputs))
        return (True, *map(wrap_array, made))

    record = GroupRecord(f"{KIND}({parameters}) -> ({results})", run, program)
    return Operator(record.schema_text, record)
