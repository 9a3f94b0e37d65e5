"""Memory mapping (mmap, memfd) of memory that several processes share.

Examples with their results:

    mapping = create_mapping(1 << 20)              maps an unnamed file in memory (memfd)
    block = view_bytes(mapping, 4096, 0)           a NumPy array over the first page
    find_mapping(block)                            (mapping, 0)
    descriptor = create_sealed_file(4096)          an unnamed file of fixed size

An unnamed file exists as long as a process has it open or mapped. Other processes must receive its
descriptor. A named file can also be opened by its path. Its first eight bytes are the number of processes
that use it. Its shared memory begins at offset PAGE_BYTES. The last of these processes removes the file.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

try:
    import fcntl
except ImportError:  # Windows has no `fcntl`
    fcntl = None  # type: ignore[assignment]

PAGE_BYTES: Final = mmap.PAGESIZE
ALIGNMENT_BYTES: Final = 64
# The value of F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL. It is a literal number, because `fcntl` defines
# these names only on Linux.
_SEAL_FLAGS: Final = 7
_NAMED_FILE_PREFIX: Final = "ts_shared_"


class Mapping(mmap.mmap):
    """A shared mapping of a whole file, with the descriptor or path that other processes need to map it."""

    descriptor: int  # descriptor of an unnamed file, which the mapping owns, or -1 for a named file
    path: str  # path of a named file, or "" for an unnamed file
    # offset of the shared memory in the file. It is PAGE_BYTES for a named file, which starts with a header,
    # and 0 for an unnamed file.
    start: int
    address: int


def create_file(size: int) -> int:
    """Return the descriptor of a new unnamed file of `size` bytes, in memory if possible.

    The size of a file in memory is sealed. Without the seal, another process could make the file smaller, and
    an access beyond its end would terminate this process.
    """
    if hasattr(os, "memfd_create"):
        return create_sealed_file(size)
    import tempfile  # imported here, because the import is slow

    with tempfile.TemporaryFile() as file:
        descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create_sealed_file(size: int) -> int:
    """Return the descriptor of a new unnamed file with a sealed size, or raise OSError if unsupported."""
    descriptor = os.memfd_create("ts", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEAL_FLAGS)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class NotSharedMemoryError(ConnectionError):
    """Shared memory named by another process does not exist, or is not a valid shared memory file."""


def open_sealed_file(process: int, process_fd: int) -> int:
    """Open a sealed file of another process of the same user by its descriptor number.

    Raise OSError if this fails. Other kinds of files are not opened, because opening a device, a pipe or a
    leased file has side effects.
    """
    path = os.open(f"/proc/{process}/fd/{process_fd}", os.O_PATH | os.O_CLOEXEC)
    try:
        status = os.fstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink or status.st_uid != os.geteuid():
            raise NotSharedMemoryError("the received shared memory is not an unnamed file of this user")
        descriptor = os.open(f"/proc/self/fd/{path}", os.O_RDWR | os.O_CLOEXEC)
    finally:
        os.close(path)
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
        if seals & _SEAL_FLAGS != _SEAL_FLAGS or os.fstatvfs(descriptor).f_bsize != PAGE_BYTES:
            raise NotSharedMemoryError("the received shared memory is not sealed against shrinking")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


# ---------------------------------------------------------------- mappings


def create_mapping(size: int, named: bool = False) -> Mapping:
    """Create a file of `size` bytes (of one byte if `size` is 0) and map it.

    If `named`, other processes can open the file by its path.
    """
    if named:
        return _create_named_mapping(size)
    return map_file(create_file(max(size, 1)))


def map_file(descriptor: int) -> Mapping:
    """Map an unnamed file. The mapping takes over the descriptor."""
    try:
        mapping = Mapping(descriptor, os.fstat(descriptor).st_size)
    except BaseException:
        os.close(descriptor)
        raise
    weakref.finalize(mapping, os.close, descriptor).atexit = False
    return _complete(mapping, descriptor, "", 0)


def _complete(mapping: Mapping, descriptor: int, path: str, start: int) -> Mapping:
    mapping.descriptor, mapping.path, mapping.start = descriptor, path, start
    mapping.address = np.frombuffer(mapping, np.uint8).__array_interface__["data"][0]
    return mapping


def view_bytes(mapping: Mapping, size: int, offset: int) -> NDArray[np.uint8]:
    """Return an array over `size` bytes of a mapping's memory, or raise ValueError for bytes out of range."""
    start = mapping.start + offset
    if size < 0 or offset < 0 or start + size > len(mapping):
        raise ValueError(f"{size} bytes at {offset} exceed the shared memory of {capacity(mapping)} bytes")
    return np.ndarray((size,), np.uint8, buffer=mapping, offset=min(start, len(mapping)))


