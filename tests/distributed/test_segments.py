"""Shared memory segments: received data stays valid, independently of the sender."""

import gc
import os
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")
if not hasattr(os, "memfd_create"):
    pytest.skip("there are files without names on Linux only", allow_module_level=True)

from tests.distributed.shared_memory_messages import MARK, MAX_BYTES, copy_frame, part, shared_files
from ts.distributed.transport import shm_segments
from ts._core.shared_memory import PAGE_BYTES
from ts.distributed.transport.shm_segments import MIN_SHARED_BYTES, SegmentSender


def test_parts_reuse_segments(segment_ends):
    """The first part of a size is sent by socket, later parts by segments; received memory is reused after
    its release."""
    sender, receiver = segment_ends
    data = part(MIN_SHARED_BYTES)
    assert sender.copy_to_segment(data.data) is None
    numbers = set()
    for number in range(4):
        data = part(MIN_SHARED_BYTES, number)
        reference = sender.copy_to_segment(data.data)
        numbers.add(reference)
        data[:] = 0  # the frame was copied
        found = np.frombuffer(receiver.map_segment(reference), np.uint8)
        np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, number))
        found[:] = 7
        del found
    assert len(numbers) == 1


def test_held_segments_are_not_overwritten(segment_ends):
    """Segments that the receiver holds are not overwritten; above their maximum number parts use the
    socket."""
    sender, receiver = segment_ends
    frames = []
    sender.copy_to_segment(part(MIN_SHARED_BYTES).data)
    for number in range(1000):
        reference = sender.copy_to_segment(part(MIN_SHARED_BYTES, number).data)
        if reference is None:
            break
        frames.append(np.frombuffer(receiver.map_segment(reference), np.uint8))
    assert len(frames) == shm_segments._MAX_CACHED_SEGMENTS
    for number, found in enumerate(frames):
        np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, number))
    del frames[0], found
    assert sender.copy_to_segment(part(MIN_SHARED_BYTES).data) is not None


def test_segment_bytes_are_bounded(segment_ends, monkeypatch):
    """Unused segments are released when the byte limit is reached."""
    sender, receiver = segment_ends
    monkeypatch.setitem(shm_segments._RECLAIM_AFTER_SECONDS, shm_segments._FREE, 0.0)
    for size in (MAX_BYTES // 2, MAX_BYTES // 4, MAX_BYTES // 4, MAX_BYTES):
        reference = copy_frame(sender, part(size))
        assert receiver.map_segment(reference).nbytes == size
        assert sum(shm_segments._created_bytes.values()) <= MAX_BYTES
    assert copy_frame(sender, part(2 * MAX_BYTES)) is None


def test_segments_held_long_pass_to_the_receiver(segment_ends, monkeypatch):
    """A segment held for a long time passes to the receiver, unchanged, and no longer counts for the
    sender."""
    sender, receiver = segment_ends
    monkeypatch.setitem(shm_segments._RECLAIM_AFTER_SECONDS, shm_segments._CONSUMED, 0.5)
    first = np.frombuffer(receiver.map_segment(copy_frame(sender, part(MAX_BYTES, 1))), np.uint8)
    assert sender.copy_to_segment(part(MAX_BYTES, 2).data) is None
    time.sleep(0.6)
    second = np.frombuffer(receiver.map_segment(sender.copy_to_segment(part(MAX_BYTES, 2).data)), np.uint8)
    np.testing.assert_array_equal(first, part(MAX_BYTES, 1))
    np.testing.assert_array_equal(second, part(MAX_BYTES, 2))


def test_idle_connections_make_room_for_others(segment_ends, monkeypatch):
    """Segments of idle connections are released for other connections; recently used segments are kept."""
    idle, receiver = segment_ends
    receiver.map_segment(copy_frame(idle, part(MAX_BYTES)))
    sender = SegmentSender(MAX_BYTES, MARK)
    assert copy_frame(sender, part(MAX_BYTES)) is None
    monkeypatch.setitem(shm_segments._RECLAIM_AFTER_SECONDS, shm_segments._FREE, 0.0)
    assert copy_frame(sender, part(MAX_BYTES)) is not None
    assert not idle._segments
    sender.close()


def test_memory_outlives_the_connection(segment_ends):
    """Received memory stays valid after the connection ends, and its files are closed."""
    sender, receiver = segment_ends
    files = shared_files()
    found = np.frombuffer(receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES, 3))), np.uint8)
    sender.close()
    receiver.close()
    assert sender.copy_to_segment(part(MIN_SHARED_BYTES).data) is None
    np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, 3))
    del found
    gc.collect()
    assert shared_files() == files


