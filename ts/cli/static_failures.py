"""Static analysis (abstract interpretation) that finds operator calls that always fail, without execution.

Input: a graph with all calls inlined, and known values of its inputs. Output: a `Failure` for each operator
that rejects its known arguments, with the source lines of the calls. Known values are a module object, meta
tensors and numbers:

    failures(net.forward.inlined_graph, [net._object, ts.empty(1, 3, device="meta")])

An example of the text of a failure:

    mat1 and mat2 shapes cannot be multiplied (1x3 and 4x2):
      File "net.py", line 12, in forward
        return self.head(x)
               ~~~~~~~~~ <--- HERE

Each operator with known arguments runs on meta tensors, which have shapes and dtypes, but no elements. A
failure is reported only if it occurs in both training and evaluation mode. If the condition of a branch is
known, only the taken branch is visited. A `raise` in this branch is a failure.

Tensor elements, loop-carried values and attributes that the function writes are unknown. Values that may
alias a written or reshaped tensor are unknown too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import ts
from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object
from ts.analysis.alias import AliasDb
from ts.analysis.effects import STRUCTURAL, has_side_effects, is_nondeterministic, reshapes
from ts.errors import InternalError, LimitExceeded
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import DEVICE, BoolType, ClassType, StringType, TensorType
from ts.passes.constant_evaluation import NOT_EVALUATED, evaluate

_CONTAINERS: Final = (list, tuple, dict)
# module attribute with the mode: graphs that read it are analyzed for both values, True and False
_MODE: Final = "training"


class Failure(NamedTuple):
    """Operator call that always fails: the text `Error: message`, and the node."""

    message: str
    node: Node

    def format_message(self, function: str) -> str:
        """Return the message and the highlighted source lines, with the outermost call first."""
        lines, name = [f"{self.message}:"], function
        for callee, range in self.node.callstack:
            if range is not None:
                lines.append(range.highlight(name).rstrip("\n"))
            name = callee
        if self.node.range is not None:
            lines.append(self.node.range.highlight(name).rstrip("\n"))
        return "\n".join(lines) if len(lines) > 1 else self.message


def failures(graph: Graph, inputs: Sequence[Any]) -> list[Failure]:
    """Return the operator calls of a graph that always fail.

    An item None in `inputs` means that the value of this input is unknown.
    """
    reads_mode = any(node.get("name") == _MODE for node in graph.find_all_nodes("prim::GetAttr"))
    first, *others = [
        _find_failures(graph, inputs, mode) for mode in ((False, True) if reads_mode else (None,))
    ]
    return [failure for key, failure in first.items() if all(key in other for other in others)]


def _find_failures(graph: Graph, inputs: Sequence[Any], training: bool | None) -> dict[object, Failure]:
    """Return the failures in one training mode, by message and location."""
    search = _Search(graph, training)
    for value, sample in zip(graph.inputs(), inputs, strict=False):
        if sample is not None:
            search.constants[value] = sample
    search.visit(graph.block())
    return {(f.message, str(f.node.range), str(f.node.callstack)): f for f in search.failures}


class _Search:
    def __init__(self, graph: Graph, training: bool | None) -> None:
        self.training = training
        self.constants: dict[Value, Any] = {}
        self.failures: list[Failure] = []
        self.aliases = AliasDb(graph)
        self.reshaped = [node.input(0) for node in graph.all_nodes() if reshapes(node)]
        self.written = {node.get("name") for node in graph.find_all_nodes("prim::SetAttr")}
        self.device = ts.device("meta")
        # None outside of branches, else True if the conditions of all enclosing branches are known
        self.is_decided: bool | None = None

    def visit(self, block: Block) -> bool:
        """Visit the nodes of a block. Return True if control flow reaches the end."""
        return all(self.visit_any(node) for node in block.nodes())

    def visit_any(self, node: Node) -> bool:
        """Visit a node. Return True if control flow reaches the next node."""
        kind = node.kind()
        if kind == "prim::Constant":
            self.enter(node.output(), node.output().to_ivalue())
        elif kind == "prim::GetAttr":
            self.visit_attribute(node)
        elif kind == "prim::RaiseException":
            if self.is_decided:
                self.failures.append(Failure(self.exception_text(node), node))
            return False
        elif kind == "prim::If":
            return self.visit_if(node)
        elif kind == "prim::Loop":
            self.visit_loop(node)
        elif not node.blocks():
            return self.visit_node(node)
        else:
            for inner in node.blocks():
                self.visit(inner)
        return True

    def exception_text(self, node: Node) -> str:
        """Return the text of the exception that a `raise` node raises, as far as it is known."""
        message, *rest = (self.constants.get(value) for value in node.inputs())
        name = next((str(name) for name in rest if name is not None), "Exception").rpartition(".")[2]
        return name if message is None else f"{name}: {message}"

    def enter(self, value: Value, sample: Any) -> None:
        """Record `sample` as the known value of `value`.

        Do nothing if the program may write to or reshape `value`.
        """
        if isinstance(sample, _CONTAINERS) and self.aliases.has_writers(value):
            return
        if any(self.aliases.may_alias(value, tensor) for tensor in self.reshaped):
            return
        self.constants[value] = _on_meta(sample)

    def visit_attribute(self, node: Node) -> None:
        name, owner = node.get("name"), self.constants.get(node.input())
        if not isinstance(owner, Object) or name in self.written:
            return
        is_object = isinstance(node.output().type(), ClassType)
        try:
            sample = object_get(owner, list(owner.cls.type.attributes).index(name), deep=not is_object)
        except (AttributeError, ValueError):  # the attribute has no value
            return
        self.enter(node.output(), self.training if name == _MODE else sample)

    def visit_if(self, node: Node) -> bool:
        """Visit the branch that a known condition selects, or both branches if the condition is unknown."""
        decided = self.is_decided
        if node.input() in self.constants:
            branches = [node.blocks()[0 if self.constants[node.input()] else 1]]
            self.is_decided = decided is not False
        else:
            branches = node.blocks()
            self.is_decided = False
        returning = [block for block in branches if self.visit(block)]
        self.is_decided = decided
        for index, output in enumerate(node.outputs()):
            results = [block.outputs()[index] for block in returning]
            samples = [self.constants[value] for value in results if value in self.constants]
            if samples and len(samples) == len(results) and _have_equal_summaries(samples):
                self.enter(output, samples[0])
        return bool(returning)

    def visit_loop(self, node: Node) -> None:
        """Visit a loop body, in which only values that the loop does not change are known."""
        (body,) = node.blocks()
        for before, inner, after, output in zip(
            node.inputs()[2:], body.inputs()[1:], body.outputs()[1:], node.outputs(), strict=True
        ):
            if inner is after and before in self.constants:
                self.constants[inner] = self.constants[output] = self.constants[before]
        if self.constants.get(node.input(0), 1) != 0:
            decided, self.is_decided = self.is_decided, False
            self.visit(body)
            self.is_decided = decided

    def visit_node(self, node: Node) -> bool:
        """Run an operator if its arguments are known. Return False if it fails."""
        if has_side_effects(node) or (node.kind() in STRUCTURAL and not node.outputs()):
            return True
        arguments = self.arguments(node)
        if arguments is None or _depends_on_device(node):
            return True
        operator = node.operator()
        try:
            if operator is None or not callable(operator):
                results = evaluate(node, arguments)
            else:
                result = operator(*arguments)
                results = list(result) if len(node.outputs()) > 1 else [result]
        except (LimitExceeded, InternalError, MemoryError):
            raise
        except (NotImplementedError, TypeError):
            # the result is unknown, because the operator reads elements, which meta tensors lack
            return True
        except Exception as error:
            message = str(error).strip().rstrip(":")
            if "meta" in message.lower():  # the operator reads elements
                return True
            kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
            self.failures.append(Failure(f"{kind}{message}", node))
            return False
        if results is not NOT_EVALUATED:
            for output, sample in zip(node.outputs(), results, strict=False):
                if isinstance(sample, ts.Tensor) or not is_nondeterministic(node):
                    self.enter(output, sample)
        return True

    def arguments(self, node: Node) -> list[Any] | None:
        """Return the arguments of a node on the meta device, or None if any argument is unknown."""
        schema = node.schema()
        names = [argument.name for argument in schema.arguments] if schema is not None else []
        arguments = []
        for index, value in enumerate(node.inputs()):
            if index < len(names) and names[index] == "device":
                arguments.append(self.device)
            elif value in self.constants:
                arguments.append(self.constants[value])
            else:
                return None
        return arguments


def _depends_on_device(node: Node) -> bool:
    """Return True if the result of an operator depends on the device of a tensor.

    In this case the result for meta tensors differs from the result at run time.
    """
    if not any(isinstance(value.type(), TensorType) for value in node.inputs()):
        return False
    types = [value.type() for value in node.outputs()]
    return node.kind().startswith("prim::") and any(
        isinstance(type, BoolType | StringType) or type == DEVICE for type in types
    )


def _have_equal_summaries(samples: Sequence[Any]) -> bool:
    """Return True if all samples have equal summaries."""
    first = _summary(samples[0])
    return all(_summary(sample) == first for sample in samples[1:])


def _on_meta(sample: Any) -> Any:
    """Convert the tensors in a value to meta tensors."""
    if isinstance(sample, ts.Tensor):
        return sample.to("meta")
    if isinstance(sample, dict):
        return {key: _on_meta(value) for key, value in sample.items()}
    if isinstance(sample, list):
        return [_on_meta(item) for item in sample]
    if type(sample) is tuple:
        return tuple(map(_on_meta, sample))
    return sample


def _summary(sample: Any) -> Any:
    """Return a comparable summary of a known value, such as dtype and shape of a tensor."""
    if isinstance(sample, ts.Tensor):
        return sample.dtype, tuple(sample.shape)
    if isinstance(sample, dict):
        return {key: _summary(value) for key, value in sample.items()}
    if isinstance(sample, list | tuple):
        return type(sample), [_summary(item) for item in sample]
    return type(sample), sample