def capacity(mapping: Mapping) -> int:
    """Return the size of a mapping's memory in bytes."""
    return len(mapping) - mapping.start


def find_owner(array: Any) -> Any:
    """Return the owner of the array's memory: the end of the chain of `base` attributes."""
    while True:
        base = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
        if base is None:
            return array
        array = base


def is_shared_array(array: NDArray[Any]) -> bool:
    """Return whether the memory of the array is a mapped file."""
    return isinstance(find_owner(array), mmap.mmap)


def find_mapping(array: NDArray[Any]) -> tuple[Mapping, int] | None:
    """Return (mapping, offset) for the memory of an array, or None if no mapping contains it."""
    owner = find_owner(array)
    if not isinstance(owner, Mapping):
        return None
    address: int = array.__array_interface__["data"][0]
    return owner, address - owner.address - owner.start


def file_identity(mapping: Mapping) -> tuple[int, int]:
    """Return a key that is equal for all mappings of one file."""
    status = os.stat(mapping.path) if mapping.path else os.fstat(mapping.descriptor)
    return status.st_dev, status.st_ino


# ---------------------------------------------------------------- files of the user


class FileMapping(mmap.mmap):
    """A mapping of the start of a file that the user specified."""

    filename: str | None  # path of the file if writes to the mapping change the file, else None


def map_path(path: str, size: int, is_shared: bool) -> NDArray[np.uint8]:
    """Map the first `size` bytes of a file, shared or copy-on-write. Raise RuntimeError if mapping fails.

    If `is_shared`, writes to the array change the file. The file is created if it is missing, and extended if
    it is too small.
    """
    if size < 0:
        raise RuntimeError(f"unable to mmap {size} bytes from file <{path}>: Cannot allocate memory (12)")
    if not size:
        return np.empty(0, np.uint8)
    flags = os.O_RDWR | os.O_CREAT if is_shared else os.O_RDONLY
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        mode = "read-write" if is_shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{path}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from None
    try:
        actual_size = os.fstat(descriptor).st_size
        if actual_size < size and not is_shared:
            raise RuntimeError(
                f"file <{path}> size <{actual_size}> is smaller than the required mapping size <{size}>"
            )
        if actual_size < size:
            os.ftruncate(descriptor, size)
        mapping = FileMapping(descriptor, size, access=mmap.ACCESS_WRITE if is_shared else mmap.ACCESS_COPY)
    except OSError as error:
        raise RuntimeError(
            f"unable to mmap {size} bytes from file <{path}>: {error.strerror} ({error.errno})"
        ) from None
    finally:
        os.close(descriptor)
    mapping.filename = path if is_shared else None
    return np.frombuffer(mapping, np.uint8)


def find_filename(array: NDArray[Any]) -> str | None:
    """Return the path of the file that writes to `array` change, or None if the array maps no shared file."""
    return getattr(find_owner(array), "filename", None)


# ---------------------------------------------------------------- named files


def _named_file_directory() -> str:
    if os.path.isdir("/dev/shm"):
        return "/dev/shm"
    import tempfile

    return tempfile.gettempdir()


