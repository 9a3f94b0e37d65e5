"""Fused program: the operations of a fusion group, in the form that backends compile.

Each line shows a computation and its program. Here `op` stands for `FusedOp` and `view` for `ViewInput`:

    tanh(x * y + x)        FusedProgram("tt", (op(mul, (0, 1)), op(add, (2, 0)), op(tanh, (3,))), (4,))
    logsumexp(x * y, [1])  FusedProgram("tt--", (op(mul, (0, 1)),), (5,), (op(logsumexp, (4, 2, 3)),))
    tanh(x[1])             FusedProgram("t--", (op(tanh, (0,)),), (3,), (), (view(select, 0, (1, 2)),))

The string has one letter for each input: t for a tensor, n for a number, o for None, a bool or a string. The
sign - stands for an argument after the first one of a view, an epilogue or a per-channel operation. Values
have numbers: first the inputs, then the results of operations, then the results of epilogues.

Operations are pointwise. An epilogue reads whole rows of an operation's result. A view input is read through
a view of the tensor that is passed.

If an operation reads the result of an epilogue, the program continues after epilogues. Epilogues of such a
program can also read an input:

    x / x.sum(-1, True)    FusedProgram("t---", (op(div, (0, 5)),), (4,), (op(sum, (0, 1, 2, 3)),))

`group_operator` returns the operator that bytecode calls:

    ran, *results = prim::FusionGroup(x, y)

`ran` is False if the backend does not support the inputs, or if an observer, such as a profiler, needs each
operator. Then the nodes of the group run one by one, with bit-identical results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ts._core.dispatch.operator import Operator
from ts._core.tensor.tensor import wrap_array
from ts._core.thread.context import is_limited
from ts.backends import at as backend_at
from ts.ops.operator_record import Kernel, OperatorRecord

TENSOR: Final = "t"
NUMBER: Final = "n"
OTHER: Final = "o"
ARGUMENT: Final = "-"
KIND: Final = "prim::FusionGroup"
_PARAMETERS: Final = {TENSOR: "Tensor", NUMBER: "Scalar", OTHER: "Any"}


class FusedOp(NamedTuple):
    """Operation of a fusion group: an operator, and the value numbers of its operands."""

    operator: Any  # operator record of a specific overload
    # Value numbers of the first arguments. The other arguments have their default values.
    operands: tuple[int, ...]


class ViewInput(NamedTuple):
    """Input of a group that the group reads through a view, computed by `operator`.

    If the operator returns a list of views, the view is item `result_index` of the list.
    """

    operator: Any
    input: int
    operands: tuple[int, ...]  # input numbers of the operator's arguments except the tensor
    result_index: int = 0
    # number of views in the list that the operator returns, or 0 if the operator returns one tensor
    result_count: int = 0

    def view(self, args: Sequence[Any]) -> Any:
        """Return the view for the arguments `args`. Raise IndexError or RuntimeError if they are invalid."""
        views = self.operator(args[self.input], *(args[i] for i in self.operands))
        if self.result_count and len(views) != self.result_count:
            raise IndexError(f"{len(views)} views, not {self.result_count}")
        return views[self.result_index] if self.result_count else views


class FusedProgram:
    """Program of a fusion group. The constructor raises ValueError if the program is not valid."""

    def __init__(
        self,
        inputs: str,
        operations: tuple[FusedOp, ...],
        outputs: tuple[int, ...],
        epilogues: tuple[FusedOp, ...] = (),
        view_inputs: tuple[ViewInput, ...] = (),
    ) -> None:
        self.inputs = inputs  # one letter for each input: TENSOR, NUMBER, OTHER or ARGUMENT
        self.operations = operations
        self.outputs = outputs  # value numbers of the group's results, computed by operations or epilogues
        # Operators that run after the operations. The first operand of each is the result of an operation,
        # and the other operands are inputs of the group.
        self.epilogues = epilogues
        self.view_inputs = view_inputs  # inputs of the group that are read through views
        first, end_of_operations = len(inputs), len(inputs) + len(operations)
        if TENSOR not in inputs or set(inputs) - {TENSOR, NUMBER, OTHER, ARGUMENT}:
            raise ValueError(f"invalid kinds of group inputs: {inputs!r}")
        sources = [epilogue.operands[0] for epilogue in epilogues]
        # True if an operation reads the result of an epilogue
        self.continues = any(i >= end_of_operations for op in operations for i in op.operands)
        for index, operation in enumerate(operations, first):
            computed = {*range(index), *(i for i, x in enumerate(sources, end_of_operations) if x < index)}
            if not operation.operands or not computed.issuperset(operation.operands):
                raise ValueError(f"operation {index} reads a value that follows it: {operation.operands}")
            takes = [i for i in operation.operands if i < first and inputs[i] == ARGUMENT]
            if takes and (not operation.operator.record.channels or operation.operands[0] in takes):
                raise ValueError(f"operation {index} reads an argument of an epilogue: {operation.operands}")
        for epilogue in epilogues:
            record = epilogue.operator.record
            if record is None or not record.epilogue:
                raise ValueError(f"not an epilogue: {epilogue.operator.name} of {epilogue.operands}")
            source = epilogue.operands[0]
            is_input = self.continues and 0 <= source < first and inputs[source] == TENSOR
            if not is_input and not first <= source < end_of_operations:
                raise ValueError(f"an epilogue reads a value that no operation computes: {epilogue.operands}")
        for view_input in view_inputs:
            self._check_view_input(view_input)
        view_arguments = {i for view_input in view_inputs for i in view_input.operands}
        arguments = [i for i, kind in enumerate(inputs) if kind == ARGUMENT and i not in view_arguments]
        ops_with_arguments = self.ops_with_arguments()
        if sorted(i for operation in ops_with_arguments for i in operation.operands[1:]) != arguments:
            raise ValueError(f"inputs {arguments} are not arguments of one operator each")
        for operation in ops_with_arguments:
            if len(operation.operands) != len(operation.operator.record.schema.arguments):
                raise ValueError(f"missing arguments of {operation.operator.name}: {operation.operands}")
        if not outputs or not all(first <= out < end_of_operations + len(epilogues) for out in outputs):
            raise ValueError(f"invalid outputs of a group: {outputs}")

    def _check_view_input(self, view_input: ViewInput) -> None:
        record, letters = view_input.operator.record, self.inputs
        if (
            record is None
            or not record.view_input
            or not 0 <= view_input.result_index < max(view_input.result_count, 1)
        ):
            raise ValueError(
                f"not a view input: part {view_input.result_index} of {view_input.result_count} "
                f"of {view_input.operator.name}"
            )
        if not 0 <= view_input.input < len(letters) or letters[view_input.input] != TENSOR:
            raise ValueError(f"a view of an input that is not a tensor: {view_input.input}")
        if not all(0 <= i < len(letters) and letters[i] == ARGUMENT for i in view_input.operands):
            raise ValueError(f"view operands that are not arguments: {view_input.operands}")
        if len(view_input.operands) + 1 != len(record.schema.arguments):
            raise ValueError(f"missing arguments of {view_input.operator.name}: {view_input.operands}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FusedProgram) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.inputs, self.operations, self.outputs, self.epilogues, self.view_inputs))

    @property
    def name(self) -> str:
        """Names of the group's operators, joined by underscores, for display: "mul_add_tanh"."""
        view_inputs = dict.fromkeys(view_input.operator for view_input in self.view_inputs)
        values, first = (*self.operations, *self.epilogues), len(self.inputs)
        operators = [*view_inputs, *(values[i - first].operator for i in self.execution_order())]
        return "_".join(operator.name.partition("::")[2] for operator in operators)

    def execution_order(self) -> list[int]:
        """Return the value numbers of results, each epilogue before the first operation that reads it."""
        end = len(self.inputs) + len(self.operations)
        order: dict[int, None] = {}
        for index, operation in enumerate(self.operations, len(self.inputs)):
            order.update(dict.fromkeys([*(i for i in operation.operands if i >= end), index]))
        order.update(dict.fromkeys(range(end, end + len(self.epilogues))))
        return list(order)

    def ops_with_arguments(self) -> list[FusedOp]:
        """Return the per-channel operations and the epilogues.

        The first operand of each is a tensor, and the other operands are inputs of kind ARGUMENT.
        """
        return [
            *(operation for operation in self.operations if operation.operator.record.channels),
            *self.epilogues,
        ]

    def apply_views(self, args: Sequence[Any]) -> Sequence[Any]:
        """Return `args` with each tensor that is read through a view replaced by the view.

        Raise IndexError or RuntimeError for an invalid view.
        """
        views = {view_input.input: view_input.view(args) for view_input in self.view_inputs}
        return [views.get(i, x) for i, x in enumerate(args)] if views else args

    def data(self, name_of: Callable[[Any], Any]) -> list[Any]:
        """Return the program as lists of strings and numbers. `name_of` maps operators to names."""

        def data_of(operations: Iterable[FusedOp]) -> list[Any]:
            return [[name_of(operation.operator), *operation.operands] for operation in operations]

        view_inputs = [
            [name_of(h.operator), h.input, list(h.operands), h.result_index, h.result_count]
            for h in self.view_inputs
        ]
        return [
            self.inputs,
            data_of(self.operations),
            list(self.outputs),
            data_of(self.epilogues),
            view_inputs,
        ]


