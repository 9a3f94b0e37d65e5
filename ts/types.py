"""Types and schemas of TorchScript as objects.

Graphs, schemas and passes use these type objects:

    >>> from ts.types import DictType, IntType, ListType, StringType, parse_schema
    >>> DictType(StringType.get(), ListType(IntType.get())).annotation_str
    'Dict[str, List[int]]'
    >>> parse_schema("f(Tensor x, int[2] n=1) -> Tensor").arguments[1].type
    List[int]

The classes are those of `ts.ir`, under the names that `import ts as torch` requires.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO

from ts import dtypes
from ts._core.tensor.size import Size
from ts._core.tensor.storage import TypedStorage as Storage
from ts._core.tensor.tensor import Tensor
from ts.devices import device
from ts.ir.schema import AliasInfo, Argument, FunctionSchema, parse_schema
from ts.ir.type_parser import parse_type
from ts.ir.types import (
    AnyClassType,
    AnyEnumType,
    AnyListType,
    AnyTupleType,
    AnyType,
    AwaitType,
    BoolType,
    ClassType,
    ComplexType,
    DeviceObjType,
    DictType,
    EnumType,
    FloatType,
    FunctionType,
    FutureType,
    GeneratorType,
    InterfaceType,
    IntType,
    LayoutType,
    ListType,
    MemoryFormatType,
    ModuleType,
    NoneType,
    NumberType,
    OptionalType,
    PyObjectType,
    RRefType,
    ScalarTypeType,
    StorageType,
    StreamObjType,
    StringType,
    TensorType,
    TupleType,
    Type,
    UnionType,
    VarType,
    unify,
    unify_list,
)

Number = int | float | bool
Device = device | str | int | None
FileLike = str | os.PathLike[str] | IO[bytes]
_device, _dtype, _layout = device, dtypes.dtype, dtypes.layout
_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_str, _bytes = builtins.str, builtins.bytes
_size = Size | list[int] | tuple[int, ...]
_Number = (int, float, bool)
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool  # PyTorch adds symbolic types

__all__ = [
    "AliasInfo",
    "AnyClassType",
    "AnyEnumType",
    "AnyListType",
    "AnyTupleType",
    "AnyType",
    "Argument",
    "AwaitType",
    "BoolType",
    "ClassType",
    "ComplexType",
    "Device",
    "DeviceObjType",
    "DictType",
    "EnumType",
    "FileLike",
    "FloatType",
    "FunctionSchema",
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
    "Number",
    "NumberType",
    "OptionalType",
    "PyObjectType",
    "RRefType",
    "ScalarTypeType",
    "Storage",
    "StorageType",
    "StreamObjType",
    "StringType",
    "TensorType",
    "TupleType",
    "Type",
    "UnionType",
    "VarType",
    "parse_schema",
    "parse_type",
    "unify",
    "unify_list",
]
