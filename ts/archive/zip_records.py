"""Reader of PyTorch's ZIP archives with zip bomb checks, CRC checks and memory-mapped files (mmap).

Input: a file. Output: the bytes of records by name, and storages on their target devices. Example:

    with ZipRecords(file) as records:
        records.read("data.pkl")
        TensorLoader(records, "cpu").storage("data", ("storage", Global("FloatStorage"), "0", "cpu", 12))

Sizes are checked before memory is allocated. With `mapped`, large uncompressed records are mapped
copy-on-write instead of being read, and their CRC is not checked. A mapped file must not be truncated or
overwritten. It may be replaced by another file.
"""

from __future__ import annotations

import bisect
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from ts._core.private_mapping import PrivateMapping
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.thread import deadline
from ts.archive.storages import Storage, StorageType, read_storage, storage_type, view
from ts.archive.unpickler import Global
from ts.devices import device
from ts.errors import ArchiveError, MissingCudaError

Location = str | device | Mapping[str, str] | Callable[[Any, str], Any] | None

_CHUNK_BYTES: Final = 1 << 20  # number of bytes that are read before the time limit is checked again
# Records with fewer bytes are read, because mapping them into memory would take longer than reading them.
_MIN_MAPPED_BYTES: Final = 1 << 16
# Required alignment of mapped records in bytes. Kernels need aligned tensors.
_ALIGNMENT: Final = 64
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # signature, lengths of the name and the extra field
_LOCAL_SIGNATURE: Final = b"PK\3\4"
_USUAL_FLAGS: Final = 0x808  # flags of records that PyTorch writes: sizes after the data, UTF-8 names
_MAX_SOURCE_BYTES: Final = 1 << 30  # maximum size of a source file or pickle
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, RuntimeError,
)  # fmt: skip
_DAMAGED: Final = (
    "PytorchStreamReader failed reading zip archive: {}. The file is corrupted or is not an archive "
    "of a scripted module"
)


