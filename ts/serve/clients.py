"""Clients of the server: identity for the fair queues, and trust earned by fast requests.

A `ClientRegistry` finds the client of a request. The right column describes the attributes of the client:

    client = registry.find_client(request)
    client.name                         its address, or the value of the proxy's header, such as "10.0.0.7"
    client.is_trusted                   whether its latest requests succeeded within the usual time

Many clients may share an address. Without a proxy header, trust therefore belongs to a connection. A proxy
shares its connections among clients. With a proxy header, trust therefore belongs to the named client.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

# a client is trusted after this number of consecutive successes
_TRUST_AFTER_SUCCESSES: Final = 4
_MAX_TRACKED_CLIENTS: Final = 4096
_MAX_CLIENT_NAME_CHARS: Final = 100


class Client:
    """Sender of requests, with its name in the fair queues and its number of consecutive successes."""

    __slots__ = ("_success_count", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._success_count = 0

    @property
    def is_trusted(self) -> bool:
        """True if the latest requests of this client succeeded within the usual time."""
        return self._success_count >= _TRUST_AFTER_SUCCESSES

    def record_success(self) -> None:
        """Count a request that succeeded at the first attempt."""
        self._success_count += 1

    def record_slow(self) -> None:
        """Record a request that exceeded its first time limit. The client is not trusted any more."""
        self._success_count = 0


class ClientRegistry:
    """Clients of the server.

    They are found by connection, or, if a proxy header identifies clients, by name in an LRU cache.
    """

    def __init__(self, header: str | None) -> None:
        self._header = header
        # Name -> client. The client whose last request is oldest comes first.
        self._clients_by_name: dict[str, Client] = {}

    def find_client(self, request: web.BaseRequest) -> Client:
        """Return the client that sent a request."""
        if self._header is not None and (value := request.headers.get(self._header)):
            # Only the last name is used: the nearest proxy appends it, whereas a client can forge all names
            # before it.
            return self._find_by_name(value.rpartition(",")[2].strip()[:_MAX_CLIENT_NAME_CHARS])
        connection = request.protocol
        client: Client | None = getattr(connection, "client", None)
        if client is None:
            client = connection.client = Client(request.remote or "")  # type: ignore[attr-defined]
        return client

    def _find_by_name(self, name: str) -> Client:
        client = self._clients_by_name.pop(name, None) or Client(name)
        self._clients_by_name[name] = client
        if len(self._clients_by_name) > _MAX_TRACKED_CLIENTS:
            del self._clients_by_name[next(iter(self._clients_by_name))]
        return client
