"""Code hoisting of computations common to both branches of an `if`, and branch merging of equal conditions.

The pass replaces the graph on the left by the graph on the right:

    %y : int = prim::If(%c)                          %s : int = aten::mul(%a, %b)
      block0():                                      %y : int, %z : int = prim::If(%c)
        %s : int = aten::mul(%a, %b)                   block0():
        -> (%s)                                  =>      -> (%s, %a)
      block1():                                        block1():
        %t : int = aten::mul(%a, %b)                     %u : int = aten::neg(%s)
        %u : int = aten::neg(%t)                         -> (%u, %b)
        -> (%u)
    %z : int = prim::If(%c)
      block0(): -> (%a)
      block1(): -> (%b)

A node is hoisted only if no earlier node that stays in the branch has side effects, writes or may raise. Two
ifs are merged if only constants are between them.
"""

from __future__ import annotations

from ts.analysis.effects import has_side_effects, is_nondeterministic, may_raise
from ts.analysis.mutation import writes_to_inputs
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.cse import node_key
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import inline_block_before


def hoist_from_ifs(graph: Graph) -> bool:
    """Hoist common nodes out of ifs and merge ifs with equal conditions, inner ifs first."""
    return _visit(graph.block())


def _visit(block: Block) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner)
        if node.kind() == "prim::If":
            changed |= _hoist(node)
            changed |= _join_with_next(node)
    return changed


# -- nodes common to both branches -------------------------------------------------------------------------


def _hoist(choice: Node) -> bool:
    changed = False
    then_block, else_block = choice.blocks()
    for node in _movable(then_block):
        equal_node = next((other for other in _movable(else_block) if _same(node, other, choice)), None)
        if equal_node is None or not optimization_allowed("if_hoisting"):
            continue
        update("if_hoisting", "Moving {} out of {}", node, choice.kind())
        node.move_before(choice)
        equal_node.replace_all_uses_with(node)
        equal_node.destroy()
        changed = True
    return changed


def _movable(block: Block) -> list[Node]:
    """Return the nodes that can be hoisted out of `block`.

    The search ends at the first node with blocks, a side effect, a write or a possible error.
    """
    movable = []
    for node in block.nodes():
        if node.blocks() or has_side_effects(node) or writes_to_inputs(node):
            break
        if node.outputs() and not is_nondeterministic(node) and node.kind() != "prim::Uninitialized":
            movable.append(node)
        if may_raise(node):
            break
    return movable


def _same(node: Node, other: Node, choice: Node) -> bool:
    if node_key(node) != node_key(other):
        return False
    branches = choice.blocks()
    return not any(value.node().owning_block() in branches for value in node.inputs())


# -- ifs with equal conditions -----------------------------------------------------------------------------


def _join_with_next(choice: Node) -> bool:
    changed = False
    while True:
        following = choice.next()
        while following.kind() == "prim::Constant":
            following = following.next()
        if following.kind() != "prim::If" or following.input() is not choice.input():
            return changed
        if not optimization_allowed("if_hoisting"):
            return changed
        update("if_hoisting", "Joining {} with the next", choice.kind())
        constant = choice.next()
        while constant is not following:
            constant.move_before(choice)
            constant = choice.next()
        _join(choice, following)
        changed = True


def _join(choice: Node, following: Node) -> None:
    for block, rest in zip(choice.blocks(), following.blocks(), strict=True):
        _replace_inside(rest, choice.outputs(), block.outputs())
        inline_block_before(rest, block.return_node())
        for value in rest.outputs():
            block.register_output(value)
    for output in following.outputs():
        merged_output = choice.add_output()
        merged_output.copy_metadata(output)
        output.replace_all_uses_with(merged_output)
    following.destroy()


def _replace_inside(block: Block, old: list[Value], new: list[Value]) -> None:
    """Replace the inputs `old` of all nodes in `block` by `new`.

    `block` is a branch of the second of two ifs with the same condition. `old` are the outputs of the first
    `if`. `new` are the values that the corresponding branch of the first `if` returns for these outputs.
    """
    replacements = dict(zip(old, new, strict=True))
    for node in (*block.nodes(), block.return_node()):
        for i, value in enumerate(node.inputs()):
            if value in replacements:
                node.replace_input(i, replacements[value])
        for inner in node.blocks():
            _replace_inside(inner, old, new)
