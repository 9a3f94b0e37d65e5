"""Peephole rules for unmodified lists, whose elements are known from their construction.

    %l : Tensor[] = prim::ListConstruct(%a, %b)
    %n : int = aten::len(%l)                            =>    2
    %x : Tensor = aten::__getitem__(%l, %one)           =>    %b
    %x : Tensor, %y : Tensor = prim::ListUnpack(%l)     =>    %a, %b
    %m : Tensor[] = aten::add(%l, %k)                   =>    prim::ListConstruct(%a, %b, ...)
    %s : Tensor[] = aten::slice(%l, %zero, %one, %one)  =>    prim::ListConstruct(%a)

The result of the sum or slice must have no writers either, because the alias analysis does not know the list
that replaces it. The rules are also available as a pass with PyTorch's name:

    peephole_list_idioms(graph)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ts.analysis.alias import AliasDb
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.refine_integer_values import refine_integer_values

IsWritten = Callable[[Value], bool]


def peephole_list_idioms(graph: Graph, refine_list_len: bool = False) -> bool:
    """Apply the list rules until no rule matches, then eliminate dead code.

    With `refine_list_len`, a branch on `len(l) == n` uses `n` as the length of `l` in the true branch.
    """
    changed = refine_list_len and refine_integer_values(graph)
    while _visit(graph.block(), AliasDb(graph).has_writers):
        changed = True
    if changed:
        eliminate_dead_code(graph)
    return changed


def _visit(block: Block, is_written: IsWritten) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner, is_written)
        rule = RULES.get(node.kind())
        if rule is None or not node.has_uses():
            continue
        results = rule(node, is_written)
        if results is not None and optimization_allowed("peephole_list_idioms"):
            update("peephole_list_idioms", "Replacing {}", node)
            for output, result in zip(node.outputs(), results, strict=True):
                output.replace_all_uses_with(result)
            changed = True
    return changed


def _items(value: Value, is_written: IsWritten) -> list[Value] | None:
    """Return the elements of a constructed, unmodified list; None for other values."""
    producer = value.node()
    return None if producer.kind() != "prim::ListConstruct" or is_written(value) else producer.inputs()


def _length(node: Node, is_written: IsWritten) -> list[Value] | None:
    items = _items(node.input(), is_written)
    if items is None:
        return None
    graph = node.owning_graph()
    with graph.inserting_before(node):
        return [graph.insert_constant(len(items))]


def _item(node: Node, is_written: IsWritten) -> list[Value] | None:
    index = constant_value(node.input(1))
    if node.input().node().kind() != "prim::ListConstruct" or not isinstance(index, int):
        return None
    items = _items(node.input(), is_written)
    return None if items is None or not -len(items) <= index < len(items) else [items[index]]


def _unpack(node: Node, is_written: IsWritten) -> list[Value] | None:
    items = _items(node.input(), is_written)
    return None if items is None or len(items) != len(node.outputs()) else list(items)


def _sum(node: Node, is_written: IsWritten) -> list[Value] | None:
    if len(node.inputs()) != 2 or node.output().type().kind() != "ListType" or is_written(node.output()):
        return None
    left, right = (_items(value, is_written) for value in node.inputs())
    return None if left is None or right is None else [_make_list(node, [*left, *right])]


def _slice(node: Node, is_written: IsWritten) -> list[Value] | None:
    if len(node.inputs()) != 4 or node.input().node().kind() != "prim::ListConstruct":
        return None
    bounds = [constant_value(value) for value in node.inputs()[1:]]
    if NOT_CONSTANT in bounds or bounds[2] == 0:
        return None
    items = _items(node.input(), is_written)
    if items is None or is_written(node.output()):
        return None
    return [_make_list(node, items[slice(*bounds)])]


def _make_list(node: Node, items: list[Value]) -> Value:
    construct = node.owning_graph().create("prim::ListConstruct", items)
    construct.copy_metadata(node)
    construct.insert_before(node)
    return construct.output().set_type(node.output().type())


RULES: Final[dict[str, Callable[[Node, IsWritten], list[Value] | None]]] = {
    "aten::len": _length,
    "aten::__getitem__": _item,
    "prim::ListUnpack": _unpack,
    "aten::add": _sum,
    "aten::slice": _slice,
}
