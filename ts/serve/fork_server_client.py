"""Client of the fork server over a Unix domain socket, by which the HTTP process starts worker processes.

`start` returns the description of the loaded model. `fork` starts a worker and returns its channel:

    fork_server = ForkServer({"kind": "program", ...})
    await fork_server.start()
    channel = await fork_server.fork()
    await fork_server.close()
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

from ts.serve.ipc_protocol import IpcChannel

# Name prefixes of environment variables that workers inherit: settings of Python, of libraries and of `ts`
_INHERITED_VARIABLES: Final = (
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
_SECRET_VARIABLE: Final = "TS_RPC_SECRET"  # name of the variable that workers do not inherit
_LOAD_TIMEOUT_SECONDS: Final = 600.0
_SEND_TIMEOUT_SECONDS: Final = 5
_EXIT_TIMEOUT_SECONDS: Final = 5


class ForkServerError(RuntimeError):
    """Raised if the fork server cannot start, load its model or fork a worker."""


class ForkServer:
    """Handle of a `ts.serve.fork_server` process, which is restarted on demand after an exit."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._restart_lock = asyncio.Lock()

    @property
    def is_alive(self) -> bool:
        """True if the fork server process is running."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> dict[str, Any]:
        """Start the process and return the description of the loaded model that it sends.

        Raises ForkServerError if loading fails or times out.
        """
        ours, theirs = socket.socketpair()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(_INHERITED_VARIABLES) and name != _SECRET_VARIABLE
        }
        if self._settings["kind"] == "program":
            environment["TS_CACHE"] = "0"  # code of untrusted programs is not cached on disk
        elif "HOME" in os.environ:
            environment["HOME"] = os.environ["HOME"]
        root = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        command = [
            sys.executable, "-m", "ts.serve.fork_server", str(theirs.fileno()), json.dumps(self._settings)
        ]  # fmt: skip
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment
            )
        channel = await IpcChannel.connect(ours.dup())
        try:
            async with asyncio.timeout(_LOAD_TIMEOUT_SECONDS):
                message = await channel.receive()
        except TimeoutError:
            message = None
        finally:
            channel.close()
        if message is None:
            raise ForkServerError("the fork server exited or timed out while loading")
        header, _ = message
        if "error" in header:
            raise ForkServerError(header["error"])
        self._control = ours
        ours.settimeout(_SEND_TIMEOUT_SECONDS)
        loaded: dict[str, Any] = header["loaded"]
        return loaded

    async def fork(self) -> IpcChannel:
        """Fork a worker (file descriptor passing over the control socket) and return the channel to it.

        Closing the channel ends the worker.

        Raises ForkServerError if the fork server cannot be restarted or reached.
        """
        async with self._restart_lock:
            if not self.is_alive:
                self._close_control()
                await self.start()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                assert self._control is not None
                socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise ForkServerError(f"cannot fork a worker process: {error}") from None
        return await IpcChannel.connect(ours)

    async def close(self) -> None:
        """Stop the process. The workers exit when their channels are closed."""
        self._close_control()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, _EXIT_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                await asyncio.to_thread(self._process.wait)

    def _close_control(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
