"""Fork server for test workers, which start in milliseconds because all modules are imported.

    python -m tests.distributed.fork_server      commands on standard input, with one line of output each:

    start PORT RANK WORLD_SIZE               start a worker; its process ID
    ended PID                                its exit status when it ends; "running" after the timeout

The client is `ForkServer().start(port, rank, world_size)`.
"""

import os
import subprocess
import sys
import time
import traceback

TIMEOUT_SECONDS = 30  # timeout for the end of a process
FORK_CONFIRMATION_TIMEOUT_SECONDS = 2.0  # default: 120
RECONNECT_TIMEOUT_SECONDS = 2.0  # default: 30


class ForkServer:
    """Client of a fork server for workers of one program."""

    def __init__(self):
        command = [sys.executable, "-m", "tests.distributed.fork_server"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._process.stdout.readline() == "ready\n"

    def start(self, port, rank, world_size):
        """Start a worker and return its process ID."""
        return int(self._ask(f"start {port} {rank} {world_size}"))

    def ended(self, pid):
        """Return the exit status of a process (0 or a negative signal number), or "running"."""
        found = self._ask(f"ended {pid}")
        return found if found == "running" else int(found)

    def close(self):
        """End the fork server."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(TIMEOUT_SECONDS)

    def _ask(self, line):
        print(line, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()


def shorten_timeouts():
    """Shorten the timeouts for unreachable processes."""
    from ts.distributed.rpc import endpoint, rref_store

    rref_store.FORK_CONFIRMATION_TIMEOUT_SECONDS, endpoint.RECONNECT_TIMEOUT_SECONDS = (
        FORK_CONFIRMATION_TIMEOUT_SECONDS,
        RECONNECT_TIMEOUT_SECONDS,
    )


def work(port, rank, world_size):
    """Run a process of the group until all have called `shutdown`; never return."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        from tests.distributed.rpc_worker import options
        from ts.distributed import rpc

        rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world_size, rpc_backend_options=options(port))
        rpc.shutdown(timeout=600)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def wait(pid):
    """Return the exit status of a child process, or "running" after the timeout."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return "running"


def main():
    """Answer commands on standard input until its end."""
    from tests.distributed import fault_injection, rpc_worker  # noqa: F401

    shorten_timeouts()
    print("ready", flush=True)
    for line in sys.stdin:
        kind, *numbers = line.split()
        numbers = [int(number) for number in numbers]
        if kind == "start":
            pid = os.fork() or work(*numbers)
            print(pid, flush=True)
        else:
            print(wait(*numbers), flush=True)


if __name__ == "__main__":
    main()
