"""Archive container (ZIP file) of the records of a `.pt2` archive.

Each line shows a record and its contents:

    model/models/model.json                         the program
    model/data/weights/model_weights_config.json    record and layout of each parameter and buffer
    model/data/weights/weight_0                     the bytes of a storage
    model/data/constants/...                        constants and non-persistent buffers, in the same form
    model/data/sample_inputs/model.pt               example arguments, in the format of `torch.save`
    model/extra/...                                 additional records of the caller
    model/archive_format, archive_version, byteorder

A record whose stated size contradicts the size of the file is rejected before memory is allocated.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

from ts.archive.zip_records import ZipRecords, open_archive
from ts.archive.zip_writer import write_atomically, write_record
from ts.errors import ArchiveError

FORMAT: Final = "pt2"
VERSION: Final = 0
_MAX_RECORDS: Final = 1 << 20
ExtraFiles = Mapping[str, str | bytes] | None


class Container:
    """A `.pt2` file that is open for reading."""

    def __init__(self, file: IO[bytes], mapped: bool = False) -> None:
        self.records = ZipRecords(file, scripted=None, mapped=mapped)
        entries = self.records.zip.infolist()
        if len(entries) > _MAX_RECORDS:
            raise ArchiveError(f"the file has too many records: {len(entries)}")
        if len(self.records.zip.NameToInfo) != len(entries):
            raise ArchiveError("the file has two records of the same name")
        if len(self.records.entries) != len(entries):
            raise ArchiveError("the records of the file are not all in one folder")
        if sum(max(entry.compress_size, 0) for entry in entries) > self.records.size:
            raise ArchiveError("the records of the file overlap: together they are larger than the file")
        self._check_format()
        self.model = self._model()

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *exception: object) -> None:
        self.records.zip.close()

    def has(self, name: str) -> bool:
        """Return True if the model has a record `name`."""
        return self.records.has(name)

    def text(self, name: str) -> str:
        """Return the text of the model's record `name`."""
        return self.records.text(name)

    def _check_format(self) -> None:
        records = self.records
        if not records.has("archive_format"):
            if records.has("serialized_exported_program.json"):
                raise ArchiveError(
                    "the file is an exported program of PyTorch before 2.7: load it there and save it again"
                )
            raise ArchiveError("the file is not an exported program: it has no record archive_format")
        if self.text("archive_format").strip() != FORMAT:
            raise ArchiveError(f"the file is not a {FORMAT} archive")
        version = self.text("archive_version").strip()
        if not version.isdecimal() or len(version) > 9 or int(version) > VERSION:
            raise ArchiveError(f"the archive has version {version[:20]!r}; ts supports version {VERSION}")
        if records.has("byteorder") and self.text("byteorder").strip() != "little":
            raise ArchiveError("big-endian archives are not supported")

    def _model(self) -> str:
        """Return the name of the model that the file contains."""
        models = [
            name.removeprefix("models/").removesuffix(".json")
            for name in self.records.entries
            if name.startswith("models/") and name.endswith(".json")
        ]
        if "model" in models:
            return "model"
        if len(models) == 1:
            return models[0]
        if not models:
            raise ArchiveError("the file has no program in models/: it may contain compiled code only")
        raise ArchiveError(
            f"expected one program, but the file has several: {', '.join(sorted(models))[:200]}"
        )


def open_container(f: str | os.PathLike[str] | IO[bytes], read: Callable[[Container], Any]) -> Any:
    """Open an archive by path or file object and return the result of `read`."""
    with open_archive(f) as file, Container(file) as container:
        return read(container)


class ContainerWriter:
    """Writer of the records of a `.pt2` file."""

    def __init__(self, file: zipfile.ZipFile, root: str) -> None:
        self.file = file
        self.root = root

    def record(self, name: str, data: bytes | memoryview | str) -> None:
        """Write the record `name` of the model."""
        write_record(self.file, f"{self.root}/{name}", data.encode() if isinstance(data, str) else data)


def write_container(
    f: str | os.PathLike[str] | IO[bytes], write: Callable[[ContainerWriter], None], extra: ExtraFiles
) -> None:
    """Write a file atomically: at any time, the path holds the old file or the complete new file."""

    def written(file: IO[bytes], root: str) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            writer = ContainerWriter(archive, root)
            write(writer)
            for name, contents in (extra or {}).items():
                writer.record(f"extra/{name}", contents)
            writer.record("archive_format", FORMAT)
            writer.record("archive_version", str(VERSION))
            writer.record(".data/version", "6\n")
            writer.record("byteorder", "little")

    if isinstance(f, str | os.PathLike):
        write_atomically(os.fspath(f), written)
    else:
        buffer = io.BytesIO()
        written(buffer, "model")
        f.write(buffer.getbuffer())
