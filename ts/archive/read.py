"""Reads archives: the zip files that `torch.jit.save` and `ts.jit.save` write.

In: a path or an open file.  Out: the object of the module in it:

    handle = read("model.pt", map_location="cpu", extra_files={"labels.txt": ""})

    model/data.pkl                  the module and what it holds: objects, containers, tensors
    model/data/0                    the storage of tensors
    model/code/__torch__/net.py     the classes and functions, as source
    model/constants.pkl             the constants without a literal that the source calls CONSTANTS.c0, ...
    model/version                   of the operators' meaning

Nothing of an archive runs while it is loaded, except a module's own `__setstate__`.
"""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import IO, Any, Final

from ts._core.value.ivalue import new_object, object_set, to_core
from ts._core.value.objects import Object
from ts.archive.places import read_places
from ts.archive.records import Location, Records, StoredTensors, device_named
from ts.archive.storages import storage_type
from ts.archive.unpickler import Global, Unpickler
from ts.bytecode.typespec import object_class, type_spec
from ts.errors import ArchiveError
from ts.frontend.imported import Unit
from ts.ir.source import Source
from ts.ir.types import ClassType, DictType, EnumType, ListType, NoneType, OptionalType, TupleType, Type
from ts.passes.unwrap_numbers import as_number

_NEWEST_VERSION: Final = 10


def read(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    extra_files: dict[str, Any] | None = None,
) -> Object:
    """The object of the module that an archive holds.

    `map_location` says on which device tensors are placed: a device, a dictionary from the devices of the
    archive to others, or a function of a storage's elements and its device that gives a tensor or None.  The
    keys of `extra_files` name additional records, whose contents are filled in.
    """
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
        with open(f, "rb") as file:
            return _read(file, map_location, extra_files)
    return _read(io.BytesIO(f.read()), map_location, extra_files)


def _read(file: IO[bytes], map_location: Location, extra_files: dict[str, Any] | None) -> Object:
    with Records(file) as records:
        if extra_files is not None:
            for name in extra_files:
                found = records.has(f"extra/{name}")
                extra_files[name] = records.bytes(f"extra/{name}") if found else b""
        made = Reader(records, map_location).value("data")
    if not isinstance(made, Object):
        raise ArchiveError("the archive holds no scripted module")
    return made


class Reader(StoredTensors):
    """Reads the pickles of one archive."""

    def __init__(self, records: Records, map_location: Location) -> None:
        super().__init__(records, map_location)
        version = records.version
        if version > _NEWEST_VERSION:
            raise ArchiveError(
                f"Attempted to read a PyTorch file with version {version}, but the maximum supported version "
                f"for reading is {_NEWEST_VERSION}. Your ts installation may be too old."
            )
        self.converted: dict[tuple[int, Type], tuple[Any, Any]] = {}
        self.sources = {
            name: self.source(name)
            for name in records.entries
            if name.startswith("code/") and name.endswith(".py")
        }
        constants: list[object] = []
        self.unit = Unit(self.sources.get, constants, version)
        values = self.value("constants")
        if not isinstance(values, tuple):
            raise ArchiveError("constants.pkl holds no tuple")
        constants.extend(map(as_number, values))

    def source(self, name: str) -> Source:
        """A source file; with a debug record it knows which program it was made from."""
        source = Source(self.records.text(name), name)
        if self.records.has(f"{name}.debug_pkl"):
            source.origins = read_places(self.records.bytes(f"{name}.debug_pkl"))
        return source

    def value(self, archive: str) -> Any:
        """What the pickle of that name holds."""
        data = self.records.bytes(f"{archive}.pkl")
        return Unpickler(data, self.name, partial(self.storage, archive)).load()

    # ---- names ---------------------------------------------------------------------------------------

    def name(self, module: str, name: str) -> Global:
        """What a pickle may name."""
        full = f"{module}.{name}"
        if module == "__torch__" or module.startswith("__torch__."):
            return self.definition(full)
        calls: dict[str, Callable[..., Any]] = {
            "torch._utils._rebuild_tensor_v2": self.tensor,
            "torch.jit._pickle.restore_type_tag": _first,
            "torch.jit._pickle.build_intlist": _first,
            "torch.jit._pickle.build_doublelist": _first,
            "torch.jit._pickle.build_boollist": _first,
            "torch.jit._pickle.build_tensorlist": _first,
            "collections.OrderedDict": OrderedDict,
            "builtins.complex": complex,
            "__builtin__.complex": complex,
            "torch.device": device_named,
        }
        call = calls.get(full)
        if call is not None:
            return Global(full, call)
        if module == "torch" and storage_type(name) is not None:
            return Global(name)
        raise ArchiveError(f"the archive names {full}, which is not among what may be in an archive")

    def definition(self, name: str) -> Global:
        found = self.unit.find(name)
        if isinstance(found, EnumType):
            return Global(name, found.python_class)
        if isinstance(found, ClassType):
            new = partial(new_object, object_class(found))
            return Global(name, new=new, build=self.set_state)
        raise ArchiveError(f"Unknown type name '{name}': the archive's code does not define it")

    # ---- objects -------------------------------------------------------------------------------------

    def set_state(self, made: Object, state: Any) -> None:
        """Give an object its attributes, or leave that to its `__setstate__`."""
        type: ClassType = made.cls.type
        restore = type.methods.get("__setstate__")
        try:
            if restore is not None:
                wanted = restore.schema.arguments[1].type
                restore(made, self.typed(state, wanted))
                return
            for slot, (name, attribute) in enumerate(type.attributes.items()):
                if not isinstance(state, dict) or name not in state:
                    if isinstance(attribute, OptionalType | NoneType):
                        continue
                    raise ArchiveError(f"an object of {type} has no attribute '{name}'")
                object_set(made, slot, self.typed(state[name], attribute))
        except TypeError as error:
            raise ArchiveError(f"an object of {type} does not fit its class: {error}") from error

    def typed(self, value: Any, type: Type) -> Any:
        """A container as the core holds it: one that several objects share stays one."""
        if isinstance(type, OptionalType):
            return None if value is None else self.typed(value, type.elem)
        if not isinstance(type, ListType | DictType | TupleType):
            return value
        known = self.converted.get((id(value), type))
        if known is not None:
            return known[1]
        made: Any = value
        if isinstance(type, ListType) and isinstance(value, list):
            made = [self.typed(v, type.elem) for v in value]
        elif isinstance(type, DictType) and isinstance(value, dict):
            made = {k: self.typed(v, type.value) for k, v in value.items()}
        elif isinstance(type, TupleType) and isinstance(value, tuple) and len(value) == len(type.elems):
            made = tuple(map(self.typed, value, type.elems))
        made = to_core(made, type_spec(type))
        self.converted[id(value), type] = value, made
        return made


def _first(value: Any, *rest: Any) -> Any:
    """Containers come with their types, which their place has as well."""
    return value
