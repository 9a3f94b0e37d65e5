"""A fused group as a backend gets it: rows, each an operator over values.

    tanh(x * y + x)        Program("tt", (Row(mul, (0, 1)), Row(add, (2, 0)), Row(tanh, (3,))), (4,))
    logsumexp(x * y, [1])  Program("tt--", (Row(mul, (0, 1)),), (5,), ends=(Row(logsumexp, (4, 2, 3)),))
    tanh(x[1])             Program("t--", (Row(tanh, (0,)),), (3,), heads=(Head(select, 0, (1, 2)),))

Values are numbered: the group's inputs first (t: a tensor, n: a number, o: None, a bool or
a text, -: what a head or an end takes beside its tensor), then the result of each row, then those of ends.  A
row reads elements beside each other; an end (`Record.ends`) reads whole rows of what another has computed,
and no row reads its result.  A head (`Record.head`) says that an input is a view of the tensor that is given.
`operator_of` makes the operator that the code calls.  It says whether the group ran:

    ran, *results = prim::FusionGroup(x, y)

Where it did not, for a dtype, a layout or a shape that the backend has no way for, or where somebody wants to
see every operator, nothing has happened, and the nodes of the group run one by one: what they compute is the
same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ts._core.dispatch.operator import Operator
from ts._core.tensor.tensor import wrap_array
from ts._core.thread.context import is_limited
from ts.backends import at as backend_at
from ts.ops.registry import Kernel, Record

TENSOR: Final = "t"
NUMBER: Final = "n"
OTHER: Final = "o"
ARGUMENT: Final = "-"
KIND: Final = "prim::FusionGroup"
_PARAMETERS: Final = {TENSOR: "Tensor", NUMBER: "Scalar", OTHER: "Any"}


class Row(NamedTuple):
    """One operator of a group."""

    operator: Any  # the overload
    operands: tuple[int, ...]  # values: the first of its arguments; the others have their defaults


class Head(NamedTuple):
    """An input that is a view of what is given; of an operator that gives a list of `parts` views, which."""

    operator: Any
    input: int
    operands: tuple[int, ...]  # inputs: what it takes beside the tensor
    part: int = 0
    parts: int = 0  # 0: it gives one tensor

    def view(self, args: Sequence[Any]) -> Any:
        """The view, as the operator makes it; IndexError or RuntimeError where there is none."""
        made = self.operator(args[self.input], *(args[i] for i in self.operands))
        if self.parts and len(made) != self.parts:
            raise IndexError("not as many parts")
        return made[self.part] if self.parts else made


class Program:
    """A group; ValueError where rows read what is not computed yet."""

    def __init__(
        self,
        inputs: str,
        rows: tuple[Row, ...],
        outputs: tuple[int, ...],
        ends: tuple[Row, ...] = (),
        heads: tuple[Head, ...] = (),
    ) -> None:
        self.inputs = inputs  # a letter for each: t, n, o, -
        self.rows = rows
        self.outputs = outputs  # values, each the result of a row or an end
        self.ends = ends  # they read the result of a row, and inputs of their own: all their arguments
        self.heads = heads  # of inputs that are views
        first, behind = len(inputs), len(inputs) + len(rows)
        if TENSOR not in inputs or set(inputs) - {TENSOR, NUMBER, OTHER, ARGUMENT}:
            raise ValueError(f"no inputs of a group: {inputs!r}")
        for at, row in enumerate(rows, first):
            if not row.operands or not all(0 <= operand < at for operand in row.operands):
                raise ValueError(f"a row reads what is not computed before it: {row.operands}")
            takes = [i for i in row.operands if i < first and inputs[i] == ARGUMENT]
            if takes and (not row.operator.record.channels or row.operands[0] in takes):
                raise ValueError(f"a row reads what an end takes: {row.operands}")
        for end in ends:
            record = end.operator.record
            if record is None or not record.ends:
                raise ValueError(f"no end of a group: {end.operator.name} of {end.operands}")
            if not first <= end.operands[0] < behind:
                raise ValueError(f"an end reads what is no result of a row: {end.operands}")
        for head in heads:
            self._check_head(head)
        of_heads = {i for head in heads for i in head.operands}
        arguments = [i for i, kind in enumerate(inputs) if kind == ARGUMENT and i not in of_heads]
        takers = self.takers()
        if sorted(i for row in takers for i in row.operands[1:]) != arguments:
            raise ValueError(f"inputs {arguments} do not go to one operator each")
        for row in takers:
            if len(row.operands) != len(row.operator.record.schema.arguments):
                raise ValueError(f"not all arguments of {row.operator.name}: {row.operands}")
        if not outputs or not all(first <= out < behind + len(ends) for out in outputs):
            raise ValueError(f"no results of a group: {outputs}")

    def _check_head(self, head: Head) -> None:
        record, letters = head.operator.record, self.inputs
        if record is None or not record.head or not 0 <= head.part < max(head.parts, 1):
            raise ValueError(f"no head of a group: part {head.part} of {head.parts} of {head.operator.name}")
        if not 0 <= head.input < len(letters) or letters[head.input] != TENSOR:
            raise ValueError(f"a head of what is no tensor: {head.input}")
        if not all(0 <= i < len(letters) and letters[i] == ARGUMENT for i in head.operands):
            raise ValueError(f"a head takes what it alone does not: {head.operands}")
        if len(head.operands) + 1 != len(record.schema.arguments):
            raise ValueError(f"not all arguments of {head.operator.name}: {head.operands}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.inputs, self.rows, self.outputs, self.ends, self.heads))

    @property
    def name(self) -> str:
        """What a person calls it: the names of its operators, as "mul_add_tanh"."""
        heads = dict.fromkeys(head.operator for head in self.heads)
        operators = [*heads, *(row.operator for row in (*self.rows, *self.ends))]
        return "_".join(operator.name.partition("::")[2] for operator in operators)

    def takers(self) -> list[Row]:
        """Rows with channels, and ends: they read one value, and take arguments beside it."""
        return [*(row for row in self.rows if row.operator.record.channels), *self.ends]

    def viewed(self, args: Sequence[Any]) -> Sequence[Any]:
        """What is given, with views where they belong; IndexError or RuntimeError where there are none."""
        views = {head.input: head.view(args) for head in self.heads}
        return [views.get(i, x) for i, x in enumerate(args)] if views else args

    def data(self, name_of: Callable[[Any], Any]) -> list[Any]:
        """The program as texts and numbers; `name_of` gives what an operator is found by."""

        def data_of(rows: Iterable[Row]) -> list[Any]:
            return [[name_of(row.operator), *row.operands] for row in rows]

        heads = [[name_of(h.operator), h.input, list(h.operands), h.part, h.parts] for h in self.heads]
        return [self.inputs, data_of(self.rows), list(self.outputs), data_of(self.ends), heads]


def program_of(data: Sequence[Any], operator_named: Callable[[Any], Any]) -> Program:
    """The program that `Program.data` gave; TypeError or ValueError for what it cannot have given."""

    def rows_of(rows: Iterable[Any]) -> tuple[Row, ...]:
        return tuple(Row(operator_named(name), tuple(map(int, operands))) for name, *operands in rows)

    inputs, rows, outputs, ends, heads = data
    views = tuple(
        Head(operator_named(name), int(x), tuple(map(int, operands)), int(part), int(parts))
        for name, x, operands, part, parts in heads
    )
    return Program(str(inputs), rows_of(rows), tuple(map(int, outputs)), rows_of(ends), views)


class GroupRecord(Record):
    """The record of a group's operator."""

    group: Any = None  # what the CPU's kernel keeps for it, once it has run: its plans

    def __init__(self, schema_text: str, kernel: Kernel, program: Program) -> None:
        super().__init__(schema_text, kernel, "fusion", loop=KIND, whole=True)
        self.program = program
        self.elsewhere: dict[Any, Any] = {}  # what runs it on another backend


