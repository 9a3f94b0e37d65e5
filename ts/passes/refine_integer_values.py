"""Constant propagation from equality tests: replace a number by the constant in the true branch.

    %c : bool = aten::eq(%n, %four)
    %y : int = prim::If(%c)
      block0():                                         block0():
        %z : int = aten::mul(%n, %n)          =>          %z : int = aten::mul(%four, %four)
        -> (%z)                                           -> (%z)

After tests such as `len(x) == 4` and `x.dim() == 2`, more nodes can be folded. For `ne`, the number is
replaced in the false branch.
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value


def refine_integer_values(graph: Graph) -> bool:
    """Replace a number by a constant in branches that run only if the number equals the constant."""
    changed = False
    for node in graph.all_nodes():
        if node.kind() == "prim::If":
            changed |= _refine(node)
    return changed


def _refine(choice: Node) -> bool:
    comparison = choice.input().node()
    kind = comparison.kind()
    if kind not in ("aten::eq", "aten::ne"):
        return False
    for value, constant in (comparison.inputs(), comparison.inputs()[::-1]):
        is_int_constant = isinstance(constant_value(constant), int) and not isinstance(
            constant_value(value), int
        )
        if is_int_constant and value.type() == constant.type() and value.type().kind() == "IntType":
            block = choice.blocks()[0 if kind == "aten::eq" else 1]
            return _replace(block, value, constant)
    return False


def _replace(block: Block, value: Value, constant: Value) -> bool:
    changed = False
    for node in (*block.nodes(), block.return_node()):
        if value in node.inputs() and optimization_allowed("refine_integer_values"):
            update("refine_integer_values", "%{} is {} in {}", value.debug_name(), constant, node)
            node.replace_input_with(value, constant)
            changed = True
        for inner in node.blocks():
            changed |= _replace(inner, value, constant)
    return changed
