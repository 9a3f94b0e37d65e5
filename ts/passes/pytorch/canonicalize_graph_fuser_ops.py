"""Conversion of `chunk` with a constant number of chunks to one node with that number of results.

The pass replaces the two nodes above the arrow by the node below:

    %l : Tensor[] = aten::chunk(%x, %three, %one)
    %a : Tensor, %b : Tensor, %c : Tensor = prim::ListUnpack(%l)
                                                =>
    %a : Tensor, %b : Tensor, %c : Tensor = prim::ConstantChunk[chunks=3, dim=1](%x)

No other node may use the list %l. If `chunk` returns fewer chunks at run time, both graphs raise an error.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node
from ts.passes.pass_utils import constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def canonicalize_graph_fuser_ops(graph: Graph) -> bool:
    """Replace `aten::chunk` and its unpacking by `prim::ConstantChunk`."""
    return _RULES.apply(graph)


def _join(_: Rewriter, chunk: Node) -> bool:
    """Replace `chunk` and the only node that unpacks its result."""
    uses = chunk.output().uses()
    tensor, *chunk_arguments = chunk.inputs()
    count, dim = map(constant_value, chunk_arguments)
    if len(uses) != 1 or not isinstance(count, int) or not isinstance(dim, int):
        return False
    unpack = uses[0].user
    if unpack.kind() != "prim::ListUnpack" or len(unpack.outputs()) != count:
        return False
    graph = chunk.owning_graph()
    constant_chunk = graph.create("prim::ConstantChunk", [tensor], count).set("chunks", count).set("dim", dim)
    constant_chunk.copy_metadata(chunk)
    constant_chunk.insert_before(chunk)
    for old, new in zip(unpack.outputs(), constant_chunk.outputs(), strict=True):
        new.copy_metadata(old)
        old.replace_all_uses_with(new)
    unpack.destroy()
    chunk.destroy()
    return True


_RULES: Final = RuleSet("canonicalize_graph_fuser_ops", Rule("aten::chunk", _join))
