"""Mutation removal (functionalization): unobservable in-place operators are replaced by functional ones.

The pass replaces the nodes on the left by the nodes on the right:

    %l : int[] = prim::ListConstruct(%a)                %l : int[] = prim::ListConstruct(%a, %b)
    %_ : int[] = aten::append(%l, %b)           =>
    %x : Tensor = aten::relu(%y)                        %x : Tensor = aten::relu(%y)
    %z : Tensor = aten::add_(%x, %b, %1)                %z : Tensor = aten::add(%x, %b, %1)

A mutation is removed if its block allocates the memory. No node between the allocation and the mutation may
access the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from ts._core.builtin_ops.properties import names_with
from ts.analysis.alias import AliasDb
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import INT, TensorType
from ts.ops import registry
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def remove_mutation(graph: Graph) -> bool:
    """Remove mutations of lists, then of tensors."""
    changed = remove_list_mutation(graph)
    return remove_tensor_mutation(graph) or changed


def remove_list_mutation(graph: Graph) -> bool:
    """Remove appends and insertions to new lists.

    The `prim::ListConstruct` of the list gets the added elements.
    """
    return _LIST_RULES.apply(graph)


def remove_tensor_mutation(graph: Graph, accept: Callable[[Node], bool] = lambda node: True) -> bool:
    """Replace in-place operators on new tensors by functional variants if `accept(node)` is true."""
    rule = Rule(inplace_kinds(graph), partial(_make_functional, accept, set()))
    return RuleSet("remove_mutation", rule, preserves_aliases=False).apply(graph)


def inplace_kinds(graph: Graph) -> str:
    """Return the kinds of nodes that may be in-place operators, as the pattern of a rule."""
    return " ".join(kind for kind in graph.kinds() if kind.endswith("_"))


def _is_unobserved(aliases: AliasDb, mutation: Node, replacements: set[Value]) -> bool:
    """Return whether `mutation` writes to new memory that no earlier node reads.

    If so, also move the node that allocates the memory directly before `mutation`. `replacements` are results
    of functional operators that have replaced mutations. They are new memory, too.
    """
    value = mutation.input()
    making = value.node()
    if making.owning_block() is not mutation.owning_block():
        return False
    if making.kind() == "prim::If":
        if not all(_is_new_in_branch(aliases, value, block) for block in making.blocks()):
            return False
    elif value not in replacements and not aliases.is_new(value):
        return False
    return aliases.move_before_topologically_valid(making, mutation)


def _is_new_in_branch(aliases: AliasDb, value: Value, block: Block) -> bool:
    """Return whether branch `block` of an `if` returns new memory without other uses for output `value`."""
    result = block.outputs()[value.offset()]
    if result.node().owning_block() is not block or _is_structural(result.node()):
        return False
    return len(result.uses()) == 1 and aliases.is_new(result)


# ---- mutations of lists ----------------------------------------------------------------------------------


def _is_list_mutation(node: Node) -> bool:
    if node.kind() not in names_with("list_mutation"):
        return False
    making = node.input().node()
    if making.kind() != "prim::ListConstruct":
        return False
    if node.kind() == "aten::append":
        return True
    index = constant_value(node.input(1))
    if index is NOT_CONSTANT:
        return False
    count = making.inputs_size()
    return node.kind() == "aten::insert" or -count <= index < count


def _extend_construction(rewriter: Rewriter, node: Node) -> bool:
    if not _is_list_mutation(node) or not _is_unobserved(rewriter.aliases, node, set()):
        return False
    making = node.input().node()
    if node.kind() == "aten::_set_item":
        making.replace_input(constant_value(node.input(1)) % making.inputs_size(), node.input(2))
    elif node.kind() == "aten::append":
        making.add_input(node.input(1))
    else:
        position, count = constant_value(node.input(1)), len(making.inputs())
        position = min(max(position + count if position < 0 else position, 0), count)
        making.insert_input(position, node.input(2))
    for output in node.outputs():
        output.replace_all_uses_with(making.output())
    node.destroy()
    return True


_LIST_RULES: Final = RuleSet(
    "remove_mutation",
    Rule("aten::append aten::insert aten::_set_item", _extend_construction),
    preserves_aliases=False,
)


# ---- mutations of tensors --------------------------------------------------------------------------------


def _filled_like(node: Node) -> str:
    """Return the factory operator that replaces in-place fill `node`, such as `zeros_like`, or ""."""
    if node.inputs_size() > 1 and isinstance(node.input(1).type(), TensorType):
        return ""  # `*_like` operators cannot fill with a tensor
    record = getattr(node.operator(), "record", None)
    return "" if record is None or record.variant != "inplace" else (record.base or record).filled_like


def _is_tensor_mutation(node: Node) -> bool:
    if not node.outputs() or node.output().type().kind() not in ("TensorType", "ListType"):
        return False
    schema = node.schema()
    if schema is None or not schema.is_mutable:
        return False
    making = node.input().node()
    if _is_structural(making) and making.kind() != "prim::If":
        return False
    return bool(_filled_like(node)) or node.kind() == "aten::normal_" or functional_variant(node) is not None


def _is_structural(node: Node) -> bool:
    """Return whether `node` is a parameter, `if`, loop or constant node, not an operator."""
    return node.kind() in ("prim::Param", "prim::If", "prim::Loop", "prim::Constant")


def functional_variant(node: Node) -> str | None:
    """Return the kind of the functional variant of `node`, such as `aten::add` for `aten::add_`.

    Return None if no schema of the functional variant has the arguments of `node`.
    """
    kind = node.kind()
    name = kind[:-1]
    if not kind.endswith("_") or kind.endswith("__"):
        return None
    schema = node.schema()
    assert schema is not None
    argument_types = [argument.type for argument in schema.arguments]
    for operator in registry.lookup(name):
        if [argument.type for argument in operator.schema.arguments] == argument_types:
            return name
    return None


def _make_functional(
    accept: Callable[[Node], bool], replacements: set[Value], rewriter: Rewriter, node: Node
) -> Value | None:
    """Replace `node` if it is an unobserved mutation.

    Add the result of the new node to `replacements` and return it. For other nodes, return None.
    """
    if not _is_tensor_mutation(node) or not accept(node):
        return None
    if not _is_unobserved(rewriter.aliases, node, replacements):
        return None
    graph, mutated = rewriter.graph, node.input()
    inputs = list(node.inputs())
    filled = _filled_like(node)
    name = filled or ("aten::normal" if node.kind() == "aten::normal_" else functional_variant(node))
    assert name is not None
    with graph.inserting_before(node):
        if node.kind() == "aten::normal_":
            inputs = _normal_inputs(graph, node)
        elif filled:
            inputs += _like_options(graph, mutated, is_number=len(inputs) == 2)
    result = rewriter.call(node, name, inputs, node.output().type())
    mutated.replace_all_uses_after_node_with(node, result)
    replacements.add(result)
    return result


def _like_options(graph: Graph, like: Value, is_number: bool) -> list[Value]:
    """Return the options of a `*_like` operator: dtype, layout, device, pin_memory, memory_format.

    If the fill value is a number (`is_number`), the option dtype is the dtype of `like`, because the number
    would determine another dtype. All other options are None.
    """
    options = [graph.insert("prim::dtype", [like], INT) if is_number else graph.insert_constant(None)]
    return options + [graph.insert_constant(None) for _ in range(4)]


def _normal_inputs(graph: Graph, node: Node) -> list[Value]:
    """Return the inputs of the `aten::normal.float_float` node that replaces `aten::normal_` node `node`."""
    like, mean, std, generator = node.inputs()
    size = graph.insert("aten::size", [like])
    dtype, layout, device = (graph.insert(f"prim::{name}", [like]) for name in ("dtype", "layout", "device"))
    pinned = graph.insert("aten::is_pinned", [like, graph.insert_constant(None)])
    if constant_value(generator) is None:
        generator = graph.insert_constant(None)
    return [mean, std, size, generator, dtype, layout, device, pinned]