class _ZipErrorConversion:
    """Context manager that converts errors that `zipfile` raises for damaged files to ArchiveError."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, _ZIP_ERRORS) and not isinstance(error, ArchiveError):
            raise ArchiveError(_DAMAGED.format(error)) from error


_convert_zip_errors: Final = _ZipErrorConversion()


def open_archive(f: str | os.PathLike[str] | IO[bytes]) -> IO[bytes]:
    """Open the path `f` for reading, or return the rest of the open file `f` as BytesIO.

    Both results are seekable.
    """
    if not isinstance(f, str | os.PathLike):
        return io.BytesIO(f.read())
    if not os.path.exists(f):
        raise ValueError(f"The provided filename {f} does not exist")
    if os.path.isdir(f):
        raise ValueError(f"The provided filename {f} is a directory")
    return open(f, "rb")


class ZipRecords:
    """Records of an archive by name, without the name of the common top-level folder.

    `scripted` is True if the archive must contain a scripted module, False if it must contain a value of
    `torch.save`, and None if both are accepted.
    """

    def __init__(self, file: IO[bytes], scripted: bool | None = True, mapped: bool = False) -> None:
        self.file = file
        self.map: PrivateMapping | None = None
        self.mapped_ranges: list[tuple[int, int]] = []  # (start, end) of the mapped records, sorted
        with _convert_zip_errors:
            if mapped:
                self.map = PrivateMapping(file)
            self.zip = zipfile.ZipFile(file)
            entries = self.zip.infolist()
            self.size = file.seek(0, os.SEEK_END)
        # True if records share bytes of the file (zip bomb), which new versions of `zipfile` reject
        self.overlapping = sum(entry.compress_size for entry in entries) > self.size
        self.root = entries[0].filename.partition("/")[0] if entries else ""
        prefix = f"{self.root}/"
        self.entries = {
            entry.filename.removeprefix(prefix): entry
            for entry in entries
            if entry.filename.startswith(prefix)
        }
        if scripted is not None and not self.has("data.pkl"):
            message = "PytorchStreamReader failed locating file data.pkl: file not found"
            if self.has("models/model.json"):
                message += ". This is an exported program (.pt2); read it with ts.export.load"
            raise ArchiveError(message)
        if scripted and not self.has("constants.pkl"):
            raise ArchiveError(
                "PytorchStreamReader failed locating file constants.pkl: file not found. This is not an "
                "archive of a scripted module; it may have been written by torch.save"
            )

    def __enter__(self) -> ZipRecords:
        return self

    def __exit__(self, *exception: object) -> None:
        self.zip.close()

    def has(self, name: str) -> bool:
        """Return True if the archive has a record of this name."""
        return name in self.entries

    def read(self, name: str, size: int | None = None) -> NDArray[np.uint8]:
        """Return a record.

        Raise ArchiveError if it is missing, is a zip bomb, or does not have `size` bytes.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise ArchiveError(f"PytorchStreamReader failed locating file {name}: file not found")
        if size is not None and entry.file_size != size:
            raise ArchiveError(f"record {name} has {entry.file_size} bytes, expected {size}")
        if entry.compress_type != zipfile.ZIP_STORED and entry.file_size > _MAX_SOURCE_BYTES:
            raise ArchiveError(
                f"record {name} has {entry.file_size} uncompressed bytes, {_MAX_SOURCE_BYTES} are allowed"
            )
        if entry.compress_type == zipfile.ZIP_STORED and entry.file_size != entry.compress_size:
            raise ArchiveError(f"record {name} has inconsistent sizes")
        if entry.compress_size > self.size:
            raise ArchiveError(f"record {name} is larger than the file")
        deadline.reserve(entry.file_size)
        data = np.empty(entry.file_size, np.uint8)
        with _convert_zip_errors:
            if self._read_small(entry, data):
                deadline.charge(0.1 * len(data))
                return data
        with _convert_zip_errors, self.zip.open(entry) as stream:
            record: Any = stream
            rest = data.data
            while rest:
                byte_count = record.readinto(rest[:_CHUNK_BYTES])
                if not byte_count:
                    raise ArchiveError(f"record {name} is truncated")
                deadline.charge(0.1 * byte_count)
                rest = rest[byte_count:]
            if record.read(1):
                raise ArchiveError(f"record {name} has inconsistent sizes")
        return data

    def _read_small(self, entry: zipfile.ZipInfo, data: NDArray[np.uint8]) -> bool:
        """Read a record of at most one chunk into `data`, faster than `zipfile` does.

        Return False for larger records, and for records that are damaged or are not in the usual format.
        `zipfile` then reads the record, or raises the error.
        """
        if max(entry.file_size, entry.compress_size) > _CHUNK_BYTES or self.overlapping:
            return False
        file: Any = self.file
        file.seek(entry.header_offset)
        header = file.read(_LOCAL_HEADER.size)
        if len(header) != _LOCAL_HEADER.size:
            return False
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        name = file.read(name_length)
        is_usual = signature == _LOCAL_SIGNATURE and not entry.flag_bits & ~_USUAL_FLAGS
        if not is_usual or not name.isascii() or name.decode() != entry.orig_filename:
            return False
        file.seek(extra_length, os.SEEK_CUR)
        if entry.compress_type == zipfile.ZIP_STORED:
            is_complete = file.readinto(data) == len(data)
        else:
            is_complete = entry.compress_type == zipfile.ZIP_DEFLATED and _inflate(
                file.read(entry.compress_size), data
            )
        return is_complete and zlib.crc32(data.data) == entry.CRC

    def storage(self, name: str, size: int) -> NDArray[np.uint8]:
        """Return the memory of a storage of `size` bytes. It is mapped if possible, and read otherwise."""
        mapped = self.mapped(name, size)
        return self.read(name, size) if mapped is None else mapped

    def mapped(self, name: str, size: int) -> NDArray[np.uint8] | None:
        """Return a record as a view of the memory-mapped file, or None if it cannot be mapped."""
        entry = self.entries.get(name)
        if self.map is None or entry is None or size < _MIN_MAPPED_BYTES:
            return None
        is_plain = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
        if not is_plain or not entry.file_size == entry.compress_size == size:
            return None
        start = entry.header_offset + _LOCAL_HEADER.size
        if not _LOCAL_HEADER.size <= start <= self.size:
            return None
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(
            self.map[entry.header_offset : entry.header_offset + _LOCAL_HEADER.size]
        )
        start += name_length + extra_length
        if signature != _LOCAL_SIGNATURE or start % _ALIGNMENT or start + size > self.size:
            return None
        # Records of an untrusted archive may overlap. Only one array is created of each byte.
        i = bisect.bisect(self.mapped_ranges, (start, start))
        neighbors = self.mapped_ranges[max(i - 1, 0) : i + 1]
        if any(first < start + size and start < end for first, end in neighbors):
            return None
        self.mapped_ranges.insert(i, (start, start + size))
        return np.frombuffer(memoryview(self.map)[start : start + size], np.uint8)

    def bytes(self, name: str) -> bytes:
        """Return a record as bytes, for records that are read as a whole, such as pickles and texts."""
        data = self.read(name)
        deadline.charge(0, bytes=data.size)
        return data.tobytes()

    def text(self, name: str) -> str:
        """Decode a text record as UTF-8. Raise ArchiveError if it is invalid."""
        try:
            return self.bytes(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ArchiveError(f"record {name} is not valid UTF-8: {error}") from None

    @property
    def version_name(self) -> str:
        """Name of the version record."""
        return "version" if self.has("version") else ".data/version"

    @property
    def version(self) -> int:
        """Format version of the archive, which selects the semantics of operators."""
        version = self.text(self.version_name).strip()
        if not version.isdecimal() or len(version) > 9:
            raise ArchiveError(f"invalid version of the archive: {version[:20]!r}")
        return int(version)


class TensorLoader:
    """Loader of the tensors and storages that the pickles of a file refer to."""

    def __init__(self, records: ZipRecords, map_location: Location) -> None:
        self.records = records
        self.map_location = map_location
        self.storages: dict[tuple[str, str], Storage] = {}
        if records.has("byteorder") and records.text("byteorder").strip() != "little":
            raise ArchiveError(
                "the archive was written on a big-endian machine; only little-endian archives are supported"
            )

    def storage(self, archive: str, reference: Any) -> Storage:
        """Return the storage that a persistent id in a pickle denotes."""
        match reference:
            case ("storage", Global(name=name), str(key), str(location), int(numel)):
                pass
            case _:
                raise ArchiveError("the archive has a persistent id that is not a storage reference")
        type: StorageType | None = storage_type(name, in_module=True)
        if type is None or numel < 0 or "/" in key:
            raise ArchiveError(f"invalid reference to storage {key!r} of type {name} with {numel} elements")
        storage = self.storages.get((archive, key))
        if storage is None or not storage.is_of(type):
            data = self.records.storage(f"{archive}/{key}", numel * type.dtype.itemsize)
            storage = read_storage(data, type, numel, location)
            self.storages[archive, key] = storage
        return storage

    def tensor(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any,
        hooks: Any,
        marks: Any = None,
    ) -> Tensor:
        """Rebuild a tensor from `storage` on its target device.

        `marks` has the flags `conj` and `neg` of PyTorch's lazy views. The elements are conjugated or negated
        accordingly.
        """
        if not isinstance(storage, Storage) or storage.quantized is not None:
            raise ArchiveError("a tensor has no valid storage")
        elements = wrap_array(_apply_lazy_marks(view(storage, offset, size, stride), marks))
        tensor = self.map_to_device(elements, storage.location)
        if requires_grad and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            tensor.requires_grad = True
        return tensor

    def map_to_device(self, elements: Tensor, location: str) -> Tensor:
        """Move a tensor from the CPU to the device that `map_location` selects for the name `location`."""
        map_location = self.map_location
        if callable(map_location):
            moved = map_location(elements, location)
            return elements if moved is None else moved
        if isinstance(map_location, Mapping):
            map_location = map_location.get(location, location)
        target = device_named(location if map_location is None else map_location)
        try:
            return elements if target.type == "cpu" else elements.to(target)
        except MissingCudaError as error:
            raise MissingCudaError(
                "Attempting to deserialize object on a CUDA device but there is none. If you are running on "
                "a CPU-only machine, please use map_location='cpu' to map your storages to the CPU. "
                f"({error})"
            ) from None


def _inflate(compressed: bytes, data: NDArray[np.uint8]) -> bool:
    """Decompress into `data`. Return False if the result does not have the size of `data`."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(compressed, len(data) + 1)
    except zlib.error:
        return False
    if len(content) != len(data) or not inflater.eof:
        return False
    data[:] = np.frombuffer(content, np.uint8)
    return True


def _apply_lazy_marks(elements: NDArray[Any], marks: Any) -> NDArray[Any]:
    """Conjugate or negate the elements if `marks` has the flags `conj` or `neg` of PyTorch's lazy views."""
    if not marks:
        return elements
    if not isinstance(marks, Mapping) or not marks.keys() <= {"conj", "neg"}:
        raise ArchiveError("invalid view flags of a tensor: expected 'conj' and 'neg'")
    if marks.get("conj"):
        elements = np.conjugate(elements)
    return np.negative(elements) if marks.get("neg") else elements


def device_named(name: Any) -> device:
    """Return the device named `name` in an archive. Raise ArchiveError if the name is invalid."""
    try:
        return device(name)
    except RuntimeError as error:
        raise ArchiveError(str(error)) from None
