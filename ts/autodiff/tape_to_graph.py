"""Conversion of recorded operators to forward and backward graphs, for tensors with given sizes.

Input: a function, and its arguments, described by dtype, sizes and `requires_grad`. Output: two graphs.
Example:

    y = (x * w).tanh()              forward(x, w)                 backward(grad, y, x, w)
                             =>       t = mul(x, w)           ,     g = mul(grad, rsub(mul(y, y), 1))
                                      y = tanh(t)                   mul(g, w), mul(g, x)
                                      return y

The function runs once on meta tensors, which have sizes, but no elements. A backward pass with the derivative
formulas of eager mode follows. This run evaluates branches, numbers and sizes of the program. Therefore, the
graphs contain only operators on tensors, and are valid only for arguments with the same description.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ts._core.autograd.engine import run_backward
from ts._core.autograd.rule import DifferentiationKind
from ts._core.dispatch.op_log import OperatorLog, identity
from ts._core.dispatch.operator import Operator
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode
from ts.devices import device
from ts.errors import InternalError, LimitExceeded, TsError
from ts.fusion.program import KIND
from ts.ir.graph import Graph, Value
from ts.ir.types import ANY, TENSOR, ListType, OptionalType, TensorType, Type
from ts.ops import aten
from ts.ops.derivatives.tape_rules import rule_of

Line = tuple[Operator, list[Any], list[Any]]


class UntraceableError(TsError):
    """Raised if a run cannot be expressed as tensor operators."""


def is_untraceable(error: Exception) -> bool:
    """Return True, unless `error` is an exceeded limit or a bug of `ts`."""
    return not isinstance(error, LimitExceeded | InternalError)


class Input(NamedTuple):
    """Description of an argument: the metadata of a tensor argument, or the value of any other argument."""

    value: Any  # the value of an argument that is no tensor, else None
    dtype: Any = None  # None if the argument is not a tensor
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    device: Any = None
    requires_grad: bool = False  # True if the gradient of the argument is requested

    @staticmethod
    def of(x: Any, requires_grad: bool) -> Input:
        """Return the description of an argument. `requires_grad` is True if its gradient is requested."""
        if not isinstance(x, Tensor):
            return Input(list(x) if type(x).__name__ == "List" else x)
        return Input(None, x.dtype, tuple(x.shape), tuple(x.stride()), x.device, requires_grad)

    def blank(self) -> Any:
        """Return a meta tensor if the argument is a tensor, or else the value of the argument."""
        if self.dtype is None:
            return self.value
        tensor = aten.empty_strided(self.shape, self.strides, dtype=self.dtype, device="meta")
        return tensor._marked(True) if self.requires_grad else tensor

    @property
    def type(self) -> TensorType:
        """Return the graph type of a tensor argument."""
        return TensorType(self.dtype.code, self.shape, None, str(self.device))


class Trace:
    """Operators that a function calls on meta tensors, and the positions of their tensors."""

    def __init__(self, function: Any, inputs: Sequence[Input]) -> None:
        self.inputs = inputs
        self.device = next(i.device for i in inputs if i.dtype is not None)
        self.blanks = [i.blank() for i in inputs]
        with GradMode(True), self._printer() as writer:
            outputs = function(*self.blanks)
        self.outputs: list[Tensor] = list(outputs) if isinstance(outputs, tuple) else [outputs]
        self.lines = writer.lines
        if any(line[0].schema.is_mutable for line in self.lines):
            raise UntraceableError("it writes to tensors")  # a graph would miss writes through views
        # id of a tensor -> (-1, argument index) for an argument, or (line index, result index) for a result
        self.position: dict[int, tuple[int, int]] = {}
        for tensor_id, position in self._positions():
            # a tensor that an operator returns unchanged keeps its first position
            self.position.setdefault(tensor_id, position)
        self._check_outputs()

    @staticmethod
    def _printer() -> OperatorLog:
        return OperatorLog(_is_group, _is_decomposed)

    def _positions(self) -> Iterator[tuple[int, tuple[int, int]]]:
        for i, x in enumerate(self.blanks):
            if isinstance(x, Tensor):
                yield identity(x), (-1, i)
        for line_index, (_, _, results) in enumerate(self.lines):
            for i, x in enumerate(_tensors(results)):
                yield identity(x), (line_index, i)

    def _check_outputs(self) -> None:
        """Raise UntraceableError if an output occurs both with and without `requires_grad` (`detach`)."""
        # identity of a tensor -> set of the values of `requires_grad` with which it occurs as an argument or
        # result
        grad_flags: dict[int, set[bool]] = {}
        for tensor_id, position in self._positions():
            grad_flags.setdefault(tensor_id, set()).add(self.tensor(position).requires_grad)
        if any(len(grad_flags.get(identity(x), ())) == 2 for x in self.outputs):
            raise UntraceableError("a result is a detached alias of another tensor")

    def is_input(self, position: tuple[int, int]) -> bool:
        """Return True if `position` denotes an argument."""
        return position[0] < 0

    def tensor(self, position: tuple[int, int]) -> Tensor:
        """Return the meta tensor at `position`: an argument or a result of an operation."""
        line_index, i = position
        tensor: Tensor = self.blanks[i] if line_index < 0 else list(_tensors(self.lines[line_index][2]))[i]
        return tensor

    def record_backward(self, roots: Sequence[Tensor]) -> BackwardGraph:
        """Record the backward pass from `roots`, which require grad."""
        grads = [aten.empty(list(x.shape), dtype=x.dtype, device="meta") for x in roots]
        leaves = [x for x, i in zip(self.blanks, self.inputs, strict=True) if i.requires_grad]
        with GradMode(True), self._printer() as writer:
            gradients = run_backward(list(roots), list(grads), True, False, leaves, False)
        return BackwardGraph(grads, writer.lines, gradients)


class BackwardGraph(NamedTuple):
    """Record of a backward pass: incoming gradients, operations, and computed gradients."""

    grads: list[Tensor]  # meta tensors for the incoming gradients, one for each root
    lines: list[Line]
    gradients: list[Tensor | None]  # gradients of the arguments that require grad


def _is_group(operator: Operator) -> bool:
    return operator.name in (KIND, "prim::DifferentiableGraph")


def _is_decomposed(operator: Operator, args: list[Any]) -> bool:
    return _is_transparent(operator) and any(x.requires_grad for x in _tensors(args))


@cache
def _is_transparent(operator: Operator) -> bool:
    return bool(operator.record.tensor_kernel) and rule_of(operator.record).how == DifferentiationKind.INSIDE


def _tensors(values: Sequence[Any]) -> Iterator[Tensor]:
    for x in values:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from _tensors(x)


# ---------------------------------------------------------------- conversion of recorded operations to graphs


class GraphBuilder:
    """Builder of a graph from recorded operator calls."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.graph = Graph()
        self.values: dict[int, Value] = {}  # identity of a tensor -> its graph value

    def add_input(self, x: Tensor) -> Value:
        """Add a graph input for a tensor and return its value."""
        value = self.graph.add_input(type=self.type_of(x))
        self.values[identity(x)] = value
        return value

    def type_of(self, x: Tensor) -> TensorType:
        """Return the graph type of a tensor, with the device of the trace."""
        return TensorType(x.dtype.code, tuple(x.shape), None, str(self.trace.device))

    def value_of_untracked(self, x: Tensor) -> Value:
        """Return a constant for a tensor that no recorded operation produced.

        Raise UntraceableError for a meta tensor, which has no elements.
        """
        if x.is_meta:
            raise UntraceableError("the operator that created a tensor is not recorded")
        return self.graph.insert_constant(x)

    def value_of(self, x: Any, kind: Type = ANY) -> Value:
        """Return the graph value of argument `x` of a recorded call.

        If `x` is an empty list, its type is `kind`.
        """
        if isinstance(x, Tensor):
            value = self.values.get(identity(x))
            return self.value_of_untracked(x) if value is None else value
        if isinstance(x, list) and any(isinstance(item, Tensor) for item in x):
            items = [self.value_of(item) for item in x]
            if not all(isinstance(item, Tensor) for item in x):
                raise UntraceableError("a list that contains tensors and other values")
            return self.graph.insert("prim::ListConstruct", items, ListType(TENSOR))
        if isinstance(x, device) and x.type == "meta":
            x = self.trace.device
        empty = x == [] and kind is not ANY
        value = self.graph.try_insert_constant(x, type=_present(kind) if empty else None)
        if value is None:
            raise UntraceableError(f"a {type(x).__name__} cannot be a constant of a graph")
        return value

    def add(self, line: Line) -> None:
        """Add the graph node for a recorded operation."""
        operator, args, results = line
        kinds = [argument.type for argument in operator.schema.arguments]
        inputs = [self.value_of(x, kind) for x, kind in zip(args, kinds, strict=True)]
        node = self.graph.create(operator.name, inputs, len(results))
        node.set_operator(operator)
        self.graph.insert_node(node)
        for value, x in zip(node.outputs(), results, strict=True):
            self.bind_output(value, x)

    def bind_output(self, value: Value, x: Any) -> None:
        """Make `value` the graph value of `x`, a tensor or list of tensors, and set the type of `value`."""
        if isinstance(x, Tensor):
            value.set_type(self.type_of(x))
            self.values[identity(x)] = value
        elif isinstance(x, list) and x and all(isinstance(item, Tensor) for item in x):
            value.set_type(ListType(TENSOR))
            unpack = self.graph.insert_node(self.graph.create("prim::ListUnpack", [value], len(x)))
            for output, item in zip(unpack.outputs(), x, strict=True):
                self.bind_output(output, item)
        else:
            raise UntraceableError(f"an operator returns a {type(x).__name__}")


