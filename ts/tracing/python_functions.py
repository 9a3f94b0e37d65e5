"""Calls of `autograd.Function` in a trace: nodes `prim::PythonOp`, which call the function again.

The call on the left is recorded as the node on the right:

    Scale.apply(x, 3, "s")      %y : Tensor = ^Scale[inplace=0, module="m", Subgraph=<Graph>](3, s)(%x)

The inputs of the node are the tensors of the call. Its attributes are the other arguments (scalars) and the
recorded operators of the call (`Subgraph`). At first, the outer graph also contains the recorded operators.
Dead code elimination removes those that do not write to tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ts._core.tensor.tensor import Tensor
from ts.ir.graph import Graph, Node, Value

if TYPE_CHECKING:
    from ts.tracing.tracer import Tracer


class PartialCall:
    """Function in which all arguments except tensors are bound."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self.function = function
        self.calling_convention = "".join("d" if isinstance(x, Tensor) else "c" for x in arguments)
        self.scalars = [x for x in arguments if not isinstance(x, Tensor)]

    def __call__(self, *tensors: Any) -> Any:
        """Call the function with the tensors and the bound scalars, in the order of the parameters."""
        tensor_arguments, scalars = iter(tensors), iter(self.scalars)
        arguments = [next(tensor_arguments if kind == "d" else scalars) for kind in self.calling_convention]
        return self.function(*arguments)


def record_call(tracer: Tracer, cls: Any, arguments: Sequence[Any], call: Callable[[], Any]) -> Any:
    """Run `call`, which is `cls.apply(*arguments)`, and record it as one node."""
    graph = tracer.graph
    tensors = [x for x in arguments if isinstance(x, Tensor)]
    node = graph.create("prim::PythonOp", [tracer.tensor(x) for x in tensors], 0)
    node.range = tracer.source_range()
    node.set("name", cls.__name__).set("function", PartialCall(cls.apply, arguments), "ival")
    graph.insert_node(node)
    result = call()
    outputs = result if isinstance(result, tuple) else (result,)
    # True if an output is an input tensor, not a new tensor
    is_in_place = any(output is x for output in outputs for x in tensors)
    node.set("inplace", int(is_in_place)).set("module", cls.__module__)
    node.set("Subgraph", _subgraph_after(node, graph.insert_point(), tracer, outputs), "g")
    tracer.bind(node.add_output(), result)
    return result


def _subgraph_after(node: Node, end: Node, tracer: Tracer, results: Sequence[Any]) -> Graph:
    """Return a graph with copies of the nodes between `node` and `end`, which computes `results`."""
    subgraph = Graph()
    copies: dict[Value, Value] = {}

    def lookup(value: Value) -> Value:
        if value not in copies:
            copies[value] = subgraph.add_input(type=value.type()).copy_metadata(value)
        return copies[value]

    for value in node.inputs():
        copies[value] = subgraph.add_input(type=value.type()).copy_metadata(value)
    inner = node.next()
    while inner is not end:
        copy = subgraph.append_node(subgraph.create_clone(inner, lookup))
        copies.update(zip(inner.outputs(), copy.outputs(), strict=True))
        inner = inner.next()
    for output in results:
        result = tracer.find(output)
        if result is not None:
            subgraph.register_output(lookup(result))
    return subgraph
