"""Symbolic tracing under PyTorch's name: `torch.fx._symbolic_trace`.

module = symbolic_trace(net)              an equivalent GraphModule
print(module.code)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.fx.graph_module import GraphModule
from ts.fx.patcher import (
    Patcher,
    autowrap,
    find_proxy,
    new_patcher,
    patch_wrapped_functions,
    without_patches,
    wrap,
    wrapped_functions,
    wrapped_methods,
)
from ts.fx.tracer import (
    PH,
    PHBase,
    PHWithMeta,
    ProxyableClassMeta,
    Tracer,
    is_fx_symbolic_tracing,
    is_fx_tracing,
)

# The code that FX generates imports this function from here.
from ts.fx.tracer import _assert_is_none as _assert_is_none
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = [
    "PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing", "is_fx_tracing",
    "symbolic_trace", "wrap",
]  # fmt: skip

_Patcher = Patcher
_autowrap_check = autowrap
_find_proxy = find_proxy
_maybe_revert_all_patches = without_patches
_new_patcher = new_patcher
_patch_wrapped_functions = patch_wrapped_functions
_wrapped_fns_to_patch = wrapped_functions
_wrapped_methods_to_patch = wrapped_methods


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
) -> GraphModule:
    """Trace a module or function, and return a GraphModule that computes its result.

    concrete_args   fixed values of parameters: see `Tracer.trace`
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


__getattr__ = names_for(__name__)
