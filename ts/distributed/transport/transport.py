"""Authenticated (and with TLS encrypted) TCP connections, the transport of process groups and RPC.

In the example, `serve` is a coroutine function that handles each connection of the listener:

    listener = Listener("ts://127.0.0.1:0", serve, secret=secret)
    await listener.start()
    connection = await connect(listener.listen_address, secret=secret)
    await connection.write({"op": "echo"})
    message = await connection.read()

Before the first message, both ends prove that they know the secret (`handshake`) and negotiate shared memory
(`shm_negotiation`). Then they exchange `HELLO`, which dask requires.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar

from ts.distributed.transport import connection_setup
from ts.distributed.transport.addresses import (
    TLS,
    join_host_port,
    own_address,
    split_address,
    split_host_port,
)
from ts.distributed.transport.async_connection import AsyncConnection
from ts.distributed.transport.credentials import check_credentials
from ts.distributed.transport.handshake import AuthenticationError
from ts.distributed.transport.message_codec import TransportLimits
from ts.distributed.transport.socket_io import NOT_NOW, tune

log = logging.getLogger(__name__)

T = TypeVar("T")

HELLO: Final = {"compression": None, "pickle-protocol": 0}  # first message of each end, which dask requires
HANDSHAKE_TIMEOUT_SECONDS = 5.0
# Maximum number of open connections that have not authenticated yet. A further connection replaces the oldest
# one.
MAX_UNAUTHENTICATED_CONNECTIONS: Final = 64
_BACKLOG: Final = 1024
# IPv4 and IPv6 address on other networks. The local address from which this machine would connect to them is
# one that other machines can reach.
_PUBLIC_ADDRESSES: Final = (("8.8.8.8", 80), ("2001:4860:4860::8888", 80))
# number of file descriptors that are reserved for uses other than connections
_RESERVED_FILES: Final = 128
_RESOURCE_ERRORS: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Connection:
    """Authenticated connection.

    `read` and `write` are for a process that alternately reads and writes messages. Other processes use
    `stream`.
    """

    def __init__(self, stream: AsyncConnection, local_address: str, peer_address: str) -> None:
        self.stream = stream
        self._local_addr, self._peer_addr = local_address, peer_address
        self._finalizer = weakref.finalize(self, stream.close_soon)
        self._finalizer.atexit = False

    async def read(self) -> Any:
        """Return the next message. Raise ConnectionError if the connection has ended."""
        return await self.stream.receive()

    async def write(self, message: Any, /) -> int:
        """Send a message and return its size in bytes. The message's memory may be changed afterwards."""
        count = self.stream.send(message)
        await self.stream.flushed()
        return count

    async def close(self) -> None:
        """Close the connection after sending all queued data."""
        if not self.stream.closed:
            try:
                await self.stream.flushed()
                async with asyncio.timeout(HANDSHAKE_TIMEOUT_SECONDS):
                    await self.stream.wait_until_consumed()
            except (ConnectionError, TimeoutError):
                log.debug("%s: the connection broke before it was closed", self)
        self.abort()

    def abort(self) -> None:
        """Close the connection immediately."""
        self._finalizer.detach()
        self.stream.close()

    def closed(self) -> bool:
        """Return True if the connection is closed."""
        return self.stream.closed

    @property
    def local_address(self) -> str:
        """Address of this end."""
        return self._local_addr

    @property
    def peer_address(self) -> str:
        """Address of the peer."""
        return self._peer_addr


ConnectionType = TypeVar("ConnectionType", bound=Connection)


