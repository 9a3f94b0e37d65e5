"""Constant propagation from equality tests: in the true branch, the constant replaces the tested number.

The pass replaces the block on the left by the block on the right:

    %c : bool = aten::eq(%n, %four)
    %y : int = prim::If(%c)
      block0():                                         block0():
        %z : int = aten::mul(%n, %n)          =>          %z : int = aten::mul(%four, %four)
        -> (%z)                                           -> (%z)

For `ne`, the number is replaced in the false branch. After tests such as `len(x) == 4`, more nodes can be
folded.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.pass_utils import constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def refine_integer_values(graph: Graph) -> bool:
    """Replace a number by a constant in branches that run only if the number equals the constant."""
    return _RULES.apply(graph)


def _refine(block_index: int, _: Rewriter, comparison: Node) -> bool:
    """Replace the tested number in block `block_index` of the `if` nodes with the condition `comparison`."""
    for value, constant in (comparison.inputs(), comparison.inputs()[::-1]):
        is_int_constant = isinstance(constant_value(constant), int) and not isinstance(
            constant_value(value), int
        )
        if is_int_constant and value.type() == constant.type() and value.type().kind() == "IntType":
            choices = [use.user for use in comparison.output().uses() if use.user.kind() == "prim::If"]
            changed = [_replace(choice.blocks()[block_index], value, constant) for choice in choices]
            return any(changed)
    return False


def _replace(block: Block, value: Value, constant: Value) -> bool:
    changed = False
    for node in (*block.nodes(), block.return_node()):
        if value in node.inputs():
            node.replace_input_with(value, constant)
            changed = True
        for inner in node.blocks():
            changed |= _replace(inner, value, constant)
    return changed


_RULES: Final = RuleSet(
    "refine_integer_values",
    Rule("aten::eq", partial(_refine, 0)),
    Rule("aten::ne", partial(_refine, 1)),
)
