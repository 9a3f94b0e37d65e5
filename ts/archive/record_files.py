"""Container files of arbitrary records in the archive format: `PyTorchFileWriter`, `PyTorchFileReader`.

A record has a name and bytes. The example writes one record and reads it:

    writer = PyTorchFileWriter(path)
    writer.write_record("notes", data, len(data))
    writer.write_end_of_file()
    PyTorchFileReader(path).get_record("notes")
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import IO

from ts.archive.zip_records import ZipRecords
from ts.archive.zip_writer import write_record
from ts.errors import ArchiveError

_VERSION = b"3\n"  # format version of the files that `PyTorchFileWriter` writes


class PyTorchFileWriter:
    """Writer of a file of records. The file is complete after `write_end_of_file`."""

    def __init__(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        path = file if isinstance(file, (str, os.PathLike)) else None
        self._name = "archive" if path is None else Path(path).stem
        self._zip = zipfile.ZipFile(file, "w")
        self._written: set[str] = set()
        self._finished = False

    def archive_name(self) -> str:
        """Return the name of the top-level folder of all records."""
        return self._name

    def get_all_written_records(self) -> set[str]:
        """Return the names of the records written so far."""
        return set(self._written)

    def write_record(self, name: str, data: bytes | str, size: int) -> None:
        """Write the first `size` bytes of `data` as a new record. Raise RuntimeError for a duplicate name."""
        if self._finished:
            raise RuntimeError("the file is already closed: cannot add a record")
        if name in self._written:
            raise RuntimeError(f"Tried to serialize file twice: {name}")
        content = data.encode() if isinstance(data, str) else data
        self._written.add(name)
        write_record(self._zip, f"{self._name}/{name}", memoryview(content)[:size])

    def write_end_of_file(self) -> None:
        """Add the records that the format requires, such as the version, and close the file."""
        self.write_record("version", _VERSION, len(_VERSION))
        self.write_record("byteorder", b"little", len(b"little"))
        self._zip.close()
        self._finished = True


class PyTorchFileReader:
    """Reader of a file of records, by record name."""

    def __init__(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        try:
            opened = open(file, "rb") if isinstance(file, (str, os.PathLike)) else file  # noqa: SIM115 -- kept open
        except OSError as error:
            message = f"open file failed because of errno {error.errno} on fopen: {error}"
            raise ArchiveError(message) from error
        self._records = ZipRecords(opened, scripted=None)

    def get_all_records(self) -> list[str]:
        """Return the names of all records, in the order of the ZIP file's central directory."""
        return list(self._records.entries)

    def has_record(self, name: str) -> bool:
        """Return True if the file contains a record of this name."""
        return self._records.has(name)

    def get_record(self, name: str) -> bytes:
        """Return the bytes of a record. Raise ArchiveError if it is missing or damaged."""
        return self._records.read(name).tobytes()

    def get_record_size(self, name: str) -> int:
        """Return the uncompressed size of a record in bytes."""
        return len(self._records.read(name))
