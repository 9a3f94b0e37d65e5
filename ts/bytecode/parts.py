"""Parts of a program that have code of their own.

    prim::fork                   a function that another thread of control runs
    prim::DifferentiableGraph    an operator that runs the part and notes how to differentiate it, or leaves
                                 it to its nodes where nobody wants a gradient
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ts._core.autograd.graph import GraphRule, bind
from ts._core.dispatch.operator import Operator
from ts._core.vm.code import Code
from ts._core.vm.function import Function
from ts.bytecode.typespec import result_spec, type_spec
from ts.ir.graph import Graph
from ts.ir.types import TENSOR, unshaped
from ts.ops.registry import Record

KIND: Final = "prim::DifferentiableGraph"
Prepare = Callable[[Graph, str], Code]


class PartFunction(Function):
    """A graph as a function; `prepare` makes its code when it is first called."""

    def __init__(self, graph: Graph, prepare: Prepare, name: str) -> None:
        arguments = [(value.debug_name(), type_spec(value.type())) for value in graph.inputs()]
        super().__init__(name, arguments, result=result_spec(graph))
        self.graph = graph
        self._make_code = prepare

    def _prepare(self) -> Code:
        return self._make_code(self.graph, self.name)


class DifferentiableRecord(Record):
    """The record of the operator that runs a differentiable graph."""


def differentiable_operator(graph: Graph, prepare: Prepare) -> Operator:
    """Its operator: whether it ran, and its results."""
    parameters = ", ".join(
        f"{unshaped(value.type()).schema_str} x{i}" for i, value in enumerate(graph.inputs())
    )
    results = ", ".join(["bool", *("Tensor" for _ in graph.outputs())])

    first = next(i for i, value in enumerate(graph.inputs()) if value.type().is_subtype_of(TENSOR))

    def run(*args: Any) -> tuple[Any, ...]:
        """Leave it to the nodes."""
        return (False, *(args[first] for _ in graph.outputs()))

    record = DifferentiableRecord(
        f"{KIND}({parameters}) -> ({results})", run, "autodiff", loop=KIND, whole=True
    )
    operator = Operator(record.schema_text, record)
    bind(operator, GraphRule(PartFunction(graph, prepare, "<differentiable graph>"), prepare))
    return operator
