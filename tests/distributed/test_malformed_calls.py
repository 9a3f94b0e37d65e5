"""Malformed requests of an authenticated peer: the process answers, stays alive, and its memory does not
grow."""

import contextlib
import random
import time

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")

import psutil

from tests.distributed import SECRET
from tests.distributed.long_lived_processes import start_long_lived_process
from tests.distributed.fork_server import RECONNECT_TIMEOUT_SECONDS
from ts.distributed.transport import BlockingConnection
from ts.distributed.transport.multiplexing import MAX_PENDING_CALLS, MAX_UNSENT_RESPONSE_BYTES
from ts.distributed.transport.message_codec import MessageEncoder

MAX_MEMORY_GROWTH_BYTES = 96 << 20  # allowed growth of memory
MESSAGES_PER_GROUP = 100  # messages sent before their responses are read
TENSOR = [3, 6, 0, 0, 0, [2], [1]]
IDENTITY, FORK = [0, 1 << 40], [0, (1 << 40) + 1]


@pytest.fixture(scope="module")
def worker():
    """Start a worker process for the tests of this module."""
    with start_long_lived_process("tests.distributed.standalone_worker") as process:
        yield process


def connect_authenticated(worker, send_hello=True, more=()):
    """Open an authenticated connection and send a hello message unless `send_hello` is False."""
    channel = BlockingConnection(worker.address, secret=SECRET, timeout=20)
    if send_hello:
        assert channel.call([0, ["hello", 0, 0, *more]], 20)[1][0] == "value"
    return channel


def ask(channel, *message):
    return channel.call([0, list(message)], 20)[1]


def add(a, b):
    return "call", ["python", "tests.distributed.rpc_worker", "add"], [1, [1, a, b], [2]], [], None


def check_call(worker):
    channel = connect_authenticated(worker)
    assert ask(channel, *add(1, 2)) == ("value", 3, ())
    owned = ask(channel, "call", ["python", "tests.distributed.rpc_worker", "owned"], [1, [1], [2]], [], None)
    channel.close()
    return owned[1]


def resident_bytes(worker):
    return psutil.Process(worker.pid).memory_info().rss


@pytest.fixture(autouse=True)
def check_process_unharmed(worker):
    """Check that the worker answers afterwards, has no additional values, and uses no more memory."""
    before, owned = resident_bytes(worker), check_call(worker)
    yield
    until = time.monotonic() + 60
    while check_call(worker) > owned:  # until the values of disconnected callers are released
        assert time.monotonic() < until
        time.sleep(1.5 * RECONNECT_TIMEOUT_SECONDS)
    assert resident_bytes(worker) < before + MAX_MEMORY_GROWTH_BYTES


VALID = [
    list(add(1, 2)),
    ["call", ["operator", "aten::neg"], [1, [1, TENSOR], [2]], [b"12345678"], None],
    ["call", ["overload", "aten::add", "Tensor"], [1, [1, TENSOR, TENSOR], [2, "alpha", 3]], [b"12345678"], None],
    ["call", ["code", "0" * 64, "forward"], [1, [1], [2]], [], b"PK no archive"],
    ["call", ["operator", "aten::add"], [1, [1, 1, 2], [2]], [], None],
    ["remote", ["operator", "aten::add"], [1, [1, 1, 2], [2]], [], None, IDENTITY, FORK, 0],
    ["method", IDENTITY, "add", [1, [1, 1], [2]], []],
    ["remote_method", IDENTITY, "add", [1, [1, 1], [2]], [], [0, 1 << 41], [0, 1 << 42], 0],
    ["type", IDENTITY], ["backward", "value", 0, IDENTITY, False], ["gather", ["b", "a"], 1, [1], []],
    ["fetch", IDENTITY, None], ["need", IDENTITY, FORK, 0], ["confirmed", FORK],
    ["call", ["operator", "aten::add"], [1, [1, [11, [0, IDENTITY, FORK, 0]], 2], [2]], [], None],
]  # fmt: skip


def deeply_nested(generator):
    found = generator.choice((None, 1, "x"))
    for _ in range(generator.choice((10, 100, 200))):
        found = [generator.choice((0, 1, 2, 13)), found]
    return found


