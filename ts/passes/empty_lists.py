"""Replacement of empty list literals without a known type by lists of tensors.

    %x : Tensor[] = prim::EmptyListLiteral()    =>    %x : Tensor[] = prim::ListConstruct()

A literal `[]` that is an argument of a call gets the type of the parameter; the emitter has already replaced
such literals.
"""

from __future__ import annotations

from ts.ir.graph import Graph


def replace_empty_list_literals(graph: Graph) -> bool:
    """Replace each `prim::EmptyListLiteral`, or remove it if unused."""
    literals = graph.find_all_nodes("prim::EmptyListLiteral")
    for node in literals:
        if node.has_uses():
            new_list = graph.create("prim::ListConstruct")
            new_list.output().set_type(node.output().type())
            new_list.insert_before(node)
            node.replace_all_uses_with(new_list)
        node.destroy()
    return bool(literals)
