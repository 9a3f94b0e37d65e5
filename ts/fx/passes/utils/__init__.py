"""Utilities of passes: subgraph matching and extraction of submodules."""

from ts.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module
from ts.unsupported import names_for

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]
__getattr__ = names_for(__name__)
