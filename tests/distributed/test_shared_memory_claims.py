"""Shared memory references in messages are validated before use."""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import socket
import weakref

import numpy as np
import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")
if not hasattr(os, "memfd_create"):
    pytest.skip("there are files without names on Linux only", allow_module_level=True)

from tests.distributed.shared_memory_messages import MARK, MAX_BYTES, head, copy_frame, part, reference
from ts.distributed.transport import TransportLimits, MalformedMessageError, shm_segments
from ts.distributed.transport.message_codec import MessageDecoder, MessageTooLargeError, MessageEncoder
from ts.distributed.transport.async_connection import AsyncConnection
from ts._core import shared_memory
from ts._core.shared_memory import PAGE_BYTES, NotSharedMemoryError
from ts.distributed.transport.shm_segments import MIN_SHARED_BYTES, SegmentReceiver, SegmentSender


def file_of(size=PAGE_BYTES + MIN_SHARED_BYTES, seals=shared_memory._SEAL_FLAGS, state=1, flags=0, mark=MARK):
    """Create an anonymous memory file with the layout of a segment."""
    file = os.memfd_create("test", os.MFD_ALLOW_SEALING | flags)
    if size:
        os.pwrite(file, bytes([state]).ljust(16) + mark, 0)
    os.ftruncate(file, size)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


@pytest.mark.parametrize(
    "claim",
    {
        "no file": lambda: 1 << 20,
        "one that may become shorter": lambda: file_of(seals=fcntl.F_SEAL_GROW),
        "one that can be written by nobody": lambda: file_of(seals=shared_memory._SEAL_FLAGS | fcntl.F_SEAL_WRITE),
        "no memory": lambda: file_of(size=0),
        "one byte": lambda: file_of(size=1),
        "memory of another connection": lambda: file_of(mark=bytes(16)),
        "a part that is far from all of it": lambda: file_of(size=PAGE_BYTES + 5 * MIN_SHARED_BYTES),
        "more memory than there is": lambda: file_of(size=1 << 60),
        "no memory but the first page": lambda: file_of(size=PAGE_BYTES),
        "less memory": lambda: file_of(size=PAGE_BYTES + MIN_SHARED_BYTES - 1),
        "memory that is free": lambda: file_of(state=0),
        "memory that somebody has": lambda: file_of(state=2),
        "a folder": lambda: os.open("/", os.O_RDONLY),
        "a device": lambda: os.open("/dev/zero", os.O_RDWR),
        "a pipe": lambda: os.pipe()[0],
        "a file with a name": lambda: os.open(__file__, os.O_RDONLY),
    }.items(),
    ids=lambda claim: claim[0],
)
def test_invalid_references(claim):
    """Invalid shared memory references raise an error and leave no mapping or open file."""
    file = claim[1]()
    files = set(os.listdir("/proc/self/fd"))
    with pytest.raises((NotSharedMemoryError, OSError)):
        SegmentReceiver(os.getpid(), MARK).map_segment(reference(file))
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == files
    with contextlib.suppress(OSError):
        os.close(file)


def test_other_files_are_not_opened(tmp_path):
    """A file that is not a shared memory segment is not opened, which a lease on the file would detect."""
    opened = []
    before = signal.signal(signal.SIGIO, lambda *how: opened.append(how))
    file = os.open(tmp_path / "named", os.O_RDONLY | os.O_CREAT)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        with pytest.raises(NotSharedMemoryError, match="not an unnamed file"):
            SegmentReceiver(os.getpid(), MARK).map_segment(reference(file))
        assert fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_RDLCK and not opened
    finally:
        os.close(file)
        signal.signal(signal.SIGIO, before)


def test_unallocated_pages():
    """A segment of unallocated huge pages is rejected, because reading them ends the process (SIGBUS)."""
    try:
        file = file_of(size=1 << 22, flags=os.MFD_HUGETLB)
    except OSError as error:
        pytest.skip(f"this system has no huge pages: {error}")
    with pytest.raises(NotSharedMemoryError, match="shorter"):
        SegmentReceiver(os.getpid(), MARK).map_segment(reference(file))
    os.close(file)


def test_a_segment_of_another_connection(segment_ends):
    """A reference to a segment of another connection is rejected, although file numbers are reused."""
    late = copy_frame(segment_ends[0], part(MIN_SHARED_BYTES, 1))
    segment_ends[0].close()
    with contextlib.closing(SegmentSender(MAX_BYTES, bytes(16))) as other:
        other.copy_to_segment(part(MIN_SHARED_BYTES, 2).data)
        claims = [other.copy_to_segment(part(MIN_SHARED_BYTES, 2).data) for _ in range(5)]
        assert late in claims
        with pytest.raises(NotSharedMemoryError, match="another connection"):
            segment_ends[1].map_segment(late)
        with contextlib.closing(SegmentReceiver(os.getpid(), bytes(16))) as receiver:
            np.testing.assert_array_equal(receiver.map_segment(late), part(MIN_SHARED_BYTES, 2))


def test_another_process(server):
    """A reference to a process that has ended raises OSError."""
    with pytest.raises(OSError):
        SegmentReceiver(1 << 30, MARK).map_segment(reference(5))


def read(reader, data):
    reader.target()[: len(data)] = data
    return reader.received(len(data))


def test_references_without_shared_memory():
    """A reference without negotiated shared memory raises `MalformedMessageError`."""
    with pytest.raises(MalformedMessageError, match="does not share"):
        read(MessageDecoder(), head(reference(5)))


