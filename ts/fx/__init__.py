"""Graphs of functions and modules for inspection, transformation and execution: `torch.fx`.

This example records a module and replaces each `relu` by `gelu`:

    module = ts.fx.symbolic_trace(net)        # an equivalent GraphModule
    for node in module.graph.nodes:
        if node.target is ts.relu:
            node.target = ts.nn.functional.gelu
    module.recompile()
    print(module.code)                        # the Python code of the graph
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ts.fx import immutable_collections
from ts.fx.graph import CodeGen, Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node, has_side_effect, map_arg
from ts.unsupported import names_for

if TYPE_CHECKING:
    from ts.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
    from ts.fx.interpreter import Interpreter, Transformer
    from ts.fx.proxy import Proxy
    from ts.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "PH", "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta", "Tracer",
    "Transformer", "has_side_effect", "immutable_collections", "map_arg", "replace_pattern", "symbolic_trace",
    "wrap",
]  # fmt: skip
_absent = names_for(__name__)
# Submodules that are imported at the first use of the submodule or of one of its names.
_SUBMODULES = frozenset({
    "_symbolic_trace", "annotate", "experimental", "interpreter", "operator_schemas", "passes", "patcher",
    "proxy", "subgraph_rewriter", "traceback", "tracer",
})  # fmt: skip
_NAME_TO_MODULE = {
    **dict.fromkeys(("PH", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"), "_symbolic_trace"),
    **dict.fromkeys(("Interpreter", "Transformer"), "interpreter"),
    "Proxy": "proxy",
    "replace_pattern": "subgraph_rewriter",
}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _NAME_TO_MODULE:
        return _absent(name)
    attribute = globals()[name] = getattr(
        importlib.import_module(f"{__name__}.{_NAME_TO_MODULE[name]}"), name
    )
    return attribute
