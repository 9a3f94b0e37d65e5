"""Properties of the built-in operators, for passes and export.

An operator on numbers and an operator on tensors can share a name, such as `aten::add`. The properties hold
only for overloads on numbers and other built-in types. Therefore, passes also check the types of the
arguments. The following call returns the operators with a property:

    names_with("may_raise")
"""

from __future__ import annotations

from functools import cache
from typing import Final

_PROPERTIES: Final[dict[str, str]] = {
    # Never raises an error for numbers
    "total": """
        add sub mul neg eq ne lt le gt ge __and__ __or__ __xor__ __not__ __range_length prim::max prim::min
    """,
    # Raises an error for some numbers, strings or containers
    "may_raise": "floordiv remainder __getitem__ Int Float index ord prim::TupleIndex",
    # For integers, the result may exceed 64 bits
    "may_overflow": "add sub mul neg",
    # Returns a bool that compares two arguments
    "comparison": "eq ne lt le gt ge __is__ __isnot__",
    # May be computed by the branch or loop that uses the result
    "deferrable": "eq ne lt le gt ge __is__ __isnot__ __not__ __range_length __derive_index",
    # Compares objects by identity, or returns the identity
    "reads_identity": "__is__ __isnot__ prim::id",
    # Has effects outside of the function, or its result depends on effects of preceding nodes
    "side_effect": "is_autocast_enabled is_autocast_cpu_enabled _assert_scalar warn save wait",
    # Writes files. Code that is loaded from archives must not call the operator unless the load policy names
    # it
    "writes_files": "save",
    # Reads the metadata of a tensor, but no elements
    "metadata": "dim size prim::device prim::dtype",
    # Returns a number of dimensions or elements
    "size_query": "size dim len",
    # Compares by order, not by equality
    "ordering": "lt le gt ge",
    # Occurs only in graphs, in which `export` inserts it
    "inserted_by_export": "_assert_scalar sym_size",
    # Parses a string
    "parses_string": "Int Float ord",
    # Divides integers, which raises an error for the divisor zero
    "integer_division": "floordiv remainder",
    # Mutates a list. The second argument is the index of the mutated item, except for `append`.
    "list_mutation": "append insert _set_item",
}
COMPLEMENTS: Final = {"aten::__is__": "aten::__isnot__", "aten::__isnot__": "aten::__is__"}
# operator on symbolic sizes, used in exported graphs -> operator that computes the same result in scripts
SYMBOLIC_SIZES: Final = {
    "aten::sym_size.int": "aten::size", "aten::sym_stride.int": "aten::stride",
    "aten::sym_numel": "aten::numel",
}  # fmt: skip
VALUE_COMPARISONS: Final = {"aten::__is__": "aten::eq", "aten::__isnot__": "aten::ne"}  # identity -> equality


@cache
def names_with(built_in_property: str) -> frozenset[str]:
    """Return the full names of the built-in operators with a property.

    The set is empty for an unknown property.
    """
    names = _PROPERTIES.get(built_in_property, "").split()
    return frozenset(name if "::" in name else f"aten::{name}" for name in names)
