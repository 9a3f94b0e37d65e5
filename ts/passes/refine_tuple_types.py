"""Refinement of tuple types from the types of their elements.

    %t : (Tensor, Tensor) = prim::TupleConstruct(%i, %x)      =>    %t : (int, Float(2, 3)) = ...

This is useful after a pass has refined the types of the elements.
"""

from __future__ import annotations

from ts.ir.graph import Graph
from ts.ir.types import TupleType
from ts.passes.pass_logging import optimization_allowed, update


def refine_tuple_types(graph: Graph) -> bool:
    """Set the types of tuples to the types of their elements; named tuples keep their names."""
    changed = False
    for node in graph.all_nodes():
        if node.kind() != "prim::TupleConstruct":
            continue
        output = node.output()
        declared = output.type()
        element_types = tuple(value.type() for value in node.inputs())
        if (
            not isinstance(declared, TupleType)
            or declared.name is not None
            or declared.elems == element_types
        ):
            continue
        if optimization_allowed("refine_tuple_types"):
            update("refine_tuple_types", "Refining %{}", output.debug_name())
            output.set_type(TupleType(element_types))
            changed = True
    return changed
