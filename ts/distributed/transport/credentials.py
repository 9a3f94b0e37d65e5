"""Credentials of a connection: a shared secret or TLS certificates.

The example opens a connection with a shared secret. `Certificates` has the same methods:

    credentials = SharedSecret(token_bytes(32))
    listener = Listener("ts://127.0.0.1:0", serve, **credentials.get_listen_args("worker"))
    connection = await connect(listener.listen_address, **credentials.get_connection_args("worker"))
"""

from __future__ import annotations

import ssl
from typing import Any

from ts.distributed.transport.addresses import PLAIN, TLS
from ts.distributed.transport.handshake import MIN_SECRET_BYTES
from ts.distributed.transport.message_codec import TransportLimits


class Credentials:
    """Keyword arguments of connections and listeners, by role: "client", "scheduler" or "worker"."""

    def __init__(self, scheme: str, connection: dict[str, Any], listener: dict[str, Any]) -> None:
        self._scheme, self._connection_args, self._listen_args = scheme, connection, listener

    def scheme(self, role: str) -> str:
        """Return the scheme of the addresses that `role` listens at, "ts" or "ts+tls"."""
        return self._scheme

    def get_connection_args(self, role: str) -> dict[str, Any]:
        """Return the keyword arguments of connections that `role` opens."""
        return dict(self._connection_args)

    def get_listen_args(self, role: str) -> dict[str, Any]:
        """Return the keyword arguments of listeners of `role`."""
        return dict(self._listen_args)


class SharedSecret(Credentials):
    """Credentials without certificates. The secret is neither printed nor sent."""

    def __init__(self, secret: bytes, limits: TransportLimits | None = None) -> None:
        check_secret(secret)
        arguments = {"secret": secret, "limits": limits}
        super().__init__(PLAIN, arguments, arguments)


class Certificates(Credentials):
    """Credentials for mutual TLS: both ends of a connection verify the certificate of the other."""

    def __init__(self, authority_file: str, certificate_file: str, key_file: str) -> None:
        """Load the files. Raise OSError or ssl.SSLError if a file is missing or invalid."""
        arguments = []
        for purpose in (ssl.Purpose.SERVER_AUTH, ssl.Purpose.CLIENT_AUTH):
            context = ssl.create_default_context(purpose, cafile=authority_file)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            # Names are not checked: ranks connect by IP address, and the authority signs only certificates of
            # this program.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_cert_chain(certificate_file, key_file)
            arguments.append({"ssl_context": context, "require_encryption": True})
        super().__init__(TLS, *arguments)


def check_secret(secret: bytes) -> None:
    """Raise ValueError for a secret that is short enough to be guessed."""
    if len(secret) < MIN_SECRET_BYTES:
        raise ValueError(f"a secret must have at least {MIN_SECRET_BYTES} bytes, found {len(secret)}")


def check_credentials(
    scheme: str, secret: bytes | None, context: ssl.SSLContext | None, require_encryption: bool | None = None
) -> None:
    """Raise an error if these credentials do not fit an address of `scheme`.

    Raise RuntimeError if encryption is required but `scheme` is not encrypted, and ValueError if the
    certificates or the secret that `scheme` needs are missing.
    """
    if require_encryption and scheme != TLS:
        raise RuntimeError(f"encryption is required, but {scheme}:// is not encrypted")
    if scheme == TLS and context is None:
        raise ValueError(f"{TLS}:// needs certificates: Security(tls_ca_file=..., tls_worker_cert=..., ...)")
    if scheme == PLAIN and not secret:
        raise ValueError(
            f"{PLAIN}:// needs a shared secret: Security(secret=...), or certificates and {TLS}://"
        )