async def open_connection(
    address: str,
    kind: type[ConnectionType],
    *,
    secret: bytes | None = None,
    limits: TransportLimits | None = None,
    ssl_context: ssl.SSLContext | None = None,
    require_encryption: bool | None = None,
    **unused: Any,
) -> ConnectionType:
    """Connect and authenticate, without sending `HELLO`.

    Raise AuthenticationError if the handshake or TLS rejects an end, OSError if no process listens at the
    address, and TimeoutError if the handshake takes too long.
    """
    scheme, location = split_address(address)
    check_credentials(scheme, secret, ssl_context, require_encryption)
    host, port = split_host_port(location)
    loop = asyncio.get_running_loop()
    family, type_, protocol, _, target = (await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))[0]
    sock = socket.socket(family, type_, protocol)
    try:
        sock.setblocking(False)
        await loop.sock_connect(sock, target)
        tune(sock)
        if scheme == TLS:
            assert ssl_context is not None
            sock = ssl_context.wrap_socket(sock, do_handshake_on_connect=False)
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_SECONDS):
            codecs = await _run_greeting(sock, connection_setup.connector(scheme, secret, limits))
        return _connection(kind, sock, scheme, codecs)
    except (ssl.SSLError, AuthenticationError) as error:
        sock.close()
        raise AuthenticationError(f"{address}: {error}") from error
    except BaseException:
        sock.close()
        raise


async def connect(address: str, **credentials: Any) -> Connection:
    """Connect, authenticate and exchange `HELLO`. Raise the errors of `open_connection`."""
    connection = await open_connection(address, Connection, **credentials)
    await exchange_hello(connection)
    return connection


async def exchange_hello(connection: Connection) -> None:
    """Send `HELLO` and read the peer's `HELLO`."""
    await connection.write(HELLO)
    await connection.read()


