"""Conversion of graph types to type descriptors (`TypeSpec`) and register classes.

A register class is a letter for the kind of values in a register. For List[int], it is "o" (object):

    type_spec(ListType(INT))          TypeSpec(List[int])
    register_class(ListType(INT))     "o"
"""

from __future__ import annotations

from typing import Any

from ts._core.value.build_lock import build_lock
from ts._core.value.objects import ObjectClass
from ts._core.value.spec import KINDS, TypeSpec
from ts.devices import Stream
from ts.ir.graph import Graph
from ts.ir.types import (
    NONE,
    ClassType,
    CustomClassType,
    DictType,
    EnumType,
    FutureType,
    InterfaceType,
    ListType,
    OptionalType,
    RRefType,
    TupleType,
    Type,
)
from ts.ops.profiling import RECORD_FUNCTION_TYPE, RecordFunction
from ts.ops.rpc_ops import WORKER_INFO, RRefValue, WorkerInfo

_CLASS_OF_KIND: dict[str, str] = {
    "IntType": "i",
    "ScalarTypeType": "i",
    "LayoutType": "i",
    "MemoryFormatType": "i",
    "SymIntType": "i",
    "FloatType": "f",
    "SymFloatType": "f",
    "BoolType": "b",
    "SymBoolType": "b",
    "NoneType": "x",
    "AnyType": "x",
    "NumberType": "x",
    "OptionalType": "x",
    "UnionType": "x",
}
SCALARS = "ifb"  # register classes of numbers
_OBJECT_KIND_CODE = 17  # KIND_OBJECT of `ts._core.value.spec`: objects that are passed without conversion
_specs: dict[Type, TypeSpec] = {}


def register_class(type: Type) -> str:
    """Return the register class of values of a type: i f b o x (see `opcodes`)."""
    return _CLASS_OF_KIND.get(type.kind(), "o")


def argument_spec(type: Type) -> TypeSpec:
    """Return the type descriptor of a parameter.

    If the parameter has no annotation, the text of the descriptor is "Tensor (inferred)".
    """
    if type.repr_str == type.annotation_str:
        return type_spec(type)
    plain = type_spec(type)
    return TypeSpec(plain.kind, plain.children, type.repr_str, plain.detail)


def type_spec(type: Type) -> TypeSpec:
    """Return the type descriptor of a type. Equal types that contain no class share one descriptor."""
    spec = _specs.get(type) or getattr(type, "spec", None)
    if spec is None:
        spec = _make_spec(type)
        if not type.mentions_class():
            return _specs.setdefault(type, spec)
        type.spec = spec
    return spec


def sized_spec(type: Type, size: int) -> TypeSpec:
    """Return the descriptor of a list parameter with a size, such as `int[2]`.

    Such a parameter also accepts a single element for all items: 3 for [3, 3].
    """
    if isinstance(type, OptionalType):
        return TypeSpec(KINDS["OptionalType"], (sized_spec(type.elem, size),), type.annotation_str)
    assert isinstance(type, ListType)
    return TypeSpec(KINDS["ListType"], (type_spec(type.elem),), type.annotation_str, size)


def result_spec(graph: Graph) -> TypeSpec:
    """Return the descriptor of a graph's result: the output, a tuple of the outputs, or None."""
    types = [value.type() for value in graph.outputs()]
    return type_spec(types[0] if len(types) == 1 else TupleType(types) if types else NONE)


def _make_spec(type: Type) -> TypeSpec:
    if isinstance(type, ClassType):
        return object_class(type).spec
    if isinstance(type, CustomClassType):
        return TypeSpec(_OBJECT_KIND_CODE, (), type.qualified_name(), _python_class(type))
    if isinstance(type, RRefType):
        return TypeSpec(_OBJECT_KIND_CODE, (), type.annotation_str, RRefValue)
    children: tuple[Type, ...] = ()
    detail: Any = None
    if isinstance(type, ListType | OptionalType | FutureType):
        children = (type.elem,)
    elif isinstance(type, DictType):
        children = (type.key, type.value)
    elif isinstance(type, TupleType):
        children = type.elems
        if type.name is not None and type.fields is not None:
            detail = type.python_class or (type.name, tuple(type.fields))
    elif isinstance(type, InterfaceType):
        detail = type
    elif isinstance(type, EnumType):
        detail = type.python_class
    elif type.kind() == "GeneratorType":
        from ts.ops.generator import Generator

        detail = Generator
    elif type.kind() == "StreamObjType":
        detail = Stream
    elif type.kind() == "UnionType":
        children = tuple(type.contained_types())
    kind = KINDS.get(type.kind(), _OBJECT_KIND_CODE)
    return TypeSpec(kind, tuple(type_spec(child) for child in children), type.annotation_str, detail)


def _python_class(type: CustomClassType) -> Any:
    if type == WORKER_INFO:
        return WorkerInfo
    if type == RECORD_FUNCTION_TYPE:
        return RecordFunction
    from ts.ops.packed_params import CLASSES

    return CLASSES[type.qualified_name()]


def object_class(type: ClassType) -> ObjectClass:
    """Return the runtime class of `type`.

    The runtime class reads the attributes of `type` when it is first used.
    """
    existing: ObjectClass | None = type.object_class
    if existing is not None:
        return existing

    def describe() -> tuple[tuple[str, ...], tuple[TypeSpec, ...]]:
        return tuple(type.attributes), tuple(type_spec(t) for t in type.attributes.values())

    with build_lock():
        if type.object_class is None:
            new_class = ObjectClass(type.qualified_name(), describe, type)
            new_class.spec = TypeSpec(KINDS["ClassType"], (), type.annotation_str, new_class)
            type.object_class = new_class
        return type.object_class  # type: ignore[no-any-return]
