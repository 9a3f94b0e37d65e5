"""Processes that tests use and that must still be alive at the end."""

import subprocess
import sys
from contextlib import contextmanager

from tests.distributed import SECRET


@contextmanager
def start_long_lived_process(module, status=0):
    """Start a process that prints its `address` and must exit normally when its standard input ends."""
    command = [sys.executable, "-m", module, SECRET.hex()]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.address = process.stdout.readline().strip()
        yield process
        process.stdin.close()
        assert process.wait(timeout=60) == status
    finally:
        process.kill()
        process.wait()
