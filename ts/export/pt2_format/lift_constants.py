"""Constant lifting: tensors of subgraphs become program inputs, because archives cannot store them.

In this example, the subgraph `true_graph_0` contains a constant tensor. The tensor becomes an input of the
program and an argument of `cond`:

    before    cond(p, true_graph_0, false_graph_0, (x,))
    after     cond(p, true_graph_0, false_graph_0, (x, c_lifted_tensor_0))
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.export.fake import fake
from ts.export.program import ExportedProgram
from ts.export.pt2_format.call_targets import is_of_functions
from ts.export.signature import ExportGraphSignature, InputKind, InputSpec, TensorArgument
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule, _get_attr
from ts.fx.node import Node


def lift_constants(program: ExportedProgram) -> ExportedProgram:
    """Return a copy of the program in which tensors of subgraphs are inputs of the program.

    Return the program itself if its subgraphs have no tensors.
    """
    tensors = {id(x): x for _, module in _functions(program.graph_module) for x in _tensor_attributes(module)}
    if not tensors:
        return program
    constants = dict(program.constants)
    specs = list(program.graph_signature.input_specs)
    first = next((i for i, s in enumerate(specs) if s.kind is InputKind.USER_INPUT), len(specs))
    module, graph = _copied(program.graph_module)
    inputs = [n for n in graph.nodes if n.op == "placeholder"]
    before = inputs[first] if first < len(inputs) else next(n for n in graph.nodes if n.op != "placeholder")
    lifted_nodes: dict[int, Node] = {}
    index = 0
    for k, (i, x) in enumerate(tensors.items()):
        while (name := f"lifted_tensor_{index}") in constants:
            index += 1
        constants[name] = x
        with graph.inserting_before(before):
            lifted_nodes[i] = graph.placeholder(f"c_{name}")
        lifted_nodes[i].meta["val"] = fake(x)
        specs.insert(
            first + k, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(lifted_nodes[i].name), name)
        )
    _lift_into_subgraphs(module, graph, lifted_nodes)
    return ExportedProgram._create(
        GraphModule(module, graph), ExportGraphSignature(specs, program.graph_signature.output_specs),
        program.state_dict, program.range_constraints, program.module_call_graph, program.example_inputs,
        constants, program._guards, program._environment, program.dialect,
    )  # fmt: skip


def _functions(module: GraphModule) -> Iterator[tuple[Node, GraphModule]]:
    """Yield (`get_attr` node, subgraph) for all subgraphs of higher-order operators, also nested ones."""
    for node in module.graph.nodes:
        value = _value(module, node)
        if isinstance(value, GraphModule):
            yield node, value
            yield from _functions(value)


def _value(module: GraphModule, node: Node) -> Any:
    """Return the attribute that a `get_attr` node reads, or None for other nodes."""
    return _get_attr(module, str(node.target)) if node.op == "get_attr" else None


def _tensor_attributes(module: GraphModule) -> list[Tensor]:
    """Return the tensors that the `get_attr` nodes of a module's graph read."""
    return [x for node in module.graph.nodes if isinstance(x := _value(module, node), Tensor)]


def _copied(module: GraphModule) -> tuple[dict[str, Any], Graph]:
    """Return copies of a module's attributes and graph. Nodes keep their names."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in module.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
        copies[node].name = node.name
    attributes = {str(n.target): _value(module, n) for n in graph.nodes if n.op == "get_attr"}
    return attributes, graph


def _lift_into_subgraphs(attributes: dict[str, Any], graph: Graph, lifted_nodes: dict[int, Node]) -> None:
    """Pass the tensors of subgraphs as operands to the subgraphs, in all calls in `graph`.

    `lifted_nodes` maps the ids of these tensors to nodes in `graph`.
    """
    before = dict(attributes)
    for node in list(graph.nodes):
        if node.op != "call_function" or not is_of_functions(node.target):
            continue
        graphs = [n for n in node.all_input_nodes if isinstance(before.get(str(n.target)), GraphModule)]
        inside = [before[str(n.target)] for n in graphs]
        used_ids = {id(x) for f in inside for _, m in _functions(f) for x in _tensor_attributes(m)}
        used_ids |= {id(x) for f in inside for x in _tensor_attributes(f)}
        lifted_ids = [i for i in lifted_nodes if i in used_ids]
        for n, function in zip(graphs, inside, strict=True):
            attributes[str(n.target)] = _with_tensor_inputs(
                function, lifted_ids, [lifted_nodes[i].meta.get("val") for i in lifted_ids]
            )
        operands = [lifted_nodes[i] for i in lifted_ids]
        *rest, last = node.args
        node.args = (
            (*rest, type(last)([*last, *operands]))
            if isinstance(last, list | tuple)
            else (*node.args, *operands)
        )


def _with_tensor_inputs(module: GraphModule, lifted_ids: Sequence[int], values: Sequence[Any]) -> GraphModule:
    """Return the module of a subgraph in which inputs replace the tensor attributes."""
    attributes, graph = _copied(module)
    rest = next(n for n in graph.nodes if n.op != "placeholder")
    used_names = {n.name for n in graph.nodes}
    names = (name for k in itertools.count() if (name := f"lifted_tensor_{k}") not in used_names)
    lifted_nodes: dict[int, Node] = {}
    with graph.inserting_before(rest):
        for i, value in zip(lifted_ids, values, strict=True):
            lifted_nodes[i] = graph.placeholder(next(names))
            lifted_nodes[i].meta["val"] = value
    for node in list(graph.nodes):
        if isinstance(x := attributes.get(str(node.target)) if node.op == "get_attr" else None, Tensor):
            node.replace_all_uses_with(lifted_nodes[id(x)])
            graph.erase_node(node)
    _lift_into_subgraphs(attributes, graph, lifted_nodes)
    return GraphModule(attributes, graph)
