"""Private (copy-on-write) memory mappings of files, whose arrays own their memory as allocated arrays do.

Example: `np.frombuffer(PrivateMapping(file), np.uint8, size, offset)` is an array to whose memory no other
object writes.

Code that keeps copies of the elements of an array, such as the cache of packed weights, requires that all
writes to the memory go through the array. A mapping that a program creates with `mmap.mmap` does not
guarantee this.
"""

from __future__ import annotations

import mmap
import os
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIN_PAGE_COUNT: Final = 16  # smallest number of pages of an array that are released
# Bits of the entries of /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst)
_PAGE_PRESENT: Final = np.uint64(1 << 63)
_PAGE_SWAPPED: Final = np.uint64(1 << 62)
_PAGE_OF_FILE: Final = np.uint64(1 << 61)  # the page is a page of the file, not a changed private copy


class PrivateMapping(mmap.mmap):
    """Private memory mapping of a whole file.

    Its creator creates at most one array of each byte, and passes the mapping to no other code.
    """

    def __new__(cls, file: IO[bytes]) -> PrivateMapping:
        """Map `file`, an open file. Raise ValueError if it is empty, and OSError if it cannot be mapped."""
        return super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_COPY)


def has_private_mapping(buffer: object) -> bool:
    """Return True if `buffer`, the base of an array, is a memoryview of a private mapping."""
    return type(buffer) is memoryview and type(buffer.obj) is PrivateMapping


def release_clean_pages(array: NDArray[Any]) -> int:
    """Release the resident memory (RSS) of an array in a private file mapping, given the array or a view.

    Return the number of released bytes, 0 for other arrays.

    The next access reads the elements from the file (or its page cache) again. If the program wrote to one of
    the pages, whose changes exist only in memory, nothing is released. On systems other than Linux, nothing
    is released, because they do not show which pages were written to. The caller ensures that no thread
    writes to the array during the call.
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    if not isinstance(array.base, memoryview) or not has_private_mapping(array.base):
        return 0
    mapping: PrivateMapping = array.base.obj  # type: ignore[assignment]  # checked by `has_private_mapping`
    begin = np.frombuffer(mapping, np.uint8, 1).ctypes.data
    address = array.ctypes.data - begin
    first, last = -(-address // mmap.PAGESIZE), (address + array.nbytes) // mmap.PAGESIZE
    if last - first < _MIN_PAGE_COUNT or not hasattr(mmap, "MADV_DONTNEED"):
        return 0
    try:
        descriptor = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        flags = os.pread(descriptor, 8 * (last - first), 8 * (begin // mmap.PAGESIZE + first))
    except OSError:
        return 0
    finally:
        os.close(descriptor)
    pages = np.frombuffer(flags, np.uint64)
    resident = pages & _PAGE_PRESENT != 0
    changed = (pages & _PAGE_SWAPPED).any() or (pages[resident] & _PAGE_OF_FILE == 0).any()
    if changed or len(pages) != last - first:
        return 0
    mapping.madvise(mmap.MADV_DONTNEED, first * mmap.PAGESIZE, (last - first) * mmap.PAGESIZE)
    return int(resident.sum()) * mmap.PAGESIZE
