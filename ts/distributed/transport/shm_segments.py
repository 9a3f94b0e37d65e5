"""Shared memory segments (memfd, file sealing) for large message parts between processes of one machine.

The sender copies a part of a message to a segment, and sends a reference to the segment:

    sender                                         receiver
        "64 MiB in my file 12"            ──►      maps the segment, which is the memory of the part
        may reuse the segment             ◄──      marks the segment as free once the memory is unused

A segment is an unnamed file, so the system frees it even if processes are killed. Its bytes are:

    byte 0                  the state: FREE, SENT or CONSUMED
    byte 1                  1 if the sender has released the segment
    byte 16                 the connection id
    from PAGE_BYTES on      the memory of the part

The connection id is needed because the system reuses file numbers.

Copying to a segment takes a third to a half of the time of the socket. Creating a segment takes longer.
Therefore, the first part of each size is sent through the socket. Parts are also sent through the socket if
all segments are in use and no more may be created.

Security: file seals of Linux keep the sender from shortening a mapped file. Otherwise, a read beyond the end
would kill the receiver. The sender can still write to the file. Therefore, only processes of one user share
memory.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import time
import weakref
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ts._core.shared_memory import PAGE_BYTES, NotSharedMemoryError, create_sealed_file, open_sealed_file

# bytes of a segment's header that contain the id of the connection
CONNECTION_ID_SLICE: Final = slice(16, 32)
MIN_SHARED_BYTES: Final = 1 << 18  # minimal size of a part of a message that is sent in shared memory
# Parts of this size or more are not sent in shared memory, because a reference has 40 bits for the size.
_MAX_BUFFER_BYTES: Final = 1 << 40
# This bit distinguishes references to shared memory from plain sizes of parts.
SHARED_MEMORY_FLAG: Final = 1 << 63
_FILES: Final = 1 << 23

# Maximum number of segments of a process. A process with this number releases an unused segment before it
# creates another one.
_MAX_CACHED_SEGMENTS: Final = 16
# maximum number of segments of peers that are mapped at the same time. The contents of further segments are
# copied.
_MAX_CACHED_MAPPINGS: Final = 64
# maximal ratio of the size of a segment to the size of the part in it. The sender does not reuse a larger
# segment, and the receiver rejects it.
_MAX_SEGMENT_OVERSIZE_FACTOR: Final = 4
# If the peer has not yet read this number of bytes in the segments of a connection, further parts are sent
# through the socket.
_MAX_IN_FLIGHT_BYTES: Final = 1 << 25

_FREE, _SENT, _CONSUMED = range(3)
# state of a segment -> seconds without use after which the sender may release the segment to create another
# one
_RECLAIM_AFTER_SECONDS: Final = {_FREE: 1.0, _SENT: math.inf, _CONSUMED: 10.0}

# file descriptor of a segment that this process created -> size of the segment in bytes
_created_bytes: dict[int, int] = {}
_senders: set[weakref.ref[SegmentSender]] = set()
_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
# Number of forks that led from the first process to this one. Segments created before the last fork belong to
# the parent process.
_forks = 0


def size_of(reference: int) -> int:
    """Return the size of a part in bytes. `reference` is the size itself, or a shared memory reference."""
    return reference & (_MAX_BUFFER_BYTES - 1) if reference >= SHARED_MEMORY_FLAG else reference


class _Segment:
    def __init__(self, capacity: int, mark: bytes) -> None:
        self.file = create_sealed_file(PAGE_BYTES + capacity)
        try:
            os.pwrite(self.file, bytes(CONNECTION_ID_SLICE.start) + mark, 0)
            self.mapping = mmap.mmap(self.file, PAGE_BYTES + capacity)
        except BaseException:
            os.close(self.file)
            raise
        self.memory: NDArray[np.uint8] = np.frombuffer(self.mapping, np.uint8, capacity, PAGE_BYTES)
        self.used = time.monotonic()
        # Number of bytes at the start of the segment that have been written before. Memory is allocated for
        # them.
        self._written = 0
        self._process = os.getpid()
        _created_bytes[self.file] = capacity

    @property
    def state(self) -> int:
        return self.mapping[0]

    def begin(self, buffer: memoryview) -> int:
        """Write the end of `buffer`, for which the segment has no allocated memory yet.

        Return the number of bytes before this end. The caller must copy them to the mapping. Raise OSError if
        the system has no memory left. (A store to the mapping would instead kill the process.)
        """
        start = min(self._written, len(buffer))
        while self._written < len(buffer):
            self._written += os.pwrite(self.file, buffer[self._written :], PAGE_BYTES + self._written)
        return start

    def release(self) -> None:
        """Release the segment.

        In a forked child, only close the file, because the parent still uses the segment.
        """
        if self._process == os.getpid():
            self.mapping[1] = 1
        del _created_bytes[self.file]
        os.close(self.file)


class SegmentSender:
    """Segments into which a connection copies large parts. A sender may be used from any thread."""

    def __init__(self, max_bytes: int, mark: bytes) -> None:
        """Create a sender. All segments of this process together have at most `max_bytes` bytes.

        `mark` is the nonce of this end of the connection.
        """
        self._max_bytes, self._mark = max_bytes, mark
        self._lock = threading.Lock()
        self._segments: list[_Segment] = []
        # Sizes of parts for which segments are created. The first part of any other size is sent through the
        # socket.
        self._sizes: set[int] = set()
        self._close = weakref.finalize(self, _release_all, self._segments)
        self._close.atexit = False
        _senders.add(weakref.ref(self, _senders.discard))

    def copy_to_segment(self, buffer: memoryview) -> int | None:
        """Copy a part to shared memory, and return a reference to it.

        Return None if the part must be sent through the socket.
        """
        size = len(buffer)
        if not MIN_SHARED_BYTES <= size < _MAX_BUFFER_BYTES:
            return None
        with self._lock:
            if not self._close.alive or self._is_over_limit():
                return None
            try:
                segment = self._free(size) or self._new(size)
                if segment is None:
                    return None
                offset = segment.begin(buffer)
            except OSError:
                # There are too many open files, or there is not enough memory.
                return None
            segment.mapping[0] = _SENT
            segment.used = time.monotonic()
        segment.memory[:offset] = np.frombuffer(buffer, np.uint8)[:offset]
        return SHARED_MEMORY_FLAG | segment.file << 40 | size

    def close(self) -> None:
        """Release all segments. Later calls of `copy_to_segment` return None."""
        with self._lock:
            self._close()

    @property
    def has_unconsumed_segments(self) -> bool:
        """Return True if the peer has not read all segments that were sent."""
        with self._lock:
            return any(each.state == _SENT for each in self._segments)

    def _is_over_limit(self) -> bool:
        """Return True if the unread segments exceed the limit.

        Above the limit, parts are sent through the socket, so that the sender waits for the receiver.
        """
        sent = [each.memory.size for each in self._segments if each.state == _SENT]
        return sum(sent) >= _MAX_IN_FLIGHT_BYTES

    def _free(self, size: int) -> _Segment | None:
        fitting = [
            each
            for each in self._segments
            if each.state == _FREE and size <= each.memory.size <= size * _MAX_SEGMENT_OVERSIZE_FACTOR
        ]
        return min(fitting, key=lambda each: each.memory.size, default=None)

    def _new(self, size: int) -> _Segment | None:
        capacity = 1 << (size - 1).bit_length()
        if capacity not in self._sizes:
            self._sizes.add(capacity)
            return None
        while (
            sum([*_created_bytes.values()]) + capacity > self._max_bytes
            or len(_created_bytes) >= _MAX_CACHED_SEGMENTS
        ):
            if not (
                self._release_one_unused() or any(each._try_release_one_unused() for each in _all_senders())
            ):
                return None
        segment = _Segment(capacity, self._mark)
        if segment.file >= _FILES:
            segment.release()
            return None
        self._segments.append(segment)
        return segment

    def _release_one_unused(self) -> bool:
        """Release a segment that has been unused for _RECLAIM_AFTER_SECONDS.

        Return False if there is none.
        """
        now = time.monotonic()
        for each in self._segments:
            if each.used < now - _RECLAIM_AFTER_SECONDS[each.state]:
                self._segments.remove(each)
                each.release()
                return True
        return False

    def _try_release_one_unused(self) -> bool:
        """Release an unused segment to make room for another connection.

        Return False if no segment is unused, or if another thread is using this sender.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._release_one_unused()
        finally:
            self._lock.release()


