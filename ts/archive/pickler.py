"""Pickler (pickle protocol 2, memo) of script values in the layout of PyTorch's archives.

Input: a value and its type. Output: a pickle. Example:

    Pickler(names.format_type, names.name, storages.storage_ref).dump(module, module_type)

An object is written as its class name and a dictionary of attributes. A list or dictionary is written
together with its type as text. A tensor is written as a reference to a storage. A value that is referenced
several times is written once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts._core.value.dicts import Dict
from ts._core.value.ivalue import from_core, object_get, to_core
from ts._core.value.lists import List, Tuple
from ts._core.value.objects import Object
from ts.archive import quantized
from ts.archive.storages import TensorStorageRef, name_in_modules
from ts.bytecode.typespec import type_spec
from ts.devices import device
from ts.errors import ArchiveError
from ts.frontend.enums import enum_type
from ts.ir.attributes import type_of_constant
from ts.ir.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    TENSOR,
    ClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from ts.ops.packed_params import Packed
from ts.ops.quantizer import QuantizationParams, grid_of

_PICKLE: Final = "torch.jit._pickle"
_BUILDERS: Final[dict[Type, str]] = {
    INT: "build_intlist",
    FLOAT: "build_doublelist",
    BOOL: "build_boollist",
    TENSOR: "build_tensorlist",
}


def check_state_methods(type: ClassType) -> None:
    """Raise ArchiveError if a class's `__setstate__` does not accept the result of its `__getstate__`."""
    returned = type.methods["__getstate__"].schema.returns[0].type
    expected = type.methods["__setstate__"].schema.arguments[-1].type
    if not returned.is_subtype_of(expected):
        raise ArchiveError(
            f"'__getstate__'s return type ({returned.annotation_str}) does not match "
            f"'__setstate__'s argument type ({expected.annotation_str})"
        )


