"""Transport of batches from worker processes to the main process, through a pipe or shared memory.

A worker sends any value that can be pickled. The main process receives an equal value, whose arrays and
tensors use shared memory. The first line runs in the worker, the others in the main process:

    BatchSender(connection, 4096).send(label, pickle_value(batch))
    receiver = BatchReceiver(connection)
    batch = receiver.open(receiver.receive())

A value is pickled with out-of-band buffers (protocol 5). Large buffers are copied into a *segment*, an
unnamed file that both processes map. A segment is released when the last tensor that uses it is deleted. The
next task of the worker then permits the worker to reuse the segment.

If the program keeps its batches, it receives at most `MAX_REFERENCED_SEGMENTS` segments per worker. Later
batches are copied, which limits the number of open files and mappings.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import weakref
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, NamedTuple

import numpy as np

from ts._core.shared_memory import create_file
from ts._core.tensor.storage import UntypedStorage
from ts._core.tensor.tensor import Tensor

# maximum number of segments of a worker to which tensors of the program refer
MAX_REFERENCED_SEGMENTS: Final = 16
MAX_QUEUED_BYTES: Final = 1 << 16  # maximum size of unread batches in the pipe of a worker
_ALIGNMENT_BYTES: Final = 64
# If the storage of a tensor has more bytes than the tensor's elements times this ratio, only the elements are
# sent instead of the storage.
_DENSE_STORAGE_RATIO: Final = 2


class Header(NamedTuple):
    """Header of a message: the sender's `label` (a `BatchHeader`), and the layout of the data."""

    label: Any
    sizes: Sequence[int]  # sizes in bytes: of the pickle, then of each array
    # identification number of the shared-memory segment with the data, or -1 if the data follows in the pipe
    segment: int
    # size in bytes of a new segment, whose file descriptor follows in the pipe, or 0 for an existing segment
    new: int
    deleted: Sequence[int]  # numbers of deleted segments, which were too small


class _Pickler(pickle.Pickler):
    """Pickler that copies the elements of tensors, and reduces other objects as `multiprocessing` does."""

    def __init__(self, file: Any, buffer_callback: Any) -> None:
        super().__init__(file, 5, True, buffer_callback)
        self.dispatch_table = ForkingPickler(file).dispatch_table

    def reducer_override(self, value: Any) -> Any:
        """Reduce a tensor or storage to its elements. `multiprocessing` would reduce it to a shared file."""
        if isinstance(value, UntypedStorage):
            return value._reduce_by_value()
        if not isinstance(value, Tensor):
            return NotImplemented
        if value.requires_grad and not value.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
                "support crossing process boundaries.  If you just want to transfer the data, call detach() "
                "on the tensor before serializing (e.g., putting it on the queue)."
            )
        if type(value) is not Tensor or value.is_meta or value.requires_grad or value.__dict__:
            return value.__reduce_ex__(5)
        if value.nbytes * _DENSE_STORAGE_RATIO < value.untyped_storage().nbytes():
            return value.clone().__reduce_ex__(5)
        return value.__reduce_ex__(5)


def pickle_value(value: Any) -> list[Any]:
    """Return the pickle of a value and the out-of-band buffers of its arrays (pickle protocol 5)."""
    file = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    _Pickler(file, buffers.append).dump(value)
    return [file.getbuffer(), *(buffer.raw() for buffer in buffers)]


