"""Rendezvous of processes on one machine through a file to which rank 0 writes its listening address.

Rank 0 calls all functions except `read_address`:

    address = reserve_port()          returns an address to listen on, such as ("127.0.0.1", 41077)
    publish_address(path, address)    writes the file
    read_address(path)                returns the address in other ranks, or None before publication
    withdraw(path, address)           removes the file at the end
"""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Final

LOCAL: Final = "127.0.0.1"
_MAX_FILE_CHARS: Final = 64  # maximum length of the file, which contains the host and port of rank 0

Address = tuple[str, int]


def reserve_port() -> Address:
    """Return the loopback address with a free port."""
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return LOCAL, int(probe.getsockname()[1])


def publish_address(path: str, address: Address) -> None:
    """Write the listening address of rank 0, replacing the file of an earlier program."""
    draft = Path(f"{path}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.write_text(_format_address(address))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_address(path: str) -> Address | None:
    """Return the address that rank 0 has written to the file.

    Return None if there is no file or no valid address.
    """
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            host, _, port = file.read(_MAX_FILE_CHARS).strip().rpartition(":")
    except FileNotFoundError:
        return None
    return (host, int(port)) if host == LOCAL and port.isdecimal() else None


def withdraw(path: str, address: Address) -> None:
    """Remove the file if it contains `address`.

    Keep a file that another program has written in the meantime.
    """
    if read_address(path) == address:
        Path(path).unlink(missing_ok=True)


def _format_address(address: Address) -> str:
    return "{}:{}\n".format(*address)
