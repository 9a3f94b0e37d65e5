"""Loop scalarization (scalar replacement): versions of loops that compute with numbers, not 0-dim tensors.

The example shows a loop, and its float32 version with the original loop in the second block:

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
                                               = prim::Loop ...

There are versions for float32, float64 and int64 elements. The dtypes and ranks of the tensors select a
version before the loop begins. All versions compute the same bits as the original loop. Rounding a 64-bit
sum, difference, product or quotient to 32 bits gives the result of the 32-bit operation.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph

_KINDS: Final = {"prim::Loop", "aten::select"}  # kinds that every graph with element loops contains


def version_element_loops(graph: Graph) -> bool:
    """Create versions of loops over tensor elements, outer loops first."""
    return graph.kinds() >= _KINDS and _visit(graph.block())


def _visit(block: Block) -> bool:
    from ts.passes.loop_versioning import make_versions  # imported here, because few programs need it

    changed = False
    for node in block.nodes_with_blocks():
        if node.kind() == "prim::Loop" and make_versions(node):
            changed = True
            continue
        for inner in node.blocks():
            changed |= _visit(inner)
    return changed
