"""Conversion of `chunk` with a constant number of chunks to one node with that number of results.

    %l : Tensor[] = aten::chunk(%x, %three, %one)
    %a : Tensor, %b : Tensor, %c : Tensor = prim::ListUnpack(%l)
                                                =>
    %a : Tensor, %b : Tensor, %c : Tensor = prim::ConstantChunk[chunks=3, dim=1](%x)

The list must have no use except its unpacking into that number of tensors. If `chunk` returns fewer chunks at
run time, the graph raises an error before and after this pass.
"""

from __future__ import annotations

from ts.ir.graph import Graph, Node
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value


def canonicalize_graph_fuser_ops(graph: Graph) -> bool:
    """Replace `aten::chunk` and its unpacking by `prim::ConstantChunk`."""
    changed = False
    for node in list(graph.all_nodes()):
        if node.kind() == "aten::chunk" and _is_unpacked(node):
            if not optimization_allowed("canonicalize_graph_fuser_ops"):
                break
            update("canonicalize_graph_fuser_ops", "Fusing {} with the nodes that unpack it", node)
            _join(node)
            changed = True
    return changed


def _is_unpacked(chunk: Node) -> bool:
    uses = chunk.output().uses()
    count, dim = (constant_value(value) for value in chunk.inputs()[1:])
    if len(uses) != 1 or not isinstance(count, int) or not isinstance(dim, int):
        return False
    unpack = uses[0].user
    return unpack.kind() == "prim::ListUnpack" and len(unpack.outputs()) == count


def _join(chunk: Node) -> None:
    (use,) = chunk.output().uses()
    unpack = use.user
    tensor, *chunk_arguments = chunk.inputs()
    count, dim = map(constant_value, chunk_arguments)
    graph = chunk.owning_graph()
    constant_chunk = graph.create("prim::ConstantChunk", [tensor], count).set("chunks", count).set("dim", dim)
    constant_chunk.copy_metadata(chunk)
    constant_chunk.insert_before(chunk)
    for old, new in zip(unpack.outputs(), constant_chunk.outputs(), strict=True):
        new.copy_metadata(old)
        old.replace_all_uses_with(new)
    unpack.destroy()
    chunk.destroy()