def _present(kind: Type) -> Type:
    return kind.elem if isinstance(kind, OptionalType) else kind


class BackwardGraphBuilder(GraphBuilder):
    """Builder of the graph of a backward pass, which receives or recomputes forward values."""

    def __init__(self, trace: Trace, recomputed: Sequence[int]) -> None:
        super().__init__(trace)
        self.recomputed = recomputed  # indices of the forward operations that the backward graph repeats
        # position of a forward value that the backward graph reads -> its graph input
        self.reads: dict[tuple[int, int], Value] = {}

    def value_of_untracked(self, x: Tensor) -> Value:
        """Return the graph value of a forward tensor that the backward pass reads.

        If `recomputed` has the operation that computes the tensor, add this operation to the graph.
        Otherwise, add a graph input for the tensor.
        """
        position = self.trace.position.get(identity(x))
        if position is None:
            return super().value_of_untracked(x)
        if position[0] in self.recomputed:
            self.add(self.trace.lines[position[0]])
            return self.values[identity(x)]
        value = self.add_input(x)
        self.reads[position] = value
        return value


def forward_graph(trace: Trace, saved: Sequence[tuple[int, int]]) -> Graph:
    """Build the forward graph from all arguments to the outputs, followed by the saved values."""
    writing = GraphBuilder(trace)
    for i, x in zip(trace.inputs, trace.blanks, strict=True):
        if i.dtype is None:
            writing.graph.add_input()
        else:
            writing.add_input(x)
    for line in trace.lines:
        writing.add(line)
    for x in [*trace.outputs, *map(trace.tensor, saved)]:
        writing.graph.register_output(writing.value_of(x))
    return writing.graph


def backward_graph(
    trace: Trace, recording: BackwardGraph, recomputed: Sequence[int]
) -> tuple[Graph, list[tuple[int, int]], list[int]]:
    """Return the backward graph, the positions of the forward values it reads, and argument indices.

    The graph returns the gradients of the arguments with these indices. `recomputed` contains the indices of
    the forward operations that the backward graph repeats.
    """
    builder = BackwardGraphBuilder(trace, recomputed)
    for x in recording.grads:
        builder.add_input(x)
    for line in recording.lines:
        builder.add(line)
    gradient_indices = [i for i, x in enumerate(recording.gradients) if x is not None]
    for i in gradient_indices:
        builder.graph.register_output(builder.value_of(recording.gradients[i]))
    return builder.graph, list(builder.reads), gradient_indices