def test_parts_of_several_sizes_in_one_segment(segment_ends):
    """One segment holds parts of several sizes, within and beyond the pages of the last part."""
    sender, receiver = segment_ends
    sender.copy_to_segment(part(MIN_SHARED_BYTES + 1).data)
    for number, more in enumerate((1, 9000, 5, MIN_SHARED_BYTES, 9001)):
        data = part(MIN_SHARED_BYTES + more, number)
        np.testing.assert_array_equal(receiver.map_segment(sender.copy_to_segment(data.data)), data)
    assert len(sender._segments) == 1


@pytest.mark.parametrize("after", [0, PAGE_BYTES])
def test_no_memory_for_a_segment(segment_ends, monkeypatch, after):
    """Without memory for a segment, parts use the socket; `pwrite` reports the failure, without a signal."""
    sender, receiver = segment_ends
    sender.copy_to_segment(part(MIN_SHARED_BYTES).data)
    pwrite = os.pwrite

    def full(file, data, at):
        if at < after:
            return pwrite(file, data, at)
        raise OSError(28, "No space left on device")

    files = shared_files()
    monkeypatch.setattr(os, "pwrite", full)
    assert [sender.copy_to_segment(part(MIN_SHARED_BYTES, 1).data) for _ in range(3)] == [None] * 3
    assert shared_files() <= files + 2  # one segment is retried later
    monkeypatch.undo()
    reference = sender.copy_to_segment(part(MIN_SHARED_BYTES, 2).data)
    np.testing.assert_array_equal(receiver.map_segment(reference), part(MIN_SHARED_BYTES, 2))


def test_unclosed_sender_releases_its_segments():
    """Segments of an unclosed sender are released with it."""
    before = dict(shm_segments._created_bytes)
    sender = SegmentSender(MAX_BYTES, MARK)
    assert copy_frame(sender, part(MIN_SHARED_BYTES)) is not None
    assert shm_segments._created_bytes != before
    del sender
    gc.collect()
    assert shm_segments._created_bytes == before


def test_parts_are_copied_above_the_mapping_limit(segment_ends, monkeypatch):
    """Parts are copied if the limit of mappings is reached."""
    sender, receiver = segment_ends
    monkeypatch.setattr(shm_segments, "_MAX_CACHED_MAPPINGS", len(shm_segments._mapped))
    for number in range(3):
        found = np.frombuffer(receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES, number))), np.uint8)
        np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, number))
    assert not receiver._mappings


def test_forked_process_keeps_received_data(segment_ends):
    """A segment that is mapped by two processes is never returned to the sender."""
    sender, receiver = segment_ends
    found = np.frombuffer(receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES, 1))), np.uint8)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.read(reader, 1)
        os._exit(0 if (found == part(MIN_SHARED_BYTES, 1)).all() else 1)
    del found
    for number in range(5):
        receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES, number + 2)))
    os.write(writer, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(reader)
    os.close(writer)


def test_forked_process_releases_no_segments(segment_ends):
    """A forked child that closes the sender releases no segments of its parent."""
    sender, receiver = segment_ends
    receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES)))
    (mapping,) = receiver._mappings.values()
    child = os.fork()
    if not child:
        sender.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    receiver.map_segment(copy_frame(sender, part(MIN_SHARED_BYTES)))
    assert [*receiver._mappings.values()] == [mapping]


@pytest.mark.parametrize("size", [MIN_SHARED_BYTES - 1, 0, 1])
def test_small_parts(segment_ends, size):
    """Small parts are not sent through shared memory."""
    assert copy_frame(segment_ends[0], part(size)) is None
