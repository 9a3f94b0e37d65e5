"""Process groups for tests: processes that are started once and run functions of many tests.

world = World(3)
world.run(function, 1, 2)          call function(1, 2) in each process; return the results by rank
world.begin(function)              call without waiting; world.results(ranks) returns the results
world.close()
"""

import datetime
import multiprocessing
import os
import signal
import socket
import traceback

TIMEOUT_SECONDS = 60  # time limit of a test


def free_port():
    """Return a free port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class World:
    """A process group for tests."""

    def __init__(self, size, timeout=TIMEOUT_SECONDS, joins=True):
        spawn = multiprocessing.get_context("spawn")
        pipes = [spawn.Pipe() for _ in range(size)]
        self.pipes = [ours for ours, _ in pipes]
        port = free_port()
        self.processes = [
            spawn.Process(target=_serve, args=(rank, size, port, theirs, timeout, joins), daemon=True)
            for rank, (_, theirs) in enumerate(pipes)
        ]
        for each in self.processes:
            each.start()
        for _, theirs in pipes:
            theirs.close()

    def run(self, function, *args, ranks=None):
        """Run a function in each process and return its results."""
        self.begin(function, *args, ranks=ranks)
        return self.results(ranks)

    def begin(self, function, *args, ranks=None):
        """Start a function in each process."""
        for rank in range(len(self.pipes)) if ranks is None else ranks:
            self.pipes[rank].send((function, args))

    def results(self, ranks=None):
        """Return the results of the processes, or raise AssertionError with the traceback of a failed
        process."""
        found, errors = [], []
        for rank in range(len(self.pipes)) if ranks is None else ranks:
            assert self.pipes[rank].poll(TIMEOUT_SECONDS), f"rank {rank} does not answer"
            ended, what = self.pipes[rank].recv()
            (found if ended else errors).append(what)
        assert not errors, "\n".join(errors)
        return found

    def kill(self, rank):
        """Kill the process of a rank."""
        os.kill(self.processes[rank].pid, signal.SIGKILL)

    def close(self):
        """End the processes."""
        for pipe in self.pipes:
            pipe.close()
        for each in self.processes:
            each.join(10)
            each.kill()


def _serve(rank, size, port, pipe, timeout, joins):
    import ts.distributed as dist

    if joins:
        dist.init_process_group(
            "gloo", f"tcp://127.0.0.1:{port}", datetime.timedelta(seconds=timeout), size, rank
        )
    else:
        os.environ.update(
            MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(size)
        )
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, function(*args)
        except BaseException:
            answer = False, f"rank {rank}:\n{traceback.format_exc()}"
        try:
            pipe.send(answer)
        except OSError:
            return
