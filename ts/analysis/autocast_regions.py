"""Autocast regions of graphs, in which operators convert their inputs to other dtypes.

A region begins at a `prim::Enter` node and ends at a `prim::Exit` node of an autocast object:

    %c : __torch__.torch.amp.autocast_mode.autocast = prim::CreateObject()
    %e : __torch__.torch.amp.autocast_mode.autocast = prim::Enter(%c)
    %y : Tensor = aten::mm(%x, %w)
    %n : Tensor = prim::Exit(%c)

The objects are recognized by the qualified names of PyTorch's autocast classes.
"""

from __future__ import annotations

import re
from typing import Final

from ts.ir.graph import Graph, Node
from ts.ir.types import ClassType, Type

_NAME: Final = r"__torch__\.torch\.((cpu|cuda)\.)?amp\.autocast_mode\.(___torch_mangle_\d+\.)?autocast"


def is_autocast(type: Type) -> bool:
    """Return whether a type is an autocast context manager."""
    return isinstance(type, ClassType) and re.fullmatch(_NAME, type.qualified_name()) is not None


def autocast_blocks(graph: Graph) -> list[Node]:
    """Return the nodes that begin autocast regions."""
    return [node for node in graph.find_all_nodes("prim::Enter") if is_autocast(node.input().type())]


def find_region_end(enter: Node) -> Node:
    """Return the node that ends the autocast region begun by `enter`. Regions may be nested."""
    depth = 0
    node = enter
    while True:
        depth += {"prim::Enter": 1, "prim::Exit": -1}.get(node.kind(), 0)
        if depth == 0:
            return node
        node = node.next()
