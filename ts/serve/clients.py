"""Who asks: clients, whose requests take turns, and how each has behaved.

    visitors = Visitors(header=None)
    visitor = visitors.of(request)
    visitor.client                      "10.0.0.7": the address, or what a proxy's header says
    visitor.is_known                    whether its last requests were answered well, and at once

Behaviour is that of a connection, as many may share an address; behind a proxy, which shares connections
among clients, it is that of the client.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

_PROVEN: Final = 4  # good answers in a row, after which a visitor is known
_MOST: Final = 4096  # visitors that are remembered by name
_LONGEST: Final = 100  # characters of a name


class Visitor:
    """One that asks."""

    __slots__ = ("_good", "client")

    def __init__(self, client: str) -> None:
        self.client = client
        self._good = 0

    @property
    def is_known(self) -> bool:
        """Whether it asks for what is answered well, within the time that requests usually take."""
        return self._good >= _PROVEN

    def praise(self) -> None:
        """Its request was answered at once."""
        self._good += 1

    def blame(self) -> None:
        """Its request needed more time than others may lose by it."""
        self._good = 0


class Visitors:
    """Those that ask now, or did of late."""

    def __init__(self, header: str | None) -> None:
        self._header = header
        self._named: dict[str, Visitor] = {}

    def of(self, request: web.BaseRequest) -> Visitor:
        """Who sent a request."""
        if self._header is not None and (said := request.headers.get(self._header)):
            return self._by_name(said.rpartition(",")[2].strip()[:_LONGEST])  # the nearest proxy writes last
        connection = request.protocol
        visitor: Visitor | None = getattr(connection, "visitor", None)
        if visitor is None:
            visitor = connection.visitor = Visitor(request.remote or "")  # type: ignore[attr-defined]
        return visitor

    def _by_name(self, name: str) -> Visitor:
        visitor = self._named.pop(name, None) or Visitor(name)
        self._named[name] = visitor
        if len(self._named) > _MOST:
            del self._named[next(iter(self._named))]
        return visitor
