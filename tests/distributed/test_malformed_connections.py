"""Malformed data of unauthenticated and authenticated peers: the connection ends, the process lives, and its
memory does not grow."""

import random
import socket
import struct
import time

import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")

import psutil

from tests.distributed import SECRET
from tests.distributed.test_messages import MALFORMED, header, sent
from ts.distributed.transport import BlockingConnection
from ts.distributed.transport.connection_setup import connector
from ts.distributed.transport.handshake import MAGIC, REJECTED
from ts.distributed.transport.transport import HELLO, MAX_UNAUTHENTICATED_CONNECTIONS

MAX_MEMORY_GROWTH_BYTES = (
    64 << 20
)  # allowed growth of memory, as Python and dask cache data of logged errors


def connect_unauthenticated(server):
    """Open a connection without sending anything."""
    sock = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def receive_exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise ConnectionError("it was closed")
        data += more
    return data


def connect_authenticated(server):
    """Open an authenticated connection, on which the server sends its first message next."""
    sock, steps = connect_unauthenticated(server), connector("ts", SECRET, None)
    data, want = next(steps)
    try:
        while True:
            sock.sendall(data)
            data, want = steps.send(receive_exactly(sock, want))
    except StopIteration:
        return sock


def is_closed(sock):
    """Return True if the other end closes the connection, after any data."""
    try:
        while sock.recv(65536):
            pass
    except ConnectionError:
        return True  # reset, with unread data
    finally:
        sock.close()
    return True


def send(sock, data):
    """Send data and ignore a closed connection."""
    try:
        sock.sendall(data)
    except ConnectionError:
        return


def check_echo(server):
    """Check that the server answers an echo request."""
    channel = BlockingConnection(server.address, secret=SECRET)
    assert channel.call({"op": "echo", "data": 7}, timeout=20) == 7
    channel.close()


def resident_bytes(server):
    return psutil.Process(server.pid).memory_info().rss


@pytest.fixture(autouse=True)
def check_process_unharmed(server):
    """Check that the server answers before and after, and uses no more memory."""
    check_echo(server)
    before = resident_bytes(server)
    yield
    check_echo(server)
    assert resident_bytes(server) < before + MAX_MEMORY_GROWTH_BYTES


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n\r\n".ljust(64), bytes(64), MAGIC.ljust(64), sent(HELLO).ljust(64)]
)
def test_invalid_proofs(server, data):
    """Data that is not a valid proof closes the connection."""
    sock = connect_unauthenticated(server)
    sock.sendall(data)
    assert is_closed(sock)


def test_a_recorded_session(server):
    """A recorded handshake is rejected when it is replayed."""
    steps, messages = connector("ts", SECRET, None), []
    sock = connect_unauthenticated(server)
    data, want = next(steps)
    try:
        while True:
            messages.append(data)
            sock.sendall(data)
            data, want = steps.send(receive_exactly(sock, want))
    except StopIteration:
        messages.append(sent(HELLO) + sent({"op": "echo", "data": 1}))
        sock.sendall(messages[-1])
        assert receive_exactly(sock, len(sent(HELLO) + sent(1))) == sent(HELLO) + sent(1)
    sock.close()
    again = connect_unauthenticated(server)
    send(again, b"".join(messages))
    received = b""
    try:
        while more := again.recv(1000):
            received += more
    except ConnectionError:
        pass  # closed before it read everything
    again.close()
    assert received.startswith(MAGIC) and received[len(MAGIC) + 32 :] in (b"", REJECTED)


def test_reflected_messages_are_rejected(server):
    """A reflected greeting is rejected as a proof."""
    sock = connect_unauthenticated(server)
    greeting = receive_exactly(sock, len(MAGIC) + 32)
    sock.sendall(greeting[len(MAGIC) :] + greeting[-32:])
    assert is_closed(sock)


def test_many_unauthenticated_connections(server):
    """The number of unauthenticated connections is bounded; authenticated clients are still accepted."""
    waiting = [connect_unauthenticated(server) for _ in range(3 * MAX_UNAUTHENTICATED_CONNECTIONS)]
    check_echo(server)
    for sock in waiting[: 2 * MAX_UNAUTHENTICATED_CONNECTIONS]:
        assert is_closed(sock)
    for sock in waiting[2 * MAX_UNAUTHENTICATED_CONNECTIONS :]:
        sock.close()


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("first", [b"", sent(HELLO)], ids=["first", "later"])
def test_malformed_messages(server, data, first):
    """Malformed messages of an authenticated peer close the connection, as first and as later messages."""
    sock = connect_authenticated(server)
    send(sock, first + data)
    assert is_closed(sock)


