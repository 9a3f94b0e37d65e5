"""Setup steps of a connection before the first message: authentication and shared-memory negotiation.

Each end is a generator. It yields the bytes to send, and the number of bytes to receive (`handshake`). Its
result is a decoder and an encoder of messages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from ts.distributed.transport import handshake, shm_negotiation
from ts.distributed.transport.addresses import TLS
from ts.distributed.transport.handshake import CLOSED, AuthenticationError
from ts.distributed.transport.message_codec import MessageDecoder, MessageEncoder, TransportLimits

__all__ = ["CLOSED", "AuthenticationError", "Codecs", "HandshakeSteps", "connector", "listener"]

Codecs = tuple[MessageDecoder, MessageEncoder]
HandshakeSteps = Generator[tuple[bytes, int], bytes, Codecs]


def listener(scheme: str, secret: bytes | None, limits: TransportLimits | None) -> HandshakeSteps:
    """Run the listener's end of the setup. Raise AuthenticationError if the proof is invalid."""
    yield from handshake.listener(secret or b"")
    return (yield from _negotiate(shm_negotiation.listener, scheme, limits or TransportLimits()))


def connector(scheme: str, secret: bytes | None, limits: TransportLimits | None) -> HandshakeSteps:
    """Run the connector's end of the setup. Raise AuthenticationError if the handshake fails."""
    yield from handshake.connector(secret or b"")
    return (yield from _negotiate(shm_negotiation.connector, scheme, limits or TransportLimits()))


def _negotiate(
    end: Callable[[int], shm_negotiation.HandshakeSteps], scheme: str, limits: TransportLimits
) -> HandshakeSteps:
    # no shared memory with TLS, because shared memory is not encrypted
    shared = yield from end(0 if scheme == TLS else limits.shared)
    return MessageDecoder(limits, shared.receiver), MessageEncoder(limits, shared.sender)
