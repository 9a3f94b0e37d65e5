"""Peephole rules for unmodified lists, whose elements are known from their construction.

For a list `%l = prim::ListConstruct(%a, %b)`, the value on the right replaces the node on the left:

    %n : int = aten::len(%l)                            =>    2
    %x : Tensor = aten::__getitem__(%l, %one)           =>    %b
    %x : Tensor, %y : Tensor = prim::ListUnpack(%l)     =>    %a, %b
    %m : Tensor[] = aten::add(%l, %k)                   =>    prim::ListConstruct(%a, %b, ...)
    %s : Tensor[] = aten::slice(%l, %zero, %one, %one)  =>    prim::ListConstruct(%a)

The last two rules require that no node writes to %m or %s, because the alias analysis does not know the new
list.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node, Value
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.refine_integer_values import refine_integer_values
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def peephole_list_idioms(graph: Graph, refine_list_len: bool = False) -> bool:
    """Apply the list rules until no rule matches, then eliminate dead code.

    If `refine_list_len`, an `if` with the condition `len(l) == n` lets the rules use `n` as the length of `l`
    in its true branch.
    """
    changed = refine_list_len and refine_integer_values(graph)
    changed |= _LIST_IDIOMS.apply(graph)
    if changed:
        eliminate_dead_code(graph)
    return changed


def _items(rewriter: Rewriter, value: Value) -> list[Value] | None:
    """Return the elements of a constructed, unmodified list, or None for other values."""
    producer = value.node()
    if producer.kind() != "prim::ListConstruct" or rewriter.is_written(value):
        return None
    return producer.inputs()


def _fold_length(rewriter: Rewriter, node: Node) -> Value | None:
    items = _items(rewriter, node.input())
    return None if items is None else rewriter.constant(node, len(items))


def _fold_item(rewriter: Rewriter, node: Node) -> Value | None:
    index = constant_value(node.input(1))
    items = _items(rewriter, node.input()) if isinstance(index, int) else None
    return None if items is None or not -len(items) <= index < len(items) else items[index]


def _fold_unpack(rewriter: Rewriter, node: Node) -> list[Value] | None:
    items = _items(rewriter, node.input())
    return None if items is None or len(items) != len(node.outputs()) else list(items)


def _fold_sum(rewriter: Rewriter, node: Node) -> Value | None:
    if len(node.inputs()) != 2 or node.output().type().kind() != "ListType":
        return None
    if rewriter.is_written(node.output()):
        return None
    left, right = (_items(rewriter, value) for value in node.inputs())
    return None if left is None or right is None else _make_list(rewriter, node, [*left, *right])


def _fold_slice(rewriter: Rewriter, node: Node) -> Value | None:
    if len(node.inputs()) != 4 or node.input().node().kind() != "prim::ListConstruct":
        return None
    bounds = [constant_value(value) for value in node.inputs()[1:]]
    if NOT_CONSTANT in bounds or bounds[2] == 0:
        return None
    items = _items(rewriter, node.input())
    if items is None or rewriter.is_written(node.output()):
        return None
    return _make_list(rewriter, node, items[slice(*bounds)])


def _make_list(rewriter: Rewriter, node: Node, items: list[Value]) -> Value:
    return rewriter.call(node, "prim::ListConstruct", items, node.output().type())


LIST_RULES: Final = (
    Rule("aten::len", _fold_length),
    Rule("aten::__getitem__", _fold_item),
    Rule("prim::ListUnpack", _fold_unpack),
    Rule("aten::add", _fold_sum),
    Rule("aten::slice", _fold_slice),
)
_LIST_IDIOMS: Final = RuleSet("peephole_list_idioms", *LIST_RULES, leaves_dead_nodes=True)
