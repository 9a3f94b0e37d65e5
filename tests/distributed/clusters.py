"""Run `ts cluster` and `ts worker` for tests, with functions that remote processes execute."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import ts
from ts.distributed import rpc
from ts.distributed.rpc.api import current

TIMEOUT_SECONDS = 60  # time limit of a test
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}


@ts.jit.script
def squares(x: ts.Tensor) -> ts.Tensor:
    return (x * x).sum()


def options(address, **more):
    return rpc.TensorPipeRpcBackendOptions(init_method=address, **{"allow_python": True, **more})


@contextmanager
def joined(address, name="me", **more):
    """Join a cluster with this process within the context."""
    rpc.init_rpc(name, rpc_backend_options=options(address, **more))
    try:
        yield
    finally:
        rpc.shutdown(graceful=False)


@contextmanager
def command(*words, **more):
    """Run a command of `ts` within the context, and kill it at the end."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-m", "ts", *words], **{"env": ENVIRONMENT, **pipes, **more})
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def cluster(*words, workers=0, python=True):
    """Run `ts cluster` and return the process with its address; its workers end shortly after it."""
    more = ["--allow-python"] if python else []
    with command("cluster", "--workers", str(workers), "--patience", "2", *more, *words) as process:
        process.address = process.stdout.readline().strip()
        assert process.address, process.stderr.read()
        assert process.stdout.readline().startswith(f"{workers} workers: ")
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(TIMEOUT_SECONDS)


def wait_until(check, seconds=TIMEOUT_SECONDS):
    """Return the result of a check as soon as it is true; fail the test after the timeout."""
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def sum_of_squares_or_none(to, *args):
    """Return the sum of squares computed by another process, or None while it does not exist."""
    try:
        return rpc.rpc_sync(to, squares, args=(ts.arange(4.0),)).item()
    except RuntimeError:
        return None


# ---- functions called by other processes


def pid():
    return os.getpid()


def who():
    return tuple(rpc.get_worker_info())


def ask(to):
    """Return the worker number that another process reports for itself."""
    return rpc.rpc_sync(to, number)


def number():
    return rpc.get_worker_info().id


def handle(to):
    """Return a reference to a value owned by another process."""
    return rpc.remote(to, squares, args=(ts.arange(3.0),))


def worker_id_of(name):
    return current().peer(name).info.id


def started_call_count():
    """Return the number of calls that this process has started for other processes."""
    return current().endpoint.calls.events["begun"]


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def die():
    os.kill(os.getpid(), signal.SIGKILL)
