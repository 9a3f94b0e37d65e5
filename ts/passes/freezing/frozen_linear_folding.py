"""Batch-norm folding into the weight and bias of the preceding linear layer.

The pass replaces the nodes on the left by the nodes on the right:

                                                        %d : int = aten::dim(%x)
                                                        %flat : bool = aten::eq(%d, %2)
    %l : Tensor = aten::linear(%x, %w, %b)              %y : Tensor = prim::If(%flat)
    %y : Tensor = aten::batch_norm(%l, ...)     =>        block0():
                                                            %f : Tensor = aten::linear(%x, %w2, %b2)
                                                            -> (%f)
                                                          block1():
                                                            (the original nodes)

Batch norm normalizes dimension 1. The features of a linear layer are in dimension 1 only if %x is a matrix.
The rank of %x is therefore tested at run time. (PyTorch folds without this test.) The pass is for frozen
modules and changes rounding.
"""

from __future__ import annotations

from typing import Final

from ts.ir.attributes import is_tensor
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import BOOL, INT
from ts.passes.freezing.frozen_conv_folding import fold_batch_norm
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def fold_frozen_linear_bn(graph: Graph) -> bool:
    """Fold batch norm of linear layers' results."""
    return _RULES.apply(graph)


def _fold(rewriter: Rewriter, norm: Node) -> bool:
    linear = norm.input(0).node()
    if linear.kind() != "aten::linear" or not _is_only_reader(norm, linear) or _is_in_fallback_branch(norm):
        return False
    weight, bias = (constant_value(value) for value in linear.inputs()[1:])
    if not is_tensor(weight) or bias is NOT_CONSTANT:
        return False
    folded = fold_batch_norm(weight, bias, norm)
    if folded is None or folded[1].shape[0] != weight.shape[0]:
        return False
    _insert_rank_check(rewriter.graph, linear, norm, folded)
    return True


def _is_only_reader(norm: Node, linear: Node) -> bool:
    return all(use.user is norm or use.user.kind() == "aten::dim" for use in linear.output().uses())


def _is_in_fallback_branch(norm: Node) -> bool:
    """Return whether `norm` is in the fallback branch that an earlier folding created."""
    owner = norm.owning_block().owning_node()
    if owner is None or owner.kind() != "prim::If" or owner.input().node().kind() != "aten::eq":
        return False
    return [node.kind() for node in owner.blocks()[0].nodes()] == ["aten::linear"]


def _insert_rank_check(graph: Graph, linear: Node, norm: Node, folded: tuple[object, object]) -> None:
    """Insert an `if` that tests the input's rank, with a branch for the folded layer."""
    x = linear.input(0)
    for use in linear.output().uses():
        if use.user is not norm:
            # this user is an `aten::dim`, which has the same result for `x`
            use.user.replace_input(use.offset, x)
    with graph.inserting_before(norm):
        dim = graph.insert("aten::dim", [x]).set_type(INT)
        flat = graph.insert("aten::eq", [dim, graph.insert_constant(2)]).set_type(BOOL)
        constants = [graph.insert_constant(value) for value in folded]
        choice = graph.insert_node(graph.create_if(flat, 1))
    choice.copy_metadata(norm)
    then_block, else_block = choice.blocks()
    then_block.register_output(_layer(graph, linear, then_block.return_node(), [x, *constants]))
    choice.output().copy_metadata(norm.output())
    norm.output().replace_all_uses_with(choice.output())
    for node in (linear, norm):
        node.move_before(else_block.return_node())
    else_block.register_output(norm.output())


def _layer(graph: Graph, linear: Node, insertion_point: Node, inputs: list[Value]) -> Value:
    with graph.inserting_before(insertion_point):
        new_node = graph.insert_node(graph.create("aten::linear", inputs))
    new_node.copy_metadata(linear)
    return new_node.output().copy_metadata(linear.output())


_RULES: Final = RuleSet("frozen_linear_folding", Rule("aten::batch_norm", _fold))
