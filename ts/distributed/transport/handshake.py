"""Mutual authentication by challenge-response (HMAC, nonces), by which both ends prove to know a secret.

The listener and the connector exchange three messages:

    listener                                               connector
        magic, nonce of the listener            ──►
                                                ◄──  nonce of the connector, proof "connector"
        proof "listener", or zeros              ──►

A proof is HMAC-SHA256 over the role and both nonces, so that replayed or reflected proofs are invalid. The
connector sends its proof first. Therefore, a client without the secret obtains no data for an offline guess.
The listener sends zeros if the connector's proof is invalid.

The handshake does not protect later messages from an attacker who can modify packets. TLS protects them. With
TLS, the secret may be empty.

Each end is a generator `steps`, which yields the bytes to send and the number of bytes to receive:

    data, want = next(steps)
    data, want = steps.send(answer)

`steps.send` raises StopIteration after success, and AuthenticationError after failure.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Generator
from typing import Final

_PROTOCOL: Final = b"ts rpc "
MAGIC: Final = _PROTOCOL + b"2"  # name and version of the protocol
_NONCE_BYTES: Final = 32
_PROOF_BYTES: Final = 32
MIN_SECRET_BYTES: Final = 16  # minimum length of a secret, because shorter ones could be guessed
# bytes that the listener sends instead of its proof if it denies access
REJECTED: Final = bytes(_PROOF_BYTES)
CLOSED: Final = "the other end closed the connection before it authenticated"
_BAD_SECRET_MESSAGE: Final = "the other end does not know the secret"

HandshakeSteps = Generator[tuple[bytes, int], bytes, None]


class AuthenticationError(ConnectionError):
    """Raised if the peer does not know the secret, or uses another protocol version."""


def listener(secret: bytes) -> HandshakeSteps:
    """Run the listener's end of the handshake."""
    own_nonce = secrets.token_bytes(_NONCE_BYTES)
    answer = yield MAGIC + own_nonce, _NONCE_BYTES + _PROOF_BYTES
    peer_nonce, proof = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
    if not hmac.compare_digest(proof, _proof(secret, b"connector", own_nonce, peer_nonce)):
        yield REJECTED, 0
        raise AuthenticationError(_BAD_SECRET_MESSAGE)
    yield _proof(secret, b"listener", own_nonce, peer_nonce), 0


def connector(secret: bytes) -> HandshakeSteps:
    """Run the connector's end of the handshake."""
    greeting = yield b"", len(MAGIC) + _NONCE_BYTES
    if not greeting.startswith(MAGIC):
        theirs, ours = greeting[: len(MAGIC)], MAGIC
        if theirs.startswith(_PROTOCOL):
            raise AuthenticationError(
                f"protocol versions differ: {theirs!r} in the other end, {ours!r} in this process"
            )
        raise AuthenticationError("the listener uses another protocol")
    theirs, ours = greeting[len(MAGIC) :], secrets.token_bytes(_NONCE_BYTES)
    proof = yield ours + _proof(secret, b"connector", theirs, ours), _PROOF_BYTES
    if not hmac.compare_digest(proof, _proof(secret, b"listener", theirs, ours)):
        raise AuthenticationError(_BAD_SECRET_MESSAGE)


def _proof(secret: bytes, role: bytes, listener: bytes, connector: bytes) -> bytes:
    """Return the HMAC of the role and both nonces, which prevent reflection and replay attacks."""
    # the key is a hash, because HMAC ignores zero bytes at the end of a shorter key
    key = hashlib.sha256(secret).digest()
    return hmac.digest(key, b"|".join((MAGIC, role, listener, connector)), "sha256")
