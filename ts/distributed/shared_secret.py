"""Shared secret (pre-shared key) of a program's processes, configured or stored in a file of this user.

The arguments are the host and the port of the connections:

    new("127.0.0.1")                        creates the secret in the first process
    shared("127.0.0.1", 29500)              returns the secret in the other processes

The environment variable TS_RPC_SECRET sets the secret for any number of machines. Without it, processes on
one machine read the secret from a file that only their user can read. Connections to other machines require
TS_RPC_SECRET or certificates.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import stat
import tempfile
from pathlib import Path
from typing import Final

_BYTES: Final = 32


class MissingSecretError(RuntimeError):
    """Raised if a connection requires a shared secret and none is available."""


def new(host: str) -> bytes:
    """Return a new shared secret for a rendezvous at `host`.

    Raise MissingSecretError if other processes could not read the secret.
    """
    secret = _read_environment_secret()
    if secret is not None:
        return secret
    _check_local(host)
    return secrets.token_bytes(_BYTES)


def read_secret(port: int) -> bytes | None:
    """Return TS_RPC_SECRET if it is set, else the secret in the file of `port`, or None without a file."""
    try:
        return _read_environment_secret() or (_folder() / str(port)).read_bytes()
    except FileNotFoundError:
        return None


def publish_secret(port: int, secret: bytes) -> None:
    """Write a secret to a file, for processes of this user that connect to a local port.

    A secret from TS_RPC_SECRET is not written.
    """
    if secret == _read_environment_secret():
        return
    path = _folder() / str(port)
    draft = path.with_name(f"{port}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    draft.replace(path)


def shared(host: str, port: int) -> bytes | None:
    """Return the secret for connections to `host` and `port`.

    Return None if the listener has not written the secret to its file yet.
    """
    if _read_environment_secret() is None:
        _check_local(host)
    return read_secret(port)


def withdraw(port: int, secret: bytes) -> None:
    """Remove the secret file of a port. Keep the file if another program has written its own secret to it."""
    path = _folder() / str(port)
    try:
        if path.read_bytes() == secret:
            path.unlink()
    except FileNotFoundError:
        return


def _read_environment_secret() -> bytes | None:
    value = os.environ.get("TS_RPC_SECRET")
    return None if not value else value.encode()


def is_local(host: str) -> bool:
    """Return True if a host name resolves to loopback addresses only.

    Raise MissingSecretError if the host name cannot be resolved.
    """
    try:
        return all(ipaddress.ip_address(info[4][0]).is_loopback for info in socket.getaddrinfo(host, None))
    except OSError as error:
        raise MissingSecretError(f"cannot resolve the host {host}: {error}") from None


def _check_local(host: str) -> None:
    if not is_local(host):
        raise MissingSecretError(
            f"processes with the rendezvous address {host}, which other machines can reach, need a shared "
            "secret: set TS_RPC_SECRET or secret= of the options, or use certificates"
        )


def _folder() -> Path:
    """Return the folder for secrets, which only this user can access."""
    path = Path(tempfile.gettempdir()) / f"ts-rpc-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise MissingSecretError(f"{path} must be a folder that only this user can access")
    return path