@pytest.mark.parametrize(
    "message", [1, [], {}, {"op": None}, {"op": []}, {"op": "echo", "op2": 1}, {"reply": True}]
)
def test_unknown_messages(server, message):
    """Unknown messages are treated as data and close the connection."""
    sock = connect_authenticated(server)
    sock.sendall(sent(HELLO) + sent(message))
    sock.shutdown(socket.SHUT_WR)
    assert is_closed(sock)


@pytest.mark.parametrize("message", [1, [], {}, {"compression": "zlib"}])
def test_invalid_greetings(server, message):
    """Invalid greetings of the dask protocol close the connection."""
    sock = connect_authenticated(server)
    sock.sendall(sent(message))
    sock.shutdown(socket.SHUT_WR)
    assert is_closed(sock)


def test_truncated_messages(server):
    """Truncated messages are handled at every position."""
    whole = sent({"op": "echo", "data": b"x" * 10_000})
    for end in (1, 7, 8, 12, 16, 20, 100, len(whole) - 1):
        sock = connect_authenticated(server)
        sock.sendall(sent(HELLO) + whole[:end])
        sock.shutdown(socket.SHUT_WR)
        assert is_closed(sock)


def test_announced_sizes_allocate_nothing(server):
    """Announced sizes of a hundred messages of two gigabytes do not allocate memory."""
    before = resident_bytes(server)
    socks = []
    for _ in range(100):
        sock = connect_authenticated(server)
        sock.sendall(sent(HELLO) + header(b"\xc0", (2**31,)) + b"some of it")
        socks.append(sock)
    check_echo(server)
    assert resident_bytes(server) < before + MAX_MEMORY_GROWTH_BYTES
    for sock in socks:
        sock.close()


def test_slow_senders(server):
    """A peer that sends one byte at a time is served and does not delay other connections."""
    sock = connect_authenticated(server)
    for byte in sent(HELLO) + sent({"op": "echo", "data": "ab"}):
        sock.sendall(bytes([byte]))
        time.sleep(0.001)
    check_echo(server)
    assert receive_exactly(sock, len(sent(HELLO) + sent("ab"))) == sent(HELLO) + sent("ab")
    sock.close()


def mutated_message(seed):
    """Return a random message with random damage."""
    generator = random.Random(seed)
    kind = generator.randrange(4)
    if kind == 0:
        return generator.randbytes(generator.randrange(1, 200))
    if kind == 1:
        head = generator.randbytes(generator.randrange(40))
        return header(head, [generator.randrange(9) for _ in range(generator.randrange(3))])
    whole = bytearray(
        sent({"op": "echo", "data": [generator.random(), b"x" * generator.randrange(5000)], "a": None})
    )
    if kind == 2:
        return bytes(whole[: generator.randrange(len(whole))])
    for _ in range(generator.randrange(1, 4)):
        whole[generator.randrange(min(len(whole), 64))] = generator.randrange(256)
    return bytes(whole)


def send_mutated_messages(server, seeds):
    """Send damaged messages over authenticated connections, each of which is used until it breaks."""
    sock, before = None, resident_bytes(server)
    for seed in seeds:
        if sock is None:
            sock = connect_authenticated(server)
            sock.sendall(sent(HELLO))
        try:
            sock.sendall(mutated_message(seed))
            if seed % 3 == 0:
                sock.shutdown(socket.SHUT_WR)
                assert is_closed(sock)
                sock = None
        except OSError:
            sock.close()
            sock = None
        if seed % 1000 == 0:
            check_echo(server)
            assert resident_bytes(server) < before + MAX_MEMORY_GROWTH_BYTES
    if sock is not None:
        sock.close()


def test_random_messages(server):
    """Random damaged messages of authenticated peers close their connections only."""
    send_mutated_messages(server, range(2_000))


@pytest.mark.long
def test_many_random_messages(server):
    """Many damaged messages of authenticated peers close their connections only."""
    send_mutated_messages(server, range(100_000))


def test_random_data_before_authentication(server):
    """Random data before authentication is rejected unread."""
    generator = random.Random(0)
    for _ in range(500):
        sock = connect_unauthenticated(server)
        send(sock, generator.randbytes(generator.choice((64, 200, 5000))))
        assert is_closed(sock)


def test_resets(server):
    """Connections that are reset at any position of the data are handled."""
    for end in range(0, 200, 5):
        sock = connect_authenticated(server)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall((sent(HELLO) + sent({"op": "echo", "data": b"x" * 5000}))[:end])
        sock.close()
