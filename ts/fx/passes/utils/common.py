"""Subgraph extraction as modules, and graph comparison (structural equality, graph isomorphism)."""

from __future__ import annotations

from typing import Any

from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.passes.utils.matcher_utils import SubgraphMatcher
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """Module that contains the given submodules."""

    def __init__(self, d: dict[str, Module | None]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """Create a module that runs `subgraph`, with the submodules and parameters of `gm` that it uses.

    Return the new module and a dictionary: dotted name in `gm` -> the same name with the prefix `comp_name.`.
    """
    holder = HolderModule({})
    names: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *path, last = node.target.split(".")
        here: Any = holder
        there: Any = gm
        for name in path:
            if not hasattr(here, name):
                here.add_module(name, HolderModule({}))
            here, there = getattr(here, name), getattr(there, name)
        names[node.target] = f"{comp_name}.{node.target}"
        setattr(here, last, getattr(there, last))
    return GraphModule(holder, subgraph, class_name), names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Return True if two graphs have equal structure and equal targets."""
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))


__getattr__ = names_for(__name__)
