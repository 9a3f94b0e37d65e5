"""Automatic differentiation of subgraphs: recorded operators become forward and backward graphs."""

from ts.passes.create_autodiff_subgraphs import set_subgraph_inlining

__all__ = ["set_subgraph_inlining"]
