"""Large parts of messages between processes of one machine lie in memory that both have: as if they had been sent."""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import struct
import threading
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")
if not hasattr(os, "memfd_create"):
    pytest.skip("there are files without names on Linux only", allow_module_level=True)

from distributed.comm import listen

from tests.distributed import SECRET
from tests.distributed.lasting import lasting
from ts.distributed.comm import Channel, Limits, MalformedMessage, Security, segments, sharing
from ts.distributed.comm.backend import connect
from ts.distributed.comm.messages import Reader, TooLarge, Writer
from ts.distributed.comm.segments import LEAST, PAGE, SHARED, Borrower, Lender, NotShared

MOST = 1 << 22


def part(size, number=0):
    """Bytes that are told apart by their number."""
    return (np.arange(size, dtype=np.uint64) * 2654435761 + number).astype(np.uint8)


def shared_files():
    """How many files of segments this process has open."""
    found = 0
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # of the listing itself
            found += "memfd:ts.distributed" in os.readlink(f"/proc/self/fd/{each}")
    return found


def lent(lender, data):
    """A reference to a part; the first of its size goes over the socket."""
    reference = lender.lend(data.data)
    return reference if reference is not None else lender.lend(data.data)


@pytest.fixture
def ends():
    """Of a connection of this process to itself."""
    lender, borrower = Lender(MOST), Borrower(os.getpid())
    yield lender, borrower
    lender.close()
    borrower.close()


@pytest.fixture
def channel(server):
    made = Channel(server.address, secret=SECRET)
    yield made
    made.close()


def echo(channel, data):
    return np.frombuffer(channel.call({"op": "echo", "data": data.data}, timeout=20), np.uint8)


# ---- segments


def test_a_part_there_and_back(ends):
    """Only the first of a size is not lent; memory is the receiver's own, and is used again when it is gone."""
    lender, borrower = ends
    data = part(LEAST)
    assert lender.lend(data.data) is None
    numbers = set()
    for number in range(4):
        data = part(LEAST, number)
        reference = lender.lend(data.data)
        numbers.add(reference)
        data[:] = 0  # it was copied
        found = np.frombuffer(borrower.take(reference), np.uint8)
        np.testing.assert_array_equal(found, part(LEAST, number))
        found[:] = 7
        del found
    assert len(numbers) == 1


def test_what_is_kept_is_not_written_to(ends):
    """As many segments as are allowed, then the socket."""
    lender, borrower = ends
    kept = []
    lender.lend(part(LEAST).data)
    for number in range(1000):
        reference = lender.lend(part(LEAST, number).data)
        if reference is None:
            break
        kept.append(np.frombuffer(borrower.take(reference), np.uint8))
    assert len(kept) == segments._SEGMENTS
    for number, found in enumerate(kept):
        np.testing.assert_array_equal(found, part(LEAST, number))
    del kept[0], found
    assert lender.lend(part(LEAST).data) is not None


