"""Writer of ZIP and ZIP64 files with alignment padding and atomic writes (fsync, atomic replacement).

Examples of both functions:

    write_atomically("model.pt", write)             calls `write`, and then replaces the old file atomically
    write_record(archive, "model/data/0", data)     aligns the data, so that it can be mapped into memory
"""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from typing import Any, Final

from ts.errors import ArchiveError

_ALIGNMENT: Final = 64


def write_atomically(path: str, write: Any) -> None:
    """Write a file atomically by a temporary file, fsync and an atomic rename.

    The path has either the old contents or the complete new contents.
    """
    folder, base = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ArchiveError(f"Parent directory {os.path.dirname(path)} does not exist.")
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{base}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file, os.path.splitext(base)[0] or "archive")
            file.flush()
            os.fsync(file.fileno())
        mode = os.stat(path).st_mode if os.path.exists(path) else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_record(
    file: zipfile.ZipFile, name: str, data: bytes | memoryview, method: int = zipfile.ZIP_STORED
) -> None:
    """Write a record whose contents begin at a multiple of 64 bytes.

    Padding in its local header ensures this.
    """
    entry = zipfile.ZipInfo(name)
    entry.compress_type = method
    stream = file.fp
    assert stream is not None
    # For large data, `zipfile` adds an extra field to the header, which has 20 bytes.
    is_large = len(data) * 1.05 > zipfile.ZIP64_LIMIT
    start = stream.tell() + 30 + len(entry.filename.encode()) + 4 + 20 * is_large
    padding = -start % _ALIGNMENT
    entry.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    file.writestr(entry, data)
