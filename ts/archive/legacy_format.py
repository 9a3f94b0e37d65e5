"""Legacy file format (magic number, pickles, storages) of `torch.save` before PyTorch 1.6.

Newer versions write this format if `_use_new_zipfile_serialization` is False.

A file consists of five pickles, followed by the storages. The left column shows an example of the contents:

    0x1950a86a20f9469cfc6c                  magic number
    1001                                    version of the format
    {"little_endian": True, ...}            properties of the machine
    the value                               with ("storage", FloatStorage, "0", "cpu", 6, None) for storages
    ["0", ...]                              storage keys in order
    6 as eight bytes, and 24 bytes          a storage: number of elements, and elements

Files are untrusted, so numbers in them are checked against the value and the size of the file.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Iterable
from typing import IO, Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ts._core.thread import deadline
from ts.archive.storages import Storage, read_storage, storage_type
from ts.archive.unpickler import Global, Unpickler, placeholder_global
from ts.errors import ArchiveError

_MAGIC: Final = 0x1950A86A20F9469CFC6C
_VERSION: Final = 1001
_PROTOCOL: Final = 2
_SIZES: Final = {"short": 2, "int": 4, "long": 4}
BEGINNING: Final = pickle.dumps(_MAGIC, _PROTOCOL)


class LegacyArchive(NamedTuple):
    """Contents of a legacy file: the pickle of the value, and the storages by key."""

    pickle: bytes
    storages: dict[str, Storage]
    end: int  # file offset after the last storage


def write(file: IO[bytes], value: bytes, storages: Iterable[tuple[str, int, NDArray[np.uint8]]]) -> None:
    """Write a legacy file.

    `value` is the pickle of the value. `storages` has the key, element count and bytes of each storage.
    """
    storages = list(storages)
    system = {"protocol_version": _VERSION, "little_endian": True, "type_sizes": _SIZES}
    for header_value in (_MAGIC, _VERSION, system):
        pickle.dump(header_value, file, _PROTOCOL)
    file.write(value)
    pickle.dump([key for key, _, _ in storages], file, _PROTOCOL)
    for _, numel, elements in storages:
        file.write(struct.pack("<q", numel))
        file.write(elements.data)


def read(file: IO[bytes]) -> LegacyArchive:
    """Parse a legacy file, or raise ArchiveError for a damaged file or another byte order (endianness)."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    deadline.reserve(size)
    data = file.getvalue() if isinstance(file, io.BytesIO) else file.read()
    _, offset = _plain(data, 0)
    version, offset = _plain(data, offset)
    system, offset = _plain(data, offset)
    if type(version) is not int or version != _VERSION or not isinstance(system, dict):
        raise ArchiveError("the file was not written by torch.save, or by an unsupported version")
    if system.get("little_endian") is not True:
        raise ArchiveError(
            "the file was written on a big-endian machine; only little-endian files are supported"
        )
    begin = offset
    collector = _StorageCollector()
    machine = Unpickler(data, placeholder_global, collector.storage)
    machine.at = offset
    machine.load()
    keys, offset = _plain(data, machine.at)
    value = data[begin : machine.at]
    is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not is_list or sorted(keys) != sorted(collector.storages_by_key):
        raise ArchiveError("the file's list of storages does not match the storages of its value")
    storages = {}
    for key in keys:
        name, location, numel = collector.storages_by_key[key]
        kind = storage_type(name)
        assert kind is not None  # `_StorageCollector.storage` has raised for unknown names
        end = offset + 8 + numel * kind.dtype.itemsize
        if end > len(data):
            raise ArchiveError(f"storage {key!r} is truncated: the file ends before its last byte")
        if struct.unpack_from("<q", data, offset) != (numel,):
            raise ArchiveError(f"storage {key!r} does not have the {numel} elements that its tensors require")
        elements = np.frombuffer(data, np.uint8, end - offset - 8, offset + 8).copy()
        storages[key] = read_storage(elements, kind, numel, location)
        offset = end
    return LegacyArchive(value, storages, offset)


def view_of_storage(storage: Storage, view: Any) -> Storage:
    """Return the section of `storage` for a `view`: everything if it is None, else (key, offset, size)."""
    match view:
        case None:
            return storage
        case (str(), int(offset), int(size)) if 0 <= offset <= offset + size <= len(storage.elements):
            return Storage(storage.elements[offset : offset + size], storage.location)
    raise ArchiveError("a view of a storage exceeds the bounds of the storage")


class _StorageCollector:
    """Collector of the storages that the pickle of a value refers to."""

    def __init__(self) -> None:
        self.storages_by_key: dict[str, tuple[str, str, int]] = {}

    def storage(self, reference: Any) -> Any:
        """Record the storage that a persistent id denotes, and return None.

        If the id denotes a class, return this class instead.
        """
        match reference:
            case ("module", Global() as cls, _, _):
                return cls
            case ("storage", Global(name=name), str(key), str(location), int(numel), _) if numel >= 0:
                name = name.rpartition(".")[2]
            case _:
                raise ArchiveError("the file has a persistent id that is not a storage reference")
        if storage_type(name) is None:
            raise ArchiveError(f"the file refers to a storage of the unknown type {name}")
        if self.storages_by_key.setdefault(key, (name, location, numel)) != (name, location, numel):
            raise ArchiveError(f"the file has conflicting definitions of storage {key!r}")
        return None


def _reject_global(*named: Any) -> NoReturn:
    raise ArchiveError(
        "the header of the file refers to a class or function; expected only numbers and strings"
    )


def _plain(data: bytes, offset: int) -> tuple[Any, int]:
    """Read the pickle at `offset`, which has only numbers, strings and containers.

    Return its value and end offset.
    """
    machine = Unpickler(data, _reject_global, _reject_global)
    machine.at = offset
    return machine.load(), machine.at
