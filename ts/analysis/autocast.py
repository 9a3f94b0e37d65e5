"""Blocks of autocast in a graph: where operators have other dtypes than the passes go by.

    %c : __torch__.torch.amp.autocast_mode.autocast = prim::CreateObject()
    %e : __torch__.torch.amp.autocast_mode.autocast = prim::Enter(%c)       here one begins,
    %y : Tensor = aten::mm(%x, %w)
    %n : Tensor = prim::Exit(%c)                                            and ends

The classes are PyTorch's, known by their names, as in its own archives.
"""

from __future__ import annotations

import re
from typing import Final

from ts.ir.graph import Graph, Node
from ts.ir.types import ClassType, Type

_NAME: Final = r"__torch__\.torch\.((cpu|cuda)\.)?amp\.autocast_mode\.(___torch_mangle_\d+\.)?autocast"


def is_autocast(type: Type) -> bool:
    """Whether objects of a type begin such a block when they are entered."""
    return isinstance(type, ClassType) and re.fullmatch(_NAME, type.qualified_name()) is not None


def autocast_blocks(graph: Graph) -> list[Node]:
    """The nodes that begin such blocks."""
    return [node for node in graph.find_all_nodes("prim::Enter") if is_autocast(node.input().type())]


def end_of(enter: Node) -> Node:
    """The node that ends a block: the body may have others."""
    depth = 0
    node = enter
    while True:
        depth += {"prim::Enter": 1, "prim::Exit": -1}.get(node.kind(), 0)
        if depth == 0:
            return node
        node = node.next()