def _all_senders() -> list[SegmentSender]:
    """Return the senders of all connections of this process."""
    return [sender for each in list(_senders) if (sender := each()) is not None]


def _release_all(segments: list[_Segment]) -> None:
    while segments:
        segments.pop().release()


class SegmentReceiver:
    """Mappings of the segments that the peer of a connection sends, for use by a single thread."""

    def __init__(self, process: int, mark: bytes) -> None:
        """Create a receiver for segments of `process`, whose id the negotiation has proved.

        `mark` is the peer's nonce for this connection.
        """
        self._process, self._mark = process, mark
        # file descriptor of a segment in the sending process -> mapping of the segment in this process
        self._mappings: dict[int, mmap.mmap] = {}

    def map_segment(self, reference: int) -> memoryview:
        """Return the memory of a part: the mapped segment, or a copy if no more segments can be mapped.

        Raise NotSharedMemoryError if the segment is invalid, and OSError if it cannot be opened. Raise
        MemoryError if the copy cannot be allocated. The segment is then free.
        """
        descriptor, size = reference >> 40 & (_FILES - 1), size_of(reference)
        for other, each in list(self._mappings.items()):
            if each[1]:
                del self._mappings[other]
        mapping = self._mappings.get(descriptor)
        if mapping is None:
            file = open_sealed_file(self._process, descriptor)
            try:
                capacity = os.fstat(file).st_size - PAGE_BYTES
                if not size <= capacity <= max(size, MIN_SHARED_BYTES) * _MAX_SEGMENT_OVERSIZE_FACTOR:
                    raise NotSharedMemoryError(
                        f"a message announces {size} bytes in a segment of {capacity} bytes"
                    )
                if os.pread(file, len(self._mark), CONNECTION_ID_SLICE.start) != self._mark:
                    raise NotSharedMemoryError("the announced segment belongs to another connection")
                mapping = _mapping(file)
                if mapping is None:
                    return _copied(file, size)
            finally:
                os.close(file)
            self._mappings[descriptor] = mapping
        if size > len(mapping) - PAGE_BYTES or mapping[0] != _SENT:
            raise NotSharedMemoryError(f"the announced segment does not contain {size} unread bytes")
        mapping[0] = _CONSUMED
        memory = np.frombuffer(mapping, np.uint8, size, PAGE_BYTES)
        weakref.finalize(memory, _release, mapping, _forks).atexit = False
        return memory.data

    def close(self) -> None:
        """Stop receiving. Memory that was received stays valid."""
        self._mappings.clear()


def _mapping(file: int) -> mmap.mmap | None:
    """Map a segment. Return None if too many segments are mapped or the system refuses."""
    if len(_mapped) >= _MAX_CACHED_MAPPINGS:
        return None
    try:
        mapping = mmap.mmap(file, 0)
    except OSError:
        return None
    _mapped.add(mapping)
    return mapping


def _release(mapping: mmap.mmap, forks: int) -> None:
    if forks == _forks:
        mapping[0] = _FREE


def _before_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(before=_before_fork)


def _copied(file: int, size: int) -> memoryview:
    """Return a copy of a message part whose segment cannot be mapped."""
    if os.pread(file, 1, 0) != bytes([_SENT]):
        raise NotSharedMemoryError(f"the announced segment does not contain {size} unread bytes")
    try:
        memory = np.empty(size, np.uint8).data
        at = 0
        while at < size:
            at += os.preadv(file, [memory[at:]], PAGE_BYTES + at)
        return memory
    finally:
        os.pwrite(file, bytes([_FREE]), 0)
