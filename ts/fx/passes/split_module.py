"""Splitting of a module: one submodule per graph partition, and a module that calls these submodules.

In this example, the calls of modules are partition 0, and all other nodes are partition 1:

    split = split_module(module, module, lambda node: 0 if node.op == "call_module" else 1)
    split.submod_0, split.submod_1                   GraphModules
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node, map_arg
from ts.fx.proxy import Proxy
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["Partition", "split_module"]


class Partition:
    """Partition of a graph: its nodes, inputs and outputs, and the partitions that it depends on, by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}  # node of the original module -> its copy in this partition
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: "
            f"{self.outputs},\n "
            f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


def _attribute(module: Module, target: str) -> Any:
    attribute: Any = module
    for atom in target.split("."):
        if not hasattr(attribute, atom):
            raise AttributeError(f"Node target {target} not found!")
        attribute = getattr(attribute, atom)
    return attribute


class _Split:
    """State of a call of `split_module`."""

    def __init__(self, module: GraphModule, keep_node_name: bool) -> None:
        self.module = module
        self.keep_node_name = keep_node_name
        self.partitions: dict[str, Partition] = {}
        self.partition_of: dict[Node, str] = {}
        self.nodes = {node.name: node for node in module.graph.nodes}
        self.graph = Graph()
        self.values: dict[str, Node] = {}  # name of a node of the original module -> node of the new graph
        self.attributes: dict[str, Any] = {}

    def assign(self, split_callback: Callable[[Node], Any], affix: str | None) -> None:
        """Assign each call node to the partition that `split_callback` returns."""
        for node in self.module.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(split_callback(node))
            name = name if affix is None else f"{affix}_{name}"
            node._fx_partition = self.partition_of[node] = name
            self.partitions.setdefault(name, Partition(name)).node_names.append(node.name)

    def connect(self) -> None:
        """Determine the inputs and outputs of each partition."""
        for node in self.module.graph.nodes:
            if node.op not in ("placeholder", "get_attr"):
                for value in node.all_input_nodes:
                    self._use(value, self.partition_of.get(node))

    def _use(self, value: Node, used: str | None) -> None:
        definer = self.partition_of.get(value)
        if definer == used:
            return
        if definer is not None:
            self.partitions[definer].outputs.setdefault(value.name)
            if used is not None:
                self.partitions[definer].dependents.setdefault(used)
                self.partitions[used].dependencies.setdefault(definer)
        if used is not None:
            self.partitions[used].inputs.setdefault(value.name)

    def order(self) -> list[str]:
        """Return the partition names in topological order."""
        ready = [name for name, partition in self.partitions.items() if not partition.dependencies]
        ordered = []
        while ready:
            name = ready.pop()
            ordered.append(name)
            for other in self.partitions[name].dependents:
                self.partitions[other].dependencies.pop(name)
                if not self.partitions[other].dependencies:
                    ready.append(other)
        if len(ordered) != len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return ordered

    def add_inputs(self, partition: Partition, keep_names: bool) -> None:
        """Add the inputs of a partition: `get_attr` nodes for modules, placeholders for other values."""
        modules = [name for name in partition.inputs if self._is_module(self.nodes[name])]
        values = [name for name in partition.inputs if name not in modules]
        partition.inputs = {}
        for name in [*values, *modules]:
            node = self.nodes[name]
            if name in modules:
                new = partition.graph.get_attr(node.target)
                partition.targets[node.target] = _attribute(self.module, node.target)
            else:
                called = name if keep_names else f"arg_{len(partition.inputs)}"
                new = partition.graph.placeholder(called, type_expr=node.type)
                partition.inputs[name] = None
            new.meta = node.meta.copy()
            partition.environment[node] = new

    def _is_module(self, node: Node) -> bool:
        return node.op == "get_attr" and isinstance(_attribute(self.module, node.target), Module)

    def fill(self, qualname_map: dict[str, str] | None) -> None:
        """Copy each call node into the graph of its partition.

        For a called module, add an entry to `qualname_map`: name in the new module -> original name.
        """
        for node, name in self.partition_of.items():
            partition = self.partitions[name]
            target = node.target
            if node.op == "call_module":
                target = node.target.replace(".", "_")
                partition.targets[target] = _attribute(self.module, node.target)
                if qualname_map is not None:
                    qualname_map[f"{partition.submod_name}.{target}"] = node.target
            own = partition.environment.__getitem__
            args, kwargs = map_arg(node.args, own), map_arg(node.kwargs, own)
            called = node.name if self.keep_node_name else None
            new = partition.graph.create_node(node.op, target, args, kwargs, called, node.type)
            new.meta = node.meta.copy()
            partition.environment[node] = new

    def outer(self, node: Node) -> None:
        """Copy a placeholder or `get_attr` node into the graph that calls the partitions.

        Do nothing for other kinds of nodes.
        """
        if node.op == "placeholder" and self.keep_node_name:
            self.values[node.name] = self.graph.create_node(
                "placeholder", node.name, node.args[:1], type_expr=node.type
            )
        elif node.op == "placeholder":
            default = node.args[0] if node.args else inspect.Signature.empty
            self.values[node.name] = self.graph.placeholder(node.target, node.type, default)
        elif node.op == "get_attr":
            self.values[node.name] = self.graph.get_attr(node.target)
            self.attributes[node.target] = _attribute(self.module, node.target)
        else:
            return
        self.values[node.name].meta = node.meta.copy()

    def call(self, partition: Partition, tuple_return: bool) -> None:
        """Add an output node to the graph of a partition, and a call of the partition to the outer graph."""
        results = tuple(partition.environment[self.nodes[name]] for name in partition.outputs)
        several = len(results) != 1 or tuple_return
        partition.graph.output(results if several else results[0])
        self.attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        called = self.graph.call_module(
            partition.submod_name, tuple(self.values[name] for name in partition.inputs)
        )
        for i, name in enumerate(partition.outputs):
            self.values[name] = Proxy(called)[i].node if several else called  # type: ignore[index]


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Return a module that calls one submodule per partition of `m`.

    split_callback             function that returns the partition of a node, as a number or name
    qualname_map               dict to fill: name of a module in the new module -> its name in `m`
    keep_original_order        call the partitions in the order of their first nodes in `m`
    keep_original_node_name    give nodes in partitions the names that they have in `m`
    keep_original_input_name   name each parameter of a partition like the node that is passed for it
    partition_affix            prefix of the partition name in the name of the submodule
    tuple_return               let each partition return a tuple, even if it has a single output
    """
    split = _Split(m, bool(keep_original_node_name))
    split.assign(split_callback, partition_affix)
    split.connect()
    as_they_begin = list(split.partitions)
    order = split.order()
    for name in order:
        split.add_inputs(split.partitions[name], keep_original_input_name)
    split.fill(qualname_map)
    nodes = list(m.graph.nodes)
    if not keep_original_order or not split.partitions:
        for node in nodes:
            split.outer(node)
    for name in as_they_begin if keep_original_order else order:
        partition = split.partitions[name]
        if keep_original_order:
            required_nodes = [
                *(n for n in nodes if n.op == "placeholder"),
                *(split.nodes[i] for i in partition.inputs),
            ]
            for node in required_nodes:
                if node.name not in split.values:
                    split.outer(node)
        split.call(partition, tuple_return)
    for node in nodes:
        if node.op == "output":
            split.graph.output(map_arg(node.args[0], lambda n: split.values[n.name]))
    result = GraphModule(split.attributes, split.graph)
    result.meta["partition_names"] = {partition.submod_name for partition in split.partitions.values()}
    return result


__getattr__ = names_for(__name__)