def _offsets(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Return the aligned offsets of buffers of the given sizes, and the total size."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end = -(-(end + size) // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
    return offsets, end


class BatchSender:
    """Sender of batches, which is the worker's end of the transport."""

    def __init__(self, connection: Connection, in_pipe: int) -> None:
        self._connection = connection
        self._in_pipe = in_pipe
        self._segments: dict[int, mmap.mmap] = {}
        self._free: list[int] = []
        self._created_count = 0

    def reuse_segments(self, segments: Sequence[int]) -> None:
        """Record segments that the program has released, for reuse by later batches."""
        self._free += segments

    def send(self, label: Any, buffers: list[Any]) -> None:
        """Send the buffers of a pickled value, and `label`, which describes the message to the receiver."""
        sizes = [buffer.nbytes for buffer in buffers]
        offsets, end = _offsets(sizes)
        if end <= self._in_pipe:
            self._connection.send(
                (Header(label, sizes, -1, 0, ()), [bytearray(buffer) for buffer in buffers])
            )
            return
        segment_id, deleted = self._find(end)
        new = segment_id < 0
        descriptor = -1
        if new:
            segment_id, self._created_count = self._created_count, self._created_count + 1
            reserve = end // 8  # for later batches that are slightly larger
            size = -(-(end + reserve) // mmap.PAGESIZE) * mmap.PAGESIZE
            descriptor = create_file(size)
            self._segments[segment_id] = mmap.mmap(descriptor, size)
        segment = self._segments[segment_id]
        for offset, size, buffer in zip(offsets, sizes, buffers, strict=True):
            segment[offset : offset + size] = buffer
        self._connection.send((Header(label, sizes, segment_id, len(segment) if new else 0, deleted), ()))
        if new:
            with socket.socket(fileno=os.dup(self._connection.fileno())) as pipe:
                socket.send_fds(pipe, [b"."], [descriptor])
            os.close(descriptor)

    def _find(self, size: int) -> tuple[int, list[int]]:
        """Take the smallest free segment of at least `size` bytes (best fit).

        Return its number and an empty list.

        If no free segment is large enough, delete all free segments, and return -1 and the numbers of the
        deleted segments.
        """
        large_enough = [n for n in self._free if len(self._segments[n]) >= size]
        if large_enough:
            best = min(large_enough, key=lambda n: len(self._segments[n]))
            self._free.remove(best)
            return best, []
        deleted, self._free = self._free, []
        for segment_id in deleted:
            self._segments.pop(segment_id).close()
        return -1, deleted


class BatchReceiver:
    """Receiver of batches, which is the main process's end of the transport."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._segments: dict[int, mmap.mmap] = {}
        self._referenced: dict[int, weakref.ref[Any]] = {}
        # segments whose tensors were deleted, added by finalizers in any thread
        self._released: deque[int] = deque()

    def receive(self) -> tuple[Header, Any]:
        """Return the next message without unpickling it. Raise EOFError if the worker has exited."""
        header, inline_buffers = self._connection.recv()
        for segment_id in header.deleted:
            del self._segments[segment_id]
        if header.new:
            with socket.socket(fileno=os.dup(self._connection.fileno())) as pipe:
                _, descriptors, _, _ = socket.recv_fds(pipe, 1, 1)
            if not descriptors:
                raise EOFError
            self._segments[header.segment] = mmap.mmap(descriptors[0], header.new)
            os.close(descriptors[0])
        return header, inline_buffers

    def open(self, message: tuple[Header, Any]) -> Any:
        """Return the value in a message."""
        header, inline_buffers = message
        if header.segment < 0:
            return pickle.loads(inline_buffers[0], buffers=inline_buffers[1:])
        offsets, _ = _offsets(header.sizes)
        segment: Any = np.frombuffer(self._segments[header.segment], np.uint8)
        bytes_of = memoryview(segment)
        payload = [
            bytes_of[offset : offset + size] for offset, size in zip(offsets, header.sizes, strict=True)
        ]
        if len(self._referenced) >= MAX_REFERENCED_SEGMENTS:
            self._released.append(header.segment)
            return pickle.loads(payload[0], buffers=[bytearray(buffer) for buffer in payload[1:]])
        self._track_references(header.segment, segment)
        return pickle.loads(payload[0], buffers=payload[1:])

    def discard(self, message: tuple[Header, Any]) -> None:
        """Release the segment of a message without unpickling it."""
        if message[0].segment >= 0:
            self._released.append(message[0].segment)

    def _track_references(self, segment_id: int, segment: Any) -> None:
        released, referenced = self._released, self._referenced

        def release(_: Any) -> None:
            del referenced[segment_id]
            released.append(segment_id)

        referenced[segment_id] = weakref.ref(segment, release)

    def pop_released_segments(self) -> list[int]:
        """Return the segments that were released since the last call."""
        return [self._released.popleft() for _ in range(len(self._released))]
