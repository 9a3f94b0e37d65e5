"""Removal (stripping) of debug information from archives. The smaller archive has no source locations.

The new file contains all other records unchanged. Example:

    with open("model.pt", "rb") as file, ZipRecords(file) as records:
        strip_debug(records, "small.pt")
"""

from __future__ import annotations

import os
import zipfile
from typing import IO, Final

from ts.archive.zip_records import ZipRecords
from ts.archive.zip_writer import write_atomically, write_record

_DEBUG: Final = ".debug_pkl"


def strip_debug(records: ZipRecords, path: str | os.PathLike[str]) -> int:
    """Write all records except debug records, and return the compressed size of the omitted records."""

    def write(file: IO[bytes], root: str) -> None:
        with zipfile.ZipFile(file, "w") as stripped:
            for name, entry in records.entries.items():
                if not name.endswith((_DEBUG, "/")):
                    write_record(stripped, f"{root}/{name}", records.read(name).data, _method(entry))

    write_atomically(os.fspath(path), write)
    return sum(entry.compress_size for name, entry in records.entries.items() if name.endswith(_DEBUG))


def _method(entry: zipfile.ZipInfo) -> int:
    """Return the compression method for a copied record: stored if the record is stored, else deflated.

    PyTorch supports only these two methods.
    """
    return zipfile.ZIP_STORED if entry.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
