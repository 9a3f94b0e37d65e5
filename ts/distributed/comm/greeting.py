"""What both ends of a connection say before the first message: who they are, and whether they share memory.

Each end is a generator that knows no sockets, as in `handshake`; it returns what reads messages and what
writes them.
"""

from __future__ import annotations

from collections.abc import Generator

from ts.distributed.comm import handshake, sharing
from ts.distributed.comm.addresses import TLS
from ts.distributed.comm.handshake import CLOSED, AuthenticationError
from ts.distributed.comm.messages import TransportLimits, MessageDecoder, MessageEncoder

__all__ = ["CLOSED", "Ends", "AuthenticationError", "Steps", "connector", "listener"]

Ends = tuple[MessageDecoder, MessageEncoder]
Steps = Generator[tuple[bytes, int], bytes, Ends]


def listener(scheme: str, secret: bytes | None, limits: TransportLimits | None) -> Steps:
    """The end that was connected to; NotAuthenticated where the other does not know the secret."""
    yield from handshake.listener(secret or b"")
    limits = limits or TransportLimits()
    shared = yield from sharing.listener(_most(scheme, limits))
    return _ends(limits, shared)


def connector(scheme: str, secret: bytes | None, limits: TransportLimits | None) -> Steps:
    """The end that connects; NotAuthenticated as above."""
    yield from handshake.connector(secret or b"")
    limits = limits or TransportLimits()
    shared = yield from sharing.connector(_most(scheme, limits))
    return _ends(limits, shared)


def _most(scheme: str, limits: TransportLimits) -> int:
    """Bytes that may be shared: who asks for encryption gets nothing that is not."""
    return 0 if scheme == TLS else limits.shared


def _ends(limits: TransportLimits, shared: sharing.SharedMemorySession) -> Ends:
    return MessageDecoder(limits, shared.borrower), MessageEncoder(limits, shared.lender)
