"""Connections of `ts` between dask's servers, pools and schedulers, and between threads."""

import asyncio
import pickle
import threading
import time
from contextlib import asynccontextmanager, suppress

import numpy as np
import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")

from distributed import Client, Scheduler
from distributed.comm import CommClosedError, connect, listen
from distributed.core import ConnectionPool, Server, rpc

from tests.distributed import SECRET
from tests.distributed.echo_server import calls as answer_calls
from ts.distributed.transport import BlockingConnection, AuthenticationError, Security, transport
from ts.distributed.transport.multiplexing import RequestMultiplexer

KNOWN = Security(secret=SECRET)
CONNECTION_ARGUMENTS = KNOWN.get_connection_args("client")


@pytest.fixture(scope="module", params=["ts", "ts+tls"])
def security(request):
    """Return the scheme (`ts` or `tls`) and the credentials that both ends share."""
    if request.param == "ts":
        return request.param, KNOWN
    pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")
    return request.param, Security.temporary()


@asynccontextmanager
async def serving(handlers, scheme="ts", security=KNOWN):
    """Provide a dask server in this event loop."""
    server = Server(handlers)
    await server.listen(f"{scheme}://", **security.get_listen_args("worker"))
    try:
        yield server
    finally:
        await server.close()


async def echo(data=None):
    return data


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def test_servers_and_their_callers(security):
    """Servers answer `rpc` and pool calls, sequential and concurrent, with small and large data."""
    scheme, known = security
    how = known.get_connection_args("client")
    large = np.random.rand(1 << 20)

    async def main():
        async with serving({"echo": echo}, scheme, known) as server:
            assert server.address.startswith(f"{scheme}://127.0.0.1:")
            async with rpc(server.address, connection_args=how) as peer:
                assert await peer.echo(data={"a": [1, None, "b"]}) == {"a": (1, None, "b")}
                back = await peer.echo(data=memoryview(large))
                np.testing.assert_array_equal(np.frombuffer(back), large)
            async with ConnectionPool(connection_args=how) as pool:
                peer = pool(server.address)
                assert await asyncio.gather(*(peer.echo(data=each) for each in range(50))) == list(range(50))

    run(main())


def test_channels(security):
    """A blocking channel can be used in a thread without an event loop."""
    scheme, known = security

    async def main():
        async with serving({"echo": echo}, scheme, known) as server:
            address = server.address

            def thread():
                channel = BlockingConnection(address, **known.get_connection_args("client"))
                found = [channel.call({"op": "echo", "data": each}) for each in (1, "a", b"b" * 1_000_000)]
                channel.close()
                assert channel.closed
                return found

            assert await asyncio.to_thread(thread) == [1, "a", b"b" * 1_000_000]

    run(main())


def test_large_messages_in_both_directions(security):
    """Both ends can send a large message before either reads."""
    scheme, known = security
    data = bytes(20_000_000)

    async def both(comm):
        await comm.write(data)
        assert len(await comm.read()) == len(data)
        await comm.write("done")

    async def main():
        listener = await listen(f"{scheme}://", both, **known.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **known.get_connection_args("client"))
        await both(comm)
        assert await comm.read() == "done"
        await comm.close()
        listener.stop()

    run(main())


def test_errors_of_handlers_are_sent_as_text():
    """Exceptions of a handler are sent as text, and the connection remains usable."""

    def fail():
        raise ValueError("no such thing")

    async def main():
        async with (
            serving({"echo": echo, "fail": fail}) as server,
            rpc(server.address, connection_args=CONNECTION_ARGUMENTS) as peer,
        ):
            with pytest.raises(Exception, match=r"ValueError\('no such thing'\)"):
                await peer.fail()
            assert await peer.echo(data=1) == 1

    run(main())


class Trap:
    """A pickle that records its execution when it is loaded."""

    loaded = False

    def __reduce__(self):
        return setattr, (Trap, "loaded", True)


def test_pickles_of_answers_are_not_loaded():
    """A pickle in an error response is not loaded, unlike on dask's own connections."""

    async def trap():
        exception = pickle.dumps(Trap())
        return {
            "status": "uncaught-error",
            "exception": exception,
            "traceback": exception,
            "exception_text": "text",
        }

    async def main():
        listener = await listen("ts://", answer_all(await trap()), **KNOWN.get_listen_args("worker"))
        async with rpc(listener.contact_address, connection_args=CONNECTION_ARGUMENTS) as peer:
            with pytest.raises(Exception, match="text"):
                await peer.anything()
        listener.stop()

    def answer_all(what):
        async def handle(comm):
            await comm.read()
            comm.stream.send(what)
            await comm.stream.flushed()

        return handle

    run(main())
    assert not Trap.loaded


