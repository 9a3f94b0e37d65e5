"""Server processes and archived models for the tests."""

import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

import ts


@contextmanager
def serving(*words):
    """Run `ts serve` and yield its process with the attribute `port`; check that SIGTERM stops it."""
    command = [sys.executable, "-m", "ts", "serve", "--port", "0", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + process.stderr.read()
        process.port = int(found[1])
        yield process
        process.terminate()
        _, error = process.communicate(timeout=60)
        assert (process.returncode, error) == (0, "")
    finally:
        process.kill()
        process.wait()


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = ts.nn.Linear(4, 16)
        self.second = ts.nn.Linear(16, 3)

    def forward(self, x):
        return ts.softmax(self.second(ts.relu(self.first(x))), 1)


class Busy(ts.nn.Module):
    """Model that computes, loops, allocates or raises, by its argument `what`."""

    def forward(self, x, n: int = 1, what: str = "multiply"):
        if what == "multiply":
            return x * n
        if what == "loop":
            while n != 0:
                n += 1
            return x
        if what == "memory":
            for _ in range(n):
                x = ts.cat([x, x])
            return x
        if what == "text":  # an operator without cancellation points
            text = "a"
            for _ in range(n):
                text = text + text
            while n != 0:
                n = len(text.replace("a", "b"))
            return x
        raise ValueError(what)


@pytest.fixture(scope="session")
def net(tmp_path_factory):
    ts.manual_seed(0)
    path = tmp_path_factory.mktemp("models") / "net.pt"
    ts.jit.save(ts.jit.script(Net().eval()), path)
    return path


@pytest.fixture(scope="session")
def busy(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "busy.pt"
    ts.jit.save(ts.jit.script(Busy().eval()), path)
    return path
