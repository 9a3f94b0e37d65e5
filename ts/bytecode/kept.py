"""Files that one process leaves for the next, in a folder of the user's own, as a whole or not at all.

    ~/.cache/ts/1f/9a…c3.json           $TS_CACHE_DIR, or else $XDG_CACHE_HOME/ts; TS_CACHE=0: none

The first line of a file is the hash of the rest.  It tells a file that was cut short, or that a disk
has lost; whether what a file says may be believed is for its reader to know.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import get_ident
from typing import Final

from ts.ir.hashing import blake2b

_MOST_BYTES: Final = 8 << 20  # of one file
_STAMP: Final = "build.txt"  # written where `ts` is installed: `setup.py`
_MOST_FILES: Final = 4_096  # then the oldest eighth goes


def read(path: Path) -> bytes | None:
    """What `write` has been given; None where there is no such file, or it is not as it was written."""
    if not is_ours(path.parent):
        return None
    try:
        found, _, body = _content(path).partition(b"\n")
    except OSError:
        return None
    return body if found == digest(body).encode() else None


def write(path: Path, body: bytes) -> None:
    """Leave a file, unless it is too large, or the folder cannot be written to."""
    if len(body) > _MOST_BYTES:
        return
    try:
        _write(path, digest(body).encode() + b"\n" + body)
    except OSError:  # a disk that is full, a home that cannot be written to
        return


def place(name: str, suffix: str) -> Path | None:
    """Where the file of a digest is; None where nothing is to be kept."""
    folder = cache_folder()
    return None if folder is None else folder / name[:2] / f"{name[2:]}{suffix}"


def cache_folder() -> Path | None:
    """The folder of kept code; None where nothing is to be kept."""
    if os.environ.get("TS_CACHE", "1") in ("", "0"):
        return None
    chosen = os.environ.get("TS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ts")
    except RuntimeError:  # a user without a home
        return None


def digest(body: bytes) -> str:
    """The hash that files and their contents are known by."""
    return blake2b(body, digest_size=32).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_ours(path.parent):
        return
    temporary = f"{path}.{os.getpid()}.{get_ident()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _trim(path.parent)


def _content(path: Path) -> bytes:
    """What is in a file, if it is one that `write` may have written: no pipe, no device, nothing larger."""
    found = path.stat()
    return path.read_bytes() if stat.S_ISREG(found.st_mode) and found.st_size <= 2 * _MOST_BYTES else b""


def is_ours(folder: Path) -> bool:
    """Whether nobody else can write to a folder."""
    try:
        found = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trim(folder: Path) -> None:
    """Keep one of the 256 folders within its part of the number of files."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    most = _MOST_FILES // 256
    for file in files[: len(files) - most + most // 8] if len(files) > most else ():
        file.unlink(missing_ok=True)


@cache
def build() -> str:
    """What tells this build of `ts` from any other: its stamp, or its files as they are now."""
    root = Path(__file__).parents[1]
    try:
        return (root / _STAMP).read_text()
    except FileNotFoundError:  # an editable installation, whose files change
        return _of_files(root)


def _of_files(root: Path) -> str:
    spec = find_spec("ts.backends")
    backends = () if spec is None else spec.submodule_search_locations or ()
    return digest("\n".join(line for top in (root, *backends) for line in _listing(str(top))).encode())


def _listing(folder: str) -> Iterator[str]:
    """A line for each module of a folder, in the order of their names, then those of the folders in it."""
    lines, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith((".py", ".so", ".pyd")):
                found = entry.stat()
                lines.append(f"{name} {found.st_mtime_ns} {found.st_size}")
            elif name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    yield folder
    yield from sorted(lines)
    for inner in sorted(folders):
        yield from _listing(inner)