class Listener(Generic[ConnectionType]):
    """Listener that accepts and authenticates connections at an address, and passes them to `handler`."""

    kind: type[Connection] = Connection

    def __init__(
        self,
        address: str,
        handler: Callable[[ConnectionType], Awaitable[None]],
        *,
        default_port: int = 0,
        secret: bytes | None = None,
        limits: TransportLimits | None = None,
        ssl_context: ssl.SSLContext | None = None,
        require_encryption: bool | None = None,
        **unused: Any,
    ) -> None:
        self._scheme, location = split_address(address)
        check_credentials(self._scheme, secret, ssl_context, require_encryption)
        self._handler = handler
        host, self._port = split_host_port(location, default_port)
        self._host = host or "127.0.0.1"
        self._secret, self._limits, self._context = secret or b"", limits, ssl_context
        self._socket: socket.socket | None = None
        # tasks of the connections that have not authenticated yet, oldest first
        self._unauthenticated: dict[asyncio.Task[None], None] = {}
        self._authenticated: set[asyncio.Task[None]] = set()
        self._max_connections = max_connections(limits or TransportLimits())

    async def start(self) -> None:
        """Start to listen. Raise OSError if the address is in use."""
        self._loop = asyncio.get_running_loop()
        addresses = await self._loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        family, type_, protocol, _, target = addresses[0]
        self._socket = socket.socket(family, type_, protocol)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(target)
            self._socket.listen(_BACKLOG)
        except OSError as error:
            self._socket.close()
            host_port = join_host_port(self._host, self._port)
            raise OSError(error.errno, f"{error.strerror}: cannot listen at {host_port}") from error
        except BaseException:
            self._socket.close()
            raise
        self._host_port: tuple[str, int] = self._socket.getsockname()[:2]
        self._loop.add_reader(self._socket, self._accept)

    def stop(self) -> None:
        """Stop listening. Existing connections stay open."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        for task in self._unauthenticated:
            task.cancel()

    @property
    def listen_address(self) -> str:
        """Address of the bound listener."""
        return f"{self._scheme}://{join_host_port(*self._host_port)}"

    @property
    def contact_address(self) -> str:
        """Address by which other processes reach this listener, with a concrete IP address."""
        host, port = self._host_port
        if ipaddress.ip_address(host).is_unspecified:
            try:
                host = own_address(*_PUBLIC_ADDRESSES[":" in host])
            except OSError:  # this machine has no route to other networks
                host = socket.gethostbyname(socket.gethostname())
        return f"{self._scheme}://{join_host_port(host, port)}"

    async def serve(self, connection: ConnectionType) -> None:
        """Call the handler with an authenticated connection."""
        try:
            async with asyncio.timeout(HANDSHAKE_TIMEOUT_SECONDS):
                await exchange_hello(connection)
            await self._handler(connection)
        except (ConnectionError, TimeoutError) as error:
            log.info("%s lost a connection: %s", self.listen_address, error or "timed out")
            connection.abort()

    def _accept(self) -> None:
        assert self._socket is not None
        try:
            sock, _ = self._socket.accept()
        except OSError as error:
            if error.errno in _RESOURCE_ERRORS:
                log.warning("%s stops accepting connections for a second: %s", self.listen_address, error)
                self._loop.remove_reader(self._socket)
                self._loop.call_later(1.0, self._resume_accepting)
            return  # the client has closed the connection
        if len(self._unauthenticated) >= MAX_UNAUTHENTICATED_CONNECTIONS:
            oldest = next(iter(self._unauthenticated))
            oldest.cancel()
            del self._unauthenticated[oldest]
        task = self._loop.create_task(self._authenticate(sock))
        self._unauthenticated[task] = None
        task.add_done_callback(self._forget)

    def _resume_accepting(self) -> None:
        if self._socket is not None:
            self._loop.add_reader(self._socket, self._accept)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._unauthenticated.pop(task, None)
        self._authenticated.discard(task)

    async def _authenticate(self, sock: socket.socket) -> None:
        try:
            sock.setblocking(False)
            tune(sock)
            if self._context is not None and self._scheme == TLS:
                sock = self._context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            async with asyncio.timeout(HANDSHAKE_TIMEOUT_SECONDS):
                codecs = await _run_greeting(
                    sock, connection_setup.listener(self._scheme, self._secret, self._limits)
                )
            if len(self._authenticated) >= self._max_connections:
                raise ConnectionError(f"the maximum of {self._max_connections} connections is reached")
            connection: Any = _connection(self.kind, sock, self._scheme, codecs)
        except (OSError, TimeoutError) as error:
            log.info("%s rejected a connection: %s", self.listen_address, error or "timed out")
            sock.close()
            return
        except BaseException:
            sock.close()
            raise
        task = asyncio.current_task()
        assert task is not None
        self._unauthenticated.pop(task, None)
        # keep a strong reference to the task, because the event loop has only a weak reference
        self._authenticated.add(task)
        await self.serve(connection)


def max_connections(limits: TransportLimits) -> int:
    """Return the maximum number of connections of this process, bounded by its limit of open files."""
    try:
        import resource
    except ModuleNotFoundError:
        return limits.connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits.connections
    return min(limits.connections, max(files - _RESERVED_FILES, files // 2))


def _connection(
    kind: type[ConnectionType], sock: socket.socket, scheme: str, codecs: connection_setup.Codecs
) -> ConnectionType:
    names = sock.getsockname(), sock.getpeername()
    local, peer = (f"{scheme}://{join_host_port(*name[:2])}" for name in names)
    return kind(AsyncConnection(sock, *codecs), local, peer)


async def _run_greeting(
    sock: socket.socket, steps: connection_setup.HandshakeSteps
) -> connection_setup.Codecs:
    """Run the TLS handshake, if any, and the connection setup on a socket."""
    if isinstance(sock, ssl.SSLSocket):
        await _call_when_ready(sock, sock.do_handshake)
    data, expected_bytes = next(steps)
    while True:
        if data:
            # one call sends everything, because the data is shorter than the socket's buffer
            await _call_when_ready(sock, sock.send, data)
        answer = b""
        while len(answer) < expected_bytes:
            more = await _call_when_ready(sock, sock.recv, expected_bytes - len(answer))
            if not more:
                raise ConnectionError(connection_setup.CLOSED)
            answer += more
        try:
            data, expected_bytes = steps.send(answer)
        except StopIteration as end:
            codecs: connection_setup.Codecs = end.value
            return codecs


async def _call_when_ready(sock: socket.socket, call: Callable[..., T], *arguments: Any) -> T:
    """Call a method of a socket. Whenever the socket is not ready, wait and call the method again."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return call(*arguments)
        except ssl.SSLWantWriteError:
            add, remove = loop.add_writer, loop.remove_writer
        except NOT_NOW:
            add, remove = loop.add_reader, loop.remove_reader
        ready = asyncio.Event()
        add(sock, ready.set)
        try:
            await ready.wait()
        finally:
            remove(sock)
