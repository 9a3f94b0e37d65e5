"""Process groups over mutual TLS, which PyTorch's environment variables of the Gloo backend select."""

import datetime
import ssl

import pytest

import ts
import ts.distributed as dist
from tests.distributed.process_groups import World, free_port
from tests.distributed.test_group_faults import reduce_until_rank_2_is_lost, wait_until_killed

pytest.importorskip("distributed", reason="certificates are made with the extra rpc")
pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")

LARGE = 1_000_000  # elements of a tensor that the buffers of a socket cannot hold


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return two folders with certificates of different authorities."""
    from ts.distributed.cluster import certificates

    paths = [tmp_path_factory.mktemp(name) / "certificates" for name in ("first", "second")]
    for path in paths:
        certificates.make(path)
    return paths


def variables(folder):
    """Return the environment variables that select the certificates of a folder."""
    prefix = "GLOO_DEVICE_TRANSPORT_TCP_TLS_"
    return {
        "GLOO_DEVICE_TRANSPORT": "TCP_TLS", f"{prefix}CA_FILE": str(folder / "ca.pem"),
        f"{prefix}CERT": str(folder / "cert.pem"), f"{prefix}PKEY": str(folder / "key.pem"),
    }  # fmt: skip


@pytest.fixture
def world(folders, monkeypatch):
    for name, value in variables(folders[0]).items():
        monkeypatch.setenv(name, value)
    world = World(3)
    yield world
    world.close()


def collectives():
    """Run collectives of small and large tensors, and check the results and the encryption."""
    me = dist.get_rank()
    links = dist.group.WORLD.links
    assert all(isinstance(peer.socket, ssl.SSLSocket) for peer in links._peers.values())
    for size in (1, 1000, LARGE):
        x = ts.arange(size) + me
        dist.all_reduce(x)
        assert x.equal(3 * ts.arange(size) + 3)
        parts = [ts.empty(size, dtype=ts.int64) for _ in range(3)]
        dist.all_gather(parts, ts.full((size,), me))
        assert [part.unique().tolist() for part in parts] == [[0], [1], [2]]
    for number in range(200):
        dist.broadcast(x, number % 3)
    pending = [dist.isend(ts.full((LARGE,), me), other, tag=7) for other in range(3) if other != me]
    for other in range(3):
        if other != me:
            dist.recv(x, other, tag=7)
            assert x.eq(other).all()
    for each in pending:
        each.wait()
    gathered = [None] * 3
    dist.all_gather_object(gathered, {"rank": me})
    assert gathered == [{"rank": rank} for rank in range(3)]
    dist.barrier()


def test_collectives(world):
    world.run(collectives)


def test_a_process_is_killed(world):
    """A killed process fails the calls of the other ranks at once."""
    assert world.run(dist.is_initialized) == [True] * 3
    world.begin(wait_until_killed, dist.all_reduce, LARGE, ranks=[2])
    world.begin(reduce_until_rank_2_is_lost, dist.all_reduce, LARGE, ranks=[0, 1])
    world.kill(2)
    world.results(ranks=[0, 1])


def initialize(environment, port, message):
    """Initialize a group of two ranks, of which one does not have these certificates."""
    import os

    os.environ.update(environment, MASTER_PORT=str(port))
    with pytest.raises(dist.DistStoreError, match=message):
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=2))
    assert not dist.is_initialized()


def test_other_certificates_are_rejected(folders):
    """A rank without TLS, or with a certificate of another authority, cannot join."""
    world = World(2, joins=False)
    try:
        ours, theirs = map(variables, folders)
        for other in ({"GLOO_DEVICE_TRANSPORT": "TCP"}, theirs):
            port = free_port()
            world.begin(initialize, ours, port, "not all processes", ranks=[0])
            world.begin(initialize, other, port, "cannot connect to rank 0|certificate|closed", ranks=[1])
            world.results()
    finally:
        world.close()


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GLOO_DEVICE_TRANSPORT": "UV"}, "expected TCP or TCP_TLS"),
        (
            {"GLOO_DEVICE_TRANSPORT": "TCP_TLS", "GLOO_DEVICE_TRANSPORT_TCP_TLS_CERT": "cert.pem"},
            "needs the environment variables .*TLS_CA_FILE, .*TLS_PKEY$",
        ),
    ],
)
def test_invalid_variables(environment, message, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=message):
        dist.init_process_group("gloo", f"tcp://127.0.0.1:{free_port()}", rank=0, world_size=1)
