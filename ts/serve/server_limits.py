"""Limits of HTTP requests against denial of service, and checks of their host and origin (CSRF).

The limits apply to body size, memory and time. The checks reject DNS rebinding and cross-site requests. The
last three calls raise HTTPError if a check fails or a limit is exceeded:

    limits = ServerLimits(body=1 << 20)
    check_host(request, limits)
    check_origin(request)
    body = await read_body(request, limits, budget)

In worker processes, `ts.limits` limits the time and memory of programs and models.
"""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aiohttp import web


@dataclass(frozen=True)
class ServerLimits:
    """Limits of a server. Sizes are in bytes."""

    seconds: float = 10.0  # time limit of the model or program for one request
    bytes: int = 1 << 30  # memory limit of a model or program
    body: int = 16 << 20  # maximum size of a request body
    answer: int = 64 << 20  # maximum size of a response body
    bodies: int = 256 << 20  # maximum total size of the request and response bodies that are in memory
    queue: int = 256  # maximum number of queued requests
    client_queue: int = 128  # maximum number of queued requests per client
    client_header: str | None = None  # header in which a proxy names the client
    workers: int = 8  # maximum number of worker processes
    batch: int = 1  # maximum number of requests that one call of the model processes together
    connections: int = 1024
    # Time limit for each of these actions of a client: to send a header, to send a body, to read a response,
    # and to send the next request on a connection
    client_seconds: float = 20.0
    grace_seconds: float = 15.0  # time that open requests may run after the start of a shutdown
    hosts: frozenset[str] = frozenset()  # accepted host names, in addition to localhost and IP addresses
    any_host: bool = False


class HTTPError(Exception):
    """Error response with a status and a code. The connection is closed if the body was not read."""

    def __init__(self, status: int, code: str, message: str, *, retry_seconds: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_seconds = retry_seconds  # value of the response header Retry-After


class RequestMemoryBudget:
    """Limit on the total size of request and response bodies in memory."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.reserved_bytes = 0

    def reserve(self, size: int) -> None:
        """Reserve `size` bytes. Raise HTTPError if that exceeds the budget."""
        if self.reserved_bytes + size > self._max_bytes:
            raise HTTPError(503, "busy", "the server is out of memory for requests", retry_seconds=1)
        self.reserved_bytes += size

    def release(self, size: int) -> None:
        """Return `size` reserved bytes to the budget."""
        self.reserved_bytes -= size


def check_host(request: web.BaseRequest, limits: ServerLimits) -> None:
    """Raise HTTPError if the Host header does not name this server (DNS rebinding).

    Otherwise, another site could let its name resolve to this machine. The site's pages could then read
    responses of this server. An IP address is accepted, because no site can have it as a name.
    """
    hosts = request.headers.getall("Host", [])
    if len(hosts) != 1:
        raise HTTPError(400, "bad_host", "expected one Host header")
    name = _host_name(hosts[0])
    if limits.any_host or name == "localhost" or name in limits.hosts or _is_address(name):
        return
    raise HTTPError(421, "bad_host", "unknown host name; use --allow-host NAME to accept it")


def check_origin(request: web.BaseRequest) -> None:
    """Raise HTTPError if a page of another site sent the request (cross-site request forgery)."""
    origin = request.headers.get("Origin")
    host = request.headers.get("Host", "").lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise HTTPError(403, "bad_origin", "cross-origin requests are rejected")
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        raise HTTPError(403, "bad_origin", "cross-origin requests are rejected")


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


async def read_body(request: web.BaseRequest, limits: ServerLimits, budget: RequestMemoryBudget) -> bytes:
    """Read the body of a request with a size limit and a timeout, and reserve its size in `budget`.

    The caller must release this size.

    Raises HTTPError if the body is compressed, too large, too slow, or exceeds the budget.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise HTTPError(
            415,
            "bad_type",
            "compressed bodies are unsupported; send it uncompressed, or compress the entries of an npz",
        )
    length = request.content_length
    if length is not None and length > limits.body:
        raise HTTPError(413, "too_large", f"the body has {length:,} bytes; {limits.body:,} are allowed")
    if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
        request.transport.write(_CONTINUE)
    # A body that has arrived with the header needs no timeout.
    if length is not None and request.content.is_eof():
        budget.reserve(length)
        return request.content.read_nowait()
    reserved = 0
    chunks = []
    try:
        budget.reserve(length or 0)
        reserved = length or 0
        size = 0
        async with asyncio.timeout(limits.client_seconds):
            while chunk := await request.content.readany():
                size += len(chunk)
                if size > limits.body:
                    raise HTTPError(413, "too_large", f"the body has more than {limits.body:,} bytes")
                if size > reserved:
                    budget.reserve(size - reserved)
                    reserved = size
                chunks.append(chunk)
    except TimeoutError:
        budget.release(reserved)
        raise HTTPError(408, "slow", "timeout while receiving the body") from None
    except BaseException:
        budget.release(reserved)
        raise
    budget.release(reserved - size)
    return b"".join(chunks)
