"""Grouping of nodes by their source: the program's module or function that `meta` records.

For example, the first result contains the nodes of one call of a `Linear` module:

    get_source_partitions(graph, [ts.nn.Linear])[ts.nn.Linear][0].nodes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ts.fx.graph import Graph
from ts.fx.node import Node
from ts.module_names import torch_name
from ts.unsupported import names_for

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """Nodes of one call of a source (module or function), with their inputs, outputs and parameters."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """Return the nodes of each wanted source, grouped by call.

    A call is left out if `filter_fn` returns False for one of its nodes.
    """
    calls_by_source: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        source = _source_of(node, wanted_sources)
        if source is not None:
            of, name = source
            calls_by_source.setdefault(of, {}).setdefault(name, []).append(node)
    return {
        of: [
            _partition(nodes, of)
            for nodes in calls.values()
            if filter_fn is None or all(map(filter_fn, nodes))
        ]
        for of, calls in calls_by_source.items()
    }


def _source_of(node: Node, requested_sources: list[Any]) -> tuple[Any, str] | None:
    """Return the source of a node, and the name that `meta` records for the call of the source.

    Return None if the source is unknown or not in `requested_sources`.
    """
    stack = node.meta.get("source_fn_stack")
    if stack is not None:
        name, source = stack[-1]
        return (source, name) if source in requested_sources else None
    function = node.meta.get("torch_fn")
    if function is not None:
        name, source = function[0], function[1].split(".")[1]
        if source in requested_sources:
            return source, name
    modules = node.meta.get("nn_module_stack")
    if node.op != "call_function" or not modules:
        return None
    name, cls = list(modules.values())[-1]
    for source in requested_sources:
        if isinstance(source, type) and isinstance(cls, type):
            same = issubclass(cls, source)
        elif isinstance(source, type) and isinstance(cls, str):
            same = cls == f"{torch_name(source.__module__)}.{source.__qualname__}"
        else:
            same = cls == source
        if same:
            return source, name
    return None


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inputs: dict[Node, None] = {}
    outputs: dict[Node, None] = {}
    for node in nodes:
        for arg in node.args:
            if isinstance(arg, Node) and arg not in nodes and arg.op != "get_attr":
                inputs[arg] = None
        if node.op != "get_attr" and any(user not in nodes for user in node.users):
            outputs[node] = None
    params = [node for node in nodes if node.op == "get_attr"]
    return SourcePartition(nodes, source, list(inputs), list(outputs), params)


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Return True if `subgraph2` uses a node of `subgraph1`."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)


__getattr__ = names_for(__name__)
