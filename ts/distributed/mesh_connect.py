"""Setup of a full mesh: each rank of a process group gets a connection to each other rank.

Input: the address of rank 0, the rank of this process, and the number of ranks. Output: the connections of
this process, and the number of ranks. Example:

    connections, rank_count = join("tcp://127.0.0.1:29500", rank=0, world_size=2, timeout=30.0)

All ranks connect to rank 0 and receive the addresses of all ranks. In each pair of ranks, the higher rank
connects to the lower rank.

The environment variables of PyTorch's Gloo backend select TLS: GLOO_DEVICE_TRANSPORT=TCP_TLS, and
GLOO_DEVICE_TRANSPORT_TCP_TLS_PKEY, ..._CERT and ..._CA_FILE. The last three name the files of the private
key, the certificate and the certificate authority. Both ends of a connection verify each other's certificate.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import time
from typing import Final

from ts.distributed.errors import DistStoreError
from ts.distributed.event_loop import loop, run
from ts.distributed.peer_links import PeerConnections
from ts.distributed.rendezvous import Rendezvous, RendezvousAddress, RendezvousError, parse_init_method
from ts.distributed.transport.addresses import join_host_port, own_address
from ts.distributed.transport.credentials import Certificates, Credentials
from ts.distributed.transport.transport import Connection, Listener, connect

_TRANSPORT: Final = "GLOO_DEVICE_TRANSPORT"


def join(init_method: str | None, rank: int, world_size: int, timeout: float) -> tuple[PeerConnections, int]:
    """Exchange addresses with all ranks and connect to each of them within `timeout` seconds.

    Return the connections and the number of ranks. Raise DistStoreError if the exchange or a connection
    fails.
    """
    until = time.monotonic() + timeout
    endpoint = parse_init_method(init_method, rank, world_size)
    gate = _Acceptor(endpoint)
    meeting: Rendezvous | None = None
    try:
        meeting = Rendezvous(endpoint, f"rank {endpoint.rank}", gate.open, _certificates(), timeout)
        addresses = {each.rank: each.address for each in meeting.members}
        run(gate.connect(addresses), max(until - time.monotonic(), 0.0))
        meeting.barrier("connected", max(until - time.monotonic(), 0.0))
    except BaseException as error:
        for each in gate.sockets.values():
            each.close()
        if isinstance(error, (RendezvousError, TimeoutError, OSError)):
            raise DistStoreError(
                str(error) or f"not all processes connected within {timeout:.0f} s"
            ) from error
        raise
    finally:
        gate.close()
        if meeting is not None:
            meeting.close()
    return PeerConnections(endpoint.rank, gate.sockets), endpoint.world_size


class _Acceptor:
    """Listener for connections of other ranks during mesh setup."""

    def __init__(self, endpoint: RendezvousAddress) -> None:
        self.endpoint = endpoint
        # rank of a connected process -> socket of the connection to it
        self.sockets: dict[int, socket.socket] = {}
        self.all_connected = asyncio.Event()
        self.listener: Listener[Connection] | None = None

    def open(self, credentials: Credentials) -> str:
        """Start to listen for processes that know the shared secret, and return the address."""
        self.credentials = credentials
        return run(self._open())

    async def _open(self) -> str:
        scheme = self.credentials.scheme("worker")
        address = f"{scheme}://{join_host_port(_own_host(self.endpoint), 0)}"
        listener = Listener(address, self._accept_peer, **self.credentials.get_listen_args("worker"))
        await listener.start()
        self.listener = listener
        return listener.listen_address

    def close(self) -> None:
        """Stop listening."""
        if self.listener is not None:
            loop().call_soon_threadsafe(self.listener.stop)

    async def connect(self, addresses: dict[int, str]) -> None:
        """Connect to each lower rank, and wait until all higher ranks have connected to this rank."""
        for rank in range(self.endpoint.rank):
            async with asyncio.timeout(10):
                connection = await connect(addresses[rank], **self.credentials.get_connection_args("worker"))
            await connection.write(["socket", self.endpoint.rank])
            if await connection.read() != "yours":
                raise ConnectionError(f"rank {rank} is already connected to this process")
            self._store_connection(rank, connection)
        if len(self.sockets) < self.endpoint.world_size - 1:
            await self.all_connected.wait()

    async def _accept_peer(self, connection: Connection) -> None:
        message = await connection.read()
        match message:
            case ("socket", int(rank)) if self.endpoint.rank < rank < self.endpoint.world_size:
                await connection.write("yours" if rank not in self.sockets else "taken")
                if rank not in self.sockets:
                    self._store_connection(rank, connection)
            case _:
                connection.abort()

    def _store_connection(self, rank: int, connection: Connection) -> None:
        """Detach the socket of a connection from the event loop, and store it for `PeerConnections`.

        The connection has no buffered data, as no rank sends messages until all ranks are connected.
        """
        self.sockets[rank], _, _ = connection.stream.detach()
        if len(self.sockets) == self.endpoint.world_size - 1:
            self.all_connected.set()


def _own_host(endpoint: RendezvousAddress) -> str:
    """Return the IP address by which other ranks reach this machine."""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(endpoint.host).is_loopback:
            return endpoint.host
    return own_address(endpoint.host, endpoint.port)


def _certificates() -> Certificates | None:
    """Return the certificates that the environment names, or None. Raise ValueError if a name is missing."""
    transport = os.environ.get(_TRANSPORT, "TCP")
    if transport == "TCP":
        return None
    if transport != "TCP_TLS":
        raise ValueError(f"{_TRANSPORT}={transport} is unsupported: expected TCP or TCP_TLS")
    variables = [f"{_TRANSPORT}_TCP_TLS_{name}" for name in ("CA_FILE", "CERT", "PKEY")]
    missing = [name for name in variables if not os.environ.get(name)]
    if missing:
        raise ValueError(f"{_TRANSPORT}=TCP_TLS needs the environment variables {', '.join(missing)}")
    return Certificates(*(os.environ[name] for name in variables))