@pytest.mark.parametrize("entry", [{"__Pickled__": 1}, {"__Serialized__": 1}, {"__Enum__": "a"}])
def test_dask_pickle_markers_are_plain_data(entry):
    """Dictionaries with dask's pickle markers are returned as plain data."""

    async def main():
        async with serving({"echo": echo}) as server, rpc(server.address, connection_args=CONNECTION_ARGUMENTS) as peer:
            assert await peer.echo(data=[entry, pickle.dumps(Trap())]) == (entry, pickle.dumps(Trap()))

    run(main())
    assert not Trap.loaded


def test_unsendable_values_raise_in_the_sender():
    """A value that cannot be sent raises an error in the sender, and the connection remains usable."""

    async def main():
        async with serving({"echo": echo}) as server, rpc(server.address, connection_args=CONNECTION_ARGUMENTS) as peer:
            with pytest.raises(TypeError, match="can not serialize 'object'"):
                await peer.echo(data=object())
            assert await peer.echo(data=1) == 1

    run(main())


def test_another_secret():
    """A caller with a wrong secret fails at once, without dask's connection retries."""

    async def main():
        async with serving({"echo": echo}) as server:
            other = Security(secret=bytes(32)).get_connection_args("client")
            with pytest.raises(CommClosedError, match="does not know the secret"):
                await connect(server.address, **other)
            with pytest.raises(AuthenticationError):
                await asyncio.to_thread(lambda: BlockingConnection(server.address, **other))

    run(main())


def test_handshake_timeout(security, monkeypatch):
    """Connections that are silent or slow during the handshake are closed after the timeout, on both ends."""
    scheme, known = security
    monkeypatch.setattr(transport, "HANDSHAKE_TIMEOUT_SECONDS", 0.5)

    async def main():
        async with serving({"echo": echo}, scheme, known) as server:
            silent, slow = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
            slow[1].write(b"a")
            start = time.monotonic()
            for reader, writer in (silent, slow):
                with suppress(ConnectionError):
                    await reader.read()
                writer.close()
            assert 0.3 < time.monotonic() - start < 20
        silent_server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        address = f"{scheme}://127.0.0.1:{silent_server.sockets[0].getsockname()[1]}"
        how = known.get_connection_args("client")
        with pytest.raises(OSError, match="Timed out"):
            await connect(address, timeout=1, **how)
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(lambda: BlockingConnection(address, **how, timeout=0.3))
        silent_server.close()

    run(main())


def test_certificates_of_others():
    """Peers with certificates of different authorities reject each other."""
    pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")
    ours, theirs = Security.temporary(), Security.temporary()

    async def main():
        async with serving({"echo": echo}, "ts+tls", ours) as server:
            with pytest.raises(OSError):
                await connect(server.address, timeout=3, **theirs.get_connection_args("client"))
            with pytest.raises(OSError):
                await asyncio.to_thread(
                    lambda: BlockingConnection(server.address, **theirs.get_connection_args("client"))
                )
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"no TLS at all".ljust(1000))
            with suppress(ConnectionError):
                await reader.read()
            writer.close()
            async with rpc(server.address, connection_args=ours.get_connection_args("client")) as peer:
                assert await peer.echo(data=1) == 1

    run(main())


def test_encryption_that_is_required():
    """`require_encryption` rejects addresses without TLS."""
    strict = Security(require_encryption=True, secret=SECRET)

    async def main():
        with pytest.raises(RuntimeError, match="encryption is required"):
            await listen("ts://", echo, **strict.get_listen_args("worker"))
        with pytest.raises(RuntimeError, match="encryption is required"):
            await connect("ts://127.0.0.1:1", **strict.get_connection_args("client"))

    run(main())


def test_loss_of_the_other_end():
    """The loss of the other end raises an error in reads, writes and waiting calls."""
    closed = asyncio.Event()

    async def leave(comm):
        comm.abort()
        closed.set()

    async def main():
        listener = await listen("ts://", leave, **KNOWN.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **CONNECTION_ARGUMENTS)
        await closed.wait()
        with pytest.raises(CommClosedError):
            await comm.read()
        assert comm.closed()
        with pytest.raises(CommClosedError):
            await comm.write(1)
        comm = await connect(listener.contact_address, **CONNECTION_ARGUMENTS)
        with pytest.raises(ConnectionError):
            await asyncio.wrap_future(RequestMultiplexer(comm).call(1))
        listener.stop()

    run(main())


