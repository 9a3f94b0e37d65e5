"""Fixtures: a server process, process groups, and ends of shared memory."""

import os

import pytest

from tests.distributed.long_lived_processes import start_long_lived_process


@pytest.fixture(scope="session")
def server():
    """Start a process that answers "echo" calls at `address` until the end of the session."""
    with start_long_lived_process("tests.distributed.echo_server") as process:
        process.port = int(process.address.rpartition(":")[2])
        yield process


@pytest.fixture(scope="session")
def world():
    """Provide a group of three processes."""
    from tests.distributed.process_groups import World

    group = World(3)
    yield group
    group.close()


def _start_three_workers():
    """Join a group of three processes as worker0 until the other processes have left."""
    from tests.distributed import rpc_worker
    from tests.distributed.process_groups import free_port
    from ts.distributed import rpc

    port = free_port()
    others = [rpc_worker.start(port, rank, 3) for rank in (1, 2)]
    rpc.init_rpc("worker0", rank=0, world_size=3, rpc_backend_options=rpc_worker.options(port))
    yield others
    rpc.shutdown(graceful=True, timeout=20)
    for other in others:
        try:
            other.wait(20)
        finally:
            other.kill()


@pytest.fixture
def three_workers():
    """Provide RPC with this process as worker0 and two others."""
    yield from _start_three_workers()


@pytest.fixture(scope="module")
def module_workers():
    """Provide a group of three processes for all tests of a file."""
    yield from _start_three_workers()


@pytest.fixture
def segment_ends():
    """Return the sender and the receiver of shared memory segments in one process."""
    from tests.distributed.shared_memory_messages import MARK, MAX_BYTES
    from ts.distributed.transport.shm_segments import SegmentReceiver, SegmentSender

    sender, receiver = SegmentSender(MAX_BYTES, MARK), SegmentReceiver(os.getpid(), MARK)
    yield sender, receiver
    sender.close()
    receiver.close()


@pytest.fixture
def fork_server_client(monkeypatch):
    """Start workers from a fork server, with short timeouts in the workers and in this process."""
    from tests.distributed import fork_server as it
    from ts.distributed.rpc import endpoint, rref_store

    monkeypatch.setattr(
        rref_store, "FORK_CONFIRMATION_TIMEOUT_SECONDS", it.FORK_CONFIRMATION_TIMEOUT_SECONDS
    )
    monkeypatch.setattr(endpoint, "RECONNECT_TIMEOUT_SECONDS", it.RECONNECT_TIMEOUT_SECONDS)
    group = it.ForkServer()
    yield group
    group.close()
