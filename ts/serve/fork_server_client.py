"""The children of a nursery, as the process that talks HTTP sees them.

nursery = Nursery({"kind": "program", ...})
await nursery.start()                   what it has loaded; RuntimeError if it could not
channel = await nursery.child()
await nursery.close()
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from ts.serve.ipc_protocol import Channel

# What children see of the environment: how Python and libraries behave, and no secrets.
_KEPT: Final = (
    "PATH",
    "LANG",
    "LC_",
    "TZ",
    "TMPDIR",
    "PYTHON",
    "VIRTUAL_ENV",
    "LD_",
    "TS_",
    "OMP_",
    "OPENBLAS",
    "MKL_",
)
_START: Final = 600.0  # seconds to load a model


class NurseryError(RuntimeError):
    """Nothing can be loaded, or forked."""


class Nursery:
    """A process of `ts.serve.fork_server`, started again when it has ended."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting = asyncio.Lock()

    @property
    def is_alive(self) -> bool:
        """Whether it can have children."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> dict[str, Any]:
        """Load everything."""
        ours, theirs = socket.socketpair()
        environment = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        if self._settings["kind"] == "program":
            environment["TS_CACHE"] = "0"  # strangers' programs are not kept
        elif "HOME" in os.environ:
            environment["HOME"] = os.environ["HOME"]
        root = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "ts.serve.fork_server", str(theirs.fileno()), json.dumps(self._settings)]
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment
            )
        channel = await Channel.over(ours.dup())
        try:
            async with asyncio.timeout(_START):
                heard = await channel.hear()
        except TimeoutError:
            heard = None
        finally:
            channel.close()
        if heard is None:
            raise NurseryError("the process that loads ended before it had loaded anything")
        head, _ = heard
        if "error" in head:
            raise NurseryError(head["error"])
        self._control = ours
        ours.settimeout(5)
        loaded: dict[str, Any] = head["loaded"]
        return loaded

    async def child(self) -> Channel:
        """A new child, to be asked; it ends with its channel."""
        async with self._starting:
            if not self.is_alive:
                self._drop()
                await self.start()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                assert self._control is not None
                socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise NurseryError(f"no process can be had: {error}") from None
        return await Channel.over(ours)

    async def close(self) -> None:
        """Let it go; its children end with their own sockets."""
        self._drop()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, 5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                await asyncio.to_thread(self._process.wait)

    def _drop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
