"""Subgraphs as submodules of the surrounding graph, and the nodes that call control-flow operators."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.export.control_flow.subgraph_capture import Branch
from ts.export.hop_regions import WRAPPERS, wrap
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node, map_arg

if TYPE_CHECKING:
    from ts.export.tracer import ExportTracer

# Operators whose subgraphs have inputs that are named after the operands of the operator.
_OPERATORS_NAMING_INPUTS: Final = ("cond", "map_impl")


def module_of(branch: Branch, inputs: Sequence[Node], output: Any) -> GraphModule:
    """Return the module of a captured function.

    inputs  captured nodes of the surrounding graph, in the order of the inputs that follow the arguments
    output  result nodes of the function
    """
    graph = branch.graph
    graph.output(output)
    graph.eliminate_dead_code()
    own_inputs = [n for n in graph.nodes if n.op == "placeholder" and n not in branch.lifted.values()]
    order = [*own_inputs, *(branch.lifted.get(outer, outer) for outer in inputs)]
    attributes = {**branch.submodules, **branch.attributes}
    wrap(graph, branch.blocks, attributes)
    ordered = _copy_graph(graph, order, [f"arg{i}_1" for i in range(len(order))])
    return GraphModule(attributes, ordered)


def _copy_graph(graph: Graph, inputs: Sequence[Node], names: Sequence[str]) -> Graph:
    """Copy a graph.

    In the copy, the nodes `inputs` are replaced by inputs with the names `names`, in this order.
    """
    new_graph = Graph()
    copies: dict[Node, Node] = {}
    for node, name in zip(inputs, names, strict=True):
        copy = copies[node] = new_graph.placeholder(name)
        copy.meta = dict(node.meta)
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        args, kwargs = (map_arg(x, copies.__getitem__) for x in (node.args, node.kwargs))
        copies[node] = new_graph.create_node(node.op, node.target, args, kwargs, name=node.name)
        copies[node].meta = dict(node.meta)
    return new_graph


def attributes(recorder: ExportTracer, modules: dict[str, GraphModule]) -> list[Node]:
    """Register subgraphs as attributes of the graph's module, and return their `get_attr` nodes.

    All names get the same numeric suffix, the first one that is free for every name: `true_graph_1`,
    `false_graph_1`.
    """
    suffix = 0
    while any(f"{name}_{suffix}" in recorder.submodules for name in modules):
        suffix += 1
    nodes = []
    for name, module in modules.items():
        recorder.submodules[f"{name}_{suffix}"] = module
        nodes.append(recorder.graph.create_node("get_attr", f"{name}_{suffix}"))
    return nodes


def call(recorder: ExportTracer, target: Any, args: tuple[Any, ...], results: Sequence[Any]) -> None:
    """Record a node for the operator and one `getitem` node for each result."""
    node = recorder._call(target, args, tuple(results))
    for k, x in enumerate(results):
        item = recorder._call(python_operator.getitem, (node, k), x)
        if isinstance(x, Tensor | SymNumber):
            recorder._bind(item, x)


def name_inputs(module: GraphModule) -> None:
    """Rename the inputs of the subgraphs of `cond` and `map` after the operands of the operators.

    Nested subgraphs are renamed recursively.
    """
    for node in module.graph.nodes:
        if node.op != "call_function" or getattr(node.target, "__module__", "") != "torch.ops.higher_order":
            continue
        subgraph_nodes = [x for x in node.args if isinstance(x, Node) and x.op == "get_attr"]
        for subgraph_node in subgraph_nodes:
            child = getattr(module, str(subgraph_node.target))
            if not isinstance(child, GraphModule):
                continue
            if node.target.name in _OPERATORS_NAMING_INPUTS:
                _name_as(child, [x for x in _operands(node) if isinstance(x, Node)])
            if node.target.name in _OPERATORS_NAMING_INPUTS or node.target.name in WRAPPERS:
                name_inputs(child)


def _operands(node: Node) -> list[Any]:
    return [x for arg in node.args if isinstance(arg, list | tuple) for x in arg]


def _name_as(child: GraphModule, operands: Sequence[Node]) -> None:
    inputs = [n for n in child.graph.nodes if n.op == "placeholder"]
    if len(inputs) == len(operands):
        child.graph = _copy_graph(child.graph, inputs, _unique_names([x.name for x in operands]))


def _unique_names(names: Sequence[str]) -> list[str]:
    """Make names unique by suffixes _1, _2, ..., because an operand may be passed several times."""
    unique_names: list[str] = []
    for name in names:
        suffix = 0
        while (candidate := name if suffix == 0 else f"{name}_{suffix}") in unique_names:
            suffix += 1
        unique_names.append(candidate)
    return unique_names