def deserialize_program(data: Sequence[Any], operator_named: Callable[[Any], Any]) -> FusedProgram:
    """Return the program for a result of `FusedProgram.data`.

    Raise TypeError or ValueError for malformed data.
    """

    def read_operations(data: Iterable[Any]) -> tuple[FusedOp, ...]:
        return tuple(FusedOp(operator_named(name), tuple(map(int, operands))) for name, *operands in data)

    inputs, operations, outputs, epilogues, view_inputs = data
    views = tuple(
        ViewInput(
            operator_named(name), int(x), tuple(map(int, operands)), int(result_index), int(result_count)
        )
        for name, x, operands, result_index, result_count in view_inputs
    )
    return FusedProgram(
        str(inputs), read_operations(operations), tuple(map(int, outputs)), read_operations(epilogues), views
    )


class FusionGroupRecord(OperatorRecord):
    """Operator record of a fusion group."""

    group: Any = None  # execution plans of the CPU kernel, or None before the first run of the group

    def __init__(self, schema_text: str, kernel: Kernel, program: FusedProgram) -> None:
        super().__init__(schema_text, kernel, "fusion", loop=KIND, tensor_kernel=True)
        self.program = program
        self.groups_by_backend: dict[Any, Any] = {}  # backend other than the CPU -> group compiled by it


