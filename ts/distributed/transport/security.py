"""Security settings: dask's `Security` with a shared secret and limits for `ts` connections.

The two schemes of addresses require these settings:

    Security(secret=token_bytes(32))                for ts://
    Security(secret=None, tls_ca_file=..., ...)     for ts+tls://, optionally with a secret

An example of a dask client:

    Client("ts://127.0.0.1:8786", security=security)
"""

from __future__ import annotations

from typing import Any

import distributed

from ts.distributed.transport.addresses import PLAIN, TLS
from ts.distributed.transport.credentials import Credentials, check_secret
from ts.distributed.transport.message_codec import TransportLimits


class Security(distributed.Security, Credentials):
    """Subclass of dask's `Security` with a shared secret, which is neither printed nor sent."""

    def __init__(
        self,
        require_encryption: bool | None = None,
        *,
        secret: bytes | None = None,
        limits: TransportLimits | None = None,
        **tls: Any,
    ) -> None:
        if secret is not None:
            check_secret(secret)
        super().__init__(require_encryption, **tls)
        self._more = {"secret": secret, "limits": limits}

    def scheme(self, role: str) -> str:
        """Return the scheme of addresses that `role` listens at: "ts+tls" with certificates, else "ts"."""
        return PLAIN if super().get_listen_args(role)["ssl_context"] is None else TLS

    def get_connection_args(self, role: str) -> dict[str, Any]:
        """Return the keyword arguments of connections of `role` ("client", "scheduler" or "worker")."""
        return {**super().get_connection_args(role), **self._more}

    def get_listen_args(self, role: str) -> dict[str, Any]:
        """Return the keyword arguments of listeners of `role`."""
        return {**super().get_listen_args(role), **self._more}
