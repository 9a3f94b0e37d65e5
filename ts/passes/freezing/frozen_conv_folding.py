"""Batch-norm folding (conv-BN fusion): a convolution absorbs the following batch norm and arithmetic.

The pass replaces the nodes on the left by the node on the right. Users of %y then use %c:

    %c : Tensor = aten::conv2d(%x, %w, %b, ...)              %c : Tensor = aten::conv2d(%x, %w2, %b2, ...)
    %y : Tensor = aten::batch_norm(%c, ...)          =>

Arithmetic (+, -, *, /) is folded if one operand is a constant scalar or has one constant per channel. Weight,
bias and running statistics must be constants, as in frozen modules. No other node may read the elements of
the convolution's result. Folding changes rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ts._core.builtin_ops.properties import names_with
from ts._core.tensor.mapped_pages import release_clean_pages
from ts.ir.attributes import is_tensor
from ts.ir.graph import Graph, Node, Value
from ts.ops.registry import field_by_name
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import NOT_CONSTANT, constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet

_SPATIAL_DIMS: Final = field_by_name("spatial_dims")
_TRANSPOSED_INDEX: Final = 6  # index of the argument `transposed` of `aten::_convolution`
_METADATA_QUERIES: Final = names_with("metadata")
_WEIGHT, _BIAS = 1, 2  # indices of weight and bias among the arguments of each convolution operator

Fold = Callable[[Node, Any, Any, Node], "tuple[Any, Any] | None"]
"""(convolution, weight, bias or None, next node) -> (new weight, new bias), or None if not foldable"""


def fold_frozen_conv_bn(graph: Graph) -> bool:
    """Fold batch norm of convolution results."""
    return _fold_all(graph, "aten::batch_norm", _batch_norm)


def fold_frozen_conv_add_or_sub(graph: Graph) -> bool:
    """Fold additions to and subtractions from convolution results."""
    return _fold_all(graph, "aten::add aten::sub", _add_or_sub)


def fold_frozen_conv_mul_or_div(graph: Graph) -> bool:
    """Fold products and quotients of convolution results."""
    return _fold_all(graph, "aten::mul aten::div", _mul_or_div)


def _fold_all(graph: Graph, kinds: str, fold: Fold) -> bool:
    changed = RuleSet("frozen_conv_folding", Rule(kinds, partial(_fold_into_conv, fold))).apply(graph)
    return changed and (eliminate_dead_code(graph) or True)


def _fold_into_conv(fold: Fold, _: Rewriter, node: Node) -> Value | None:
    conv = node.input(0).node()
    if not _is_convolution(conv) or not _is_only_reader(node, conv):
        return None
    weight, bias = constant_value(conv.input(_WEIGHT)), constant_value(conv.input(_BIAS))
    if not is_tensor(weight) or bias is NOT_CONSTANT:
        return None
    folded = fold(conv, weight, bias, node)
    if folded is None:
        return None
    for input_index, before, value in zip((_WEIGHT, _BIAS), (weight, bias), folded, strict=True):
        if value is not before:
            name = f"{_name(conv.input(input_index))}_fused_{_FOLD_NAMES[fold]}"
            conv.replace_input(input_index, _constant(conv, value, name))
    if folded[0] is not weight:
        release_clean_pages(weight.array)
    return conv.output()


def _is_convolution(node: Node) -> bool:
    """Return whether a node computes a convolution that is not transposed."""
    if node.kind() == "aten::_convolution":
        return constant_value(node.input(_TRANSPOSED_INDEX)) is False
    return bool(_SPATIAL_DIMS[node.kind()])


def _is_only_reader(node: Node, conv: Node) -> bool:
    """Return whether only `node` and queries of metadata read the result of `conv`."""
    return all(use.user is node or use.user.kind() in _METADATA_QUERIES for use in conv.output().uses())


def _constant(conv: Node, value: Any, name: str) -> Value:
    graph = conv.owning_graph()
    with graph.inserting_before(conv):
        return graph.insert_constant(value).set_debug_name(name)


def _name(value: Value) -> str:
    return value.debug_name() if value.has_debug_name() else "conv"


def _batch_norm(conv: Node, weight: Any, bias: Any, norm: Node) -> tuple[Any, Any] | None:
    return fold_batch_norm(weight, bias, norm)


def fold_batch_norm(weight: Any, bias: Any, norm: Node) -> tuple[Any, Any] | None:
    """Fold batch normalization into a layer's weight and bias. Return None if that is impossible."""
    constants = [constant_value(value) for value in norm.inputs()[1:8]]
    gamma, beta, mean, variance, training, _, epsilon = constants
    if training is not False or not is_tensor(mean) or not is_tensor(variance):
        return None
    if any(value is NOT_CONSTANT for value in constants):
        return None
    if any(is_tensor(x) and x.dtype is not weight.dtype for x in (gamma, beta, mean, variance, bias)):
        return None
    scale = (variance + epsilon).rsqrt()
    if gamma is not None:
        scale = scale * gamma
    shift = (0 if bias is None else bias) - mean
    shift = shift * scale
    return weight * _reshape_per_channel(scale, weight), shift if beta is None else shift + beta


def _add_or_sub(conv: Node, weight: Any, bias: Any, node: Node) -> tuple[Any, Any] | None:
    other, alpha = constant_value(node.input(1)), constant_value(node.input(2))
    if alpha != 1 or (other := _expand_to_channels(other, weight)) is None:
        return None
    if node.kind() == "aten::sub":
        other = -other
    return weight, other if bias is None else bias + other


def _mul_or_div(conv: Node, weight: Any, bias: Any, node: Node) -> tuple[Any, Any] | None:
    if (
        node.inputs_size() != 2
        or (other := _expand_to_channels(constant_value(node.input(1)), weight)) is None
    ):
        return None
    if node.kind() == "aten::div":
        return weight / _reshape_per_channel(other, weight), None if bias is None else bias / other
    return weight * _reshape_per_channel(other, weight), None if bias is None else bias * other


def _expand_to_channels(value: Any, weight: Any) -> Any:
    """Expand a constant operand to one number per output channel. Return None for unsupported operands.

    As in PyTorch, a tensor with several elements is supported only if it has as many dimensions as the
    weight.
    """
    channels = weight.shape[0]
    if isinstance(value, bool) or not (isinstance(value, int | float) or is_tensor(value)):
        return None
    if not is_tensor(value):
        return weight.new_full((channels,), value)
    sizes = [1] * (weight.dim() - value.dim()) + list(value.shape)
    if value.numel() > 1 and value.dim() != weight.dim():
        return None
    if len(sizes) != weight.dim() or (weight + value.flatten()[:1].sum()).dtype is not weight.dtype:
        return None
    if sizes[:1] + sizes[2:] != [1] * (weight.dim() - 1) or sizes[1] not in (1, channels):
        return None
    return value.flatten().to(weight.dtype).expand(channels).clone()


def _reshape_per_channel(scale: Any, weight: Any) -> Any:
    return scale.reshape([-1] + [1] * (weight.dim() - 1))


_FOLD_NAMES: Final[dict[Fold, str]] = {_batch_norm: "bn", _add_or_sub: "add", _mul_or_div: "mul"}
