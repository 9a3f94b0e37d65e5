"""Negotiation of shared memory between two ends of a connection.

The negotiation follows the handshake. It detects whether both processes belong to one user on one machine.
Both ends exchange four messages:

    listener                                               connector
        process id, file descriptor, nonce      ──►
                                                ◄──  process id, file descriptor, nonce, proof
        proof, readable or not                  ──►
                                                ◄──  readable or not

Each end has an unnamed file with a key. Only processes of the same user on the same machine can read it.
"readable" states that an end could read the peer's file. An end that shares no memory sends process id 0.

A proof is an HMAC-SHA256 with this key over the role and both nonces. It shows that the peer owns the file.
All segments of the connection contain the nonce, so that a relay cannot make an end open other segments.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import struct
from collections.abc import Generator
from typing import Final, NamedTuple

from ts._core.shared_memory import create_sealed_file, open_sealed_file
from ts.distributed.transport.shm_segments import SegmentReceiver, SegmentSender

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 16
_PROOF_BYTES: Final = 32
_OFFER: Final = struct.Struct(f"<II{_NONCE_BYTES}s")
_YES: Final = b"\1"
_NO: Final = b"\0"


class SharedMemorySession(NamedTuple):
    """Sender and receiver of shared memory for a connection.

    Without a sender, this end sends large parts through the socket. Without a receiver, the peer does.
    """

    sender: SegmentSender | None = None
    receiver: SegmentReceiver | None = None


HandshakeSteps = Generator[tuple[bytes, int], bytes, SharedMemorySession]


class _ShmHandshake:
    """State of one end during the negotiation: its key file and its nonce."""

    def __init__(self, role: bytes, max_bytes: int) -> None:
        self._role = role
        self._max_bytes = max_bytes
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._nonce = secrets.token_bytes(_NONCE_BYTES)
        self._file: int | None = None
        if max_bytes > 0 and hasattr(os, "memfd_create"):
            # The error may mean that too many files are open. In this case, this process shares no memory.
            with contextlib.suppress(OSError):
                self._file = create_sealed_file(_KEY_BYTES)
                os.pwrite(self._file, self._key, 0)

    def __enter__(self) -> _ShmHandshake:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            os.close(self._file)

    @property
    def data(self) -> bytes:
        return _OFFER.pack(0 if self._file is None else os.getpid(), self._file or 0, self._nonce)

    def proof(self, peer_offer: bytes) -> bytes:
        """Return the HMAC of both nonces.

        It proves to the peer that this end knows the key in its own file.
        """
        return _proof(self._key, self._role, _OFFER.unpack(peer_offer)[2], self._nonce)

    def open_receiver(self, peer_offer: bytes, role: bytes, proof: bytes) -> SegmentReceiver | None:
        """Return a receiver for the peer's segments.

        Return None if this process or the peer shares no memory, if the peer's key file is unreadable, or if
        `proof` is invalid.
        """
        process, file, nonce = _OFFER.unpack(peer_offer)
        if self._file is None or not process:
            return None
        key = _read(process, file)
        if key is None or not hmac.compare_digest(proof, _proof(key, role, self._nonce, nonce)):
            return None
        return SegmentReceiver(process, nonce)

    def new_session(self, receiver: SegmentReceiver | None, peer_flag: bytes) -> SharedMemorySession:
        can_send = self._file is not None and peer_flag == _YES
        return SharedMemorySession(
            SegmentSender(self._max_bytes, self._nonce) if can_send else None, receiver
        )


def listener(max_bytes: int) -> HandshakeSteps:
    """Run the listener's end of the negotiation. This process may share `max_bytes` bytes (0: none)."""
    with _ShmHandshake(b"listener", max_bytes) as handshake:
        answer = yield handshake.data, _OFFER.size + _PROOF_BYTES
        peer_offer, proof = answer[: _OFFER.size], answer[_OFFER.size :]
        receiver = handshake.open_receiver(peer_offer, b"connector", proof)
        peer_flag = yield handshake.proof(peer_offer) + _encode_sharing_flag(receiver), 1
        return handshake.new_session(receiver, peer_flag)


def connector(max_bytes: int) -> HandshakeSteps:
    """Run the connector's end of the negotiation. This process may share `max_bytes` bytes (0: none)."""
    with _ShmHandshake(b"connector", max_bytes) as handshake:
        peer_offer = yield b"", _OFFER.size
        answer = yield handshake.data + handshake.proof(peer_offer), _PROOF_BYTES + 1
        receiver = handshake.open_receiver(peer_offer, b"listener", answer[:_PROOF_BYTES])
        yield _encode_sharing_flag(receiver), 0
        return handshake.new_session(receiver, answer[_PROOF_BYTES:])


def _encode_sharing_flag(receiver: SegmentReceiver | None) -> bytes:
    return _NO if receiver is None else _YES


def _proof(key: bytes, role: bytes, peer_nonce: bytes, own_nonce: bytes) -> bytes:
    return hmac.digest(key, role + peer_nonce + own_nonce, "sha256")


def _read(process: int, file: int) -> bytes | None:
    """Return the key in a peer's file, or None if the file cannot be read."""
    try:
        opened = open_sealed_file(process, file)
    except OSError:
        return None
    try:
        key = os.pread(opened, _KEY_BYTES + 1, 0)
    finally:
        os.close(opened)
    return key if len(key) == _KEY_BYTES else None
