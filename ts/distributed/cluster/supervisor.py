"""Supervisor of `ts cluster` (process supervision, restart with backoff) for the scheduler and the workers.

The example starts a cluster and waits for all workers. `arguments` are added to the command line of each
worker:

    async with ClusterSupervisor(ClusterConfig(workers=4, arguments=("--threads", "8"))) as cluster:
        await cluster.wait_until_registered()

Workers that exit early are restarted with growing delays. Ctrl-C interrupts only this process, which then
ends the workers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from ts.distributed import shared_secret as secrets
from ts.distributed.cluster import certificates
from ts.distributed.cluster.scheduler import LIMITS, NameService
from ts.distributed.transport import Security

_SIGTERM_TIMEOUT_SECONDS: Final = 5.0  # a worker is killed if it has not exited this long after SIGTERM
_MIN_UPTIME_SECONDS: Final = 10.0  # the start of a worker counts as failed if the worker exits sooner
# Delay before a worker is started again. The index is the number of consecutive failed starts.
_RESTART_BACKOFF_SECONDS: Final = (0.0, 0.5, 1.0, 2.0, 5.0, 15.0)
# the start of the cluster fails if a worker has not registered after this time
_REGISTRATION_TIMEOUT_SECONDS: Final = 300.0
_POLL_INTERVAL_SECONDS: Final = 0.02


@dataclass(frozen=True)
class ClusterConfig:
    """Configuration of a cluster."""

    workers: int
    host: str = "127.0.0.1"
    port: int = 0
    prefix: str = "worker"
    folder: Path | None = None  # folder of the TLS certificates, or None if connections are not encrypted
    restart: bool = True
    dashboard: int | None = None
    arguments: tuple[str, ...] = ()


class ClusterSupervisor:
    """Supervisor of a cluster: runs the scheduler in this process, starts and restarts the workers."""

    def __init__(self, config: ClusterConfig, log: Callable[[str], None] = lambda line: None) -> None:
        self.config = config
        self._names = [f"{config.prefix}{k}" for k in range(config.workers)]
        self._log = log
        self._secret: bytes | None = None
        self._supervisor_tasks: list[asyncio.Task[None]] = []
        self._processes: dict[str, asyncio.subprocess.Process] = {}

    @property
    def address(self) -> str:
        """Return the address of the scheduler."""
        return str(self._scheduler.address)

    async def __aenter__(self) -> Self:
        """Start the scheduler and the workers, and return the supervisor."""
        config = self.config
        # At level INFO, dask logs every connection.
        logging.getLogger("distributed").setLevel(logging.WARNING)
        security = self._security()
        self._scheduler = NameService(config.host, config.port, security, self._names, config.dashboard)
        try:
            await self._scheduler
        except RuntimeError as error:
            # Dask's error only states that the start failed. Its cause states why.
            raise error.__cause__ or error from None
        self._port = int(self.address.rpartition(":")[2])
        if self._secret is not None:
            secrets.publish_secret(self._port, self._secret)
        self._supervisor_tasks = [asyncio.create_task(self._supervise(name)) for name in self._names]
        return self

    async def __aexit__(self, *error: object) -> None:
        """Terminate the workers, then the scheduler."""
        for task in self._supervisor_tasks:
            task.cancel()
        await asyncio.gather(*self._supervisor_tasks, return_exceptions=True)
        await asyncio.gather(*map(_terminate, self._processes.values()))
        await self._scheduler.close(reason="ended")
        if self._secret is not None:
            secrets.withdraw(self._port, self._secret)

    async def wait_until_registered(self) -> None:
        """Wait until all workers have registered. Raise RuntimeError on timeout or if a worker exits."""
        until = time.monotonic() + _REGISTRATION_TIMEOUT_SECONDS
        while missing := [name for name in self._names if self._scheduler.find(name) is None]:
            for name in missing:
                process = self._processes.get(name)
                if process is not None and process.returncode is not None:
                    raise RuntimeError(f"{name} failed to start: {_describe_exit_code(process.returncode)}")
            if time.monotonic() > until:
                limit = f"{_REGISTRATION_TIMEOUT_SECONDS:.0f} s"
                raise RuntimeError(f"{', '.join(missing)} did not register within {limit}")
            await asyncio.sleep(_POLL_INTERVAL_SECONDS)

    def _security(self) -> Security:
        config = self.config
        if config.folder is not None:
            certificates.make(config.folder, [config.host])
            return certificates.security(config.folder, limits=LIMITS)
        new_secret = secrets.new(config.host)
        self._secret = (secrets.read_secret(config.port) if config.port else None) or new_secret
        return Security(secret=self._secret, limits=LIMITS)

    async def _supervise(self, name: str) -> None:
        """Start the worker `name`, and start it again whenever it exits."""
        short_run_count = 0
        while True:
            began = time.monotonic()
            process = self._processes[name] = await self._start(name)
            code = await process.wait()
            if not self.config.restart:
                self._log(f"{name} exited ({_describe_exit_code(code)})")
                return
            short_run_count = 0 if time.monotonic() - began > _MIN_UPTIME_SECONDS else short_run_count + 1
            pause = _RESTART_BACKOFF_SECONDS[min(short_run_count, len(_RESTART_BACKOFF_SECONDS) - 1)]
            self._log(f"{name} exited ({_describe_exit_code(code)}); restarting it")
            await asyncio.sleep(pause)

    async def _start(self, name: str) -> asyncio.subprocess.Process:
        folder = [] if self.config.folder is None else ["--tls-dir", str(self.config.folder)]
        command = ["-m", "ts", "worker", self.address, "--name", name, "--quiet"]
        arguments = [*command, *folder, *self.config.arguments]
        return await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
        )


async def _terminate(process: asyncio.subprocess.Process) -> None:
    """Terminate a process, with SIGKILL if it does not exit in time."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _SIGTERM_TIMEOUT_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        await process.wait()


def _describe_exit_code(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
