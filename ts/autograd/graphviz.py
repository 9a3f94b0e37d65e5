"""Drawing of the autograd graph in the DOT language of Graphviz.

The example prints the graph of a sum:

>>> x = ts.ones(2, requires_grad=True)
>>> print(to_dot((x * 2).sum(), {"x": x}))
digraph gradients {
  n0 [label="SumBackward0", shape=box]
  n1 [label="MulBackward0", shape=box]
  n2 [label="x\\n[2] float32", shape=ellipse]
  n0 -> n1
  n1 -> n2
}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ts._core.autograd.history import node_of
from ts._core.autograd.node import Node
from ts._core.tensor.tensor import Tensor

__all__ = ["to_dot"]


def to_dot(roots: Any, names: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] = ()) -> str:
    """Return the autograd graph of `roots` in Graphviz DOT format.

    roots   a tensor that requires grad, a node, or several of them
    names   of leaves: a dictionary, or `module.named_parameters()`
    """
    pairs = names.items() if isinstance(names, Mapping) else names
    names_by_id = {id(x): name for name, x in pairs}
    order = _reached([_node(root) for root in ([roots] if isinstance(roots, (Tensor, Node)) else roots)])
    indices = {node: i for i, node in enumerate(order)}
    lines = [f"  n{indices[node]} {_attributes(node, names_by_id)}" for node in order]
    for node in order:
        for to, output in node.next_functions:
            if to is not None:
                label = f' [label="{output}"]' if output else ""
                lines.append(f"  n{indices[node]} -> n{indices[to]}{label}")
    return "\n".join(["digraph gradients {", *lines, "}"])


def _node(root: Any) -> Any:
    if isinstance(root, Node):
        return root
    if not root.requires_grad:
        raise RuntimeError("only tensors that require gradients have a graph")
    return node_of(root)[0]


def _reached(nodes: list[Any]) -> list[Any]:
    """Return all reachable nodes, in breadth-first order."""
    order = dict.fromkeys(nodes)
    for node in (queue := list(order)):
        for to, _ in node.next_functions:
            if to is not None and to not in order:
                order[to] = None
                queue.append(to)
    return list(order)


def _attributes(node: Any, names_by_id: dict[int, str]) -> str:
    leaf = getattr(node, "variable", None)
    if leaf is None:
        return f'[label="{_quoted(node.name())}", shape=box]'
    name = names_by_id.get(id(leaf), "leaf")
    dtype = str(leaf.dtype).removeprefix("torch.")
    return f'[label="{_quoted(name)}\\n{list(leaf.shape)} {dtype}", shape=ellipse]'


def _quoted(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"')
