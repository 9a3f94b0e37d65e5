"""`python -m benchmarks.serving [FOLDER ...]`: requests per second of `ts serve` in one or several clones.

A client process sends JSON requests of 16 numbers to a model with one layer, over 50 open connections.  The
table also has the CPU time of a request in the HTTP process, in the worker processes and in the client, which
depends less on other load of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ts

ROOT = Path(__file__).parents[1]
CONNECTIONS = 50


class Layer(ts.nn.Module):
    """A minimal model with one linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = ts.nn.Linear(16, 4)

    def forward(self, x):  # type: ignore[no-untyped-def]  # the script's own types
        return self.layer(x)


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        default=[str(ROOT)],
        help="checkouts to compare; default: this one",
    )
    parser.add_argument("--requests", type=int, default=5_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--batch", type=int, default=1, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/layer.pt"
        ts.jit.save(ts.jit.script(Layer().eval()), path)
        for number in range(options.rounds):
            for root in options.folders:
                result = measured(root, path, options.requests, options.batch)
                print(f"{number + 1} {Path(root).name:>10}: {result}", flush=True)


def measured(root: str, path: str, requests: int, batch: int) -> str:
    """Return the result of one round with one checkout."""
    command = [sys.executable, "-m", "ts", "serve", path, "--port", "0", "--batch", str(batch)]
    server = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r":(\d+)/", server.stderr.readline())
        assert found is not None
        client_command = [sys.executable, "-m", "benchmarks.serving_load", found[1]]
        subprocess.run([*client_command, "500"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        before = processor_seconds(server.pid)
        out = subprocess.run(
            [*client_command, str(requests)], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        own, children = (b - a for a, b in zip(before, processor_seconds(server.pid), strict=True))
    finally:
        server.terminate()
        server.wait()
    result = json.loads(out)
    assert result["statuses"] == {"200": requests}, result["statuses"]
    spent = {"HTTP": own, "model": children, "client": result["cpu"]}
    used = ", ".join(f"{name} {seconds / requests * 1e6:.0f}" for name, seconds in spent.items())
    median, late = result["median"] * 1e3, result["late"] * 1e3
    return (
        f"{requests / result['seconds']:6,.0f} requests/s, median {median:.0f} ms, 99% {late:.0f} ms; "
        f"CPU time per request in us: {used}"
    )


def processor_seconds(pid: int) -> tuple[float, float]:
    """Return the CPU seconds of a process and of its descendants."""
    parents, used = {}, {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(each)] = int(fields[1])
        used[int(each)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    below = {pid}
    while children := {each for each, parent in parents.items() if parent in below} - below:
        below |= children
    return used[pid], sum(used[each] for each in below - {pid})


if __name__ == "__main__":
    main()
