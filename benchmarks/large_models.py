"""Inference of networks of real size with batch 1, unless a row states another batch, compared with PyTorch
(the archive as loaded, and frozen with `torch.jit.optimize_for_inference`), ONNX Runtime and OpenVINO.  GPT-2
is a script with a loop, which is not exported to ONNX.  To install the peers, run `pip install torch
onnxruntime openvino onnx onnxscript`.

PyTorch writes each network as a TorchScript archive and as an ONNX file to a temporary folder.  Each runtime
loads it in a separate process, because thread pools and settings of BLAS libraries belong to a process.  The
results must equal PyTorch's.  If the peers are installed for another interpreter, set the variable
TS_BENCHMARK_PEERS_PYTHON to its path.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import networks
from benchmarks.large_models_process import RUNTIMES
from benchmarks.timing import OURS, Case, table
from tests.program_files import run_family

ROOT = Path(__file__).parents[1]
TITLE = "Large models, one thread"
INSTALL = "pip install torch onnxruntime openvino onnx onnxscript"
REFERENCE = "PyTorch"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KERNEL_CHOICES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # would select other kernels of OpenBLAS


def report(rounds: int) -> str:
    """Measure the networks, and return the table, or a message if PyTorch is not installed."""
    installed = peer_versions()
    if "torch" not in installed:
        return f"### {TITLE}\n\nNot measured without PyTorch, which is not installed: {INSTALL}"
    runtimes = [name for name, (package, _) in RUNTIMES.items() if package in {"ts", *installed}]
    if not {"onnx", "onnxscript"} <= installed.keys():
        runtimes = [name for name in runtimes if not is_onnx(name)]
    for name in [each for each in RUNTIMES if each not in runtimes]:
        print(f"Without {name}, whose packages are not all installed: {INSTALL}", file=sys.stderr)
    cases = []
    for family in networks.FAMILIES:
        for name, network in run_family(ROOT / "benchmarks" / "networks", family, "ts").NETWORKS.items():
            tolerances = {
                each: network.onnx_tolerance if is_onnx(each) else networks.TOLERANCE
                for each in runtimes
                if not (network.has_loop and is_onnx(each))
            }
            cases.append(Case(name, {}, seconds=measured(family, name, tolerances, rounds)))
    note = ", ".join(f"{package} {version}" for package, version in installed.items())
    return f"{table(TITLE, cases)}\n\nPackages: {note}."


def is_onnx(runtime: str) -> bool:
    """Return True for a runtime that reads ONNX files."""
    return RUNTIMES[runtime][0] in ("onnxruntime", "openvino")


def command(runtime: str, *words: str) -> list[str]:
    """Return the command of a process of `ts` or of the peers."""
    peers = os.environ.get("TS_BENCHMARK_PEERS_PYTHON", sys.executable)
    python = sys.executable if runtime == OURS else peers
    return [python, "-m", "benchmarks.large_models_process", runtime, *words]


def environment() -> dict[str, str]:
    """Return the variables of the processes: one thread, and OpenBLAS chooses its kernels."""
    variables = {name: value for name, value in os.environ.items() if name not in KERNEL_CHOICES}
    return {**variables, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": search_path()}


def search_path() -> str:
    """Return the module search path of the processes, with the root of the repository."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def peer_versions() -> dict[str, str]:
    """Return the versions of the peers' installed packages."""
    text = subprocess.run(command("versions"), check=True, capture_output=True, text=True, env=environment())
    found: dict[str, str] = json.loads(text.stdout)
    return found


def measured(family: str, name: str, tolerances: dict[str, float], rounds: int) -> dict[str, float]:
    """Return the seconds of a call in the best round of each runtime, after checking the results.

    `tolerances` has the runtimes, with the tolerances of their results.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        subprocess.run(
            command("write", folder, family, name),
            check=True,
            stdout=subprocess.DEVNULL,
            env=environment(),
        )
        processes = {each: stack.enter_context(started(each, folder)) for each in tolerances}
        for runtime, process in processes.items():
            if reply(process) != "ready":
                raise RuntimeError(f"{runtime} cannot run {name}")
        check_results(Path(folder), name, tolerances)
        best = dict.fromkeys(tolerances, math.inf)
        for _ in range(rounds):
            for runtime, process in processes.items():
                print(file=process.stdin, flush=True)
                best[runtime] = min(best[runtime], float(reply(process)))
        return best


@contextmanager
def started(runtime: str, folder: str) -> Iterator[subprocess.Popen[str]]:
    """Start the process of a runtime, and end it at the end of the block."""
    process = subprocess.Popen(
        command(runtime, folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def reply(process: subprocess.Popen[str]) -> str:
    """Return the next line of a process."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def check_results(folder: Path, name: str, tolerances: dict[str, float]) -> None:
    """Raise an error if the results of a runtime differ from PyTorch's by more than its tolerance."""
    results = {}
    for runtime in tolerances:
        with np.load(folder / f"{runtime}.npz") as arrays:
            results[runtime] = list(arrays.values())
    for runtime, tolerance in tolerances.items():
        difference = relative_difference(results[runtime], results[REFERENCE])
        if not difference <= tolerance:
            raise AssertionError(f"{name}: {runtime} and PyTorch differ by {difference:.1e}")


def relative_difference(results: list[Any], expected: list[Any]) -> float:
    """Return the largest difference of two lists of arrays, relative to the largest value of each array."""
    differences = []
    for ours, theirs in zip(results, expected, strict=True):
        if ours.shape != theirs.shape:
            raise AssertionError(f"results have the shapes {ours.shape} and {theirs.shape}")
        distance = np.abs(ours.astype("float64") - theirs).max()
        differences.append(float(distance / np.abs(theirs).max()))
    return max(differences)
