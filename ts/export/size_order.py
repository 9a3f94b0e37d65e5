"""Graph pass that moves each data-dependent `sym_size` node directly after the node of its tensor.

Assertions on the size move with the node. The pass replaces the first line by the second:

    nonzero; slice; sym_size(nonzero, 0); ge; _assert_scalar
    nonzero; sym_size(nonzero, 0); ge; _assert_scalar; slice
"""

from __future__ import annotations

from ts._core.tensor.sym_types import SymInt
from ts.export.size_operations import TARGETS
from ts.export.sympy_functions import is_of_data
from ts.fx.graph import Graph
from ts.fx.node import Node

_RELATIONS = [TARGETS[name] for name in ("ge", "le", "gt", "lt", "eq", "sym_not")]


def move_sizes_to_tensors(graph: Graph) -> None:
    """Move each `sym_size` node of a data-dependent size directly after the node of the tensor.

    Also move the assertions that follow the `sym_size` node and depend only on its result.
    """
    for node in list(graph.nodes):
        value = node.meta.get("val")
        if str(node.target) != "aten.sym_size.int" or not isinstance(value, SymInt):
            continue
        if not is_of_data(value.node.expression):
            continue
        group, last = {node}, node.args[0]
        following = node.next
        while following.op == "call_function" and _is_assertion_of(following, group):
            group.add(following)
            following = following.next
        for each in sorted(group):
            last.append(each)  # type: ignore[union-attr]
            last = each


def _is_assertion_of(node: Node, group: set[Node]) -> bool:
    """Return True if a node is a comparison or assertion whose inputs are all in `group`."""
    if node.target not in _RELATIONS and str(node.target) != "aten._assert_scalar.default":
        return False
    return all(source in group for source in node.all_input_nodes)