ARBITRARY_VALUES = (
    lambda generator: generator.choice((None, True, -1, 0, 2**31, 2**62, -(2**63), 1e308, float("nan"), "", "x", b"")),
    lambda generator: generator.randbytes(generator.choice((1, 8, 5000))),
    lambda generator: [generator.randrange(16) for _ in range(generator.randrange(9))],
    lambda generator: {"a": generator.random()},
    lambda generator: [3, generator.randrange(20), generator.randrange(5), 0, 0, [generator.choice((2**40, -1, 2))] * 3, [1] * 3],
    lambda generator: [5, "f" * generator.choice((1, 10_000))],
    lambda generator: "aten::" + generator.choice(("add", "zeros", "nothing", "__init__")),
    lambda generator: generator.choice(VALID),
    lambda generator: [generator.randrange(-1, 3), generator.randrange(-1, 2**41)],
    deeply_nested,
)  # fmt: skip


def mutated(generator, value):
    """Return a message with a random change."""
    if not isinstance(value, list) or not value or generator.random() < 0.25:
        return generator.choice(ARBITRARY_VALUES)(generator)
    value, at = list(value), generator.randrange(len(value))
    what = generator.randrange(8)
    if what == 0:
        del value[at]
    elif what == 1:
        value.insert(at, generator.choice(ARBITRARY_VALUES)(generator))
    else:
        value[at] = mutated(generator, value[at])
    return value


def fills_memory_if_valid(message):
    """Return True if a valid message would itself sleep, exit or fill memory."""
    return "zeros" in repr(message)


