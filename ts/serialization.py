"""Names of `torch.serialization`: reading and writing values, and what files may name.

    ts.serialization.add_safe_globals([Config])      objects of Config are read from files, too
"""

from __future__ import annotations

import os
import zipfile
from typing import IO, Any

from ts.absent import names_for
from ts.archive.safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ts.archive.saving import load, save

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "is_zipfile", "load", "safe_globals",
    "save",
]  # fmt: skip


def is_zipfile(f: str | os.PathLike[str] | IO[Any]) -> bool:
    """Whether it begins as a file in the format of 1.6 and later."""
    if isinstance(f, (str, os.PathLike)):
        return zipfile.is_zipfile(f)
    begin = f.tell()
    beginning = f.read(4)
    f.seek(begin)
    return bool(beginning == b"PK\x03\x04")


_is_zipfile = is_zipfile
DEFAULT_PROTOCOL = 2  # of the pickles in files


__getattr__ = names_for(__name__)
