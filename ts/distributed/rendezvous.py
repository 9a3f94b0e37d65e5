"""Rendezvous (bootstrap) of the processes of one program at rank 0, and barriers between them.

All processes connect to rank 0 and receive the list of members. The argument `init_method` names the address:

    "env://"            from MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE
    "file:///tmp/x"     on one machine, from a file that rank 0 writes

The example runs in one process. `barrier` returns when all processes have called it:

    endpoint = parse_init_method("env://", rank, world_size)
    meeting = Rendezvous(endpoint, name="worker1", address="ts://...")
    meeting.members          [Participant(rank=0, name="worker0", address="ts://127.0.0.1:4711")]
    meeting.barrier("end")

Barriers do not wait for processes that have left or disconnected.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from ts.distributed import file_rendezvous
from ts.distributed import shared_secret as secrets
from ts.distributed.event_loop import run
from ts.distributed.transport.addresses import PLAIN, join_host_port
from ts.distributed.transport.credentials import Credentials, SharedSecret
from ts.distributed.transport.handshake import AuthenticationError
from ts.distributed.transport.multiplexing import Reply, RequestMultiplexer, answer
from ts.distributed.transport.transport import Connection, Listener, connect

_ACCEPT_TIMEOUT_SECONDS: Final = 5.0  # timeout of one attempt to connect to rank 0
_RETRY_INTERVAL_SECONDS: Final = 0.05  # waiting time between attempts to connect


class RendezvousAddress(NamedTuple):
    """Address of a rendezvous, rank of this process and number of processes."""

    host: str
    port: int
    rank: int
    world_size: int
    # file with the host and port of rank 0 for a `file://` rendezvous, otherwise None
    file: str | None = None

    def listen_endpoint(self) -> RendezvousAddress:
        """Return the address at which rank 0 listens. For a file rendezvous, choose a free local port."""
        return self if self.file is None else self._at(file_rendezvous.reserve_port())

    def resolve(self) -> RendezvousAddress:
        """Return the address of rank 0. Raise OSError if rank 0 has not written it yet."""
        address = None if self.file is None else file_rendezvous.read_address(self.file)
        if address is None and self.file is not None:
            raise FileNotFoundError(f"it has not yet written its address to {self.file}")
        return self if address is None else self._at(address)

    def _at(self, address: tuple[str, int]) -> RendezvousAddress:
        return self._replace(host=address[0], port=address[1])


class Participant(NamedTuple):
    """Member of a rendezvous: rank, name and address."""

    rank: int
    name: str
    address: str


class RendezvousError(RuntimeError):
    """Raised if not all processes have joined a rendezvous or called a barrier in time."""


def parse_init_method(init_method: str | None, rank: int = -1, world_size: int = -1) -> RendezvousAddress:
    """Parse an init method. Raise ValueError if it lacks a host, port, rank or world size.

    An init method is `env://`, `tcp://host:port?rank=&world_size=` or `file:///path`.
    """
    url = urlsplit(init_method or "env://")
    file: str | None = None
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if url.scheme == "env":
        host = _require_variable("MASTER_ADDR", os.environ.get("MASTER_ADDR"))
        port = int(_require_variable("MASTER_PORT", os.environ.get("MASTER_PORT")))
        resolved = {"rank": os.environ.get("RANK"), "world_size": os.environ.get("WORLD_SIZE")}
    elif url.scheme == "tcp":
        if not url.hostname or not url.port:
            raise ValueError(f"invalid init_method {init_method}: expected tcp://HOST:PORT")
        host, port, resolved = url.hostname, url.port, {}
    elif url.scheme == "file":
        file, host, port, resolved = _path(url.netloc + url.path), file_rendezvous.LOCAL, 0, {}
    else:
        raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
    rank = _parse_int(url.scheme, "rank", rank, query.get("rank"), resolved.get("rank"))
    size = "world_size", world_size, query.get("world_size"), resolved.get("world_size")
    world_size = _parse_int(url.scheme, *size)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank} is out of range for world size {world_size}")
    return RendezvousAddress(host, port, rank, world_size, file)


def _path(path: str) -> str:
    if not path:
        raise ValueError("Error initializing torch.distributed using file:// rendezvous: path missing")
    return unquote(path)


def _parse_int(scheme: str, name: str, argument: int, *others: str | None) -> int:
    texts = (str(argument) if argument >= 0 else None, *others)
    setting = next((setting for setting in texts if setting is not None), None)
    if setting is None and scheme != "env":
        raise ValueError(
            f"Error initializing torch.distributed using {scheme}:// rendezvous: {name} parameter missing"
        )
    return int(_require_variable(name.upper(), setting))


def _require_variable(variable: str, value: str | None) -> str:
    if value is None:
        raise ValueError(
            "Error initializing torch.distributed using env:// rendezvous: environment variable "
            f"{variable} expected, but not set"
        )
    return value


class Rendezvous:
    """Membership of this process in a rendezvous. It lasts from the join of all processes until `close`.

    `address` may be a function that receives the credentials of the rendezvous, starts a listener and returns
    its address.
    """

    def __init__(
        self,
        endpoint: RendezvousAddress,
        name: str,
        address: str | Callable[[Credentials], str],
        security: Credentials | None = None,
        timeout: float = 300.0,
    ) -> None:
        """Join the rendezvous.

        `address` is the address of this process, or a function that starts a listener and returns the
        address.
        """
        self.endpoint = endpoint
        self._host: _RendezvousServer | None = None
        self._calls: RequestMultiplexer | None = None
        until = time.monotonic() + timeout
        try:
            if endpoint.rank == 0:
                self._host = run(_listening(endpoint.listen_endpoint(), security))
            self._calls, self.security = run(_connected(endpoint, security, until))
            if callable(address):
                address = address(self.security)
            join = ["join", endpoint.rank, name, address, endpoint.world_size]
            self.members = [Participant(*each) for each in self._ask(join, until - time.monotonic())]
        except BaseException:
            self.close()
            raise

    def barrier(self, name: str, timeout: float | None = None) -> None:
        """Wait until all remaining processes call `barrier(name)`. Raise RendezvousError on timeout."""
        self._ask(["barrier", name], timeout)

    def close(self) -> None:
        """Leave the rendezvous. If rank 0 leaves, barriers in which other processes wait fail."""
        if self._calls is not None:
            self._calls.close()
        if self._host is not None:
            run(self._host.close())
            self._host = None

    def _ask(self, message: list[Any], timeout: float | None) -> Any:
        assert self._calls is not None
        try:
            resolved, response = self._calls.call(message).result(timeout)
        except TimeoutError:
            raise RendezvousError(
                f"timeout of {message[0]}: not all processes arrived within {timeout:.0f} s"
            ) from None
        except ConnectionError as error:
            raise RendezvousError(f"lost the connection to rank 0, the rendezvous server: {error}") from None
        if not resolved:
            raise RendezvousError(response)
        return response


async def _listening(endpoint: RendezvousAddress, security: Credentials | None) -> _RendezvousServer:
    host = _RendezvousServer(endpoint, secrets.new(endpoint.host) if security is None else None)
    await host.start(security)
    return host


async def _connected(
    endpoint: RendezvousAddress, security: Credentials | None, until: float
) -> tuple[RequestMultiplexer, Credentials]:
    """Connect to rank 0 when it listens. Return the connection, and the credentials that rank 0 accepted."""
    while True:
        try:
            first = endpoint.resolve()
            secret = secrets.shared(first.host, first.port) if security is None else None
            if security is not None or secret is not None:
                credentials = security or SharedSecret(secret or b"")
                async with asyncio.timeout(_ACCEPT_TIMEOUT_SECONDS):
                    connection = await connect(
                        _address(first, security), **credentials.get_connection_args("client")
                    )
                return RequestMultiplexer(connection), credentials
        except (OSError, TimeoutError) as error:
            if isinstance(error, AuthenticationError) and security is not None:
                raise RendezvousError(str(error)) from None
            reason = error
        else:
            reason = OSError("it does not listen yet")
        if time.monotonic() > until:
            location = endpoint.file or f"{endpoint.host}:{endpoint.port}"
            raise RendezvousError(f"cannot connect to rank 0 at {location}: {reason}")
        await asyncio.sleep(_RETRY_INTERVAL_SECONDS)


def _address(endpoint: RendezvousAddress, security: Credentials | None) -> str:
    scheme = PLAIN if security is None else security.scheme("scheduler")
    return f"{scheme}://{join_host_port(endpoint.host, endpoint.port)}"


class _RendezvousServer:
    """Server in rank 0: registers members and releases barriers."""

    def __init__(self, endpoint: RendezvousAddress, secret: bytes | None) -> None:
        self.endpoint = endpoint
        # Secret of this rendezvous. It is None if the user configured credentials.
        self.secret = secret
        self.members: dict[int, Participant] = {}
        self.departed: set[int] = set()
        # name of a barrier -> {rank that waits in the barrier -> function that sends the reply to this rank}
        self.pending_replies: dict[str, dict[int, Reply]] = {}

    @property
    def _listen_address(self) -> tuple[str, int]:
        return self.endpoint.host, self.endpoint.port

    async def start(self, security: Credentials | None) -> None:
        """Start to listen."""
        credentials = security or SharedSecret(self.secret or b"")
        address = _address(self.endpoint, security)
        self.listener = Listener(address, self._serve, **credentials.get_listen_args("scheduler"))
        await self.listener.start()
        # The secret is published only after the port is bound: before that, another listener may use this
        # port and its secret file.
        if self.secret is not None:
            secrets.publish_secret(self.endpoint.port, self.secret)
        if self.endpoint.file is not None:
            file_rendezvous.publish_address(self.endpoint.file, self._listen_address)

    async def close(self) -> None:
        """Stop listening."""
        self.listener.stop()
        if self.endpoint.file is not None:
            file_rendezvous.withdraw(self.endpoint.file, self._listen_address)
        if self.secret is not None:
            secrets.withdraw(self.endpoint.port, self.secret)

    async def _serve(self, connection: Connection) -> None:
        rank = -1

        def handle(message: Any, reply: Reply) -> None:
            nonlocal rank
            match message:
                case ("join", int(requested_rank), str(name), str(address), int(count)) if rank < 0:
                    rejection_reason = self._rejection_reason(
                        Participant(requested_rank, name, address), count
                    )
                    if rejection_reason is not None:
                        reply([False, rejection_reason])
                        return
                    rank = requested_rank
                    self.members[rank] = Participant(rank, name, address)
                    self._register_arrival("", rank, reply)
                case ("barrier", str(name)) if rank >= 0 and name:
                    self._register_arrival(name, rank, reply)
                case _:
                    reply([False, "unknown rendezvous request"])

        await answer(connection, handle)
        if rank >= 0:
            self.departed.add(rank)
            for name in list(self.pending_replies):
                self._release_if_complete(name)

    def _rejection_reason(self, member: Participant, count: int) -> str | None:
        size = self.endpoint.world_size
        if count != size:
            return f"world sizes differ: {size} in rank 0, {count} in {member.name}"
        if not 0 <= member.rank < size:
            return f"rank {member.rank} is out of range for world size {size}"
        if member.rank in self.members:
            return f"rank {member.rank} is already used by {self.members[member.rank].name}"
        if any(member.name == other.name for other in self.members.values()):
            return f"the name {member.name} is already used by another process"
        return None

    def _register_arrival(self, name: str, rank: int, reply: Reply) -> None:
        self.pending_replies.setdefault(name, {})[rank] = reply
        self._release_if_complete(name)

    def _release_if_complete(self, name: str) -> None:
        """Release the barrier `name` if all remaining members have called it."""
        arrived = self.pending_replies[name]
        expected = range(self.endpoint.world_size) if not name else self.members.keys() - self.departed
        if not all(rank in arrived for rank in expected):
            return
        del self.pending_replies[name]
        members = [list(self.members[rank]) for rank in sorted(self.members)]
        for reply in arrived.values():
            reply([True, members if not name else None])
