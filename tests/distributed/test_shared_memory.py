"""Large message parts between processes of one machine are sent through shared memory."""

import asyncio
import gc
import os
import signal
import struct
import threading

import numpy as np
import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")
if not hasattr(os, "memfd_create"):
    pytest.skip("there are files without names on Linux only", allow_module_level=True)

from distributed.comm import listen

from tests.distributed import SECRET
from tests.distributed.long_lived_processes import start_long_lived_process
from tests.distributed.shared_memory_messages import MAX_BYTES, head, part, reference, shared_files
from ts.distributed.transport import BlockingConnection, TransportLimits, Security, shm_negotiation
from ts.distributed.transport.transport import connect
from ts.distributed.transport.shm_segments import MIN_SHARED_BYTES, SHARED_MEMORY_FLAG, SegmentReceiver, SegmentSender


@pytest.fixture
def channel(server):
    connection = BlockingConnection(server.address, secret=SECRET)
    yield connection
    connection.close()


def echo(channel, data):
    return np.frombuffer(channel.call({"op": "echo", "data": data.data}, timeout=20), np.uint8)


# ---- negotiation


def agree(first, second):
    """Run the negotiation of two ends and return the result of each."""
    results = []
    (data, want), (_, other_want) = next(first), next(second)
    sender, other = second, first
    while len(results) < 2:
        try:
            data, new = sender.send(data)
        except StopIteration as end:
            results.append((sender, end.value))
            data, new = b"", 0
        sender, other = other, sender
    return [dict(results)[each] for each in (first, second)]


def test_ends_on_one_machine():
    """Ends of one machine and user negotiate shared memory."""
    for sender, receiver in agree(shm_negotiation.listener(MAX_BYTES), shm_negotiation.connector(MAX_BYTES)):
        assert isinstance(sender, SegmentSender) and isinstance(receiver, SegmentReceiver)


@pytest.mark.parametrize("listener, connector", [(0, MAX_BYTES), (MAX_BYTES, 0), (0, 0)])
def test_one_end_without_shared_memory(listener, connector):
    """If one end disables shared memory, neither end uses it."""
    for shared in agree(shm_negotiation.listener(listener), shm_negotiation.connector(connector)):
        assert shared == (None, None)


def test_without_files(monkeypatch):
    """Shared memory is disabled if the system has no free file descriptors."""

    def none(size):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(shm_negotiation, "create_sealed_file", none)
    for shared in agree(shm_negotiation.listener(MAX_BYTES), shm_negotiation.connector(MAX_BYTES)):
        assert shared == (None, None)


def test_copied_offer():
    """An offer copied from another process is rejected, because its sender does not know the key in the
    file."""
    steps = shm_negotiation.listener(MAX_BYTES)
    ours, want = next(steps)
    steps.send(ours + bytes(want - len(ours)))  # an offer with a process ID and file number of this process
    with pytest.raises(StopIteration) as end:
        steps.send(b"\1")
    assert end.value.value.receiver is None


@pytest.mark.parametrize("file", [0, 1, 7, 1 << 31])
def test_offers_of_invalid_keys(file):
    """An offer with an invalid key is rejected for every file."""
    steps = shm_negotiation.connector(MAX_BYTES)
    next(steps)
    steps.send(struct.pack("<II16s", os.getpid(), file, bytes(16)))
    data, _ = steps.send(bytes(32) + b"\0")
    assert data == b"\0"
    with pytest.raises(StopIteration) as end:
        steps.send(b"")
    assert end.value.value == (None, None)


def test_public_file_as_a_key():
    """A file with readable contents is rejected as a key file."""
    file = os.memfd_create("test")
    os.write(file, bytes(32))
    steps = shm_negotiation.connector(MAX_BYTES)
    next(steps)
    data, _ = steps.send(struct.pack("<II16s", os.getpid(), file, bytes(16)))
    nonce = data[8:24]
    proof = shm_negotiation._proof(bytes(32), b"listener", nonce, bytes(16))
    assert steps.send(proof + b"\1")[0] == b"\0"
    os.close(file)


@pytest.mark.parametrize("changed", [False, True])
def test_relayed_offer_cannot_be_changed(changed):
    """The nonce that identifies segments is covered by the proof."""
    listener, connector = shm_negotiation.listener(MAX_BYTES), shm_negotiation.connector(MAX_BYTES)
    offer, _ = next(listener)
    next(connector)
    answer, _ = connector.send(offer)
    relayed = answer[:8] + bytes(16) + answer[24:] if changed else answer
    assert listener.send(relayed)[0][-1:] == (b"\0" if changed else b"\1")


# ---- connections between processes


def test_calls(channel):
    """Calls return parts of all sizes unchanged, most of them through shared memory."""
    for number in range(40):
        data = part(MIN_SHARED_BYTES // 2 * (number % 5 + 1), number)
        np.testing.assert_array_equal(echo(channel, data), data)
    assert channel._writer.sender._segments
    assert channel._reader.receiver._mappings


def test_retained_answers_do_not_change(channel):
    """Retained answers are not changed by later answers."""
    kept = [echo(channel, part(MIN_SHARED_BYTES, number)) for number in range(60)]
    for number, found in enumerate(kept):
        np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, number))


