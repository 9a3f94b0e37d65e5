"""Tables from Python's operator syntax nodes to the operators that implement them.

Each line shows an expression, its table entry, and the operator in this entry:

    a + b     BINARY[ast.Add]       aten::add
    a += b    AUGMENTED[ast.Add]    aten::add on numbers, aten::add_ on tensors and lists
"""

from __future__ import annotations

import ast
from typing import Final

BINARY: Final[dict[type[ast.operator] | type[ast.cmpop], str]] = {
    ast.Add: "aten::add",
    ast.Sub: "aten::sub",
    ast.Mult: "aten::mul",
    ast.Div: "aten::div",
    ast.FloorDiv: "aten::floordiv",
    ast.Mod: "aten::remainder",
    ast.Pow: "aten::pow",
    ast.MatMult: "aten::matmul",
    ast.BitAnd: "aten::__and__",
    ast.BitOr: "aten::__or__",
    ast.BitXor: "aten::__xor__",
    ast.LShift: "aten::__lshift__",
    ast.RShift: "aten::__rshift__",
    ast.Eq: "aten::eq",
    ast.NotEq: "aten::ne",
    ast.Lt: "aten::lt",
    ast.LtE: "aten::le",
    ast.Gt: "aten::gt",
    ast.GtE: "aten::ge",
    ast.In: "aten::__contains__",
    ast.Is: "aten::__is__",
    ast.IsNot: "aten::__isnot__",
}

# Syntax node class -> (operator of `x += y` for a number x, operator of `x += y` for a tensor or list x).
# The second operator is in-place, unless the augmented assignment creates a new tensor in PyTorch.
AUGMENTED: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("aten::add", "aten::add_"),
    ast.Sub: ("aten::sub", "aten::sub_"),
    ast.Mult: ("aten::mul", "aten::mul_"),
    ast.Div: ("aten::div", "aten::div_"),
    # In PyTorch, `%=` on ints uses `fmod`, too, and returns a float.
    ast.Mod: ("aten::remainder", "aten::fmod_"),
    ast.BitOr: ("aten::__or__", "aten::bitwise_or"),
    ast.BitAnd: ("aten::__and__", "aten::bitwise_and"),
    ast.BitXor: ("aten::__xor__", "aten::bitwise_xor"),
    ast.LShift: ("aten::__lshift__", "aten::__ilshift__"),
    ast.RShift: ("aten::__rshift__", "aten::__irshift__"),
    ast.Pow: ("aten::pow", "aten::pow"),
    # An extension: PyTorch raises an error for `//=`
    ast.FloorDiv: ("aten::floordiv", "aten::floor_divide_"),
}

# In-place operators of augmented assignments to items and slices of tensors (`x[i] |= y`). With the operators
# of `AUGMENTED`, these assignments would not change `x`. In PyTorch, they do not change `x`.
AUGMENTED_ITEM: Final[dict[type[ast.operator], str]] = {
    ast.BitOr: "aten::bitwise_or_",
    ast.BitAnd: "aten::bitwise_and_",
    ast.BitXor: "aten::bitwise_xor_",
    ast.Pow: "aten::pow_",
}

# Operator -> the magic method that implements it in a class.
MAGIC: Final[dict[type[ast.operator] | type[ast.cmpop] | type[ast.unaryop], str]] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.MatMult: "__matmul__",
    ast.BitAnd: "__and__",
    ast.BitOr: "__or__",
    ast.BitXor: "__xor__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.In: "__contains__",
    ast.USub: "__neg__",
    ast.Invert: "__invert__",
}
