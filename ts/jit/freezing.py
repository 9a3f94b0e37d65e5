"""Module freezing: `ts.jit.freeze` and optimizations of frozen modules.

The attributes of a frozen module are constants in its graphs, unless its methods write to them. Example:

    frozen = ts.jit.freeze(ts.jit.script(net.eval()))
    frozen = ts.jit.optimize_for_inference(ts.jit.script(net.eval()))

`ts.passes.freezing` contains the passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ir.graph import Graph
from ts.passes.dce import eliminate_dead_code
from ts.passes.freezing.freeze import freeze_module
from ts.passes.freezing.frozen_conv_folding import (
    fold_frozen_conv_add_or_sub,
    fold_frozen_conv_bn,
    fold_frozen_conv_mul_or_div,
)
from ts.passes.freezing.frozen_linear_folding import fold_frozen_linear_bn
from ts.passes.freezing.remove_dropout import remove_dropout
from ts.passes.pipelines import run_pipeline
from ts.runtime.module import ScriptModule


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """Return a copy of a scripted module in evaluation mode, with attributes replaced by constants.

    preserved_attrs     names of attributes and methods to keep, also in submodules (`"head.weight"`)
    optimize_numerics   let `run_frozen_optimizations` also perform optimizations that change rounding

    The method `forward` is always kept. Raise RuntimeError for a module that is not scripted or is in
    training mode, and for unknown names.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to "
            "script your 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your "
            "module before freezing."
        )
    preserved = list(preserved_attrs or ())
    frozen = freeze_module(mod, preserved)
    methods = [name for name in preserved if name in mod._concrete.type.methods]
    run_frozen_optimizations(frozen, optimize_numerics, methods)
    return frozen


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Optimize `forward` and the methods named in `preserved_methods` of a frozen module, in place.

    Dropout is removed. With `optimize_numerics`, scales and shifts of channels are folded into the weights of
    the preceding convolutions, and batch normalization is folded into linear layers.
    """
    methods = mod._concrete.type.methods
    for name in preserved_methods or ():
        if name not in methods:
            raise AttributeError(f"'{type(mod).__name__}' object has no attribute '{name}'")
    for name in {"forward", *(preserved_methods or ())} & methods.keys():
        method = methods[name]
        graph = method.graph.copy()
        if _optimize(graph, optimize_numerics):
            methods[name] = method.with_graph(graph, method.qualified_name, method.schema)


def _optimize(graph: Graph, numerics: bool) -> bool:
    """Run the optimization passes on a frozen graph until no pass changes the graph."""
    passes: list[Callable[[Graph], bool]] = [remove_dropout]
    if numerics:
        passes += [fold_frozen_conv_bn, fold_frozen_conv_add_or_sub, fold_frozen_conv_mul_or_div]
        passes += [fold_frozen_linear_bn]
    changed = run_pipeline(graph, passes, until_unchanged=True)
    # As in PyTorch, eliminate dead code only if the pipeline has changed the graph.
    if changed and numerics:
        eliminate_dead_code(graph)
    return changed


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """Return a frozen and optimized copy of a scripted module.

    A module that is already frozen is optimized in place.

    `other_methods` contains names of methods to keep in addition to `forward`.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or "
            "torch.jit.trace to script your 'nn.Module'."
        )
    others = list(other_methods or ())
    if hasattr(mod, "training"):
        return freeze(mod.eval(), preserved_attrs=others)
    run_frozen_optimizations(mod, preserved_methods=others)
    return mod
