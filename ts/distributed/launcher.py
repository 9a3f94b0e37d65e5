"""Start the processes of one machine, watch them, and start them again.

In: a `LaunchConfig`; out: None when all have ended well, ChildFailedError when one has failed for good.

    launch_processes(LaunchConfig(["python", "train.py"], processes=4))

One class knows the processes of one start (`Workers`); `launch_processes` starts them as often as it may.
Who places processes on many machines gives each machine its number and the address where rank 0 listens.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Final

_SIGNALS: Final = [
    getattr(signal, n) for n in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, n)
]
_STDOUT, _STDERR = 1, 2  # bits of `redirects`


@dataclass(frozen=True)
class LaunchConfig:
    """What to start: `processes` of this machine, of `machines` equal ones."""

    command: list[str]  # "{local_rank}" in a word stands for that number
    processes: int
    machines: int = 1
    machine: int = 0
    master_addr: str = "127.0.0.1"
    master_port: int = 29500
    run_id: str = "none"
    role: str = "default"
    max_restarts: int = 0
    monitor_seconds: float = 0.1
    shutdown_seconds: float = 30.0
    log_dir: str | None = None
    redirects: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def world_size(self) -> int:
        """The number of processes of all machines."""
        return self.machines * self.processes


class ChildFailedError(Exception):
    """A process failed, and there are no restarts left."""

    def __init__(self, command: list[str], rank: int, local_rank: int, pid: int, code: int) -> None:
        self.rank, self.local_rank, self.pid, self.exitcode = rank, local_rank, pid, code
        how = f"exit code {code}" if code >= 0 else f"signal {_signal_name(-code)}"
        super().__init__(
            f"{' '.join(command)}: rank {rank} (local rank {local_rank}, process {pid}) ended with {how}"
        )


class SignalException(Exception):
    """This process was told to end; the signal is `sigval`."""

    def __init__(self, sigval: int) -> None:
        super().__init__(f"Process {os.getpid()} got signal: {_signal_name(sigval)}")
        self.sigval = sigval


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def worker_environment(config: LaunchConfig, local_rank: int, restarts: int) -> dict[str, str]:
    """Return what a process finds in its environment beside that of this one."""
    rank = config.machine * config.processes + local_rank
    found = {
        "LOCAL_RANK": local_rank, "RANK": rank, "GROUP_RANK": config.machine, "ROLE_RANK": rank,
        "ROLE_NAME": config.role, "LOCAL_WORLD_SIZE": config.processes, "WORLD_SIZE": config.world_size,
        "GROUP_WORLD_SIZE": config.machines, "ROLE_WORLD_SIZE": config.world_size,
        "MASTER_ADDR": config.master_addr, "MASTER_PORT": config.master_port,
        "TORCHELASTIC_RESTART_COUNT": restarts, "TORCHELASTIC_MAX_RESTARTS": config.max_restarts,
        "TORCHELASTIC_RUN_ID": config.run_id, "TORCHELASTIC_USE_AGENT_STORE": "False",
    }  # fmt: skip
    if config.processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        found["OMP_NUM_THREADS"] = 1  # processes share the processors
    return {name: str(value) for name, value in found.items()} | config.environment


class Workers:
    """The processes of one start."""

    def __init__(self, config: LaunchConfig, restarts: int) -> None:
        self.config = config
        self.processes: list[subprocess.Popen[bytes]] = []
        try:
            for local_rank in range(config.processes):
                with contextlib.ExitStack() as files:
                    self.processes.append(self._start(local_rank, restarts, files))
        except BaseException:
            self.stop()
            raise

    def _start(self, local_rank: int, restarts: int, files: contextlib.ExitStack) -> subprocess.Popen[bytes]:
        config = self.config

        def redirected(bit: int, name: str) -> IO[bytes] | None:
            if config.log_dir is None or not config.redirects & bit:
                return None
            folder = os.path.join(config.log_dir, config.run_id, f"attempt_{restarts}", str(local_rank))
            os.makedirs(folder, exist_ok=True)
            return files.enter_context(open(os.path.join(folder, name), "wb"))

        return subprocess.Popen(
            [word.replace("{local_rank}", str(local_rank)) for word in config.command],
            env=os.environ | worker_environment(config, local_rank, restarts),
            stdout=redirected(_STDOUT, "stdout.log"),
            stderr=redirected(_STDERR, "stderr.log"),
        )

    def wait(self) -> ChildFailedError | None:
        """Wait until all have ended well, or one has failed."""
        while True:
            codes = [process.poll() for process in self.processes]
            for local_rank, code in enumerate(codes):
                if code:
                    config, pid = self.config, self.processes[local_rank].pid
                    rank = config.machine * config.processes + local_rank
                    return ChildFailedError(config.command, rank, local_rank, pid, code)
            if None not in codes:
                return None
            time.sleep(self.config.monitor_seconds)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Send a signal to those that run; kill those that run on for too long."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(number)
        deadline = time.monotonic() + self.config.shutdown_seconds
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def launch_processes(config: LaunchConfig) -> None:
    """Start the processes and wait for them; again after a failure, as often as the configuration says."""
    restarts = 0
    with _signals_raised():
        while True:
            workers = Workers(config, restarts)
            try:
                failure = workers.wait()
            except SignalException as error:
                workers.stop(error.sigval)
                raise
            except BaseException:
                workers.stop()
                raise
            if failure is None:
                return
            workers.stop()
            if restarts >= config.max_restarts:
                raise failure
            restarts += 1
            left = config.max_restarts - restarts
            print(f"{failure}; starting all again, {left} restarts left", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _signals_raised() -> Iterator[None]:
    """Raise SignalException where this process is told to end; nothing outside of the main thread."""

    def raise_signal(number: int, frame: Any) -> None:
        raise SignalException(number)

    try:
        before = {number: signal.signal(number, raise_signal) for number in _SIGNALS}
    except ValueError:  # another thread: signals go to the main one
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
