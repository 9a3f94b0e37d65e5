"""Serialization under the names of `torch.serialization`.

ts.serialization.add_safe_globals([Config])      permits objects of Config in files
"""

from __future__ import annotations

import os
import zipfile
from typing import IO, Any

from ts._core.tensor.storage import TypedStorage, UntypedStorage
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.thread.warnings import warn
from ts.archive import torch_save
from ts.archive.safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ts.archive.torch_save import save
from ts.archive.zip_records import Location
from ts.errors import MissingCudaError
from ts.unsupported import names_for

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
    """Read a value from a file of `torch.save` or `ts.save`.

    `map_location` is a device, a dictionary from device names in the file to device names, or a function. The
    function receives a tensor and its device name. It returns the moved tensor, or None for the default.

    Unless `weights_only` is False, only objects of built-in types and of types registered by
    `add_safe_globals` are constructed. With `weights_only=False`, files of `jit.save` are read by `jit.load`,
    with a warning.

    With `mmap`, large tensors are mapped into memory. Pages are read on first access, and writes do not
    change the file. `encoding` decodes strings written by Python 2. With "bytes", they remain bytes.
    """
    begin = _position(f)
    try:
        return torch_save.load(
            f, map_location, pickle_module, weights_only=weights_only, mmap=mmap, **pickle_load_args
        )
    except torch_save.IsTorchScriptArchiveError:
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


def default_restore_location(storage: Any, location: str) -> Any:
    """Move a storage to the device `location`, as `load` does by default, and return the storage.

    Raise RuntimeError if the device does not exist. Functions for `map_location` can call this function.
    """
    if not isinstance(location, str):
        raise TypeError(f"expected string or bytes-like object, got {type(location).__name__!r}")
    if location == "cpu":
        return storage
    kind = location.partition(":")[0]
    if location != "meta" and kind != "cuda":
        name = "TypedStorage" if isinstance(storage, TypedStorage) else "UntypedStorage"
        raise RuntimeError(
            f"don't know how to restore data location of torch.storage.{name} (tagged with {location})"
        )
    if isinstance(storage, TypedStorage):
        return TypedStorage(default_restore_location(storage.untyped(), location), storage.dtype)
    if location == "meta" and isinstance(storage, UntypedStorage):
        return UntypedStorage(storage.nbytes(), device="meta")
    try:
        if isinstance(storage, Tensor):
            return storage.to(location)
        return UntypedStorage.of(wrap_array(storage.bytes).to(location).array)
    except MissingCudaError:
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
            "you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        ) from None


def _position(f: str | os.PathLike[str] | IO[bytes]) -> int | None:
    """Return the current read position of a file, or None for a pipe."""
    if isinstance(f, (str, os.PathLike)):
        return 0
    try:
        return f.tell()
    except (AttributeError, OSError):
        return None


def is_zipfile(f: str | os.PathLike[str] | IO[Any]) -> bool:
    """Return True if a file starts with the ZIP signature, which is the format since PyTorch 1.6."""
    if isinstance(f, (str, os.PathLike)):
        return zipfile.is_zipfile(f)
    begin = f.tell()
    beginning = f.read(4)
    f.seek(begin)
    return bool(beginning == b"PK\x03\x04")


_is_zipfile = is_zipfile
DEFAULT_PROTOCOL = 2  # pickle protocol of saved files


__getattr__ = names_for(__name__)