def test_unreferenced_comms_are_closed():
    """An unreferenced comm is closed, and the other end is notified."""
    finished = []

    async def wait_for_end(comm):
        with pytest.raises(CommClosedError):
            await comm.read()
        finished.append(True)

    async def main():
        listener = await listen("ts://", wait_for_end, **KNOWN.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **CONNECTION_ARGUMENTS)
        del comm
        while not finished:
            await asyncio.sleep(0.01)
        listener.stop()

    run(main())


@asynccontextmanager
async def calling(scheme="ts", security=KNOWN):
    """Provide calls to a server in this event loop, and their connection."""
    async with serving({"calls": answer_calls}, scheme, security) as server:
        comm = await connect(server.address, **security.get_connection_args("client"))
        await comm.write({"op": "calls", "reply": False})
        yield RequestMultiplexer(comm), comm
        await comm.close()


def test_many_calls_over_one_connection(security):
    """Concurrent calls of threads and coroutines over one connection get their own answers."""

    async def main():
        async with calling(*security) as (calls, _):
            await many(calls)

    async def many(calls):
        found = {}

        def thread(number):
            futures = [calls.call([number, each, b"x" * (each * 100)]) for each in range(100)]
            found[number] = [future.result() for future in futures]

        threads = [threading.Thread(target=thread, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        assert await asyncio.gather(*(asyncio.wrap_future(calls.call(each)) for each in ("a", "b", "c"))) == ["a", "b", "c"]
        while any(each.is_alive() for each in threads):
            await asyncio.sleep(0.01)
        for number, answers in found.items():
            assert answers == [(number, each, b"x" * (each * 100)) for each in range(100)]
        later = [calls.call(f"k{each}") for each in range(5)]  # the server answers them in reverse order
        await asyncio.wrap_future(calls.call("all"))
        assert [each.result(timeout=0) for each in later] == [f"k{each}" for each in range(5)]

    run(main())


@pytest.mark.parametrize("by", ["here", "there"])
def test_a_connection_that_breaks_while_threads_call(security, by):
    """Concurrent calls over a connection that breaks return an answer or raise an error; none hangs."""

    async def main():
        async with calling(*security) as (calls, comm):
            segment_ends = []

            def thread():
                count = 0
                try:
                    while True:
                        calls.call(b"x" * 20_000).result(timeout=30)
                        count += 1
                except ConnectionError:
                    segment_ends.append(count)

            threads = [asyncio.create_task(asyncio.to_thread(thread)) for _ in range(4)]
            await asyncio.wrap_future(calls.call("a"))
            await asyncio.sleep(0.1)
            if by == "here":
                comm.abort()
            else:
                calls.call("break")
            await asyncio.gather(*threads)
            assert len(segment_ends) == 4

    run(main())


def test_calls_whose_connection_breaks():
    """Waiting calls fail at once when their connection breaks, and later calls fail too."""

    async def main():
        async with calling() as (calls, comm):
            broken(calls, comm)

    def broken(calls, comm):
        waiting = [calls.call("never") for _ in range(3)]
        assert not any(each.done() for each in waiting)
        cancelled = calls.call("never")
        cancelled.cancel()
        comm.abort()
        for each in waiting:
            with pytest.raises(ConnectionError, match="closed"):
                each.result(timeout=0)
        with pytest.raises(ConnectionError):
            calls.call("more")

    run(main())


def test_calls_of_a_channel_time_out(server):
    """A call that exceeds its timeout closes the channel, so that a late response is dropped."""
    channel = BlockingConnection(server.address, **CONNECTION_ARGUMENTS)
    channel.send({"op": "calls", "reply": False})
    with pytest.raises(TimeoutError):
        channel.call([0, "never"], timeout=0.1)
    assert channel.closed


def test_slow_reader():
    """A writer blocks while the reader is slow."""

    async def main():
        listener = await listen("ts://", slow, **KNOWN.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **CONNECTION_ARGUMENTS)
        writer = asyncio.create_task(write(comm))
        await asyncio.sleep(0.3)
        assert not writer.done()
        may_read.set()
        await writer
        assert await comm.read() == 500
        listener.stop()

    async def write(comm):
        for _ in range(500):
            await comm.write(b"x" * 100_000)

    async def slow(comm):
        await may_read.wait()
        count = 0
        while count < 500:
            assert len(await comm.read()) == 100_000
            count += 1
        await comm.write(count)

    may_read = asyncio.Event()
    run(main())


def test_slow_reader_of_large_messages():
    """A writer blocks after a few large messages to a slow reader."""

    async def main():
        listener = await listen("ts://", slow, **KNOWN.get_listen_args("worker"))
        comm = await connect(listener.contact_address, **CONNECTION_ARGUMENTS)
        sent = 0

        async def write():
            nonlocal sent
            for sent in range(1, 16):
                await comm.write(bytes(16 << 20))

        writer = asyncio.create_task(write())
        await asyncio.sleep(0.5)
        assert sent < 10
        may_read.set()
        await writer
        assert await comm.read() == 15
        listener.stop()

    async def slow(comm):
        await may_read.wait()
        for count in range(1, 16):
            assert len(await comm.read()) == 16 << 20
        await comm.write(count)

    may_read = asyncio.Event()
    run(main())


EMPTY_METRICS = {
    "task_counts": {}, "bandwidth": {"total": 1, "workers": {}, "types": {}}, "digests_total_since_heartbeat": {},
    "managed_bytes": 0, "spilled_bytes": {"memory": 0, "disk": 0}, "transfer": {}, "event_loop_interval": 0.02,
    "cpu": 0.0, "memory": 0, "time": 0.0, "host_net_io": {}, "host_disk_io": {}, "num_fds": 0,
}  # fmt: skip


def test_a_scheduler_of_dask_keeps_names():
    """A dask scheduler keeps the names of servers that are not dask workers, and detects their loss at once.
    Only allowed handlers are called: some handlers load pickles."""
    allowed = {"identity", "register-worker", "heartbeat_worker"}

    async def join(server, scheduler, name):
        comm = await connect(scheduler, **CONNECTION_ARGUMENTS)
        await comm.write(
            {
                "op": "register-worker", "reply": False, "address": server.address, "status": "running", "nthreads": 1,
                "name": name, "now": time.time(), "resources": {}, "memory_limit": None, "local_directory": "",
                "services": {}, "nanny": None, "versions": {}, "metrics": EMPTY_METRICS, "extra": {},
                "stimulus_id": name, "server_id": server.id,
            }
        )  # fmt: skip
        assert (await comm.read())["status"] == "OK"
        return comm

    async def main():
        scheduler = Scheduler(
            host="127.0.0.1", port=0, protocol="ts", security=KNOWN, dashboard_address="127.0.0.1:0"
        )
        scheduler.handlers = {name: scheduler.handlers[name] for name in allowed}
        async with scheduler, serving({"echo": echo}) as one, serving({"echo": echo}) as other:
            comms = [
                await join(server, scheduler.address, name)
                for server, name in ((one, "one"), (other, "other"))
            ]
            async with rpc(scheduler.address, connection_args=CONNECTION_ARGUMENTS) as peer:
                found = {each["name"]: address for address, each in (await peer.identity())["workers"].items()}
                assert found == {"one": one.address, "other": other.address}
                heartbeat = {"now": time.time(), "metrics": EMPTY_METRICS, "executing": {}, "extensions": {}}
                assert (await peer.heartbeat_worker(address=one.address, **heartbeat))["status"] == "OK"
                assert await peer.run_function(function=pickle.dumps(Trap())) is None
                comms[0].abort()
                while one.address in scheduler.workers:
                    await asyncio.sleep(0.01)
                assert (await peer.heartbeat_worker(address=one.address, **heartbeat))["status"] == "missing"

    run(main())
    assert not Trap.loaded


def test_a_scheduler_of_dask_knows_its_clients():
    """A dask scheduler accepts a client's registration and queries as plain data; tasks are rejected."""

    async def main():
        async with (
            Scheduler(
                host="127.0.0.1",
                port=0,
                protocol="ts",
                security=KNOWN,
                dashboard=False,
                dashboard_address="127.0.0.1:0",
            ) as scheduler,
            Client(scheduler.address, security=KNOWN, asynchronous=True) as client,
        ):
            assert client.status == "running"
            assert (await client.scheduler.identity())["type"] == "Scheduler"
            assert client.id in scheduler.clients

    run(main())


def test_contact_addresses():
    """A listener on all interfaces has a contact address that other machines can reach."""

    async def contact(host):
        listener = transport.Listener(f"ts://{host}:0", suppress, secret=SECRET)
        await listener.start()
        try:
            return transport.split_host_port(listener.contact_address.removeprefix("ts://"))
        finally:
            listener.stop()

    assert asyncio.run(contact("127.0.0.1"))[0] == "127.0.0.1"
    host, port = asyncio.run(contact("0.0.0.0"))
    assert host not in ("", "0.0.0.0") and port
