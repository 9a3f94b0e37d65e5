"""Private (copy-on-write) memory mappings of files, whose arrays own their memory as allocated arrays do.

Example: `np.frombuffer(PrivateMapping(file), np.uint8, size, offset)` is an array to whose memory no other
object writes.

Code that keeps copies of the elements of an array, such as the cache of packed weights, requires that all
writes to the memory go through the array. A mapping that a program creates with `mmap.mmap` does not
guarantee this.
"""

from __future__ import annotations

import mmap
from typing import IO


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
