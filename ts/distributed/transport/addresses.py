"""Addresses of connections, which consist of a scheme, a host and a port.

Examples of the conversions:

    split_address("ts://127.0.0.1:4711")        ("ts", "127.0.0.1:4711")
    split_host_port("[::1]:4711")               ("::1", 4711)
    join_host_port("::1", 4711)                 "[::1]:4711"
"""

from __future__ import annotations

import socket
from typing import Final

PLAIN: Final = "ts"  # address schemes: `PLAIN` without TLS, `TLS` with TLS
TLS: Final = "ts+tls"


def split_address(address: str) -> tuple[str, str]:
    """Return the scheme and the rest of an address. Raise ValueError if `ts` has no such scheme."""
    scheme, separator, location = address.rpartition("://")
    if not separator or scheme not in (PLAIN, TLS):
        raise ValueError(f"expected an address that starts with {PLAIN}:// or {TLS}://, found {address!r}")
    return scheme, location


def split_host_port(location: str, default_port: int | None = None) -> tuple[str, int]:
    """Return (host, port) of "host:port" or "[IPv6 address]:port". Raise ValueError for malformed text."""
    if location.startswith("["):
        host, bracket, rest = location[1:].partition("]")
        is_valid = bool(bracket) and (not rest or rest.startswith(":"))
        port = rest[1:]
    else:
        host, separator, port = location.rpartition(":")
        if not separator:
            host, port = location, ""
        is_valid = ":" not in host
    if not is_valid:
        raise ValueError(f"invalid address {location!r}; maybe: ipv6 needs brackets like [::1]")
    if port:
        return host, int(port)
    if default_port is None:
        raise ValueError(f"missing port number in address {location!r}")
    return host, default_port


def join_host_port(host: str, port: int | None = None) -> str:
    """Return "host:port", with an IPv6 address in brackets. If `port` is None, return only the host."""
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return host if port is None else f"{host}:{port}"


def own_address(host: str, port: int) -> str:
    """Return the IP address of this machine from which it reaches `host`."""
    family, kind, protocol, _, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        # Connecting a UDP socket only selects the local address, and sends nothing.
        probe.connect(target)
        return str(probe.getsockname()[0])
