"""Communication backend for dask.distributed, with which `Server`, `rpc` and `ConnectionPool` use `ts://`.

After `register()`, addresses of dask can have the schemes of `ts`:

    register()
    await server.listen("ts://127.0.0.1:0", **security.get_listen_args("worker"))
    async with rpc(server.address, connection_args=security.get_connection_args("client")) as far: ...

Only plain data can be written. Other values raise an error. Errors of dask's handlers are sent as text.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from distributed.comm import core, registry
from distributed.comm.utils import ensure_concrete_host
from distributed.utils import ensure_ip, get_ip

from ts.distributed.transport import transport
from ts.distributed.transport.addresses import PLAIN, TLS, join_host_port, split_host_port
from ts.distributed.transport.async_connection import AsyncConnection
from ts.distributed.transport.handshake import AuthenticationError
from ts.distributed.transport.transport import HELLO, Connection

log = logging.getLogger(__name__)


class Comm(Connection, core.Comm):
    """Connection with the interface and the errors of dask's comms."""

    def __init__(self, stream: AsyncConnection, local_address: str, peer_address: str) -> None:
        # Set `deserialize=False`, because messages contain no pickles that dask could deserialize.
        core.Comm.__init__(self, deserialize=False)
        Connection.__init__(self, stream, local_address, peer_address)

    async def read(self, deserializers: Any = None) -> Any:
        """Return the next message. Raise CommClosedError if the connection has ended."""
        try:
            return await super().read()
        except ConnectionError as error:
            raise core.CommClosedError(f"in {self}: {error}") from error

    async def write(self, msg: Any, serializers: Any = None, on_error: Any = None) -> int:
        """Send a message and return its size in bytes. The message's memory may be changed afterwards."""
        if isinstance(msg, dict) and msg.get("status") == "uncaught-error":
            # dask's entries for the exception and its traceback are pickled. The message also contains the
            # error as text.
            msg = {**msg, "exception": None, "traceback": None}
        try:
            return await super().write(msg)
        except ConnectionError as error:
            raise core.CommClosedError(f"in {self}: {error}") from error

    def handshake_info(self) -> dict[str, Any]:
        """Return the settings for dask's handshake: no compression and no pickles."""
        return dict(HELLO)


class Connector(core.Connector):
    """Connector for the addresses of one scheme."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    async def connect(self, address: str, deserialize: bool = True, **credentials: Any) -> Comm:
        """Connect to a host and port and authenticate. Raise FatalCommClosedError if not admitted."""
        try:
            return await transport.open_connection(f"{self._scheme}://{address}", Comm, **credentials)
        except AuthenticationError as error:
            raise core.FatalCommClosedError(str(error)) from error.__cause__


class Listener(transport.Listener[Comm], core.BaseListener):
    """Listener whose connections start with dask's handshake."""

    kind = Comm

    def __init__(
        self,
        address: str,
        handler: Callable[[Comm], Awaitable[None]],
        *,
        default_host: str | None = None,
        **arguments: Any,
    ) -> None:
        core.BaseListener.__init__(self)
        transport.Listener.__init__(self, address, handler, **arguments)
        self.prefix = f"{self._scheme}://"  # an attribute that dask's workers read
        self._default_host = default_host

    @property
    def contact_address(self) -> str:
        """Return the address by which other processes reach this listener, with a concrete IP address."""
        host, port = self._host_port
        return f"{self._scheme}://{join_host_port(ensure_concrete_host(host, self._default_host), port)}"

    async def serve(self, connection: Comm) -> None:
        """Run dask's handshake and call the handler."""
        try:
            await self.on_connection(connection)
        except core.CommClosedError as error:
            log.info("%s", error)
            return
        await self._handler(connection)


class TsCommBackend(registry.Backend):
    """Communication backend of dask for one address scheme."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def get_connector(self) -> Connector:
        """Return the connector of this scheme."""
        return Connector(self._scheme)

    def get_listener(self, loc: str, handle_comm: Any, deserialize: bool, **arguments: Any) -> Listener:
        """Return a listener for an address of this scheme."""
        return Listener(f"{self._scheme}://{loc}", handle_comm, **arguments)

    def get_address_host(self, loc: str) -> str:
        """Return the host in an address."""
        return self.get_address_host_port(loc)[0]

    def get_address_host_port(self, loc: str) -> tuple[str, int]:
        """Return the host and the port in an address."""
        return split_host_port(loc)

    def resolve_address(self, loc: str) -> str:
        """Return the address `loc` with its host name resolved to an IP address."""
        host, port = split_host_port(loc)
        return join_host_port(ensure_ip(host), port)

    def get_local_address_for(self, loc: str) -> str:
        """Return the IP address of this machine at which a process can reach it.

        The process listens at `loc`.
        """
        return join_host_port(get_ip(ensure_ip(split_host_port(loc)[0])), None)


def register() -> None:
    """Register the address schemes with dask."""
    for scheme in (PLAIN, TLS):
        registry.backends[scheme] = TsCommBackend(scheme)


register()
