"""Conversion of the default values of parameters and fields to constants of the declared type.

Each line shows a call and its result:

    constant_of_type(1, FLOAT)          1.0
    constant_of_type("1", FLOAT)        NO_DEFAULT, because a string cannot be converted to a number
"""

from __future__ import annotations

from typing import Any, Final

from ts.ir import types as ir
from ts.ir.types import Type

NO_DEFAULT: Final = object()


def constant_of_type(value: Any, type: Type) -> object:
    """Convert a Python value to a constant of the given type. Return NO_DEFAULT if that is impossible."""
    match type:
        case ir.AnyType():
            return value
        case ir.NoneType():
            return None if value is None else NO_DEFAULT
        case ir.OptionalType():
            return None if value is None else constant_of_type(value, type.elem)
        case ir.UnionType():
            constants = [
                constant
                for constant in (constant_of_type(value, t) for t in type.types)
                if constant is not NO_DEFAULT
            ]
            same_class = (constant for constant in constants if constant.__class__ is value.__class__)
            return next(same_class, constants[0] if constants else NO_DEFAULT)
        case ir.BoolType():
            return bool(value) if value is None or isinstance(value, int | float) else NO_DEFAULT
        case ir.IntType():
            code = getattr(value, "code", None)  # a dtype as default becomes its ScalarType number
            if isinstance(code, int):
                return code
            is_int = isinstance(value, int) and -(1 << 63) <= value < 1 << 63
            return int(value) if is_int else NO_DEFAULT
        case ir.FloatType():
            numeric = isinstance(value, int | float)
            return _convert_number(float, value) if numeric else NO_DEFAULT
        case ir.ComplexType():
            numeric = isinstance(value, int | float | complex)
            return _convert_number(complex, value) if numeric else NO_DEFAULT
        case ir.StringType():
            return value if isinstance(value, str) else NO_DEFAULT
        case ir.TupleType():
            if not isinstance(value, tuple) or len(value) != len(type.elems):
                return NO_DEFAULT
            elements = tuple(constant_of_type(v, t) for v, t in zip(value, type.elems, strict=True))
            return NO_DEFAULT if NO_DEFAULT in elements else elements
        case ir.ListType():
            if not isinstance(value, tuple):
                return NO_DEFAULT
            elements = tuple(constant_of_type(v, type.elem) for v in value)
            return NO_DEFAULT if NO_DEFAULT in elements else list(elements)
        case ir.EnumType():
            return value if isinstance(value, type.python_class or ()) else NO_DEFAULT
        case ir.TensorType():
            if value is None:  # a default of None for a Tensor parameter stands for the undefined tensor
                return None
            return value if value.__class__.__name__ == "Tensor" else NO_DEFAULT
        case ir.DeviceObjType():
            return value if value.__class__.__name__ == "device" else NO_DEFAULT
    return NO_DEFAULT


def _convert_number(to: type[float] | type[complex], value: Any) -> object:
    try:
        return to(value)
    except OverflowError:  # the int is too large for a float
        return NO_DEFAULT
