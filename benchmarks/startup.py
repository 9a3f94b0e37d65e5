"""Time of imports and first results in new processes, and of the compilation of 100 lines. PyTorch compiles
them to a graph, `ts` to bytecode.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case
from ts.runtime.executor import prepare

TITLE = "Start-up"

FIRST_RESULT = (
    "import {0} as torch; "
    "unit = torch.jit.CompilationUnit('def f(x: int) -> int:\\n    return x + 1\\n'); unit.f(1)"
)
FIRST_TENSOR = """
import time; t = time.perf_counter()
import {0} as torch

@torch.jit.script
def f(x: torch.Tensor):
    return x + 1

f(torch.ones(3)); print(time.perf_counter() - t)
"""
FROM_ARCHIVE = (
    "import {0} as torch; torch.set_grad_enabled(False); torch.jit.load({1!r}).eval()(torch.zeros(1, 64, 40))"
)
BLOCK = """
    for i{k} in range(n):
        if i{k} % 3 == 0 and x > 0.5:
            total += i{k} * {k}
        elif i{k} > 10:
            x = x * 0.5 + float(i{k})
        else:
            total = total - 1
    while total > 1000:
        total = total // 2
    values.append(total)
"""


def hundred_lines() -> str:
    """Return the source of a function of 100 lines: loops, branches, arithmetic and a list."""
    head = "def f(n: int, x: float) -> int:\n    total = 0\n    values: List[int] = []\n"
    body = "".join(BLOCK.format(k=k) for k in range(10))
    text = head + body.replace("\n\n", "\n") + "    return total + len(values)\n"
    return text.replace("\n\n", "\n")


def import_seconds(module: str, rounds: int) -> float:
    """Return the best time of `rounds` imports of `module`, each in a new interpreter, in seconds."""
    return best_seconds(f"import {module}", rounds)


def best_seconds(statements: str, rounds: int) -> float:
    """Return the best time of `rounds` runs of statements, each in a new interpreter, in seconds."""
    code = f"import time; t = time.perf_counter(); {statements}; print(time.perf_counter() - t)"
    return best_of([sys.executable, "-c", code], rounds)


def best_of(command: list[str], rounds: int, **variables: str) -> float:
    """Return the smallest number of seconds that a command prints in `rounds` runs."""
    # Python's bytecode cache is enabled, as it is for users: later imports read it.
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        **variables,
    }
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        for _ in range(rounds)
    ]
    return min(float(run.stdout) for run in runs)


class Listener(ts.nn.Module):
    """Speech recognition model: convolutions, a recurrent layer and a branch."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [64, 128, 64, 64, 128]
        self.convs = ts.nn.ModuleList([ts.nn.Conv1d(a, b, 3) for a, b in pairwise(sizes)])
        self.lstm = ts.nn.LSTM(128, 128)
        self.head = ts.nn.Linear(128, 1)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        for conv in self.convs:
            x = ts.relu(conv(x))
        return ts.sigmoid(self.head(self.lstm(x.permute(2, 0, 1))[0]))


def first_tensors() -> dict[str, float]:
    """Time the import and a scripted tensor function, compiled and with cached code."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name in ("ts", "torch") if peer_runtimes.has_torch() else ("ts",):
            path = os.path.join(folder, f"{name}_line.py")
            with open(path, "w") as file:
                file.write(FIRST_TENSOR.format(name))
            command = [sys.executable, path]
            if name == "ts":
                cache = os.path.join(folder, "cache")
                found["ts"] = best_of(command, 7, TS_CACHE="0")
                found["ts, cached code"] = best_of(command, 7, TS_CACHE="1", TS_CACHE_DIR=cache)
            else:
                found["PyTorch"] = best_of(command, 2)
        return found


def first_results_of_a_model() -> dict[str, float]:
    """Time loading an archive and calling its model in a new interpreter, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "listener.pt")
        ts.jit.save(ts.jit.script(Listener()), path)
        found = {"ts": best_seconds(FROM_ARCHIVE.format("ts", path), 7)}
        if peer_runtimes.has_torch():
            found["PyTorch"] = best_seconds(FROM_ARCHIVE.format("torch", path), 2)
    return found


def cases() -> list[Case]:
    """Return the cases of imports and compilation, without PyTorch's optimization at the first call."""
    text = hundred_lines()
    assert 95 <= text.count("\n") <= 105, text.count("\n")

    def compile_ours() -> Any:
        unit = ts.jit.CompilationUnit(text)
        return prepare(unit.f)  # compiles down to bytecode

    imports = {"ts": import_seconds("ts", 7), "NumPy": import_seconds("numpy", 7)}
    compiles: dict[str, Any] = {"ts": compile_ours}
    if peer_runtimes.has_torch():
        import torch

        imports["PyTorch"] = import_seconds("torch", 2)
        compiles["PyTorch"] = lambda: torch.jit.CompilationUnit(text).f.graph
    if peer_runtimes.has_numba():
        imports["Numba"] = import_seconds("numba", 3)
    first = {"ts": best_seconds(FIRST_RESULT.format("ts"), 7)}
    if peer_runtimes.has_torch():
        first["PyTorch"] = best_seconds(FIRST_RESULT.format("torch"), 2)
    return [
        Case("import", {}, seconds=imports),
        Case("import, compile and run one line of script", {}, seconds=first),
        Case("import, script and call one line on a tensor", {}, seconds=first_tensors()),
        Case("import, load a model from its archive and call it", {}, seconds=first_results_of_a_model()),
        Case("compile 100 lines", compiles),
    ]
