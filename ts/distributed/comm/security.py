"""Who may connect, and what a message may announce: dask's `Security`, and what connections of `ts` need.

Security(secret=token_bytes(32))                for ts://
Security(secret=None, tls_ca_file=..., ...)     for ts+tls://: certificates of both ends, a secret or none

Server.listen("ts://", **security.get_listen_args("worker"))
Client("ts://127.0.0.1:8786", security=security)
"""

from __future__ import annotations

import ssl
from typing import Any, Final

import distributed

from ts.distributed.comm.handshake import SHORTEST
from ts.distributed.comm.messages import Limits

PLAIN: Final = "ts"  # the schemes of addresses
TLS: Final = "ts+tls"


class Security(distributed.Security):
    """What both ends of a connection know. The secret is neither shown nor sent."""

    def __init__(
        self,
        require_encryption: bool | None = None,
        *,
        secret: bytes | None = None,
        limits: Limits | None = None,
        **tls: Any,
    ) -> None:
        if secret is not None and len(secret) < SHORTEST:
            raise ValueError(f"a secret has at least {SHORTEST} bytes, found {len(secret)}")
        super().__init__(require_encryption, **tls)
        self._more = {"secret": secret, "limits": limits}

    def scheme(self, role: str) -> str:
        """The scheme of the addresses that `role` listens at: with certificates, that of TLS."""
        return PLAIN if super().get_listen_args(role)["ssl_context"] is None else TLS

    def get_connection_args(self, role: str) -> dict[str, Any]:
        """What `role` ("client", "scheduler" or "worker") connects with."""
        return {**super().get_connection_args(role), **self._more}

    def get_listen_args(self, role: str) -> dict[str, Any]:
        """What `role` listens with."""
        return {**super().get_listen_args(role), **self._more}


def check_means(scheme: str, secret: bytes | None, context: ssl.SSLContext | None) -> None:
    """Nobody listens or connects without a way to tell who is there."""
    if scheme == TLS and context is None:
        raise ValueError(f"{TLS}:// needs certificates: Security(tls_ca_file=..., tls_worker_cert=..., ...)")
    if scheme == PLAIN and not secret:
        raise ValueError(
            f"{PLAIN}:// needs a shared secret: Security(secret=...), or certificates and {TLS}://"
        )