def _create_named_mapping(size: int) -> Mapping:
    name = f"{_NAMED_FILE_PREFIX}{os.getpid()}_{os.urandom(8).hex()}"
    path = os.path.join(_named_file_directory(), name)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        os.ftruncate(descriptor, PAGE_BYTES + max(size, 1))
        return _map_named_file(descriptor, path)
    finally:
        os.close(descriptor)


def open_named_mapping(path: str) -> Mapping:
    """Map a named file of another process.

    That process has already called `add_user` on behalf of this process.
    """
    descriptor = _open_named_file(path)
    try:
        if os.fstat(descriptor).st_size <= PAGE_BYTES:
            raise NotSharedMemoryError(f"{path!r} is too short for a shared memory file")
        return _map_named_file(descriptor, path, is_new_user=False)
    finally:
        os.close(descriptor)


def _open_named_file(path: str) -> int:
    """Open a named file of this user. Raise NotSharedMemoryError for links, pipes and other files."""
    if not os.path.basename(path).startswith(_NAMED_FILE_PREFIX) or os.path.islink(path):
        raise NotSharedMemoryError(f"{path!r} is not a shared memory file")
    flags = os.O_RDWR
    for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags)
    except IsADirectoryError:
        raise NotSharedMemoryError(f"{path!r} is not a shared memory file") from None
    status = os.fstat(descriptor)
    reason = ""
    if not stat.S_ISREG(status.st_mode):
        reason = f"{path!r} is not a shared memory file"
    elif hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        reason = f"{path!r} belongs to another user"
    if reason:
        os.close(descriptor)
        raise NotSharedMemoryError(reason)
    return descriptor


def _map_named_file(descriptor: int, path: str, is_new_user: bool = True) -> Mapping:
    mapping = _complete(Mapping(descriptor, os.fstat(descriptor).st_size), -1, path, PAGE_BYTES)
    if is_new_user:
        add_user(path)
    _mapped_paths[path] = _mapped_paths.get(path, 0) + 1
    weakref.finalize(mapping, _release, path, os.getpid()).atexit = False
    _release_at_exit()
    return mapping


_mapped_paths: dict[str, int] = {}  # path of a named file -> number of its mappings in this process
_exit_process = -1  # id of the process that registered `_release_all`


def add_user(path: str) -> None:
    """Increment the number of users of a named file, on behalf of a process that will open it."""
    _change_users(path, 1)


def remove_user(path: str) -> None:
    """Decrement the number of users of a named file, and remove the file if no user is left."""
    _change_users(path, -1)


def _change_users(path: str, change: int) -> None:
    try:
        descriptor = _open_named_file(path)
    except FileNotFoundError:
        return
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        users = int.from_bytes(os.read(descriptor, 8), "little") + change
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, max(users, 0).to_bytes(8, "little"))
        if users <= 0:
            with contextlib.suppress(OSError):  # On Windows, a file that is still mapped cannot be removed.
                os.unlink(path)
    finally:
        os.close(descriptor)


def _release(path: str, process: int) -> None:
    """Release one mapping of the file `path` that `process` created. Do nothing in other processes."""
    if process != os.getpid() or path not in _mapped_paths:
        return
    _mapped_paths[path] -= 1
    if not _mapped_paths[path]:
        del _mapped_paths[path]
    remove_user(path)


def _release_at_exit() -> None:
    """Register `_release_all` to run at exit, also if this process is a child of `multiprocessing`."""
    global _exit_process
    if _exit_process != os.getpid():
        # imported here, because only programs with named files need it
        from multiprocessing.util import Finalize

        _exit_process = os.getpid()
        Finalize(None, _release_all, args=(os.getpid(),), exitpriority=-100)


def _release_all(process: int) -> None:
    if process == os.getpid():
        for path, count in list(_mapped_paths.items()):
            for _ in range(count):
                _release(path, process)


def _forget_named_files() -> None:
    """Clear `_mapped_paths` in a forked child, whose mappings do not count as users of the files."""
    _mapped_paths.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_named_files)