@pytest.mark.parametrize("limits", [TransportLimits(shared=0), TransportLimits(shared=MIN_SHARED_BYTES - 1)])
def test_ends_without_shared_memory(server, limits):
    """Without shared memory, all parts are sent over the socket."""
    channel = BlockingConnection(server.address, secret=SECRET, limits=limits)
    for number in range(4):
        data = part(MIN_SHARED_BYTES, number)
        np.testing.assert_array_equal(echo(channel, data), data)
    assert channel._writer.sender is None or not channel._writer.sender._segments
    channel.close()


def test_encrypted_connections_use_no_shared_memory():
    """Encrypted connections do not use shared memory."""
    pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")
    security = Security.temporary()

    async def return_data(comm):
        for _ in range(3):
            await comm.write(await comm.read())

    async def main():
        listener = await listen("ts+tls://", return_data, **security.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **security.get_connection_args("client"))
        for number in range(3):
            await comm.write(part(MIN_SHARED_BYTES, number).data)
            np.testing.assert_array_equal(await comm.read(), part(MIN_SHARED_BYTES, number))
        assert comm.stream._writer.sender is None
        comm.abort()
        listener.stop()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_data_written_before_close_arrives():
    """`close` waits until the other end has received all written data."""
    security = Security(secret=SECRET)

    async def main():
        got = asyncio.Queue()

        async def read_late(comm):
            for _ in range(3):
                await asyncio.sleep(0.1)
                got.put_nowait(await comm.read())

        listener = await listen("ts://", read_late, **security.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **security.get_connection_args("client"))
        for number in range(3):
            await comm.write(part(MIN_SHARED_BYTES, number).data)
        await comm.close()
        for number in range(3):
            np.testing.assert_array_equal(await got.get(), part(MIN_SHARED_BYTES, number))
        listener.stop()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_threads_of_one_process(server):
    """Threads of one process use shared memory over separate connections."""
    wrong = []

    def thread(number):
        channel = BlockingConnection(server.address, secret=SECRET)
        for turn in range(20):
            data = part(MIN_SHARED_BYTES + turn * 1000, number * 100 + turn)
            if not np.array_equal(echo(channel, data), data):
                wrong.append((number, turn))
        channel.close()

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_a_process_that_is_killed():
    """Data received from a killed process stays valid; its other shared files are released."""
    files = shared_files()
    with start_long_lived_process("tests.distributed.echo_server", status=-signal.SIGKILL) as other:
        channel = BlockingConnection(other.address, secret=SECRET)
        kept = [echo(channel, part(MIN_SHARED_BYTES, number)) for number in range(3)]
        os.kill(other.pid, signal.SIGKILL)
        with pytest.raises(OSError):
            echo(channel, part(MIN_SHARED_BYTES))
    for number, found in enumerate(kept):
        np.testing.assert_array_equal(found, part(MIN_SHARED_BYTES, number))
    assert channel.closed and not channel._writer.sender._segments
    del kept, found, channel
    gc.collect()
    assert shared_files() == files


def test_cancelled_call_does_not_read_another_segment():
    """A cancelled call does not read the segment of the next call, although its file number is reused."""
    with start_long_lived_process("tests.distributed.echo_server") as other:
        first, second = (BlockingConnection(other.address, secret=SECRET) for _ in range(2))
        for each in (first, second):
            echo(each, part(MIN_SHARED_BYTES))  # later parts of this size use a segment
        os.kill(other.pid, signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            first.call({"op": "echo", "data": part(MIN_SHARED_BYTES, 1).data}, timeout=0.1)
        threading.Timer(0.3, os.kill, (other.pid, signal.SIGCONT)).start()
        np.testing.assert_array_equal(echo(second, part(MIN_SHARED_BYTES, 2)), part(MIN_SHARED_BYTES, 2))
        second.close()


def test_false_references_of_an_authenticated_peer(server):
    """A reference to a nonexistent segment from an authenticated peer closes the connection."""
    for claim in (reference(1 << 20), reference(0), SHARED_MEMORY_FLAG | (1 << 40) - 1):
        channel = BlockingConnection(server.address, secret=SECRET)
        channel._socket.sendall(head(claim))
        with pytest.raises(OSError):
            channel.receive()
        channel.close()
    channel = BlockingConnection(server.address, secret=SECRET)
    np.testing.assert_array_equal(echo(channel, part(MIN_SHARED_BYTES)), part(MIN_SHARED_BYTES))
    channel.close()


def test_memory_of_a_server_is_bounded(server):
    """The memory of a server is bounded during thousands of large calls over hundreds of connections."""
    import psutil

    process = psutil.Process(server.pid)

    def some():
        for _ in range(50):
            channel = BlockingConnection(server.address, secret=SECRET)
            for number in range(4):
                echo(channel, part(MIN_SHARED_BYTES, number))
            channel.close()

    some()
    before, files = process.memory_info().rss, process.num_fds()
    for _ in range(3):
        some()
    assert process.memory_info().rss < before + (32 << 20)
    assert process.num_fds() < files + 10
