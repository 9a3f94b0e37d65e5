"""Reads archives: the zip files that `torch.jit.save` and `ts.jit.save` write.

In: a path or an open file.  Out: the scripted module:

    module = load("model.pt", map_location="cpu", _extra_files={"labels.txt": ""})

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
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, Final

from ts._core.ivalue import new_object, object_set, to_core
from ts._core.objects import Object
from ts._core.tensor import Tensor
from ts.bytecode.typespec import object_class, type_spec
from ts.devices import device
from ts.errors import ArchiveError
from ts.frontend.imported import Unit
from ts.ir.source import Source
from ts.ir.types import ClassType, DictType, EnumType, ListType, NoneType, OptionalType, TupleType, Type
from ts.passes.unwrap_numbers import as_number
from ts.runtime.places import read_places
from ts.runtime.storages import Storage, StorageType, read_storage, storage_type, view
from ts.runtime.unpickle import Global, Unpickler

Location = str | device | Mapping[str, str] | Callable[[Any, str], Any] | None

_NEWEST_VERSION: Final = 10
_MOST_TEXT: Final = 1 << 30  # bytes of one source file or pickle: what is larger was not written by a program
_ZIP_ERRORS: Final = (zipfile.BadZipFile, zlib.error, struct.error)
_DAMAGED: Final = (
    "PytorchStreamReader failed reading zip archive: {}. The file is corrupted, or it is no archive of a "
    "scripted module"
)


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
) -> Any:
    """The scripted module that an archive holds.

    `map_location` says on which device tensors are placed: a device, a dictionary from the devices of the
    archive to others, or a function of a storage's elements and its device that gives a tensor or None.  The
    keys of `_extra_files` name additional records, whose contents are filled in.
    """
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
        with open(f, "rb") as file:
            return _load(file, map_location, _extra_files)
    return _load(io.BytesIO(f.read()), map_location, _extra_files)


def _load(file: IO[bytes], map_location: Location, extra_files: dict[str, Any] | None) -> Any:
    from ts.runtime.module import module_of

    with Records(file) as records:
        if extra_files is not None:
            for name in extra_files:
                found = records.has(f"extra/{name}")
                extra_files[name] = bytes(records.read(f"extra/{name}")) if found else b""
        made = Reader(records, map_location).value("data")
    if not isinstance(made, Object):
        raise ArchiveError("the archive holds no scripted module")
    return module_of(made)


@contextmanager
def _damage_is_told() -> Iterator[None]:
    """Whatever `zipfile` says of a damaged file is one error."""
    try:
        yield
    except ArchiveError:
        raise
    except (*_ZIP_ERRORS, EOFError, OSError, ValueError, OverflowError, RuntimeError) as error:
        raise ArchiveError(_DAMAGED.format(error)) from error


class Records:
    """The records of an archive by their names, without the folder that all of them are in."""

    def __init__(self, file: IO[bytes]) -> None:
        with _damage_is_told():
            self.zip = zipfile.ZipFile(file)
            entries = self.zip.infolist()
        self.root = entries[0].filename.partition("/")[0] if entries else ""
        prefix = f"{self.root}/"
        self.entries = {
            entry.filename.removeprefix(prefix): entry
            for entry in entries
            if entry.filename.startswith(prefix)
        }
        if not self.has("data.pkl"):
            raise ArchiveError("PytorchStreamReader failed locating file data.pkl: file not found")
        if not self.has("constants.pkl"):
            raise ArchiveError(
                "PytorchStreamReader failed locating file constants.pkl: file not found. This is no archive "
                "of a scripted module: it may be what torch.save wrote"
            )

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *exception: object) -> None:
        self.zip.close()

    def has(self, name: str) -> bool:
        return name in self.entries

    def read(self, name: str, size: int | None = None) -> bytearray:
        """The contents of a record; of `size` bytes, where that is known."""
        entry = self.entries.get(name)
        if entry is None:
            raise ArchiveError(f"PytorchStreamReader failed locating file {name}: file not found")
        if size is not None and entry.file_size != size:
            raise ArchiveError(f"the record {name} has {entry.file_size} bytes instead of {size}")
        if entry.compress_type != zipfile.ZIP_STORED and entry.file_size > _MOST_TEXT:
            raise ArchiveError(f"the record {name} would have {entry.file_size} bytes")
        if entry.compress_type == zipfile.ZIP_STORED and entry.file_size != entry.compress_size:
            raise ArchiveError(f"the record {name} has two sizes")
        data = bytearray(entry.file_size)
        with _damage_is_told(), self.zip.open(entry) as stream:
            record: Any = stream
            rest = memoryview(data)
            while rest:
                read = record.readinto(rest)
                if not read:
                    raise ArchiveError(f"the record {name} ends too early")
                rest = rest[read:]
            if record.read(1):
                raise ArchiveError(f"the record {name} has two sizes")
        return data

    def text(self, name: str) -> str:
        """The contents of a record that is text."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ArchiveError(f"the record {name} is no text: {error}") from None

    @property
    def version(self) -> int:
        """The version of the format, which is that of the operators' meaning."""
        name = "version" if self.has("version") else ".data/version"
        text = self.text(name).strip()
        if not text.isdecimal() or len(text) > 9:
            raise ArchiveError(f"the archive has the version {text[:20]!r}")
        return int(text)


