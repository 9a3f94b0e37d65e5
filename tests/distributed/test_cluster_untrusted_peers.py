"""Untrusted messages to a cluster scheduler: no pickle is loaded, and the scheduler continues."""

import asyncio
import pickle
import socket
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("distributed", reason="clusters need dask.distributed: the extra rpc")

from distributed import Scheduler

from tests.distributed import SECRET
from tests.distributed.test_connections import Trap
from tests.distributed.process_groups import free_port
from ts.distributed.cluster.scheduler import LIMITS, NameService
from ts.distributed.transport import AuthenticationError, Security
from ts.distributed.transport.transport import connect

KNOWN = Security(secret=SECRET, limits=LIMITS)
CONNECTION_ARGUMENTS = Security(secret=SECRET).get_connection_args("client")
WORKER_ADDRESS = "ts://127.0.0.1:4711"
JOIN = {"op": "join", "name": "one", "address": WORKER_ADDRESS, "kind": "worker", "number": None, "pid": 1}


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


@asynccontextmanager
async def scheduler():
    async with NameService("127.0.0.1", 0, KNOWN) as service:
        yield service


async def ask(service, message):
    """Return the answer of a scheduler, or None for a closed connection."""
    comm = await connect(service.address, **CONNECTION_ARGUMENTS)
    try:
        await comm.write(message)
        return await comm.read()
    except ConnectionError:
        return None
    finally:
        comm.abort()


async def joined(service, **more):
    """Join the cluster and return the connection and the answer."""
    comm = await connect(service.address, **CONNECTION_ARGUMENTS)
    await comm.write({**JOIN, **more})
    answered = await comm.read()
    assert answered["status"] == "OK", answered
    await comm.read()
    return comm, answered


async def become(check):
    while not check():
        await asyncio.sleep(0.01)


def test_handlers_of_dask_cannot_be_reached():
    """Dask handlers that may load pickles cannot be reached by connections or streams."""
    trap = pickle.dumps(Trap())

    async def main():
        async with Scheduler(port=0, dashboard_address=":0", protocol="ts", security=KNOWN) as whole:
            handlers, streams = set(whole.handlers), set(whole.stream_handlers)
        assert {"run_function", "register_scheduler_plugin", "register-client", "feed"} <= handlers
        async with scheduler() as service:
            assert set(service.handlers) == {"join", "find", "members"}
            assert set(service.stream_handlers) == {"beat"}
            for op in handlers - set(service.handlers):
                message = {"op": op, "function": trap, "plugin": trap, "args": trap, "client": "c"}
                assert await ask(service, message) is None, op
            for op in streams:
                comm, _ = await joined(service)
                await comm.write([{"op": op, "key": "x", "exception": trap, "expr_ser": trap}])
                with pytest.raises(ConnectionError):
                    while True:
                        await comm.read()
                await become(lambda: not service.members())
            assert service.status.name == "running" and service.members() == []

    run(main())
    assert not Trap.loaded


def test_malformed_messages():
    async def main():
        async with scheduler() as service:
            comm, _ = await joined(service)
            for message in (None, 1, "x", [], {}, {"op": None}, {"op": ["join"]}, {"op": "find", "what": 1}):
                answered = await ask(service, message)
                assert answered is None or answered["status"] == "uncaught-error", message
            for number in (None, [], {}, "two", -1, b"one", 1 << 40):
                assert await ask(service, {"op": "find", "who": number}) is None
            assert await ask(service, {"op": "find", "who": "one"}) == (0, "one", WORKER_ADDRESS)
            comm.abort()

    run(main())


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 3}, {"name": "a b"}, {"name": "x" * 128}, {"name": "é"}, {"kind": "nanny"}, {"kind": ["worker"]},
        {"number": -1}, {"number": True}, {"number": 1 << 31}, {"number": "0"}, {"pid": "1"}, {"address": None},
        {"address": ""}, {"address": "ts://127.0.0.1"}, {"address": "tcp://127.0.0.1:1"}, {"address": "1"},
        {"address": "ts+tls://127.0.0.1:1"}, {"address": "ts://127.0.0.1:0"}, {"address": "ts://" + "a" * 300 + ":1"},
    ],
)  # fmt: skip
def test_rejected_joins(wrong):
    async def main():
        async with scheduler() as service:
            answered = await ask(service, {**JOIN, **wrong})
            assert answered["status"] == "error" and answered["message"].startswith("invalid ")
            assert service.members() == [] and not service.workers

    run(main())


def test_names_numbers_and_addresses_are_unique():
    async def main():
        async with scheduler() as service:
            one, first = await joined(service)
            assert (first["name"], first["number"]) == ("one", 0)
            other = {"address": "ts://127.0.0.1:4712"}
            for wrong, message in (
                (other, "the name one is already used by another process"),
                ({"name": "two"}, "the address ts://127.0.0.1:4711 is already used by another process"),
                ({"name": "two", "number": 0, **other}, "the worker id 0 of two is now used by another process"),
            ):
                assert await ask(service, {**JOIN, **wrong}) == {"status": "error", "message": message}
            two, second = await joined(service, name="", **other)
            assert (second["name"], second["number"]) == ("worker0", 1)
            back, again = await joined(service, number=0)  # the loss of the first connection is not yet detected
            assert (again["name"], again["number"]) == ("one", 0)
            with pytest.raises(ConnectionError):
                while True:
                    await one.read()
            assert [m["number"] for m in service.members()] == [1, 0]
            back.abort()
            removals = 0
            while removals < 2:  # the replacement of the connection, and its loss
                removals += sum(m["op"] == "remove-worker" and m["worker"] == WORKER_ADDRESS for m in await two.read())
            two.abort()
            await become(lambda: not service.members())
            last, third = await joined(service)
            assert third["number"] == 2
            last.abort()

    run(main())


def test_heartbeat_metrics_are_counts():
    async def main():
        async with scheduler() as service:
            comm, _ = await joined(service)
            counts = {"running": 1, "done": 2, "failed": 3, "memory": 4}
            await comm.write([{"op": "beat", **counts}])
            await become(lambda: service.members()[0]["memory"] == 4)
            assert counts.items() <= service.members()[0].items()
            await comm.write([{"op": "beat", **counts, "memory": "x"}])
            await become(lambda: not service.members())

    run(main())


def test_unauthenticated_peers():
    """A peer that does not know the secret is rejected; oversized messages are not read."""

    async def main():
        async with scheduler() as service:
            port = int(service.address.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            with pytest.raises(OSError, match="does not know the secret") as caught:
                await connect(service.address, **Security(secret=b"x" * 32).get_connection_args("client"))
            assert isinstance(caught.value.__cause__, AuthenticationError)
            assert await ask(service, {"op": "find", "who": "x" * (1 << 21)}) is None
            assert await ask(service, {"op": "members"}) == ()

    run(main())


def test_dashboard_is_off_by_default():
    async def main():
        async with scheduler() as service:
            assert "dashboard" not in service.services
        port = free_port()
        async with NameService("127.0.0.1", 0, KNOWN, dashboard=port) as service:
            assert service.services["dashboard"].port == port
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /health HTTP/1.0\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 200")
            writer.close()

    run(main())
