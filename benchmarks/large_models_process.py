"""Processes of `benchmarks.large_models`: one writes a network's files, and one per runtime calls it.

    python -m benchmarks.large_models_process write FOLDER FAMILY NETWORK
    python -m benchmarks.large_models_process "ONNX Runtime" FOLDER

The files in FOLDER are the TorchScript archive `model.pt`, `model.onnx` if the network can be exported, and
the arrays of the arguments.  A process of a runtime writes the results of its first call to a file.  For each
line of its input, it measures one round, and prints the seconds of a call.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import repetitions

MIN_ROUND_SECONDS = 0.2
PROFILING_CALLS = 3  # TorchScript in PyTorch optimizes a graph after two profiling runs
Call = Callable[[], Any]


def write(folder: Path, family: str, name: str) -> None:
    """Write the files of a network: archive, ONNX and arguments."""
    import torch

    from benchmarks import networks

    network = importlib.import_module(f"benchmarks.networks.{family}").NETWORKS[name]
    model, compiled, inputs = networks.compiled(torch, network)
    compiled.save(str(folder / "model.pt"))
    np.savez(folder / "arguments.npz", *[x.numpy() for x in inputs])
    if not network.has_loop and has_packages("onnx", "onnxscript"):
        warnings.simplefilter("ignore")  # the exporter warns of its own code, and of its copies of weights
        torch.onnx.export(model, inputs, str(folder / "model.onnx"), dynamo=True, verbose=False)


def has_packages(*names: str) -> bool:
    """Return True if all the packages are installed."""
    return all(importlib.util.find_spec(name) is not None for name in names)


def arguments(folder: Path) -> list[np.ndarray[Any, Any]]:
    """Return the arrays of the arguments of a call."""
    with np.load(folder / "arguments.npz") as arrays:
        return list(arrays.values())


def call_torch(package: str, optimize: bool, folder: Path) -> Call:
    """Return a call of the archive with PyTorch or `ts`."""
    torch: Any = importlib.import_module(package)
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = torch.jit.load(str(folder / "model.pt"))
    if optimize:
        model = torch.jit.optimize_for_inference(torch.jit.freeze(model))
    return partial(model, *[torch.from_numpy(x) for x in arguments(folder)])


def call_onnx_runtime(folder: Path) -> Call:
    """Return a call of the ONNX file with ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    return partial(session.run, None, dict(zip(names, arguments(folder), strict=True)))


def call_openvino(folder: Path) -> Call:
    """Return a call of the ONNX file with OpenVINO, with results in float32."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": 1,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    model = openvino.Core().compile_model(str(folder / "model.onnx"), "CPU", settings)
    infer, inputs = model.create_infer_request().infer, arguments(folder)
    return lambda: list(infer(inputs).values())


# runtimes by the names of their columns, with their packages and the functions that load a network
RUNTIMES: dict[str, tuple[str, Callable[[Path], Call]]] = {
    "ts": ("ts", partial(call_torch, "ts", True)),
    "PyTorch": ("torch", partial(call_torch, "torch", False)),
    "PyTorch, frozen": ("torch", partial(call_torch, "torch", True)),
    "ONNX Runtime": ("onnxruntime", call_onnx_runtime),
    "OpenVINO": ("openvino", call_openvino),
}


def versions() -> dict[str, str]:
    """Return the installed versions of the packages of the peers, and those of the ONNX export."""
    packages = [package for package, _ in RUNTIMES.values() if package != "ts"]
    installed = [name for name in [*packages, "onnx", "onnxscript"] if has_packages(name)]
    return {name: importlib.metadata.version(name) for name in installed}


def flat(result: Any) -> list[np.ndarray[Any, Any]]:
    """Return the arrays of a result, which is a tensor, an array, or a sequence of them."""
    return [np.asarray(x) for x in (result if isinstance(result, tuple | list) else [result])]


def run(runtime: str, folder: Path) -> None:
    """Load a network, write its results, and measure a round for each line of the input."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # messages of the runtimes go to the error stream
    call = RUNTIMES[runtime][1](folder)
    result = call()
    np.savez(folder / f"{runtime}.npz", *flat(result))
    for _ in range(PROFILING_CALLS - 1):
        call()
    count = repetitions(call, MIN_ROUND_SECONDS)
    print("ready", file=replies)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(count):
            call()
        print((time.perf_counter() - start) / count, file=replies)


def main(words: Sequence[str]) -> None:
    """Run one of the commands."""
    match words:
        case ["versions"]:
            print(json.dumps(versions()))
        case ["write", folder, family, name]:
            write(Path(folder), family, name)
        case [runtime, folder]:
            run(runtime, Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
