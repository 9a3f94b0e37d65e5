"""Names of `torch.serialization`: reading and writing values, and what files may name.

ts.serialization.add_safe_globals([Config])      objects of Config are read from files, too
"""

from __future__ import annotations

import os
import zipfile
from typing import IO, Any

from ts._core.thread.once import warn
from ts.absent import names_for
from ts.archive import saving
from ts.archive.records import Location
from ts.archive.safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ts.archive.saving import save

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "is_zipfile", "load", "safe_globals",
    "save",
]  # fmt: skip


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """The value that a file of `torch.save` or `ts.save` holds.

    `map_location` says on which device tensors are placed: a device, a dictionary from the devices of the
    file to others, or a function of a storage's elements and its device that gives a tensor or None.
    Unless `weights_only` is False, nothing but the listed types is built.  With `mmap`, large tensors of a
    file are mapped into memory: they take none before they are read; writing to them leaves the file alone.
    `encoding` is that of texts which Python 2 wrote; "bytes" leaves them as they are.

    Files of `jit.save` go to `jit.load`, with a warning, where `weights_only` is False.
    """
    begin = _position(f)
    try:
        return saving.load(
            f, map_location, pickle_module, weights_only=weights_only, mmap=mmap, **pickle_load_args
        )
    except saving.HoldsModule:
        if begin is None or weights_only is None or weights_only:
            raise
    from ts.jit import load as load_module

    warn(
        "'torch.load' received a zip file that looks like a TorchScript archive dispatching to "
        "'torch.jit.load' (call 'torch.jit.load' directly to silence this warning)"
    )
    if not isinstance(f, (str, os.PathLike)):
        f.seek(begin)
    return load_module(f, map_location=map_location)


def _position(f: str | os.PathLike[str] | IO[bytes]) -> int | None:
    """Where a file is read from; None for a pipe, which is read once."""
    if isinstance(f, (str, os.PathLike)):
        return 0
    try:
        return f.tell()
    except (AttributeError, OSError):
        return None


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
