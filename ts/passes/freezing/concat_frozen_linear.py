"""Horizontal fusion of frozen linear layers with a common input into one layer (concat linear).

The pass replaces the layers on the left by the nodes on the right:

    %y : Tensor = aten::linear(%x, %w, %b)            %a : Tensor = aten::linear(%x, %wv, %bc)
    %z : Tensor = aten::linear(%x, %v, %c)     =>     %y : Tensor = aten::slice(%a, %-1, %0, %3, %1)
                                                      %z : Tensor = aten::slice(%a, %-1, %3, %8, %1)

All layers must have a bias, and constant weights with the same dtype and device. No node may write to the
inputs or results of the layers. As in PyTorch, the pass is limited to `cuda` unless `everywhere` is set.
"""

from __future__ import annotations

from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.ir.attributes import is_tensor
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TENSOR
from ts.ops import aten
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value

_FEATURES: Final = -1  # index of the feature dimension in the results
_MIN_LAYERS: Final = 2


def concat_frozen_linear(graph: Graph, everywhere: bool = False) -> bool:
    """In each block, replace linear layers with a common input by one layer with concatenated weights."""
    return _visit(graph.block(), graph.analysis(AliasDb), everywhere)


def _visit(block: Block, aliases: AliasDb, everywhere: bool) -> bool:
    changed = False
    layers: dict[tuple[Any, ...], list[Node]] = {}
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner, aliases, everywhere)
        if node.kind() == "aten::linear" and not any(
            map(aliases.has_writers, (node.input(0), node.output()))
        ):
            key = _key(node)
            if key is not None and (everywhere or key[2].type == "cuda"):
                layers.setdefault(key, []).append(node)
    for same in layers.values():
        if len(same) >= _MIN_LAYERS and optimization_allowed("concat_frozen_linear"):
            update("concat_frozen_linear", "Joining {}", same)
            _join(same)
            changed = True
    return changed


def _key(layer: Node) -> tuple[Any, ...] | None:
    """Return (input, dtype, device) of a layer, or None if it is unsuitable.

    Layers with equal keys can be concatenated.
    """
    x, *constants = layer.inputs()
    weight, bias = map(constant_value, constants)
    if not is_tensor(weight) or not is_tensor(bias) or weight.dim() != 2 or bias.dim() != 1:
        return None
    if (weight.dtype, weight.device) != (bias.dtype, bias.device):
        return None
    return x, weight.dtype, weight.device


def _join(layers: list[Node]) -> None:
    """Replace `layers` by one layer with concatenated weights, and their results by slices of one result."""
    first, graph = layers[0], layers[0].owning_graph()
    weights, biases = ([constant_value(node.input(i)) for node in layers] for i in (1, 2))
    with graph.inserting_before(first):
        joined_constants = [graph.insert_constant(aten.cat(each, 0)) for each in (weights, biases)]
        concatenated = graph.insert_node(graph.create("aten::linear", [first.input(0), *joined_constants], 1))
        concatenated.copy_metadata(first)
        output = concatenated.output().set_type(TENSOR)
        start = 0
        for layer, weight in zip(layers, weights, strict=True):
            end = start + weight.shape[0]
            sliced = _slice(graph, output, start, end)
            layer.output().replace_all_uses_with(sliced.copy_metadata(layer.output()))
            start = end
    for layer in layers:
        layer.destroy()


def _slice(graph: Graph, value: Value, start: int, end: int) -> Value:
    return graph.insert("aten::slice", [value, _FEATURES, start, end, 1]).set_type(TENSOR)
