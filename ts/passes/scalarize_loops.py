"""Loops over the elements of tensors get versions that compute with numbers, for tensors as they mostly are.

    for i in range(1, n):                %ok : bool = prim::HasElements[dtype=6, rank=1, written=1](%a)
        a[i] = a[i - 1] * 0.5             = prim::If(%ok)
                                            block0():
                                    =>        = prim::Loop(%m, %true)
                                                block0(%i : int):
                                                  %j : int = aten::sub(%i, %one)
                                                  %x : float = prim::LoadElement[dtype=6](%a, %j)
                                                  %y : float = aten::mul(%x, %half)
                                                  %z : float = prim::RoundFloat32(%y)
                                                   = prim::StoreElement[dtype=6](%z, %a, %i)
                                            block1():
                                               = prim::Loop ...                 as it was

The versions are for 32-bit floats, 64-bit floats, and ints, as far as the loop can be of them: the tensors
are asked before it begins.  Sums, differences, products and quotients of two 32-bit floats, computed with 64
bits and rounded then, are what 32 bits give: the results are those of the loop as it was, to the bit.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph

_KINDS: Final = {"prim::Loop", "aten::select"}  # without which there is no element


def version_element_loops(graph: Graph) -> bool:
    """Make versions of the loops that compute with elements, outer ones first."""
    return graph.kinds() >= _KINDS and _visit(graph.block())


def _visit(block: Block) -> bool:
    from ts.passes.loop_versioning import make_versions  # which few programs need

    changed = False
    for node in block.nodes_with_blocks():
        if node.kind() == "prim::Loop" and make_versions(node):
            changed = True
            continue
        for inner in node.blocks():
            changed |= _visit(inner)
    return changed
