"""Names of targets, and topological sorting of graphs."""

from __future__ import annotations

import heapq
import operator
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.fx.torch_names import qualified_name, type_name
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = [
    "get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph",
    "stable_topological_sort",
]  # fmt: skip

NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS: Final = {"call_module", "call_function", "call_method"}
_FIRST: Final = (
    operator.add, operator.mul, operator.sub, operator.floordiv, operator.truediv, operator.mod, operator.le,
    operator.lt, operator.ge, operator.gt, operator.eq, operator.ne,
)  # fmt: skip


def get_acc_ops_name(k: str | type) -> str:
    """Return the name of a class or function, with its module."""
    if isinstance(k, str):
        return k
    return f"acc_ops.{k.__name__}" if "acc_ops" in (k.__module__ or "") else type_name(k)


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """Return the name of the function or method that a node calls, or of the called module's class."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError("Expect op types of " + ", ".join(CALLABLE_NODE_OPS) + f", but found {node.op}")
    target: Any = node.target
    if node.op == "call_module":
        module = submodules[target]
        return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))
    if node.op == "call_method":
        return str(target)
    of_acc_ops = "acc_ops" in (getattr(target, "__module__", None) or "")
    return f"acc_ops.{target.__name__}" if of_acc_ops else qualified_name(target)


def is_node_output_tensor(node: Node) -> bool:
    """Return True if `meta["type"]` of a node is a class of tensors."""
    of = node.meta.get("type")
    return of is not None and issubclass(of, Tensor)


def _with_order(gm: GraphModule, order: list[Node]) -> GraphModule:
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in order:
        copies[node] = graph.node_copy(node, lambda x: copies[x])
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm


def _count_inputs(gm: GraphModule) -> dict[Node, int]:
    return {node: len(node.all_input_nodes) for node in gm.graph.nodes}


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Sort the graph of `gm` topologically, nodes without inputs first, and return the module."""
    waiting = _count_inputs(gm)
    ready = deque(node for node, count in waiting.items() if not count)
    order = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                if user.op == "call_function" and user.target in _FIRST:
                    ready.appendleft(user)
                else:
                    ready.append(user)
    if len(order) < len(waiting):
        left = [node for node, count in waiting.items() if count]
        raise RuntimeError(f"Input graph has cycles, unable to add {left}")
    return _with_order(gm, order)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Sort the graph topologically with the order of nodes otherwise unchanged, and return the module."""
    nodes = list(gm.graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    waiting = _count_inputs(gm)
    ready = [position[node] for node in nodes if not waiting[node]]
    order = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, position[user])
    if len(order) != len(nodes):
        left = [node for node, count in waiting.items() if count]
        raise AssertionError(f"Input graph has cycles, unable to add {left}")
    return _with_order(gm, order)


__getattr__ = names_for(__name__)
