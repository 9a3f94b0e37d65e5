"""Optimizations for inference (conv-BN fusion, dropout removal): `torch.fx.experimental.optimization`.

Each line shows a call and its effect:

    fuse(model.eval())        folds batch normalizations into preceding convolutions and linear layers
    remove_dropout(model)     removes dropout modules
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

import ts.nn as nn
from ts.fx._symbolic_trace import symbolic_trace
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.interpreter import Transformer
from ts.fx.node import Node, Target
from ts.nn.modules.module import Module
from ts.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from ts.unsupported import names_for

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]

_PATTERNS: Final = (
    (nn.Conv1d, nn.BatchNorm1d, fuse_conv_bn_eval),
    (nn.Conv2d, nn.BatchNorm2d, fuse_conv_bn_eval),
    (nn.Conv3d, nn.BatchNorm3d, fuse_conv_bn_eval),
    (nn.Linear, nn.BatchNorm1d, fuse_linear_bn_eval),
)


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Module]) -> bool:
    """Return True if `node` calls a `pattern[1]` module on the result of a `pattern[0]` module."""
    if not node.args:
        return False
    for cls, each in zip(pattern, (node.args[0], node), strict=False):
        if (
            not isinstance(each, Node)
            or each.op != "call_module"
            or type(modules.get(each.target)) is not cls
        ):
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Module], new_module: Module) -> None:
    """Replace the module that `node` calls by `new_module`."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """Return a GraphModule with batch normalizations folded into the weights of preceding layers.

    inplace    change `model` instead of a copy
    no_trace   if `model` is a GraphModule, do not trace it again
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for layer, norm, fused in _PATTERNS:
        for node in graph.nodes:
            if not matches_module_pattern((layer, norm), node, modules) or len(node.args[0].users) > 1:
                continue
            before: Node = node.args[0]
            norm_module: Any = modules[node.target]
            if not norm_module.track_running_stats:
                continue
            replace_node_module(before, modules, fused(modules[before.target], norm_module))  # type: ignore[arg-type]
            node.replace_all_uses_with(before)
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _DropoutRemover(Transformer):
    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not isinstance(self.submodules[str(target)], nn.Dropout):
            return super().call_module(target, args, kwargs)
        if len(args) != 1:
            raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
        return args[0]


def remove_dropout(model: Module) -> Module:
    """Return a GraphModule that computes the same as `model`, but has no dropout modules."""
    return _DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """Return a module whose graph has `inputs` as placeholders, copies of `nodes`, and results `outputs`."""
    graph = Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, lambda n: copies[n])
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


__getattr__ = names_for(__name__)
