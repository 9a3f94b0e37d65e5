"""Placeholder values, which are the results of `prim::Uninitialized` nodes.

Input: a type. Output: a valid value of this type, or a KeyError if no placeholder exists. Examples:

    uninitialized_value(TupleType([INT, ListType(INT)]))      (0, [])
    uninitialized_value(FutureType(INT))                      a failed future

Code from the compiler never reads these values, but a graph parsed from text may read them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ts._core.tensor.factories import from_numpy
from ts._core.value.ivalue import new_object, to_core
from ts._core.vm.future import Future
from ts.bytecode.typespec import object_class, type_spec
from ts.devices import device
from ts.ir.types import (
    ANY,
    NONE,
    ClassType,
    EnumType,
    FutureType,
    InterfaceType,
    TensorType,
    TupleType,
    Type,
    UnionType,
)

_INTS: Final = ("IntType", "ScalarTypeType", "LayoutType", "MemoryFormatType", "SymIntType", "NumberType")
_PLACEHOLDERS: Final[dict[str, Any]] = {
    **dict.fromkeys(_INTS, 0),
    **dict.fromkeys(("FloatType", "SymFloatType"), 0.0),
    **dict.fromkeys(("BoolType", "SymBoolType"), False),
    "ComplexType": 0j,
    "StringType": "",
    "ListType": [],
    "AnyListType": [],
    "DictType": {},
    "AnyTupleType": (),
    "DeviceObjType": device("cpu"),
}
_NO_METHODS: Final = ClassType("__torch__.Uninitialized")


def uninitialized_value(type: Type) -> Any:
    """Return a placeholder value of type `type`.

    The placeholder is None if None is a valid value of the type.
    """
    if type is NONE or type is ANY or type.can_hold(NONE):
        return None
    if isinstance(type, UnionType):
        return uninitialized_value(type.types[0])
    return (
        to_core(_placeholder(type), type_spec(type))
        if not isinstance(type, InterfaceType)
        else _placeholder(type)
    )


def _placeholder(type: Type) -> Any:
    match type:
        case TupleType():
            return tuple(map(uninitialized_value, type.elems))
        case TensorType():
            return from_numpy(np.empty(0, np.float32))
        case ClassType():
            return new_object(object_class(type))  # an object whose attributes are unset
        case InterfaceType():
            return new_object(object_class(_NO_METHODS))
        case EnumType():
            members: Any = type.python_class
            return next(iter(members))
        case FutureType():
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("this future was never assigned"))
            return future
    return _PLACEHOLDERS[type.kind()]
