"""Refinement of tuple types from the types of their elements.

Another pass must have refined the types of the elements before. The pass replaces the type of %t:

    %t : (Tensor, Tensor) = prim::TupleConstruct(%i, %x)      =>    %t : (int, Float(2, 3)) = ...
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph, Node
from ts.ir.types import TupleType
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def refine_tuple_types(graph: Graph) -> bool:
    """Set the types of tuples to the types of their elements. Named tuples keep their names."""
    return _RULES.apply(graph)


def _refine(_: Rewriter, node: Node) -> bool:
    declared = node.output().type()
    element_types = tuple(value.type() for value in node.inputs())
    if not isinstance(declared, TupleType) or declared.name is not None or declared.elems == element_types:
        return False
    node.output().set_type(TupleType(element_types))
    return True


_RULES: Final = RuleSet("refine_tuple_types", Rule("prim::TupleConstruct", _refine))
