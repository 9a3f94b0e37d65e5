"""Launcher of ranks on one machine (elastic training, process supervision), which restarts failed runs.

The example runs four processes:

    launch_processes(ProcessLaunch(["python", "train.py"], processes=4))

`launch_processes` returns if all processes exit with 0. If a process fails, all processes start again, at
most `max_restarts` times. Then `launch_processes` raises ChildFailedError.

For several machines, run a launcher on each machine, with the machine's number and the address of rank 0.
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

_TERMINATION_SIGNALS: Final = [
    getattr(signal, n) for n in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, n)
]
# Bits of `ProcessLaunch.redirects`, one for standard output and one for standard error. If the bit of a
# stream is set, each process writes this stream to a file in `log_dir`.
_REDIRECT_STDOUT, _REDIRECT_STDERR = 1, 2


@dataclass(frozen=True)
class ProcessLaunch:
    """Configuration of a launch: `processes` per machine, on `machines` machines."""

    command: list[str]  # command line of each process, in which "{local_rank}" is replaced by its local rank
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
        """Number of processes of all machines together."""
        return self.machines * self.processes


class ChildFailedError(Exception):
    """Error for a failed process if no restarts are left."""

    def __init__(self, command: list[str], rank: int, local_rank: int, pid: int, code: int) -> None:
        self.rank, self.local_rank, self.pid, self.exitcode = rank, local_rank, pid, code
        reason = f"exit code {code}" if code >= 0 else f"signal {_signal_name(-code)}"
        super().__init__(
            f"{' '.join(command)}: rank {rank} (local rank {local_rank}, process {pid}) ended with {reason}"
        )


class SignalException(Exception):
    """Error that the launcher raises when it receives the signal `sigval`."""

    def __init__(self, sigval: int) -> None:
        super().__init__(f"Process {os.getpid()} got signal: {_signal_name(sigval)}")
        self.sigval = sigval


def _signal_name(signum: int) -> str:
    try:
        return signal.Signals(signum).name
    except ValueError:
        return str(signum)


def worker_environment(config: ProcessLaunch, local_rank: int, restarts: int) -> dict[str, str]:
    """Return the variables that a worker process has in addition to the launcher's environment."""
    rank = config.machine * config.processes + local_rank
    variables = {
        "LOCAL_RANK": local_rank, "RANK": rank, "GROUP_RANK": config.machine, "ROLE_RANK": rank,
        "ROLE_NAME": config.role, "LOCAL_WORLD_SIZE": config.processes, "WORLD_SIZE": config.world_size,
        "GROUP_WORLD_SIZE": config.machines, "ROLE_WORLD_SIZE": config.world_size,
        "MASTER_ADDR": config.master_addr, "MASTER_PORT": config.master_port,
        "TORCHELASTIC_RESTART_COUNT": restarts, "TORCHELASTIC_MAX_RESTARTS": config.max_restarts,
        "TORCHELASTIC_RUN_ID": config.run_id, "TORCHELASTIC_USE_AGENT_STORE": "False",
    }  # fmt: skip
    if config.processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        # otherwise, each process would use all cores
        variables["OMP_NUM_THREADS"] = 1
    return {name: str(value) for name, value in variables.items()} | config.environment


class Workers:
    """Processes of one attempt to run the program."""

    def __init__(self, config: ProcessLaunch, restarts: int) -> None:
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
            [argument.replace("{local_rank}", str(local_rank)) for argument in config.command],
            env=os.environ | worker_environment(config, local_rank, restarts),
            stdout=redirected(_REDIRECT_STDOUT, "stdout.log"),
            stderr=redirected(_REDIRECT_STDERR, "stderr.log"),
        )

    def wait(self) -> ChildFailedError | None:
        """Wait until all processes exit with 0 (return None) or one fails (return the error)."""
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

    def stop(self, signum: int = signal.SIGTERM) -> None:
        """Send a signal to running processes, and kill those that still run after `shutdown_seconds`."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signum)
        deadline = time.monotonic() + self.config.shutdown_seconds
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def launch_processes(config: ProcessLaunch) -> None:
    """Run the processes. If a process fails, restart all processes, at most `max_restarts` times."""
    restarts = 0
    with _termination_signals_as_exceptions():
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
            restarts_left = config.max_restarts - restarts
            print(
                f"{failure}; restarting all processes, {restarts_left} restarts left",
                file=sys.stderr,
                flush=True,
            )


@contextlib.contextmanager
def _termination_signals_as_exceptions() -> Iterator[None]:
    """Install signal handlers that raise SignalException for termination signals, in the main thread."""

    def raise_signal(signum: int, frame: Any) -> None:
        raise SignalException(signum)

    try:
        before = {signum: signal.signal(signum, raise_signal) for signum in _TERMINATION_SIGNALS}
    except ValueError:  # other threads cannot set signal handlers
        before = {}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
