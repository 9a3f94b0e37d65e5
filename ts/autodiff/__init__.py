"""Parts of programs that are differentiated as one: what the tape does with them, written down as graphs."""

from ts.passes.create_autodiff_subgraphs import set_subgraph_inlining

__all__ = ["set_subgraph_inlining"]
