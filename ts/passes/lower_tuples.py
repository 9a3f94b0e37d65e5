"""Tuples that are taken apart where they were put together.

%t : (int, str) = prim::TupleConstruct(%a, %b)
%x : int, %y : str = prim::TupleUnpack(%t)            =>    (%a instead of %x, %b instead of %y and of %z)
%z : str = prim::TupleIndex(%t, %one)
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node
from ts.passes.control_flow import NOT_CONSTANT, constant_value
from ts.passes.dce import eliminate_dead_code


def lower_simple_tuples(graph: Graph) -> bool:
    """Bypass tuples that are built and unpacked in sight; then remove what is dead."""
    changed = bypass_tuples(graph)
    return eliminate_dead_code(graph) or changed


def bypass_tuples(graph: Graph) -> bool:
    """Bypass tuples that are built and unpacked in sight; those that nobody reads now are left to `dce`."""
    return _visit(graph.block())


def _visit(block: Block) -> bool:
    changed = False
    for node in block.nodes():
        kind = node.kind()
        if kind in ("prim::TupleUnpack", "prim::TupleIndex", "prim::TupleSlice"):
            construct = node.input().node()
            if construct.kind() == "prim::TupleConstruct":
                changed |= _bypass(node, construct)
        for inner in node.blocks():
            changed |= _visit(inner)
    return changed


def _bypass(node: Node, construct: Node) -> bool:
    items = construct.inputs()
    kind = node.kind()
    if kind == "prim::TupleUnpack":
        for output, item in zip(node.outputs(), items, strict=True):
            output.replace_all_uses_with(item)
    elif kind == "prim::TupleIndex":
        index = constant_value(node.inputs()[1])
        if index is NOT_CONSTANT or not -len(items) <= index < len(items):
            return False  # out of range: the interpreter reports it
        node.output().replace_all_uses_with(items[index])
    else:
        graph = node.owning_graph()
        part = graph.create("prim::TupleConstruct", items[node.get("beg") : node.get("end")], 1)
        part.output().set_type(node.output().type())
        part.insert_before(node)
        part.copy_metadata(node)
        node.output().replace_all_uses_with(part.output())
    return True
