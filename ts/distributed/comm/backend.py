"""Connections of `ts` as dask.distributed's comms: what its `Server`, `rpc` and `ConnectionPool` talk over.

    register()
    await server.listen("ts://127.0.0.1:0", **security.get_listen_args("worker"))
    async with rpc(server.address, connection_args=security.get_connection_args("client")) as far: ...

What is no plain data is refused where it is written.  Errors of dask's handlers arrive as their text.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from distributed.comm import core, registry
from distributed.comm.addressing import parse_address, parse_host_port, unparse_host_port
from distributed.comm.utils import ensure_concrete_host
from distributed.utils import ensure_ip, get_ip

from ts.distributed.comm import greeting
from ts.distributed.comm.channel import HELLO
from ts.distributed.comm.messages import Limits
from ts.distributed.comm.security import PLAIN, TLS, check_means
from ts.distributed.comm.sockets import NOT_NOW, tune
from ts.distributed.comm.stream import Stream

log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE: Final = 5.0  # seconds in which a connection proves who it is
STRANGERS: Final = 64  # connections that have not yet, at once; a new one takes the place of the oldest
_BACKLOG: Final = 1024
_OTHER_FILES: Final = 128  # that are left to the process where connections take all that the system allows
_FULL: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Comm(core.Comm):
    """One connection. `stream` is there for those who do more with it than to write and to read in turns."""

    def __init__(self, stream: Stream, local: str, peer: str) -> None:
        super().__init__(deserialize=False)  # there is nothing to deserialize
        self.stream = stream
        self._local_addr, self._peer_addr = local, peer
        self._finalizer = weakref.finalize(self, stream.close_soon)
        self._finalizer.atexit = False

    async def read(self, deserializers: Any = None) -> Any:
        """The next message."""
        try:
            return await self.stream.receive()
        except ConnectionError as error:
            raise core.CommClosedError(f"in {self}: {error}") from error

    async def write(self, msg: Any, serializers: Any = None, on_error: Any = None) -> int:
        """Send a message, whose bytes are counted; its memory may change as soon as this is done."""
        if isinstance(msg, dict) and msg.get("status") == "uncaught-error":
            msg = {**msg, "exception": None, "traceback": None}  # pickles; their texts are there as well
        try:
            count = self.stream.send(msg)
            await self.stream.flushed()
            return count
        except ConnectionError as error:
            raise core.CommClosedError(f"in {self}: {error}") from error

    async def close(self) -> None:
        """Send what waits to be sent, and let the other end go."""
        if not self.stream.closed:
            try:
                await self.stream.flushed()
                async with asyncio.timeout(PATIENCE):
                    await self.stream.taken()
            except (ConnectionError, TimeoutError):
                log.debug("%s broke before it was closed", self)
        self.abort()

    def abort(self) -> None:
        """Let the other end go, at once."""
        self._finalizer.detach()
        self.stream.close()

    def closed(self) -> bool:
        """Whether it can be used no more."""
        return self.stream.closed

    @property
    def local_address(self) -> str:
        """Ours."""
        return self._local_addr

    @property
    def peer_address(self) -> str:
        """The other end's."""
        return self._peer_addr

    def handshake_info(self) -> dict[str, Any]:
        """What dask's ends tell each other of compression and pickles: there are none."""
        return dict(HELLO)


