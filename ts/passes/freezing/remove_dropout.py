"""Dropout removal outside of training.

The pass deletes the node, and %x replaces %y:

    %y : Tensor = aten::dropout(%x, %p, %false)
"""

from __future__ import annotations

from typing import Any, Final

from ts.ir.graph import Graph
from ts.passes.pass_utils import run_on_methods
from ts.passes.rewriter import Rule, RuleSet

_RULES: Final = RuleSet(
    "remove_dropout",
    Rule("aten::dropout(x, _, False)", "x"),
    Rule("aten::dropout_(x, _, False)", "x"),
    Rule("aten::feature_dropout(x, _, False)", "x"),
    Rule("aten::feature_dropout_(x, _, False)", "x"),
)


def remove_dropout(target: Graph | Any) -> bool:
    """Replace the result of each dropout node outside of training by the node's input.

    `target` is a graph or, as in PyTorch, a handle of a module, whose method graphs are changed. Raise
    RuntimeError for a module in training mode.
    """
    if isinstance(target, Graph):
        return _RULES.apply(target)
    if target.hasattr("training") and target.getattr("training"):
        raise RuntimeError("Dropout removal module in training mode is not yet supported")
    run_on_methods(target, _RULES.apply)
    return True