def operator_of(program: Program) -> Operator:
    """The operator of a group; every group has its own, which keeps what it found out about its inputs."""
    types = {i: _PARAMETERS[kind] for i, kind in enumerate(program.inputs) if kind != ARGUMENT}
    for row in program.takers():
        arguments = row.operator.record.schema.arguments[1:]
        types.update(zip(row.operands[1:], map(_type_text, arguments), strict=True))
    for head in program.heads:
        arguments = head.operator.record.schema.arguments[1:]
        types.update(zip(head.operands, map(_type_text, arguments), strict=True))
    parameters = ", ".join(f"{types[i]} x{i}" for i in range(len(program.inputs)))
    results = ", ".join(["bool", *("Tensor" for _ in program.outputs)])
    first = program.inputs.index(TENSOR)

    def run(*args: Any) -> tuple[Any, ...]:
        """On another backend than the CPU's, whose kernel stands before this one."""
        backend = backend_at(args[first].backend)
        if backend not in record.elsewhere:
            record.elsewhere[backend] = backend.group(program)
        group = record.elsewhere[backend]
        try:
            given = program.viewed(args)
        except (IndexError, RuntimeError):  # which the view's node raises, too, and says where
            group = None
        made = None if group is None or is_limited() else group(given)
        if made is None:
            return (False, *(args[first] for _ in program.outputs))
        found = {value: wrap_array(array) for value, array in made.items()}
        for value, end in enumerate(program.ends, len(program.inputs) + len(program.rows)):
            if value not in found:
                found[value] = end.operator(found[end.operands[0]], *(args[i] for i in end.operands[1:]))
        return (True, *(found[out] for out in program.outputs))

    record = GroupRecord(f"{KIND}({parameters}) -> ({results})", run, program)
    return Operator(record.schema_text, record)


def _type_text(argument: Any) -> str:
    """The type of an argument, as a schema writes it."""
    return str(argument).partition(" ")[0]
