"""Removal (scalar replacement) of tuples that one graph both constructs and unpacks.

The pass removes these nodes. %a replaces %x, and %b replaces %y and %z:

    %t : (int, str) = prim::TupleConstruct(%a, %b)
    %x : int, %y : str = prim::TupleUnpack(%t)
    %z : str = prim::TupleIndex(%t, %one)
"""

from __future__ import annotations

from typing import Any, Final

from ts.errors import PassError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TupleType, Type
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet

_TUPLE_READS: Final = ("prim::TupleUnpack", "prim::TupleIndex", "prim::TupleSlice")


def lower_simple_tuples(graph: Graph) -> bool:
    """Replace each item read from a constructed tuple by the item's value, then eliminate dead code."""
    changed = bypass_tuples(graph)
    return eliminate_dead_code(graph) or changed


def bypass_tuples(graph: Graph) -> bool:
    """Replace each item read from a constructed tuple by the item's value. `dce` removes the tuples."""
    return _RULES.apply(graph)


def lower_all_tuples(graph: Graph) -> bool:
    """Replace all tuples by their elements, in ifs, loops, and inputs and outputs of the graph."""
    _construct_constants(graph)
    _flatten_block(graph.block())
    eliminate_dead_code(graph)
    for node in graph.all_nodes():
        if any(isinstance(value.type(), TupleType) for value in node.outputs()):
            raise PassError("Couldn't lower all tuples.")
    return True


def _construct_constants(graph: Graph) -> None:
    """Replace constant and uninitialized tuples by constructions of their elements."""
    for node in list(graph.all_nodes()):
        type = node.output().type() if len(node.outputs()) == 1 else None
        if not isinstance(type, TupleType) or node.kind() not in ("prim::Constant", "prim::Uninitialized"):
            continue
        with graph.inserting_before(node):
            constructed = _construct(graph, type, node.get("value"), node.kind())
        node.output().replace_all_uses_with(constructed)
        node.destroy()


def _construct(graph: Graph, type: Type, value: Any, kind: str) -> Value:
    if isinstance(type, TupleType):
        elements = (None,) * len(type.elems) if value is None else value
        pairs = zip(type.elems, elements, strict=True)
        items = [_construct(graph, elem, element, kind) for elem, element in pairs]
        return graph.insert_node(graph.create("prim::TupleConstruct", items)).output().set_type(type)
    if kind == "prim::Constant":
        return graph.insert_constant(value, type=type)
    return graph.insert_node(graph.create(kind)).output().set_type(type)


def _flatten_block(block: Block) -> None:
    _flatten_outputs(block.param_node())
    for node in block.nodes():
        kind = node.kind()
        if kind in ("prim::If", "prim::Loop"):
            _flatten_inputs(node)
            for inner in node.blocks():
                _flatten_block(inner)
            _flatten_outputs(node)
        elif kind in _TUPLE_READS:
            if node.input().node().kind() != "prim::TupleConstruct":
                raise PassError(f"{kind} not matched to tuple construct")
            for output, item in zip(node.outputs(), _bypass(None, node) or node.outputs(), strict=True):
                output.replace_all_uses_with(item)
    _flatten_inputs(block.return_node())


def _flatten_inputs(node: Node) -> None:
    i = 0
    while i < len(node.inputs()):
        value = node.inputs()[i]
        construct = value.node()
        if isinstance(value.type(), TupleType) and construct.kind() == "prim::TupleConstruct":
            node.remove_input(i)
            for k, item in enumerate(construct.inputs()):
                node.insert_input(i + k, item)
        else:
            i += 1


def _flatten_outputs(node: Node) -> None:
    graph, block = node.owning_graph(), node.owning_block()
    # The list of nodes is circular, so that a node inserted after the return node is the first node of the
    # block.
    insertion_point = block.return_node() if node is block.param_node() else node
    i = 0
    while i < len(node.outputs()):
        value = node.outputs()[i]
        type = value.type()
        if not isinstance(type, TupleType):
            i += 1
            continue
        items = [node.insert_output(i + 1 + k, type=elem) for k, elem in enumerate(type.elems)]
        construct = graph.create("prim::TupleConstruct", items)
        construct.output().set_type(type)
        construct.insert_after(insertion_point)
        value.replace_all_uses_with(construct.output())
        node.erase_output(i)


def _bypass(_: Rewriter | None, node: Node) -> list[Value] | None:
    """Return the values that a node reads from a constructed tuple, or None for other tuples."""
    construct = node.input().node()
    items = construct.inputs()
    kind = node.kind()
    if construct.kind() != "prim::TupleConstruct":
        return None
    if kind == "prim::TupleUnpack":
        return list(items)
    if kind == "prim::TupleIndex":
        index = constant_value(node.inputs()[1])
        # an index out of range is not removed, because it raises an error at run time
        return None if index is NOT_CONSTANT or not -len(items) <= index < len(items) else [items[index]]
    graph = node.owning_graph()
    subtuple = graph.create("prim::TupleConstruct", items[node.get("beg") : node.get("end")], 1)
    subtuple.copy_metadata(node).insert_before(node)
    return [subtuple.output().set_type(node.output().type())]


_RULES: Final = RuleSet("lower_tuples", Rule(" ".join(_TUPLE_READS), _bypass), leaves_dead_nodes=True)
