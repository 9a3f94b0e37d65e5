"""Start processes that run one function. Their exceptions are raised in the parent.

The function receives the process index, followed by `args`:

    spawn(train, args=(world_size,), nprocs=world_size)         # train(0, world_size) ... in new processes
    context = start_processes(train, nprocs=2, join=False, start_method="fork")
    while not context.join(timeout=1): ...

If one process fails, the others are terminated. The failed process writes its traceback to a file, which the
parent reads.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn

from ts._core.tensor import sharing

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "spawn", "start_processes",
]  # fmt: skip

ENV_VAR_PARALLEL_START: Final = "TORCH_MP_PARALLEL_START"
DEFAULT_GRACE_PERIOD_SECONDS: Final = 30.0  # time from SIGTERM to SIGKILL
_PR_SET_PDEATHSIG: Final = 1

log = logging.getLogger(__name__)


class ProcessException(Exception):
    """Base class of errors of failed processes, with index, process id and message."""

    __slots__ = ["error_index", "error_pid"]

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """Raised if the function of a process raised an exception. The message contains the traceback."""


class ProcessExitedException(ProcessException):
    """Raised if a signal terminated a process, or if its exit code is not zero."""

    __slots__ = ["exit_code"]

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.msg,
            self.error_index,
            self.error_pid,
            self.exit_code,
            self.signal_name,
        )


def _run(fn: Callable[..., Any], index: int, args: Sequence[Any], error_file: str) -> None:
    """Run the function in a new process. Write the traceback of an exception to `error_file`."""
    _exit_with_parent()
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent received SIGINT, too, and terminates the processes
    except Exception:
        with open(error_file, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


def _exit_with_parent() -> None:
    """Let Linux send SIGINT to this process when its parent process ends (prctl, parent-death signal)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT))


class ProcessContext:
    """Processes that run one function, numbered from 0."""

    def __init__(
        self, processes: Sequence[multiprocessing.process.BaseProcess], error_files: Sequence[str]
    ) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Return the process ids."""
        return [int(process.pid or 0) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until any process ends, at most `timeout` seconds. Return True if all processes have ended.

        If a process has failed, terminate the other processes by SIGTERM and raise the error of the failed
        process. Processes that still run after `grace_period` seconds get SIGKILL.
        """
        if not self.sentinels:
            return True
        ended = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ended:
            assert isinstance(sentinel, int)
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._terminate(DEFAULT_GRACE_PERIOD_SECONDS if grace_period is None else grace_period)
        self._raise(failed)

    def _terminate(self, grace_period: float) -> None:
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        deadline = time.monotonic() + grace_period
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                log.warning("Process %s did not end after SIGTERM, killing it", process.pid)
                process.kill()
            process.join()

    def _raise(self, index: int) -> NoReturn:
        process = self.processes[index]
        pid, code = int(process.pid or 0), int(process.exitcode or 0)
        message = _read_traceback(self.error_files[index])
        if message is not None:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{message}", index, pid
            )
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, pid, code, name
            )
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, pid, code)


SpawnContext = ProcessContext


def _read_traceback(path: str) -> str | None:
    """Return the traceback in an error file and remove the file. Return None if there is no file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            report = file.read()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.unlink(path)
    return report or None


def start_processes(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(index, *args)` in `nprocs` processes, started by a method of `multiprocessing`.

    With `join`, wait for all processes, and raise ProcessRaisedException or ProcessExitedException if one
    fails. Without `join`, return the ProcessContext. The processes share the memory of tensors in `args`.
    With the start method "fork", they share only tensors that are already in shared memory.
    """
    sharing.register_reductions()
    context: Any = multiprocessing.get_context(start_method)
    directory = tempfile.mkdtemp(prefix="ts-multiprocessing-")
    error_files = [os.path.join(directory, f"{index}.txt") for index in range(nprocs)]
    processes = [
        context.Process(target=_run, args=(fn, index, args, file), daemon=daemon)
        for index, file in enumerate(error_files)
    ]
    try:
        if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START) == "1":
            with ThreadPoolExecutor(max_workers=max(nprocs, 1)) as starters:
                list(starters.map(lambda process: process.start(), processes))
        else:
            for process in processes:
                process.start()
        started = ProcessContext(processes, error_files)
        if not join:
            _remove_at_exit(directory)
            return started
        while not started.join():
            pass
        return None
    finally:
        if join:
            _remove(directory)


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(index, *args)` in `nprocs` new interpreters, with the options of `start_processes`."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")


def _remove(directory: str) -> None:
    import shutil

    shutil.rmtree(directory, ignore_errors=True)


def _remove_at_exit(directory: str) -> None:
    """Register a finalizer that removes the directory of error files at the end of this process."""
    from multiprocessing.util import Finalize

    Finalize(None, _remove, args=(directory,), exitpriority=0)