class Reader:
    """Reads the pickles of one archive."""

    def __init__(self, records: Records, map_location: Location) -> None:
        self.records = records
        self.map_location = map_location
        version = records.version
        if version > _NEWEST_VERSION:
            raise ArchiveError(
                f"Attempted to read a PyTorch file with version {version}, but the maximum supported version "
                f"for reading is {_NEWEST_VERSION}. Your ts installation may be too old."
            )
        if records.has("byteorder") and records.text("byteorder").strip() != "little":
            raise ArchiveError("archives of machines with another byte order cannot be read")
        self.storages: dict[tuple[str, str], Storage] = {}
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
            source.origins = read_places(bytes(self.records.read(f"{name}.debug_pkl")))
        return source

    def value(self, archive: str) -> Any:
        """What the pickle of that name holds."""
        data = bytes(self.records.read(f"{archive}.pkl"))
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
            "torch.device": _device,
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

    # ---- tensors -------------------------------------------------------------------------------------

    def storage(self, archive: str, reference: Any) -> Storage:
        """The storage that a persistent id of a pickle means."""
        match reference:
            case ("storage", Global(name=name), str(key), str(location), int(numel)):
                pass
            case _:
                raise ArchiveError("the archive refers to what is no storage")
        type: StorageType | None = storage_type(name)
        if type is None or numel < 0 or "/" in key:
            raise ArchiveError(f"the archive refers to a storage {name} of {numel} elements")
        found = self.storages.get((archive, key))
        if found is None or found.elements.dtype != type.dtype.numpy_dtype:
            data = self.records.read(f"{archive}/{key}", numel * type.dtype.itemsize)
            found = read_storage(data, type.dtype, numel, location)
            self.storages[archive, key] = found
        return found

    def tensor(
        self, storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, *rest: Any
    ) -> Tensor:
        """The tensor at a place of a storage."""
        if not isinstance(storage, Storage):
            raise ArchiveError("a tensor has no storage")
        from ts._core.construct import from_numpy

        elements = from_numpy(view(storage, offset, size, stride))
        made = self.located(elements, storage.location)
        if requires_grad and (made.dtype.is_floating_point or made.dtype.is_complex):
            made.requires_grad = True
        return made

    def located(self, elements: Tensor, location: str) -> Tensor:
        """The tensor on the device where it belongs."""
        wanted = self.map_location
        if callable(wanted):
            moved = wanted(elements, location)
            return elements if moved is None else moved
        if isinstance(wanted, Mapping):
            wanted = wanted.get(location, location)
        target = _device(location if wanted is None else wanted)
        return elements if target.type == "cpu" else elements.to(target)


def _device(name: Any) -> device:
    try:
        return device(name)
    except RuntimeError as error:
        raise ArchiveError(str(error)) from None


def _first(value: Any, *rest: Any) -> Any:
    """Containers come with their types, which their place has as well."""
    return value
