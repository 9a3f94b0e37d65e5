"""Normalization of operators with several names to one.

    %y : Tensor = aten::absolute(%x)         =>    %y : Tensor = aten::abs(%x)
    %z : Tensor = aten::rsub(%x, %y, %a)     =>    %z : Tensor = aten::sub(%y, %x, %a)
    %b : bool = aten::__is__(%p, %q)         =>    %b : bool = aten::eq(%p, %q)          (of two bools)

Later passes then need to handle one name only.  The aliases are defined by the operator records
(`OperatorRecord.same_as`).
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph, Node
from ts.ops import registry
from ts.passes.pass_utils import walk_nodes

_BOOL_COMPARISONS: Final = {"aten::__is__": "aten::eq", "aten::__isnot__": "aten::ne"}


def normalize_ops(graph: Graph) -> bool:
    """Replace operators that have several names by the operator with the canonical name."""
    return any(map(_is_renamed, graph.kinds())) and _visit(graph.block())


def _is_renamed(kind: str) -> bool:
    """Return whether nodes of kind `kind` may have a non-canonical name."""
    return kind == "aten::rsub" or kind in _BOOL_COMPARISONS or registry.canonical(kind) != kind


def _visit(block: Block) -> bool:
    changed = False
    for node in list(walk_nodes(block)):
        kind = node.kind()
        inputs = node.inputs()
        name = registry.canonical(kind)
        if name != kind:
            _replace(node, name)
        elif kind == "aten::rsub" and all(value.type().kind() == "TensorType" for value in inputs[:2]):
            _replace(node, "aten::sub", swap=True)
        elif kind in _BOOL_COMPARISONS and all(value.type().kind() == "BoolType" for value in inputs):
            _replace(node, _BOOL_COMPARISONS[kind])
        else:
            continue
        changed = True
    return changed


def _replace(node: Node, kind: str, swap: bool = False) -> None:
    inputs = list(node.inputs())
    if swap:
        inputs[:2] = reversed(inputs[:2])
    replacement = node.owning_graph().create(kind, inputs, len(node.outputs()))
    replacement.copy_metadata(node)
    replacement.insert_before(node)
    for old, new in zip(node.outputs(), replacement.outputs(), strict=True):
        new.copy_metadata(old)
        old.replace_all_uses_with(new)
    node.destroy()
