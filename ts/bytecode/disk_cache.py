"""Disk cache of files with checksums, atomic replacement (atomic write, rename), and cache eviction.

One process writes the files, and later processes read them. An example of a path:

    ~/.cache/ts/1f/9a…c3.json

TS_CACHE_DIR replaces the folder `~/.cache/ts`, and XDG_CACHE_HOME replaces `~/.cache`. TS_CACHE=0 disables
the cache.

The first line of a file is the hash of the rest, which detects truncated and corrupt files. Callers must
treat the content as untrusted.
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

_MAX_BYTES: Final = 8 << 20  # maximal size of one file
_STAMP: Final = "build.txt"  # file that `setup.py` writes into the installed package
_MAX_FILES: Final = 4_096  # maximal number of files, distributed over 256 subfolders


def read(path: Path) -> bytes | None:
    """Return the bytes stored by `write`, or None if the file is missing, corrupt or not trusted.

    A file is trusted if only the current user can write to its folder.
    """
    if not is_owned_by_user(path.parent):
        return None
    try:
        stored_digest, _, body = _read_file(path).partition(b"\n")
    except OSError:
        return None
    return body if stored_digest == digest(body).encode() else None


def write(path: Path, body: bytes) -> None:
    """Store `body` with its checksum. Skip a body above the size limit, and ignore errors of the system."""
    if len(body) > _MAX_BYTES:
        return
    try:
        _write(path, digest(body).encode() + b"\n" + body)
    except OSError:  # the disk is full or the folder is read-only, for example: continue without the cache
        return


def cache_path(name: str, suffix: str) -> Path | None:
    """Return the path of the cache file for digest `name`, or None if the cache is disabled."""
    folder = cache_folder()
    return None if folder is None else folder / name[:2] / f"{name[2:]}{suffix}"


def cache_folder() -> Path | None:
    """Return the root folder of the code cache, or None if the cache is disabled."""
    if os.environ.get("TS_CACHE", "1") in ("", "0"):
        return None
    configured = os.environ.get("TS_CACHE_DIR")
    if configured:
        return Path(configured)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ts")
    except RuntimeError:  # the user has no home directory
        return None


def digest(body: bytes) -> str:
    """Return the BLAKE2b digest of the bytes as a hexadecimal string."""
    return blake2b(body, digest_size=32).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically, through a temporary file in the same folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_owned_by_user(path.parent):
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


def _read_file(path: Path) -> bytes:
    """Return the content of a regular file of at most `2 * _MAX_BYTES` bytes, or b"" for other files."""
    status = path.stat()
    return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= 2 * _MAX_BYTES else b""


def is_owned_by_user(folder: Path) -> bool:
    """Return whether the current user owns a folder (ownership check), and no other user can write to it."""
    try:
        status = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trim(folder: Path) -> None:
    """Evict the oldest files of a full cache subfolder (cache eviction), until it is filled to 7/8."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    limit = _MAX_FILES // 256
    for file in files[: len(files) - limit + limit // 8] if len(files) > limit else ():
        file.unlink(missing_ok=True)


@cache
def build() -> str:
    """Return a string that identifies this build of `ts`: the build stamp, or a digest of the file list."""
    root = Path(__file__).parents[1]
    try:
        return (root / _STAMP).read_text()
    except FileNotFoundError:  # an editable installation has no build stamp
        return _digest_of_files(root)


def _digest_of_files(root: Path) -> str:
    spec = find_spec("ts.backends")
    backends = () if spec is None else spec.submodule_search_locations or ()
    return digest("\n".join(line for top in (root, *backends) for line in _describe_files(str(top))).encode())


def _describe_files(folder: str) -> Iterator[str]:
    """Yield the path, modification time and size of each module in a folder, recursively."""
    lines, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith((".py", ".so", ".pyd")):
                status = entry.stat()
                lines.append(f"{name} {status.st_mtime_ns} {status.st_size}")
            elif name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    yield folder
    yield from sorted(lines)
    for inner in sorted(folders):
        yield from _describe_files(inner)
