"""Autocast regions at run time: objects that replace PyTorch's autocast objects in executed graphs.

In a graph that will be executed, `_Block` objects enter and exit the regions. The example shows a `with`
block on the left, and its nodes on the right:

    with torch.autocast("cpu"):        %b = _Block(%c.device, %c.fast_dtype, %c._enabled)
        ...                            prim::Enter(%b) ... prim::Exit(%b)

Printed and saved graphs still contain PyTorch's autocast objects, whose methods have no effect.
"""

from __future__ import annotations

from typing import Any, Final

from ts.analysis.autocast_regions import autocast_blocks, find_region_end
from ts.frontend.classes import class_type
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import BOOL, INT, NONE, STR, Type
from ts.ops.namespace import Namespace

prim: Final = Namespace("prim")
_ATTRIBUTES: Final[tuple[tuple[str, Type], ...]] = (("device", STR), ("fast_dtype", INT), ("_enabled", BOOL))


class _Block:
    """Script class of context managers that set the autocast state, and restore it at the end."""

    def __init__(self, device: str, dtype: int, enabled: bool) -> None:
        self.device = device
        self.dtype = dtype
        self.enabled = enabled
        self.previous_state: list[int] = []

    def __enter__(self) -> None:
        self.previous_state = prim.EnterAutocast(self.device, self.dtype, self.enabled)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        prim.ExitAutocast(self.device, self.previous_state)


def enter_blocks(graph: Graph) -> None:
    """Let the autocast regions of a graph enter and exit `_Block` objects, in place."""
    for enter in autocast_blocks(graph):
        _replace_context(graph, enter)


def _replace_context(graph: Graph, enter: Node) -> None:
    leave, context = find_region_end(enter), enter.input()
    with graph.inserting_before(enter), graph.at_range(enter.range):
        block = _insert_block(graph, context)
    enter.output().replace_all_uses_with(context)
    enter.output().set_type(NONE)
    enter.replace_input(0, block)
    leave.replace_input(0, block)


def _insert_block(graph: Graph, context: Value) -> Value:
    """Insert code that creates a `_Block` with the attributes of PyTorch's autocast object."""
    values = []
    for name, type in _ATTRIBUTES:
        value = graph.insert("prim::GetAttr", (context,), type)
        value.node().set("name", name)
        values.append(value)
    block = graph.insert("prim::CreateObject", (), class_type(_Block))
    graph.insert("prim::CallMethod", (block, *values), NONE).node().set("name", "__init__")
    return block