class Connector(core.Connector):
    """Connects."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    async def connect(
        self,
        address: str,
        deserialize: bool = True,
        *,
        secret: bytes | None = None,
        limits: Limits | None = None,
        ssl_context: ssl.SSLContext | None = None,
        require_encryption: bool | None = None,
        **more: Any,
    ) -> Comm:
        """A connection to a host and a port, whose other end has proved to know the secret."""
        _check(self._scheme, secret, ssl_context, require_encryption)
        host, port = parse_host_port(address)
        loop = asyncio.get_running_loop()
        family, kind, protocol, _, place = (await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, place)
            tune(sock)
            if self._scheme == TLS:
                assert ssl_context is not None
                sock = ssl_context.wrap_socket(sock, do_handshake_on_connect=False)
            async with asyncio.timeout(PATIENCE):
                ends = await _greet(sock, greeting.connector(self._scheme, secret, limits))
            return _comm(sock, self._scheme, ends)
        except (ssl.SSLError, greeting.NotAuthenticated) as error:
            sock.close()
            where = f"{self._scheme}://{address}"
            raise core.FatalCommClosedError(f"{where}: {error}") from error  # to try again is no better
        except BaseException:
            sock.close()
            raise


async def connect(address: str, **how: Any) -> Comm:
    """A connection to an address, without trying again: OSError where nobody listens there."""
    scheme, place = parse_address(address)
    comm = await Connector(scheme).connect(place, **how)
    await comm.write(HELLO)  # as dask's ends do
    await comm.read()
    return comm


class Listener(core.BaseListener):
    """Listens; hands on the connections that have proved to know the secret."""

    def __init__(
        self,
        scheme: str,
        address: str,
        handler: Callable[[Comm], Awaitable[None]],
        *,
        default_host: str | None = None,
        default_port: int = 0,
        secret: bytes | None = None,
        limits: Limits | None = None,
        ssl_context: ssl.SSLContext | None = None,
        require_encryption: bool | None = None,
        **more: Any,
    ) -> None:
        super().__init__()
        _check(scheme, secret, ssl_context, require_encryption)
        self.prefix = f"{scheme}://"  # dask's workers ask for it
        self._scheme, self._handler, self._default_host = scheme, handler, default_host
        host, self._port = parse_host_port(address, default_port)
        self._host = host or "127.0.0.1"
        self._secret, self._limits, self._context = secret or b"", limits, ssl_context
        self._socket: socket.socket | None = None
        self._strangers: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._welcomed: set[asyncio.Task[None]] = set()
        self._most = most_connections(limits or Limits())

    async def start(self) -> None:
        """Listen."""
        self._loop = asyncio.get_running_loop()
        found = await self._loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, place = found[0]
        self._socket = socket.socket(family, kind, protocol)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(place)
            self._socket.listen(_BACKLOG)
        except BaseException:
            self._socket.close()
            raise
        self._place = self._socket.getsockname()[:2]
        self._loop.add_reader(self._socket, self._accept)

    def stop(self) -> None:
        """Listen no more; connections that are there stay."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        for stranger in self._strangers:
            stranger.cancel()

    @property
    def listen_address(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://{unparse_host_port(*self._place)}"

    @property
    def contact_address(self) -> str:
        """Where others find it: another one if it listens everywhere."""
        host, port = self._place
        return f"{self._scheme}://{unparse_host_port(ensure_concrete_host(host, self._default_host), port)}"

    def _accept(self) -> None:
        assert self._socket is not None
        try:
            sock, _ = self._socket.accept()
        except OSError as error:
            if error.errno in _FULL:
                log.warning("%s accepts no connection for a second: %s", self.listen_address, error)
                self._loop.remove_reader(self._socket)
                self._loop.call_later(1.0, self._accept_again)
            return  # else it has gone again
        if len(self._strangers) >= STRANGERS:
            oldest = next(iter(self._strangers))
            oldest.cancel()
            del self._strangers[oldest]
        stranger = self._loop.create_task(self._welcome(sock))
        self._strangers[stranger] = None
        stranger.add_done_callback(self._forget)

    def _accept_again(self) -> None:
        if self._socket is not None:
            self._loop.add_reader(self._socket, self._accept)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._strangers.pop(task, None)
        self._welcomed.discard(task)

    async def _welcome(self, sock: socket.socket) -> None:
        try:
            sock.setblocking(False)
            tune(sock)
            if self._context is not None and self._scheme == TLS:
                sock = self._context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            async with asyncio.timeout(PATIENCE):
                ends = await _greet(sock, greeting.listener(self._scheme, self._secret, self._limits))
            if len(self._welcomed) >= self._most:
                raise ConnectionError(f"there are {self._most} already")
            comm = _comm(sock, self._scheme, ends)
        except (OSError, TimeoutError) as error:
            log.info("%s refuses a connection: %s", self.listen_address, error or "it took too long")
            sock.close()
            return
        except BaseException:
            sock.close()
            raise
        task = asyncio.current_task()
        assert task is not None
        self._strangers.pop(task, None)
        self._welcomed.add(task)  # loops keep no tasks alive
        try:
            await self.on_connection(comm)
        except core.CommClosedError as error:
            log.info("%s", error)
            return
        await self._handler(comm)


class Backend(registry.Backend):
    """A scheme of addresses."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def get_connector(self) -> Connector:
        """What connects to addresses of this scheme."""
        return Connector(self._scheme)

    def get_listener(self, loc: str, handle_comm: Any, deserialize: bool, **how: Any) -> Listener:
        """What listens at one."""
        return Listener(self._scheme, loc, handle_comm, **how)

    def get_address_host(self, loc: str) -> str:
        """The host in an address."""
        return self.get_address_host_port(loc)[0]

    def get_address_host_port(self, loc: str) -> tuple[str, int]:
        """The host and the port in an address."""
        host, port = parse_host_port(loc)
        return host, port

    def resolve_address(self, loc: str) -> str:
        """An address with the host's number."""
        host, port = parse_host_port(loc)
        return unparse_host_port(ensure_ip(host), port)

    def get_local_address_for(self, loc: str) -> str:
        """Where this machine is for one that listens there."""
        return unparse_host_port(get_ip(ensure_ip(parse_host_port(loc)[0])), None)


def most_connections(limits: Limits) -> int:
    """How many connections a process lets in: as many as it is told, if it may have so many files."""
    try:
        import resource
    except ModuleNotFoundError:
        return limits.connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits.connections
    return min(limits.connections, max(files - _OTHER_FILES, files // 2))


def register() -> None:
    """Make the schemes known to dask."""
    for scheme in (PLAIN, TLS):
        registry.backends[scheme] = Backend(scheme)


def _check(scheme: str, secret: bytes | None, context: ssl.SSLContext | None, encrypted: bool | None) -> None:
    if encrypted and scheme != TLS:
        raise RuntimeError(f"encryption is required, and {scheme}:// has none")
    check_means(scheme, secret, context)


def _comm(sock: socket.socket, scheme: str, ends: greeting.Ends) -> Comm:
    names = sock.getsockname(), sock.getpeername()
    local, peer = (f"{scheme}://{unparse_host_port(*name[:2])}" for name in names)
    return Comm(Stream(sock, *ends), local, peer)


async def _greet(sock: socket.socket, steps: greeting.Steps) -> greeting.Ends:
    if isinstance(sock, ssl.SSLSocket):
        await _as_soon_as(sock, sock.do_handshake)
    data, want = next(steps)
    while True:
        if data:
            await _as_soon_as(sock, sock.send, data)  # short, and the first: the socket takes it whole
        answer = b""
        while len(answer) < want:
            more = await _as_soon_as(sock, sock.recv, want - len(answer))
            if not more:
                raise ConnectionError(greeting.CLOSED)
            answer += more
        try:
            data, want = steps.send(answer)
        except StopIteration as end:
            ends: greeting.Ends = end.value
            return ends


async def _as_soon_as(sock: socket.socket, call: Callable[..., T], *arguments: Any) -> T:
    """Do what a socket may not be ready for yet."""
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
