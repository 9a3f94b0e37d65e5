"""Types of the language: spelling, equality, subtyping, unification and type variables.

Types are immutable. Two types are equal if they have the same structure. As in PyTorch, graphs and schemas
contain ``type.str()``, and annotations contain ``str(type)``::

    >>> t = DictType(STR, ListType(OptionalType(INT)))
    >>> t.str(), str(t)
    ('Dict(str, int?[])', 'Dict[str, List[Optional[int]]]')
    >>> t.isSubtypeOf(ANY), unify(INT, NONE) == OptionalType(INT)
    (True, True)

Type variables (`VarType`) occur only in schemas. `match_type_variables` binds them to the types of a call's
arguments.

Import types from this package, not from its modules.
"""

from __future__ import annotations

from ts.ir.types.base import (
    Type,
)
from ts.ir.types.container import (
    AwaitType,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    RRefType,
    TupleType,
)
from ts.ir.types.nominal import (
    CUSTOM_CLASS_PREFIX,
    CUSTOM_CLASSES,
    OBJECT_TYPES,
    ClassType,
    CustomClassType,
    EnumType,
    FunctionType,
    InterfaceType,
    ModuleType,
    Property,
    why_not_implemented,
)
from ts.ir.types.scalar import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STR,
    AnyClassType,
    AnyEnumType,
    AnyListType,
    AnyTupleType,
    AnyType,
    BoolType,
    CapsuleType,
    ComplexType,
    DeviceObjType,
    FloatType,
    GeneratorType,
    IntType,
    LayoutType,
    MemoryFormatType,
    NoneType,
    NumberType,
    PyObjectType,
    QSchemeType,
    QuantizerType,
    ScalarTypeType,
    StorageType,
    StreamObjType,
    StringType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    VarType,
)
from ts.ir.types.tensor import (
    TENSOR,
    TensorType,
)
from ts.ir.types.union import (
    UnionType,
    erase_shape,
    unify,
    unify_list,
    union_members,
)
from ts.ir.types.variables import (
    match_type_variables,
    substitute,
)

__all__ = [
    "ANY",
    "BOOL",
    "COMPLEX",
    "CUSTOM_CLASSES",
    "CUSTOM_CLASS_PREFIX",
    "DEVICE",
    "FLOAT",
    "GENERATOR",
    "INT",
    "NONE",
    "NUMBER",
    "OBJECT_TYPES",
    "STR",
    "TENSOR",
    "AnyClassType",
    "AnyEnumType",
    "AnyListType",
    "AnyTupleType",
    "AnyType",
    "AwaitType",
    "BoolType",
    "CapsuleType",
    "ClassType",
    "ComplexType",
    "CustomClassType",
    "DeviceObjType",
    "DictType",
    "EnumType",
    "FloatType",
    "FunctionType",
    "FutureType",
    "GeneratorType",
    "IntType",
    "InterfaceType",
    "LayoutType",
    "ListType",
    "MemoryFormatType",
    "ModuleType",
    "NoneType",
    "NumberType",
    "OptionalType",
    "Property",
    "PyObjectType",
    "QSchemeType",
    "QuantizerType",
    "RRefType",
    "ScalarTypeType",
    "StorageType",
    "StreamObjType",
    "StringType",
    "SymBoolType",
    "SymFloatType",
    "SymIntType",
    "TensorType",
    "TupleType",
    "Type",
    "UnionType",
    "VarType",
    "erase_shape",
    "match_type_variables",
    "substitute",
    "unify",
    "unify_list",
    "union_members",
    "why_not_implemented",
]
