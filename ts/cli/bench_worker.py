"""Worker process of `ts bench` for one engine: `bench_worker.py ts` or `bench_worker.py torch`.

The process reads requests from standard input and writes responses to standard output, as one JSON object per
line. Output of the measured program is discarded. The right column shows the responses:

    {"do": "load", "path": "model.pt", "method": "forward", "threads": 1}
                                               {"start": 0.1, "version": "2.13.0"}
    {"do": "first", "values": [{"tensor": ["float32", [2, 3], "AACAPw..."]}], "names": {}}
                                               {"first": 0.004, "result": {"tensor": ...}}
    {"do": "round", "least": 0.2}              {"round": 0.00012}
    {"do": "memory"}                           {"memory": 61000000}

The program works with both packages, because their APIs are equal. For `torch`, it imports no module of `ts`,
because the Python installation with PyTorch may lack `ts`.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import time
from functools import reduce
from typing import Any

MAX_BYTES = 1 << 26  # maximal size of a result that is sent to be compared


def encode(value: Any, package: Any) -> Any:
    """Encode a value for JSON, with tensor elements in base64.

    Raise TypeError for unsupported types.
    """
    if isinstance(value, package.Tensor):
        host = value.detach().cpu().contiguous()
        name = str(host.dtype).rpartition(".")[2]
        data = host.reshape(-1).view(package.uint8).numpy().tobytes() if host.numel() else b""
        return {"tensor": [name, list(host.shape), base64.b64encode(data).decode()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, package), encode(item, package)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode(item, package) for item in value]}
    raise TypeError(f"a value of type {type(value).__name__} cannot be sent to another process")


def decode(value: Any, package: Any) -> Any:
    """Decode a value that `encode` returned. `package` creates the tensors."""
    if not isinstance(value, dict):
        return value
    ((kind, payload),) = value.items()
    if kind == "tensor":
        name, sizes, data = payload
        dtype = getattr(package, name)
        if not data:
            return package.empty(sizes, dtype=dtype)
        return package.frombuffer(bytearray(base64.b64decode(data)), dtype=dtype).reshape(sizes)
    if kind == "complex":
        return complex(*payload)
    if kind == "dict":
        return {decode(key, package): decode(item, package) for key, item in payload}
    items = [decode(item, package) for item in payload]
    return items if kind == "list" else tuple(items)


class Engine:
    """Inference engine under test: `ts` or `torch`, a loaded model and the arguments of the call."""

    def __init__(self, name: str) -> None:
        self.began = time.perf_counter()
        self.package: Any = importlib.import_module(name)
        self.run: Any = None
        self.values: list[Any] = []
        self.names: dict[str, Any] = {}
        self.count = 0

    def load(self, path: str, method: str, threads: int) -> dict[str, Any]:
        """Load the archive.

        Return the seconds since the import of the package began, including lazy imports.
        """
        self.package.set_num_threads(threads)
        self.package.set_grad_enabled(False)
        model = self.package.jit.load(path, map_location="cpu")
        if hasattr(model, "training"):
            model.eval()
        self.run = reduce(getattr, method.split("."), model)
        return {"start": time.perf_counter() - self.began, "version": str(self.package.__version__)}

    def first(self, values: list[Any], names: dict[str, Any]) -> dict[str, Any]:
        """Time the first call. The response has the encoded result if it is serializable and small enough."""
        self.values = [decode(value, self.package) for value in values]
        self.names = {name: decode(value, self.package) for name, value in names.items()}
        start = time.perf_counter()
        result = self.run(*self.values, **self.names)
        seconds = time.perf_counter() - start
        try:
            encoded_result = encode(result, self.package)
        except TypeError:
            return {"first": seconds}
        return (
            {"first": seconds, "result": encoded_result}
            if len(str(encoded_result)) < MAX_BYTES
            else {"first": seconds}
        )

    def round(self, min_seconds: float) -> dict[str, Any]:
        """Measure the seconds per call in a round of at least `min_seconds` seconds."""
        if not self.count:
            self.count = 1
            self._calls()  # a second call without measurement, because PyTorch optimises the model in it
            while (seconds := self._calls()) < min_seconds:
                self.count = max(self.count * 2, int(self.count * min_seconds / max(seconds, 1e-9)))
        return {"round": self._calls() / self.count}

    def _calls(self) -> float:
        run, values, names = self.run, self.values, self.names
        start = time.perf_counter()
        for _ in range(self.count):
            run(*values, **names)
        return time.perf_counter() - start

    def memory(self) -> dict[str, Any]:
        """Return the peak memory of this process in bytes."""
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}


def main() -> None:
    """Answer requests until standard input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    engine = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            engine = engine or Engine(sys.argv[1])
            response = getattr(engine, request.pop("do"))(**request)
        except Exception as error:
            # the package or the measured program may raise any exception: report it as the response
            response = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(response), file=output, flush=True)


if __name__ == "__main__":
    sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
    main()
