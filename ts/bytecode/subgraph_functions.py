"""Functions and operators of subgraphs: forked functions and differentiable graphs.

A `prim::fork` node becomes a function that runs asynchronously. A `prim::DifferentiableGraph` node becomes an
operator, which runs the subgraph and records its backward graph. If no gradient is required, the operator
returns False instead. Then the nodes of the subgraph run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ts._core.dispatch.operator import Operator
from ts._core.vm.code import Code
from ts._core.vm.function import Function
from ts.bytecode.typespec import result_spec, type_spec
from ts.ir.graph import Graph
from ts.ir.types import erase_shape
from ts.ops.operator_record import OperatorRecord

KIND: Final = "prim::DifferentiableGraph"
Prepare = Callable[[Graph, str], Code]


class SubgraphFunction(Function):
    """Function of a graph. `prepare` compiles the graph at the first call."""

    def __init__(self, graph: Graph, prepare: Prepare, name: str) -> None:
        arguments = [(value.debug_name(), type_spec(value.type())) for value in graph.inputs()]
        super().__init__(name, arguments, result=result_spec(graph))
        self.graph = graph
        self._make_code = prepare

    def _prepare(self) -> Code:
        return self._make_code(self.graph, self.name)


class DifferentiableRecord(OperatorRecord):
    """Operator record of a differentiable graph."""

    def __init__(self, schema_text: str, make_graph: Callable[[], Graph]) -> None:
        first, count = schema_text.partition("Tensor x")[2], schema_text.rpartition(" -> ")[2].count(",")
        index = int(first.partition(",")[0].partition(")")[0])

        def run(*args: Any) -> tuple[Any, ...]:
            """Return False and placeholders for the outputs, so that the nodes of the subgraph run."""
            return (False, *(args[index] for _ in range(count)))

        super().__init__(schema_text, run, "autodiff", loop=KIND, tensor_kernel=True)
        self.make_graph = make_graph


def differentiable_operator(graph: Graph, prepare: Prepare) -> Operator:
    """Return the operator of a differentiable graph.

    The operator returns True and the outputs of `graph`, or False if no gradient is required. If it returns
    False, the nodes of `graph` must run.
    """
    parameters = ", ".join(
        f"{erase_shape(value.type()).schema_str} x{i}" for i, value in enumerate(graph.inputs())
    )
    results = ", ".join(["bool", *("Tensor" for _ in graph.outputs())])
    return lazy_graph_operator(f"{KIND}({parameters}) -> ({results})", lambda: graph, prepare)


def lazy_graph_operator(schema_text: str, make_graph: Callable[[], Graph], prepare: Prepare) -> Operator:
    """Return the operator of a differentiable graph. `make_graph` creates the graph when first needed."""
    # imported at first use, because only calls that record gradients need it
    from ts._core.autograd.differentiable_graph import GraphRule, bind

    operator = Operator(schema_text, DifferentiableRecord(schema_text, make_graph))
    bind(operator, GraphRule(lambda: SubgraphFunction(make_graph(), prepare, "<part>"), prepare))
    return operator


def serialize_subgraph(operator: Operator) -> list[str] | None:
    """Return the schema and the graph text of the operator of a differentiable graph.

    Returns None if the graph has tensor constants, because the text does not contain their values.
    """
    graph = operator.record.make_graph()
    if any(node.kind_of("value") == "t" for node in graph.all_nodes() if node.has_attribute("value")):
        return None
    return [operator.schema_text, graph.str(False)]


def deserialize_subgraph(data: Sequence[str], prepare: Prepare) -> Operator:
    """Return the operator from data that `serialize_subgraph` returned."""
    schema_text, graph_text = data

    def make_graph() -> Graph:
        from ts.ir.graph_parser import parse_ir  # imported here: only calls that record gradients need it

        return parse_ir(graph_text)

    return lazy_graph_operator(schema_text, make_graph, prepare)