def test_as_many_bytes_as_allowed(ends):
    """Segments that nobody uses make room for others."""
    lender, borrower = ends
    for size in (MOST // 2, MOST // 4, MOST // 4, MOST):
        reference = lent(lender, part(size))
        assert borrower.take(reference).nbytes == size
        assert sum(segments._made.values()) <= MOST
    assert lent(lender, part(2 * MOST)) is None


def test_what_is_kept_long_is_the_receivers(ends, monkeypatch):
    """Others may have segments again, and it stays as it is."""
    lender, borrower = ends
    monkeypatch.setattr(segments, "_LENT", 0.5)
    first = np.frombuffer(borrower.take(lent(lender, part(MOST, 1))), np.uint8)
    assert lender.lend(part(MOST, 2).data) is None
    time.sleep(0.6)
    second = np.frombuffer(borrower.take(lender.lend(part(MOST, 2).data)), np.uint8)
    np.testing.assert_array_equal(first, part(MOST, 1))
    np.testing.assert_array_equal(second, part(MOST, 2))


def test_memory_outlives_the_connection(ends):
    """And files do not."""
    lender, borrower = ends
    files = shared_files()
    found = np.frombuffer(borrower.take(lent(lender, part(LEAST, 3))), np.uint8)
    lender.close()
    borrower.close()
    assert lender.lend(part(LEAST).data) is None
    np.testing.assert_array_equal(found, part(LEAST, 3))
    del found
    gc.collect()
    assert shared_files() == files


def test_a_lender_that_nobody_closes():
    """Its segments go with it."""
    before = dict(segments._made)
    lender = Lender(MOST)
    assert lent(lender, part(LEAST)) is not None
    assert segments._made != before
    del lender
    gc.collect()
    assert segments._made == before


def test_more_mappings_than_files_may_be_taken_by(ends, monkeypatch):
    """Parts are copied."""
    lender, borrower = ends
    monkeypatch.setattr(segments, "_MAPPINGS", len(segments._mapped))
    for number in range(3):
        found = np.frombuffer(borrower.take(lent(lender, part(LEAST, number))), np.uint8)
        np.testing.assert_array_equal(found, part(LEAST, number))
    assert not borrower._mappings


def test_a_forked_process_keeps_what_it_has(ends):
    """Memory that two processes have is never given back."""
    lender, borrower = ends
    found = np.frombuffer(borrower.take(lent(lender, part(LEAST, 1))), np.uint8)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.read(reader, 1)
        os._exit(0 if (found == part(LEAST, 1)).all() else 1)
    del found
    for number in range(5):
        borrower.take(lent(lender, part(LEAST, number + 2)))
    os.write(writer, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("size", [LEAST - 1, 0, 1])
def test_small_parts(ends, size):
    """They are not worth it."""
    assert lent(ends[0], part(size)) is None


# ---- what others claim


def file_of(size=PAGE + LEAST, seals=segments._SEALS, state=1, flags=0):
    """A file without a name."""
    file = os.memfd_create("test", os.MFD_ALLOW_SEALING | flags)
    os.ftruncate(file, size)
    os.pwrite(file, bytes([state]), 0)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


def reference(file, size=LEAST):
    return SHARED | file << 40 | size


@pytest.mark.parametrize(
    "claim",
    {
        "no file": lambda: 1 << 20,
        "one that may become shorter": lambda: file_of(seals=fcntl.F_SEAL_GROW),
        "one that can be written by nobody": lambda: file_of(seals=segments._SEALS | fcntl.F_SEAL_WRITE),
        "no memory": lambda: file_of(size=0),
        "no memory but the first page": lambda: file_of(size=PAGE),
        "less memory": lambda: file_of(size=PAGE + LEAST - 1),
        "memory that is free": lambda: file_of(state=0),
        "memory that somebody has": lambda: file_of(state=2),
        "a folder": lambda: os.open("/", os.O_RDONLY),
        "a device": lambda: os.open("/dev/zero", os.O_RDWR),
        "a pipe": lambda: os.pipe()[0],
        "a file with a name": lambda: os.open(__file__, os.O_RDONLY),
    }.items(),
    ids=lambda claim: claim[0],
)
def test_claims(claim):
    """Each is an error, and nothing is mapped or left open."""
    file = claim[1]()
    files = set(os.listdir("/proc/self/fd"))
    with pytest.raises((NotShared, OSError)):
        Borrower(os.getpid()).take(reference(file))
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == files
    with contextlib.suppress(OSError):
        os.close(file)


def test_pages_that_may_not_be_there():
    """Reading a huge page that the system does not have ends a process."""
    try:
        file = file_of(size=1 << 22, flags=os.MFD_HUGETLB)
    except OSError as error:
        pytest.skip(f"this system has no huge pages: {error}")
    with pytest.raises(NotShared, match="shorter"):
        Borrower(os.getpid()).take(reference(file))
    os.close(file)


def test_another_process(server):
    """Of a process that has gone there is nothing."""
    with pytest.raises(OSError):
        Borrower(1 << 30).take(reference(5))


def head(*sizes):
    """A message of one frame for each size, which the message names."""
    names = b"\x91\x81\xc4\x00\x00"  # [{b"": 0}]
    return struct.pack(f"<II{len(sizes)}Q", len(names), len(sizes), *sizes) + names


def read(reader, data):
    reader.target()[: len(data)] = data
    return reader.received(len(data))


def test_references_to_who_shares_nothing():
    """A message that is none."""
    with pytest.raises(MalformedMessage, match="does not share"):
        read(Reader(), head(reference(5)))


def test_references_are_held_to_limits():
    """Before anything is opened."""
    with pytest.raises(MalformedMessage, match=f"announces {LEAST + 5} bytes, 1000 are allowed"):
        read(Reader(Limits(bytes=1000), Borrower(os.getpid())), head(reference(5)))


def test_no_memory_to_map(ends, monkeypatch):
    """A message of a connection that goes on; its segment is used again."""
    lender, borrower = ends
    reader = Reader(borrower=borrower)
    reader.spares = True

    def none(*how):
        raise OSError(12, "Cannot allocate memory")

    made = lent(lender, part(LEAST))
    monkeypatch.setattr(segments.mmap, "mmap", none)
    (found,) = read(reader, head(made))
    assert (type(found), found.size) == (TooLarge, LEAST)
    monkeypatch.undo()
    assert lender.lend(part(LEAST, 1).data) == made
    (message,) = read(reader, head(made))
    np.testing.assert_array_equal(message[0], part(LEAST, 1))


def test_no_memory_to_map_and_nobody_is_told(ends, monkeypatch):
    """As above, where a message cannot be passed over."""
    lender, borrower = ends
    made = lent(lender, part(LEAST))
    monkeypatch.setattr(segments, "_mapping", lambda *how: np.empty(1 << 60, np.uint8))
    with pytest.raises(MalformedMessage, match=f"announces {LEAST} bytes, which this process cannot have"):
        read(Reader(borrower=borrower), head(made))


def test_who_does_not_read_is_sent_less(ends, monkeypatch):
    """What is on its way is bounded: the rest waits for a place in the socket."""
    lender, borrower = ends
    monkeypatch.setattr(segments, "_ON_ITS_WAY", 3 * LEAST)
    lender.lend(part(LEAST).data)
    sent = [lender.lend(part(LEAST).data) for _ in range(5)]
    assert sent[3:] == [None, None] and None not in sent[:3]
    assert lender.on_its_way
    for each in sent[:3]:
        borrower.take(each)
    assert not lender.on_its_way
    assert lender.lend(part(LEAST).data) is not None


def test_a_frame_behind_one_in_a_segment(ends):
    """The order of frames stays."""
    lender, borrower = ends
    lender.lend(part(LEAST).data)
    message = [part(LEAST, 1).data, b"b" * 5000, part(LEAST, 2).data, 3]
    data = b"".join(Writer(lender=lender).pack(message))
    assert len(data) < LEAST + 6000
    first, second, third, fourth = read_all(Reader(borrower=borrower), data)
    np.testing.assert_array_equal(first, part(LEAST, 1))
    assert (second, fourth) == (b"b" * 5000, 3)
    np.testing.assert_array_equal(third, part(LEAST, 2))


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


# ---- who shares


def agree(first, second):
    """What two ends find out."""
    results = []
    (data, want), (_, other_want) = next(first), next(second)
    speaker, other = second, first
    while len(results) < 2:
        try:
            data, new = speaker.send(data)
        except StopIteration as end:
            results.append((speaker, end.value))
            data, new = b"", 0
        speaker, other = other, speaker
    return [dict(results)[each] for each in (first, second)]


def test_both_ends_see_each_other():
    """Of one machine and user."""
    for lender, borrower in agree(sharing.listener(MOST), sharing.connector(MOST)):
        assert isinstance(lender, Lender) and isinstance(borrower, Borrower)


@pytest.mark.parametrize("listener, connector", [(0, MOST), (MOST, 0), (0, 0)])
def test_one_does_not_want_to(listener, connector):
    """Then neither does."""
    for shared in agree(sharing.listener(listener), sharing.connector(connector)):
        assert shared == (None, None)


def test_without_files(monkeypatch):
    """Nothing is shared where the system has no more files."""

    def none(size):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(sharing, "make_sealed", none)
    for shared in agree(sharing.listener(MOST), sharing.connector(MOST)):
        assert shared == (None, None)


def test_an_offer_that_is_anothers():
    """Who says what another process said does not know the key in its file."""
    steps = sharing.listener(MOST)
    ours, want = next(steps)
    steps.send(ours + bytes(want - len(ours)))  # this process, this file
    with pytest.raises(StopIteration) as end:
        steps.send(b"\1")
    assert end.value.value.borrower is None


@pytest.mark.parametrize("file", [0, 1, 7, 1 << 31])
def test_an_offer_of_what_is_no_key(file):
    """Whatever the other end names."""
    steps = sharing.connector(MOST)
    next(steps)
    steps.send(struct.pack("<II16s", os.getpid(), file, bytes(16)))
    data, _ = steps.send(bytes(32) + b"\0")
    assert data == b"\0"
    with pytest.raises(StopIteration) as end:
        steps.send(b"")
    assert end.value.value == (None, None)


def test_a_file_that_anybody_knows():
    """32 bytes that are written somewhere are no key."""
    file = os.memfd_create("test")
    os.write(file, bytes(32))
    steps = sharing.connector(MOST)
    next(steps)
    data, _ = steps.send(struct.pack("<II16s", os.getpid(), file, bytes(16)))
    nonce = data[8:24]
    proof = sharing._proof(bytes(32), b"listener", nonce)
    assert steps.send(proof + b"\1")[0] == b"\0"
    os.close(file)


# ---- processes


def test_calls(channel):
    """All sizes, as they were sent; most of them shared."""
    for number in range(40):
        data = part(LEAST // 2 * (number % 5 + 1), number)
        np.testing.assert_array_equal(echo(channel, data), data)
    assert channel._writer.lender._segments
    assert channel._reader.borrower._mappings


def test_answers_that_are_kept(channel):
    """None changes by those that follow."""
    kept = [echo(channel, part(LEAST, number)) for number in range(60)]
    for number, found in enumerate(kept):
        np.testing.assert_array_equal(found, part(LEAST, number))


@pytest.mark.parametrize("limits", [Limits(shared=0), Limits(shared=LEAST - 1)])
def test_who_shares_nothing(server, limits):
    """Everything goes over the socket."""
    channel = Channel(server.address, secret=SECRET, limits=limits)
    for number in range(4):
        data = part(LEAST, number)
        np.testing.assert_array_equal(echo(channel, data), data)
    assert channel._writer.lender is None or not channel._writer.lender._segments
    channel.close()


def test_encrypted_connections_share_nothing():
    """What is to be encrypted is."""
    pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")
    security = Security.temporary()

    async def give_back(comm):
        for _ in range(3):
            await comm.write(await comm.read())

    async def main():
        listener = await listen("ts+tls://", give_back, **security.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **security.get_connection_args("client"))
        for number in range(3):
            await comm.write(part(LEAST, number).data)
            np.testing.assert_array_equal(await comm.read(), part(LEAST, number))
        assert comm.stream._writer.lender is None
        comm.abort()
        listener.stop()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_what_was_written_before_the_end_arrives():
    """Who closes waits until the other end has it."""
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
            await comm.write(part(LEAST, number).data)
        await comm.close()
        for number in range(3):
            np.testing.assert_array_equal(await got.get(), part(LEAST, number))
        listener.stop()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_threads_of_one_process(server):
    """Each with a connection of its own."""
    wrong = []

    def thread(number):
        channel = Channel(server.address, secret=SECRET)
        for turn in range(20):
            data = part(LEAST + turn * 1000, number * 100 + turn)
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
    """Its memory stays with who has it, and nothing else of it."""
    files = shared_files()
    with lasting("tests.distributed.echo_server", status=-signal.SIGKILL) as other:
        channel = Channel(other.address, secret=SECRET)
        kept = [echo(channel, part(LEAST, number)) for number in range(3)]
        os.kill(other.pid, signal.SIGKILL)
        with pytest.raises(OSError):
            echo(channel, part(LEAST))
    for number, found in enumerate(kept):
        np.testing.assert_array_equal(found, part(LEAST, number))
    assert channel.closed and not channel._writer.lender._segments
    del kept, found, channel
    gc.collect()
    assert shared_files() == files


def test_a_friend_who_lies(server):
    """Who knows the secret and names memory that is not there loses the connection."""
    for claim in (reference(1 << 20), reference(0), SHARED | (1 << 40) - 1):
        channel = Channel(server.address, secret=SECRET)
        channel._socket.sendall(head(claim))
        with pytest.raises(OSError):
            channel.receive()
        channel.close()
    channel = Channel(server.address, secret=SECRET)
    np.testing.assert_array_equal(echo(channel, part(LEAST)), part(LEAST))
    channel.close()


def test_memory_of_a_server_stays(server):
    """Thousands of large calls over hundreds of connections."""
    import psutil

    process = psutil.Process(server.pid)

    def some():
        for _ in range(50):
            channel = Channel(server.address, secret=SECRET)
            for number in range(4):
                echo(channel, part(LEAST, number))
            channel.close()

    some()
    before, files = process.memory_info().rss, process.num_fds()
    for _ in range(3):
        some()
    assert process.memory_info().rss < before + (32 << 20)
    assert process.num_fds() < files + 10