def group_operator(program: FusedProgram) -> Operator:
    """Return a new operator that runs `program` and caches execution plans."""
    types = {i: _PARAMETERS[kind] for i, kind in enumerate(program.inputs) if kind != ARGUMENT}
    for operation in program.ops_with_arguments():
        arguments = operation.operator.record.schema.arguments[1:]
        types.update(zip(operation.operands[1:], map(_type_text, arguments), strict=True))
    for view_input in program.view_inputs:
        arguments = view_input.operator.record.schema.arguments[1:]
        types.update(zip(view_input.operands, map(_type_text, arguments), strict=True))
    parameters = ", ".join(f"{types[i]} x{i}" for i in range(len(program.inputs)))
    results = ", ".join(["bool", *("Tensor" for _ in program.outputs)])
    first = program.inputs.index(TENSOR)

    def run(*args: Any) -> tuple[Any, ...]:
        """Run the group on its backend. A kernel of the CPU backend replaces this function."""
        backend = backend_at(args[first].backend)
        if backend not in record.groups_by_backend:
            record.groups_by_backend[backend] = backend.group(program)
        group = record.groups_by_backend[backend]
        try:
            viewed = program.apply_views(args)
        # A view is invalid. The operators of the group run one by one, and the operator of the view raises
        # the error with its source location.
        except (IndexError, RuntimeError):
            group = None
        arrays = None if group is None or is_limited() else group(viewed)
        if arrays is None:
            return (False, *(args[first] for _ in program.outputs))
        tensors = {value: wrap_array(array) for value, array in arrays.items()}
        for value, epilogue in enumerate(program.epilogues, len(program.inputs) + len(program.operations)):
            if value not in tensors:
                tensors[value] = epilogue.operator(
                    tensors[epilogue.operands[0]], *(args[i] for i in epilogue.operands[1:])
                )
        return (True, *(tensors[out] for out in program.outputs))

    record = FusionGroupRecord(f"{KIND}({parameters}) -> ({results})", run, program)
    return Operator(record.schema_text, record)


def _type_text(argument: Any) -> str:
    """Return an argument's type as schema text."""
    return str(argument).partition(" ")[0]
