"""Pickle reductions of tensors in shared memory: a pickle contains a file and an offset instead of elements.

Example:

    function, arguments = reduce_tensor(x)          # moves x to shared memory
    function(*arguments)                            # a tensor on the same memory

The implementation is in `ts._core.tensor.sharing`.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from ts._core import shared_memory
from ts._core.tensor import storage
from ts._core.tensor.interop import rebuild_meta as rebuild_meta_tensor
from ts._core.tensor.sharing import (
    rebuild_storage,
    rebuild_tensor,
    rebuild_typed_storage,
    reduce_storage,
    reduce_tensor,
    reduce_typed_storage,
    register_reductions,
)
from ts._core.tensor.storage import UntypedStorage
from ts.multiprocessing._atfork import register_after_fork
from ts.unsupported import names_for

__all__ = [
    "StorageWeakRef", "fd_id", "init_reductions", "rebuild_meta_tensor", "rebuild_storage_empty",
    "rebuild_storage_fd", "rebuild_tensor", "rebuild_typed_storage", "reduce_storage", "reduce_tensor",
    "reduce_typed_storage", "register_after_fork",
]  # fmt: skip

_absent = names_for(__name__)


def init_reductions() -> None:
    """Register the reductions with `multiprocessing`."""
    register_reductions()


def fd_id(fd: int) -> tuple[int, int]:
    """Return the inode and device numbers of an open file. They are equal for all descriptors of the file."""
    status = os.fstat(fd)
    return status.st_ino, status.st_dev


def rebuild_storage_fd(cls: type[UntypedStorage], df: Any, size: int) -> UntypedStorage:
    """Return a storage on the first `size` bytes of the file whose descriptor another process sent."""
    return rebuild_storage(cls, shared_memory.map_file(df.detach()), 0, size)


def rebuild_storage_empty(cls: type[UntypedStorage]) -> UntypedStorage:
    """Return a storage without elements."""
    return cls()


class StorageWeakRef:
    """Weak reference to the memory of a storage. References to the same memory are equal."""

    __slots__ = ["_block", "cdata"]

    def __init__(self, storage_: Any) -> None:
        untyped = storage_.untyped() if hasattr(storage_, "untyped") else storage_
        self._block = weakref.ref(storage.owning_array(untyped.bytes))
        self.cdata = untyped._cdata

    def expired(self) -> bool:
        """Return True if the memory was freed."""
        return self._block() is None

    def __hash__(self) -> int:
        return int(self.cdata)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageWeakRef) and self.cdata == other.cdata


def __getattr__(name: str) -> Any:
    return _absent(name)
