"""All operators that are written in C over numbers, strings, lists and dicts.

In: nothing.  Out: `operators()`, with the overloads of a name in PyTorch's order.

    >>> [op.overload for op in operators() if op.name == "aten::add"]
    ['t', 'str', 'int', 'complex', 'float', ..., '']

The order matters where several overloads accept the same arguments: `add.int` must be tried before
`add(Scalar, Scalar)`.  Within a module the tables are in order; `FIRST` orders names that are spread over
modules.
"""

from __future__ import annotations

from ts._core import (  # type: ignore[attr-defined]  # extensions without stubs: all they show is operators()
    prims_container,
    prims_dict,
    prims_generic,
    prims_math,
    prims_scalar,
    prims_string,
)
from ts._core.dispatch import Operator

_EQUALITY = (
    "int_list bool enum int complex float int_float float_int float_complex complex_float - str "
    "float_list bool_list str_list"
)
# Overloads that come first, in this order; "-" is the one without a name.
FIRST = {
    "aten::add": "t str",
    "aten::mul": "left_t right_",
    "aten::eq": _EQUALITY,
    "aten::ne": _EQUALITY,
    "aten::len": "t str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor any",
    "aten::__getitem__": "t str",
    "aten::__contains__": "int_list str_list str int bool float complex Tensor float_list",
    "aten::index": "str",
    "aten::count": "-",
}
_MODULES = (prims_math, prims_scalar, prims_container, prims_dict, prims_string, prims_generic)


def operators() -> list[Operator]:
    """Every operator once; those of one name are in order, though not side by side."""
    found: list[Operator] = [op for module in _MODULES for op in module.operators()]
    return sorted(found, key=_rank)  # stable: the rest keeps the order of its table


def _rank(op: Operator) -> int:
    first = FIRST.get(op.name, "").split()
    overload = op.overload or "-"
    return first.index(overload) if overload in first else len(_EQUALITY)
