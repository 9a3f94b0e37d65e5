"""Types of tensors through a graph: dtype, number of dimensions and device, from those of the inputs.

    graph(%x : Tensor):                          graph(%x : Float(*, *, requires_grad=0, device=cpu)):
      %y : Tensor = aten::mul(%x, %x, %c)   =>     %y : Float(*, *, requires_grad=0, device=cpu) = ...

Each operator runs once on meta tensors, which have shapes and no elements.  Lengths of dimensions are not
entered: they are those of these inputs, the rest holds for others too.  Numbers that the program computes are
not known; neither is what may share memory with a tensor that changes its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.analysis.effects import has_side_effects, reshapes
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TENSOR, TensorType
from ts.passes.evaluate import NOT_EVALUATED, evaluate

_RANK_BY_LENGTHS: Final = frozenset({"aten::squeeze"})  # the number of dimensions depends on their lengths
_CONTAINERS: Final = (list, tuple)


def propagate_shapes(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> Graph:
    """A copy of the graph with the types of its tensors; `inputs` are tensors, or None for one not known."""
    copy = graph.copy()
    analysis = _Analysis(copy)
    for value, tensor in zip(copy.inputs(), inputs, strict=True):
        if getattr(tensor, "device", None) is not None and value.type().is_subtype_of(TENSOR):
            requires_grad = bool(tensor.requires_grad) if with_grad or not tensor.requires_grad else None
            analysis.enter(value, tensor.to("meta"), str(tensor.device), requires_grad)
    analysis.visit(copy.block())
    return copy


class _Analysis:
    def __init__(self, graph: Graph) -> None:
        self.samples: dict[Value, Any] = {}  # meta tensors, constants, containers of them
        self.reshaped = [node.input(0) for node in graph.all_nodes() if reshapes(node)]
        self.aliases = AliasDb(graph)

    def enter(self, value: Value, sample: Any, device: str | None, requires_grad: bool | None) -> None:
        """Note what a value is like."""
        if isinstance(sample, _CONTAINERS) and self.aliases.has_writers(value):
            return
        if any(self.aliases.may_alias(value, tensor) for tensor in self.reshaped):
            return
        self.samples[value] = sample
        if hasattr(sample, "is_meta") and value.type().is_subtype_of(TENSOR):
            sizes = [None] * sample.dim()
            value.set_type(TensorType(sample.dtype.code, sizes, None, device, requires_grad))

    def visit(self, block: Block) -> None:
        for node in block.nodes():
            if node.kind() == "prim::Constant":
                self.samples[node.output()] = node.output().to_ivalue()
            elif node.kind() == "prim::If":
                self.visit_if(node)
            elif not node.blocks():  # what a loop carries may change from turn to turn: it stays unknown
                self.visit_node(node)
            else:
                for inner in node.blocks():
                    self.visit(inner)

    def visit_if(self, node: Node) -> None:
        """Both branches, then what they have in common."""
        for block in node.blocks():
            self.visit(block)
        for output, first, second in zip(node.outputs(), *(b.outputs() for b in node.blocks()), strict=True):
            a, b = first.type(), second.type()
            if (
                isinstance(a, TensorType)
                and isinstance(b, TensorType)
                and output.type().is_subtype_of(TENSOR)
            ):
                merged = a.merge(b)
                output.set_type(merged)
                if merged.scalar_type is not None and merged.dim() is not None and first in self.samples:
                    self.samples[output] = self.samples[first]

    def visit_node(self, node: Node) -> None:
        inputs = node.inputs()
        if node.kind() in _RANK_BY_LENGTHS or has_side_effects(node):
            return
        if not all(value in self.samples for value in inputs):
            return
        results = evaluate(node, [self.samples[value] for value in inputs])
        if results is NOT_EVALUATED:
            return
        tensors = [type for type in (value.type() for value in inputs) if isinstance(type, TensorType)]
        devices = {type.device() for type in tensors}
        device = devices.pop() if len(devices) == 1 else None
        grads = {type._requires_grad for type in tensors}
        for output, sample in zip(node.outputs(), results, strict=True):
            if hasattr(sample, "is_meta") or isinstance(sample, _CONTAINERS):
                self.enter(output, sample, device, False if grads == {False} else None)