class Pickler:
    """Writer of a pickle of script values."""

    def __init__(
        self,
        format_type: Callable[[Type], str],
        name: Callable[[Type], str],
        storage_ref: Callable[[Tensor], TensorStorageRef],
    ) -> None:
        """Create an empty pickle.

        format_type   function from a type to its annotation
        name          function from a class to its qualified name in the archive
        storage_ref   function from a tensor to the reference to its storage
        """
        self.format_type = format_type
        self.name = name
        self.storage_ref = storage_ref
        self.chunks: list[bytes] = [b"\x80\x02"]
        # Key of a written value -> its memo index. The key is a string, a global name, or the id of a
        # container or object.
        self.memo: dict[object, int] = {}
        self.references: list[object] = []

    def dump(self, value: Any, type: Type) -> bytes:
        """Return the pickle of a value."""
        self.push(value, type)
        self.write(b".")
        return b"".join(self.chunks)

    def write(self, chunk: bytes) -> None:
        """Append opcodes or data to the pickle."""
        self.chunks.append(chunk)

    def memoize(self, key: object) -> None:
        """Memoize the value on top of the stack under `key`, so that `write_memoized` can refer to it."""
        index = self.memo[key] = len(self.memo)
        self.write(b"q" + bytes([index]) if index < 256 else b"r" + struct.pack("<I", index))

    def write_memoized(self, key: object) -> bool:
        """Write a reference to the value that was memoized under `key`.

        Return False if no value was memoized.
        """
        index = self.memo.get(key)
        if index is None:
            return False
        self.write(b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index))
        return True

    def write_string(self, value: str) -> None:
        """Write a string as UTF-8. If an equal string was written before, write a reference to it instead."""
        if not self.write_memoized(value):
            data = value.encode("utf-8", "surrogatepass")
            self.write(b"X" + struct.pack("<I", len(data)) + data)
            self.memoize(value)

    def write_int(self, value: int) -> None:
        """Write an int that fits in 64 bits, in the shortest form of protocol 2."""
        if 0 <= value < 1 << 8:
            self.write(b"K" + bytes([value]))
        elif 0 <= value < 1 << 16:
            self.write(b"M" + struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self.write(b"J" + struct.pack("<i", value))
        else:
            self.write(b"\x8a\x08" + struct.pack("<q", value))

    def write_float(self, value: float) -> None:
        """Write a float as 8 big-endian bytes."""
        self.write(b"G" + struct.pack(">d", value))

    def write_global(self, module: str, name: str) -> None:
        """Write a reference to the class or function `name` of a module."""
        key = ("global", module, name)
        if not self.write_memoized(key):
            self.write(f"c{module}\n{name}\n".encode())
            self.memoize(key)

    def write_ints(self, values: Iterable[int]) -> None:
        """Write a tuple of ints, such as sizes or strides."""
        self.write(b"(")
        for value in values:
            self.write_int(value)
        self.write(b"t")

    def push(self, value: Any, type: Type) -> None:
        """Write a value of type `type`."""
        match value:
            case None:
                self.write(b"N")
            case bool():
                self.write(b"\x88" if value else b"\x89")
            case Enum():
                self.write_global(*self.split(enum_type(value.__class__)))
                self.push(value.value, ANY)
                self.write(b"R")
            case int():
                self.write_int(value)
            case float():
                self.write_float(value)
            case str():
                self.write_string(value)
            case complex():
                self.write_global("builtins", "complex")
                self.write_float(value.real)
                self.write_float(value.imag)
                self.write(b"\x86R")
            case Tensor():
                self.tensor(value)
            case device():
                self.write_global("torch", "device")
                self.write_string(str(value))
                self.write(b"\x85R")
            case Packed():
                self.packed(value)
            case List() | Dict() | Tuple() | Object() | list() | dict() | tuple():
                self.container(value, _own_type(value, type))
            case _:
                type_name = value.__class__.__name__
                raise ArchiveError(f"Unknown IValue type for pickling: {type_name}. It cannot be saved")

    def container(self, value: Any, type: Type) -> None:
        """Write a list, dict, tuple or object.

        If the same value was written before, write a reference instead.
        """
        if self.write_memoized(id(value)):
            return
        self.references.append(value)  # keeps `value` alive, so that no other object gets its id
        if isinstance(value, Object):
            self.object(value)
            return
        if isinstance(value, List | list) and isinstance(type, ListType):
            self.list(value, type)
        elif isinstance(value, Dict | dict) and isinstance(type, DictType):
            self.dict(value, type)
        elif isinstance(value, Tuple | tuple) and isinstance(type, TupleType):
            self.sequence(value, type.elems)
        elif isinstance(value, tuple) and type is ANY:
            self.sequence(value, [ANY] * len(value))
        else:
            raise ArchiveError(f"a {value.__class__.__name__} of type {type.annotation_str} cannot be saved")
        self.memoize(id(value))

    def list(self, value: Any, type: ListType) -> None:
        """Write a list, together with a call of a PyTorch function that restores the list's element type."""
        builder = _BUILDERS.get(type.elem)
        if builder is not None:
            self.write_global(_PICKLE, builder)
            self.write(b"(")
        else:
            self.write_global(_PICKLE, "restore_type_tag")
        self.write(b"](")
        for element in value:
            self.push(element, type.elem)
        self.write(b"e")
        if builder is not None:
            self.write(b"tR")
        else:
            self.write_string(self.format_type(type))
            self.write(b"\x86R")

    def dict(self, value: Any, type: DictType) -> None:
        """Write a dict as a call of `restore_type_tag`, with the type as a string."""
        self.write_global(_PICKLE, "restore_type_tag")
        self.write(b"}(")
        for key, item in value.items():
            self.push(key, type.key)
            self.push(item, type.value)
        self.write(b"u")
        self.write_string(self.format_type(type))
        self.write(b"\x86R")

    def sequence(self, value: Any, types: Sequence[Type]) -> None:
        """Write a tuple. `types` contains the types of its elements."""
        few = {0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}
        if len(value) > 3:
            self.write(b"(")
        for element, its_type in zip(value, types, strict=True):
            self.push(element, its_type)
        self.write(few.get(len(value), b"t"))

    def object(self, value: Object) -> None:
        """Write an object: the class name, then the state.

        The state is the result of the method `__getstate__`, or a dict of all attributes if there is no such
        method.
        """
        type: ClassType = value.cls.type
        self.write_global(*self.split(type))
        self.write(b")\x81")
        self.memoize(id(value))
        save = type.methods.get("__getstate__")  # `methods` has no Python methods
        if save is not None and "__setstate__" in type.methods:
            state_type = save.schema.returns[0].type
            check_state_methods(type)
            self.push(to_core(save(value), type_spec(state_type)), state_type)
        else:
            self.write(b"}(")
            for slot, (name, attribute) in enumerate(type.attributes.items()):
                self.write_string(name)
                self.push(object_get(value, slot, False), attribute)
            self.write(b"u")
        self.write(b"b")

    def packed(self, value: Packed) -> None:
        """Write packed parameters of a quantized layer: the class name, then the state."""
        if self.write_memoized(id(value)):
            return
        self.references.append(value)
        self.write_global(*self.split(value.__ts_type__))
        self.write(b")\x81")
        self.memoize(id(value))
        self.push(value.state(), value.state_type)
        self.write(b"b")

    def split(self, type: Type) -> tuple[str, str]:
        """Split the qualified name of a class into the module and the name."""
        module, _, name = self.name(type).rpartition(".")
        return module, name

    def tensor(self, value: Tensor) -> None:
        """Write the call that rebuilds a tensor from a storage reference, sizes and strides."""
        if self.write_memoized(id(value)):
            return
        self.references.append(value)
        grid = grid_of(value)
        if grid is None:
            storage_ref = self.storage_ref(value)
            if storage_ref.storage == "UntypedStorage":
                numel = storage_ref.numel // value.dtype.itemsize
                storage_ref = storage_ref._replace(storage=name_in_modules(value.dtype), numel=numel)
            self.write_global("torch._utils", "_rebuild_tensor_v2")
        else:
            storage_ref = quantized.make_storage_ref(value, self.storage_ref, self.references)
            self.write_global("torch._utils", "_rebuild_qtensor")
        self.write(b"(")
        key = ("storage", storage_ref.key, storage_ref.storage)
        if not self.write_memoized(key):
            self.write(b"(")
            self.write_string("storage")
            self.write_global("torch", storage_ref.storage)
            self.write_string(storage_ref.key)
            self.write_string(storage_ref.location)
            self.write_int(storage_ref.numel)
            self.write(b"tQ")
            self.memoize(key)
        self.write_int(storage_ref.offset)
        self.write_ints(storage_ref.size)
        self.write_ints(storage_ref.stride)
        if grid is not None:
            self.grid(grid)
        self.write(b"\x88" if value.requires_grad else b"\x89")
        self.write_global("collections", "OrderedDict")
        self.write(b")RtR")
        self.memoize(id(value))

    def grid(self, grid: QuantizationParams) -> None:
        """Write the quantization parameters of a tensor: scheme, scale and zero point."""
        self.write(b"(")
        self.write_global("torch", quantized.scheme(grid))
        if grid.axis < 0:
            self.write_float(grid.scale)
            self.write_int(grid.zero_point)
        else:
            self.tensor(grid.scale)
            self.tensor(grid.zero_point)
            self.write_int(grid.axis)
        self.write(b"t")


def _own_type(value: Any, type: Type) -> Type:
    """Return the type under which `value` is written. `type` is its declared type.

    For an Optional or union, this is the member type to which `value` belongs.
    """
    if isinstance(type, OptionalType):
        return _own_type(value, type.elem)
    if isinstance(value, Object) or isinstance(type, ListType | DictType | TupleType):
        return type
    python_value = from_core(value) if isinstance(value, List | Dict | Tuple) else value
    if isinstance(python_value, tuple) and type is ANY and python_value is value:
        return ANY  # `push` finds the type of each element
    constant_type = type_of_constant(python_value) or type
    if isinstance(type, UnionType):
        same_kind = [option for option in type.contained_types() if option.kind() == constant_type.kind()]
        return constant_type if constant_type in same_kind or not same_kind else same_kind[0]
    return constant_type
