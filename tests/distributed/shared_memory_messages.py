"""Message parts above the shared memory threshold, and their headers."""

import contextlib
import os
import struct

import numpy as np

from ts.distributed.transport.shm_segments import MIN_SHARED_BYTES, SHARED_MEMORY_FLAG

MAX_BYTES = 1 << 22
MARK = b"an end of a test"


def part(size, number=0):
    """Return bytes determined by a number."""
    return (np.arange(size, dtype=np.uint64) * 2654435761 + number).astype(np.uint8)


def shared_files():
    """Return the number of open shared memory segment files of this process."""
    found = 0
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the file of the directory listing is closed
            found += "memfd:ts.distributed" in os.readlink(f"/proc/self/fd/{each}")
    return found


def copy_frame(sender, data):
    """Return a reference to a part; the first part of a size is sent by socket, so it is sent twice."""
    reference = sender.copy_to_segment(data.data)
    return reference if reference is not None else sender.copy_to_segment(data.data)


def reference(file, size=MIN_SHARED_BYTES):
    """Return a reference to a part in a segment of this process."""
    return SHARED_MEMORY_FLAG | file << 40 | size


def head(*sizes):
    """Return a message header with a frame of each size."""
    names = b"\x91\x81\xc4\x00\x00"  # [{b"": 0}]
    return struct.pack(f"<II{len(sizes)}Q", len(names), len(sizes), *sizes) + names