def send_malformed_calls(worker, seeds, how):
    """Send malformed messages in groups; the worker must answer each of them."""
    before, generator, channel = resident_bytes(worker), random.Random(str(seeds)), connect_authenticated(worker, more=how)
    for _ in range(len(seeds) // MESSAGES_PER_GROUP):
        several = [mutated(generator, generator.choice(VALID)) for _ in range(MESSAGES_PER_GROUP)]
        several = [message for message in several if not fills_memory_if_valid(message)]
        for number, message in enumerate(several, 1):
            channel.send([number, message])
        channel._socket.settimeout(60)
        answers = dict(channel.receive() for _ in several)
        assert answers.keys() == set(range(1, len(several) + 1))
        assert {answer[0] for answer in answers.values()} <= {"failed", "value", "unknown"}
        assert resident_bytes(worker) < before + MAX_MEMORY_GROWTH_BYTES
        for number in (IDENTITY, [0, 1 << 41]):
            ask(channel, "drop", number, FORK)
            ask(channel, "drop", number, [0, 1 << 42])
    channel.close()


EACH_CONNECTION_KIND = pytest.mark.parametrize("how", [[], ["waits"]], ids=["loop", "thread"])


@EACH_CONNECTION_KIND
def test_mutated_messages(worker, how):
    """Malformed messages of every kind are answered, by the event loop and by threads."""
    send_malformed_calls(worker, range(3_000), how)


@pytest.mark.long
@EACH_CONNECTION_KIND
def test_many_mutated_messages(worker, how):
    """Many malformed messages are answered, by the event loop and by threads."""
    send_malformed_calls(worker, range(100_000), how)


@pytest.mark.parametrize("message", VALID, ids=lambda message: message[0])
def test_request_before_hello(worker, message):
    """A request before the hello message is rejected with an error."""
    channel = connect_authenticated(worker, send_hello=False)
    assert "expected a hello message" in ask(channel, *message)[2]
    channel.close()


@pytest.mark.parametrize("process", [-1, 1, 2**40, None, "0"])
def test_unknown_processes(worker, process):
    """A hello message with an unknown process number is rejected."""
    channel = connect_authenticated(worker, send_hello=False)
    assert ask(channel, "hello", process, 0)[0] == "failed"
    assert ask(channel, *add(1, 2))[0] == "failed"
    channel.close()


def test_identifiers_of_other_processes(worker):
    """A process may create only values with its own identifiers, each once, and release only its own
    handles."""
    channel = connect_authenticated(worker)
    make = "remote", *add(1, 2)[1:]
    for identity, fork, process in (([1, 5], [0, 6], 0), ([0, 5], [1, 6], 0), ([0, 5], [0, 6], 1)):
        assert ask(channel, *make, identity, fork, process)[0] == "failed"
    assert ask(channel, *make, [0, 1 << 50], [0, 6], 0)[0] == "value"
    assert "may not create the value" in ask(channel, *make, [0, 1 << 50], [0, 7], 0)[2]
    assert ask(channel, "need", [0, 1 << 50], [0, 8], 3)[0] == "failed"
    assert ask(channel, "fetch", [0, 1 << 50], None) == ("value", 3, ())
    assert ask(channel, "drop", [0, 1 << 50], [0, 6])[0] == "value"
    assert ask(channel, "fetch", [0, 1 << 50], None)[0] == "failed"
    assert ask(channel, "drop", [0, 1 << 51], [0, 6])[0] == "value"  # a release before the creation
    assert ask(channel, *make, [0, 1 << 51], [0, 6], 0)[0] == "value"
    assert ask(channel, "fetch", [0, 1 << 51], None)[0] == "failed"
    channel.close()


@pytest.mark.parametrize("message", [None, 1, [], [1], [1, 2, 3], {}, [1, ["hello", 0, 0], None]])
@EACH_CONNECTION_KIND
def test_malformed_calls_close_the_connection(worker, message, how):
    """A malformed call closes the connection."""
    channel = connect_authenticated(worker, more=how)
    with pytest.raises(ConnectionError):
        channel.call(message, 20)


def test_disconnected_caller_releases_its_thread(worker):
    """A disconnected caller releases the worker thread that serves its pending fetch."""
    maker, fetcher = connect_authenticated(worker), connect_authenticated(worker, more=["waits"])
    sleep = ["call", ["python", "tests.distributed.rpc_worker", "sleep"], [1, [1, 20.0], [2]], [], None]
    ask(maker, "remote", *sleep[1:], [0, 1 << 52], [0, 1 << 52], 0)
    threads = psutil.Process(worker.pid).num_threads()
    fetcher.send([0, ["fetch", [0, 1 << 52]]])
    fetcher.close()
    until = time.monotonic() + 15
    while psutil.Process(worker.pid).num_threads() >= threads:
        assert time.monotonic() < until
        time.sleep(0.05)
    maker.close()


def send_until_blocked(channel, message, max_count):
    """Return the number of messages that the other end accepts while its answers are not read."""
    sock, data = channel._socket, b"".join(MessageEncoder().pack(message))
    sock.settimeout(0.5)
    count = 0
    with contextlib.suppress(TimeoutError):
        for count in range(max_count):
            sock.sendall(data)
    return count


def test_unread_answers(worker):
    """A process stops reading requests while its responses are not read."""
    channel = connect_authenticated(worker)
    echo = [
        "call",
        ["python", "tests.distributed.rpc_worker", "identity"],
        [1, [1, b"x" * 100_000], [2]],
        [],
        None,
    ]
    max_count = 6 * MAX_UNSENT_RESPONSE_BYTES // 100_000
    assert send_until_blocked(channel, [1, echo], max_count) < max_count - 1
    assert resident_bytes(worker) < 10 * MAX_UNSENT_RESPONSE_BYTES
    channel.close()


def test_pending_calls_are_bounded(worker):
    """At most `MAX_PENDING_CALLS` calls are read before some of them finish."""
    channel = connect_authenticated(worker)
    sleep = ["call", ["python", "tests.distributed.rpc_worker", "sleep"], [1, [1, 4.0], [2]], [], None]
    for number in range(16):
        channel.send([number, sleep])
    filler = ["call", *add(1, 2)[1:3], [b"x" * 4000], None]
    max_count = 30 * MAX_PENDING_CALLS
    assert send_until_blocked(channel, [1, filler], max_count) < max_count - 1
    channel.close()


def test_values_under_construction_count_as_pending(worker):
    """Values under construction count as pending calls, although their requests are answered at once."""
    channel = connect_authenticated(worker)
    sleep = ["python", "tests.distributed.rpc_worker", "sleep"], [1, [1, 1.0], [2]]
    for number in range(16):
        channel.send([number, ["remote", *sleep, [], None, [0, number + 2**52], [0, number], 0]])
    make = ["remote", ["operator", "aten::add"], [1, [1, 1, 2], [2]], [b"x" * 4000], None]
    data = [b"".join(MessageEncoder().pack([1, [*make, [0, k + 2**53], [0, k], 0]])) for k in range(5 * MAX_PENDING_CALLS)]
    channel._socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        channel._socket.sendall(b"".join(data))
    channel.close()
