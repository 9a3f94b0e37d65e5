"""Costs of parallel loops on the intra-op thread pool of the CPU, without Python.

In: nothing; needs a C compiler. Out: a table with the shortest and the median times of calls.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def report(rounds: int) -> str:
    """Return the title and the table; the program itself repeats the calls."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "thread_pool")
        source = ROOT / "benchmarks" / "thread_pool.c"
        include = ROOT / "backends" / "cpu" / "kernels"
        command = [*compiler, "-O2", "-I", str(include), str(source), "-o", program, "-lpthread"]
        subprocess.run(command, check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return f"**Calls of `parallel_for`: shortest and median time**\n\n{printed.rstrip()}"
