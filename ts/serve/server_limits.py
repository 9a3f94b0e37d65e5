"""What a request may take: its size before it is read, how long its client may take, who may ask at all.

    bounds = Bounds(body=1 << 20)
    check_host(request, bounds); check_origin(request)         Refusal, with a status and a code
    body = await read_body(request, bounds, budget)            bytes; Refusal as soon as there are too many

Time and memory of programs and models are `ts.limits`, in the process that runs them.
"""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aiohttp import web


@dataclass(frozen=True)
class Bounds:
    """All limits of a server."""

    seconds: float = 10.0  # of a request's own time in the model, or of a program's
    bytes: int = 1 << 30  # of memory of a model or program
    body: int = 16 << 20  # bytes of a request
    answer: int = 64 << 20  # bytes of an answer
    bodies: int = 256 << 20  # bytes of all requests and answers that are held at one time
    queue: int = 256  # requests that wait
    client_queue: int = 128  # those of one client
    client_header: str | None = None  # in which a proxy says who the client is
    workers: int = 8  # processes
    batch: int = 1  # requests that run as one
    connections: int = 1024
    client_seconds: float = 20.0  # to send a head, to send a body, to take an answer; of an idle connection
    grace_seconds: float = 15.0  # for what is running, at the end
    hosts: frozenset[str] = frozenset()  # names that this server has, besides localhost and its addresses
    any_host: bool = False


class Refusal(Exception):
    """A request that is not answered; closes the connection where its body was not read."""

    def __init__(self, status: int, code: str, message: str, *, retry: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry = retry  # seconds after which it may be tried again


class Budget:
    """Bytes of bodies that are in memory at one time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def take(self, size: int) -> None:
        """Refusal if there is no room for them."""
        if self.taken + size > self._most:
            raise Refusal(503, "busy", "the server holds as much as it can", retry=1)
        self.taken += size

    def give(self, size: int) -> None:
        """They are gone."""
        self.taken -= size


def check_host(request: web.BaseRequest, bounds: Bounds) -> None:
    """Refuse requests to names that are not this server's.

    A page on another site could let its name point to this machine, and so read what is served here.  It
    cannot give an address as the name.
    """
    hosts = request.headers.getall("Host", [])
    if len(hosts) != 1:
        raise Refusal(400, "bad_host", "a request has one Host")
    name = _host_name(hosts[0])
    if bounds.any_host or name == "localhost" or name in bounds.hosts or _is_address(name):
        return
    raise Refusal(421, "bad_host", "this server does not have that name; --allow-host gives it one")


def check_origin(request: web.BaseRequest) -> None:
    """Refuse what a page of another site sends."""
    origin = request.headers.get("Origin")
    host = request.headers.get("Host", "").lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise Refusal(403, "bad_origin", "pages of other sites may not ask")
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        raise Refusal(403, "bad_origin", "pages of other sites may not ask")


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[").lower()
    return host.partition(":")[0].lower().removesuffix(".")


@lru_cache(256)
def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


async def read_body(request: web.BaseRequest, bounds: Bounds, budget: Budget) -> bytes:
    """The body; what it takes of the budget is the caller's to give back."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refusal(415, "bad_type", "bodies are not compressed; what is in an npz may be")
    length = request.content_length
    if length is not None and length > bounds.body:
        raise Refusal(413, "too_large", f"the body has {length:,} bytes; {bounds.body:,} are the most")
    if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
        request.transport.write(_CONTINUE)
    if length is not None and request.content.is_eof():  # nearly always it came with its head
        budget.take(length)
        return request.content.read_nowait()
    taken = 0
    parts = []
    try:
        budget.take(length or 0)
        taken = length or 0
        size = 0
        async with asyncio.timeout(bounds.client_seconds):
            while chunk := await request.content.readany():
                size += len(chunk)
                if size > bounds.body:
                    raise Refusal(413, "too_large", f"the body has more than {bounds.body:,} bytes")
                if size > taken:
                    budget.take(size - taken)
                    taken = size
                parts.append(chunk)
    except TimeoutError:
        budget.give(taken)
        raise Refusal(408, "slow", "the body took too long to come") from None
    except BaseException:
        budget.give(taken)
        raise
    budget.give(taken - size)
    return b"".join(parts)