def test_limits_of_references():
    """References above the size limit are rejected before a file is opened."""
    with pytest.raises(MalformedMessageError, match=f"announces {MIN_SHARED_BYTES + 5} bytes, 1000 are allowed"):
        read(MessageDecoder(TransportLimits(bytes=1000), SegmentReceiver(os.getpid(), MARK)), head(reference(5)))


def fail_allocation(*how):
    raise OSError(12, "Cannot allocate memory")


def test_failed_mapping(segment_ends, monkeypatch):
    """A shared memory part is copied if the segment cannot be mapped."""
    sender, receiver = segment_ends
    frame = copy_frame(sender, part(MIN_SHARED_BYTES, 1))
    monkeypatch.setattr(shm_segments.mmap, "mmap", fail_allocation)
    np.testing.assert_array_equal(receiver.map_segment(frame), part(MIN_SHARED_BYTES, 1))
    assert sender.copy_to_segment(part(MIN_SHARED_BYTES).data) == frame


def no_memory(*how):
    raise MemoryError


def test_failed_allocation(segment_ends, monkeypatch):
    """A failed allocation for a part raises an error; the connection continues and the segment is reused."""
    sender, receiver = segment_ends
    reader = MessageDecoder(receiver=receiver)
    reader.spares = True
    frame = copy_frame(sender, part(MIN_SHARED_BYTES))
    monkeypatch.setattr(shm_segments.mmap, "mmap", fail_allocation)
    monkeypatch.setattr(shm_segments.np, "empty", no_memory)
    (found,) = read(reader, head(frame))
    assert (type(found), found.size) == (MessageTooLargeError, MIN_SHARED_BYTES)
    monkeypatch.undo()
    assert sender.copy_to_segment(part(MIN_SHARED_BYTES, 1).data) == frame
    (message,) = read(reader, head(frame))
    np.testing.assert_array_equal(message[0], part(MIN_SHARED_BYTES, 1))


def test_failed_allocation_without_message_skipping(segment_ends, monkeypatch):
    """A failed allocation in a connection that cannot skip a message raises `MalformedMessageError`."""
    sender, receiver = segment_ends
    reader, frame = MessageDecoder(receiver=receiver), copy_frame(sender, part(MIN_SHARED_BYTES))
    monkeypatch.setattr(shm_segments, "_mapping", no_memory)
    with pytest.raises(MalformedMessageError, match=f"announces {MIN_SHARED_BYTES} bytes, which cannot be allocated"):
        read(reader, head(frame))


def test_bytes_in_flight_are_bounded(segment_ends, monkeypatch):
    """The bytes in flight to a slow reader are bounded; further parts are sent through the socket."""
    sender, receiver = segment_ends
    monkeypatch.setattr(shm_segments, "_MAX_IN_FLIGHT_BYTES", 3 * MIN_SHARED_BYTES)
    sender.copy_to_segment(part(MIN_SHARED_BYTES).data)
    sent = [sender.copy_to_segment(part(MIN_SHARED_BYTES).data) for _ in range(5)]
    assert sent[3:] == [None, None] and None not in sent[:3]
    assert sender.has_unconsumed_segments
    for each in sent[:3]:
        receiver.map_segment(each)
    assert not sender.has_unconsumed_segments
    assert sender.copy_to_segment(part(MIN_SHARED_BYTES).data) is not None


@pytest.mark.parametrize("rest", [b"\7" + b"12345", b"\0" + b"1234"], ids=["no message", "no end"])
def test_received_segments_are_released_with_their_connection(segment_ends, rest):
    """Received segments are released with their connection, without waiting for a garbage collection."""
    sender, receiver = segment_ends
    frame, mapped = copy_frame(sender, part(MIN_SHARED_BYTES)), len(shm_segments._mapped)

    async def main():
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        stream = AsyncConnection(ours, MessageDecoder(receiver=receiver), MessageEncoder())
        with theirs:
            theirs.sendall(head(frame, 5)[:-1] + rest)
            theirs.shutdown(socket.SHUT_WR)
            while not stream.closed:
                await asyncio.sleep(0.01)
        return [*map(weakref.ref, (stream, stream._reader))]

    gc.disable()
    try:
        found = asyncio.run(asyncio.wait_for(main(), 20))
        assert [each() for each in found] == [None, None]
        assert len(shm_segments._mapped) == mapped
    finally:
        gc.enable()


def test_socket_frame_after_a_shared_frame(segment_ends):
    """The order of frames is preserved between socket and shared memory frames."""
    sender, receiver = segment_ends
    sender.copy_to_segment(part(MIN_SHARED_BYTES).data)
    message = [part(MIN_SHARED_BYTES, 1).data, b"b" * 5000, part(MIN_SHARED_BYTES, 2).data, 3]
    data = b"".join(MessageEncoder(sender=sender).pack(message))
    assert len(data) < MIN_SHARED_BYTES + 6000
    first, second, third, fourth = read_all(MessageDecoder(receiver=receiver), data)
    np.testing.assert_array_equal(first, part(MIN_SHARED_BYTES, 1))
    assert (second, fourth) == (b"b" * 5000, 3)
    np.testing.assert_array_equal(third, part(MIN_SHARED_BYTES, 2))


def read_all(reader, data):
    found = []
    while data:
        target = reader.target()
        count = min(len(target), len(data))
        target[:count] = data[:count]
        data = data[count:]
        found += reader.received(count)
    (message,) = found
    return message
